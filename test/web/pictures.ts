// Makes docs/page-dark.png, the picture of docs/page.md: bin/node --test test/web/pictures.ts
import { join } from 'node:path';
import { test } from 'node:test';
import { writeShape } from '../../src/web/model/lab/drawing.ts';
import { groupAround } from '../../src/web/model/lab/groups.ts';
import { LabServer } from '../controller/lab-server.ts';
import { startBrowser, visit } from './browser.ts';

const PICTURE = join(import.meta.dirname, '../../docs/page-dark.png');

/** Nodes of the pictured lab: name, type, place. */
const NODES: readonly [name: string, type: string, x: number, y: number, symbol: string][] = [
  ['Gateway', 'ethernet_hub', 0, -225, ':/symbols/classic/router.svg'],
  ['Core', 'ethernet_switch', 0, -100, ':/symbols/classic/multilayer_switch.svg'],
  ['Access1', 'ethernet_switch', -250, 25, ':/symbols/classic/ethernet_switch.svg'],
  ['Access2', 'ethernet_switch', 250, 25, ':/symbols/classic/ethernet_switch.svg'],
  ...Array.from({ length: 8 }, (_, index): [string, string, number, number, string] => [
    `PC${index + 1}`,
    'vpcs',
    -425 + index * 125 - (index < 4 ? 25 : 0),
    175,
    ':/symbols/classic/vpcs_guest.svg',
  ]),
];

test('the picture of the page', async (t) => {
  const { server, project, path } = await LabServer.withLab(t, { name: 'Office' }, { 'VPCS.engine': 'built-in' });
  const ids = new Map<string, string>();
  for (const [name, node_type, x, y, symbol] of NODES) {
    const node = await server.expect(201, 'POST', `${path}/nodes`, {
      name,
      node_type,
      compute_id: 'local',
      x,
      y,
      symbol,
    });
    ids.set(name, node.node_id);
  }
  const port = (name: string, number: number): object => ({
    node_id: ids.get(name),
    adapter_number: 0,
    port_number: number,
  });
  const link = (one: object, other: object): Promise<{ link_id: string }> =>
    server.expect(201, 'POST', `${path}/links`, { nodes: [one, other] });
  await link(port('Gateway', 0), port('Core', 0));
  await link(port('Core', 1), port('Access1', 0));
  await link(port('Core', 2), port('Access2', 0));
  const links = [];
  for (let at = 0; at < 8; at += 1) {
    links.push(await link(port(at < 4 ? 'Access1' : 'Access2', 1 + (at % 4)), port(`PC${at + 1}`, 0)));
  }
  const nodes = await server.expect(200, 'GET', `${path}/nodes`);
  for (const names of [
    ['Access1', 'PC1', 'PC2', 'PC3', 'PC4'],
    ['Access2', 'PC5', 'PC6', 'PC7', 'PC8'],
  ]) {
    const { shape, x, y } = groupAround(nodes.filter(({ name }: { name: string }) => names.includes(name)));
    await server.expect(201, 'POST', `${path}/drawings`, { x, y, z: 0, svg: writeShape(shape) });
  }
  await server.expect(204, 'POST', `${path}/nodes/start`);
  await server.expect(200, 'POST', `${path}/nodes/${ids.get('PC8')}/stop`);
  await server.expect(201, 'POST', `${path}/links/${links[0]!.link_id}/start_capture`);
  const browser = await startBrowser(t);
  const { page } = await visit(browser, `http://127.0.0.1:${server.port}/labs/${project.project_id}`, {
    viewport: { width: 1440, height: 900 },
  });
  const list = page.getByRole('navigation');
  for (const [name, line] of [
    ['PC1', 'ip 10.0.0.1/24'],
    ['PC5', 'ip 10.0.0.5/24'],
  ] as const) {
    await list.getByRole('button', { name: `${name} on` }).click();
    await page.getByRole('complementary').getByRole('button', { name: 'Console' }).click();
    const screen = page.locator('.console:not([hidden]) .xterm-rows');
    await screen
      .getByText(/VPCS>|PC\d>/)
      .first()
      .waitFor();
    await page.keyboard.type(`${line}\r`);
    await screen
      .getByText(/: 10\.0\.0\.\d/)
      .first()
      .waitFor();
  }
  await list.getByRole('button', { name: 'PC1 on' }).click();
  await page.getByRole('complementary').getByRole('button', { name: 'Console' }).click();
  await page.locator('textarea[aria-label="Console of PC1"]:focus').waitFor({ state: 'attached' });
  await page.keyboard.type('ping 10.0.0.5 -c 3\r');
  await page
    .locator('.console:not([hidden]) .xterm-rows')
    .getByText(/icmp_seq=3/)
    .waitFor();
  // What the ping was, beside the console.
  await list.getByRole('button', { name: /Access1 .* – PC1 / }).click();
  await page.getByRole('complementary').getByRole('button', { name: 'Show packets' }).click();
  await page.getByText('echo reply').first().waitFor();
  await page.getByRole('button', { name: 'Split' }).click();
  await page.getByRole('button', { name: 'Fit' }).click();
  // Below the pointer the button looks pressed.
  await page.mouse.move(0, 0);
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.screenshot({ path: PICTURE });
});
