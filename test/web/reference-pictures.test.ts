// Every screen in light and dark at three widths looks as in the pictures that are kept: test/web/reference-pictures.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { usualSymbol } from '../../src/api/kinds/kinds.ts';
import type { UnavailableKind } from '../../src/api/routes/compute.ts';
import { arrange, type Link } from '../../src/layout/arrange.ts';
import type { Style } from '../../src/layout/style.ts';
import { AccountsFile } from '../../src/store/accounts.ts';
import '../cheap-passwords.ts';
import type { LabServer } from '../controller/lab-server.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { CORPUS } from '../web-units/corpus.ts';
import { startBrowser, visit, WITHOUT_BROWSER, WITHOUT_FONT } from './browser.ts';
import { pane, rows, star } from './capture-star.ts';
import { addStyle, KEPT, LEFT, ReferencePictures } from './reference-pictures.ts';
import { serveInside } from './served.ts';

const PEOPLE = ['anna', 'ben', 'chen', 'dana', 'emil', 'fatima', 'george', 'hana', 'ivan', 'julia', 'karim', 'lena'];

const count = (length: number): number[] => Array.from({ length }, (_, index) => index);

interface Made {
  id: string;
  nodes: Map<string, string>;
  links: string[];
}

/** A lab of `links` between names, arranged by them in `style`; names that begin with `PC` are virtual PCs, all others switches. */
async function makeLab(server: LabServer, name: string, links: readonly Link[], style: Style = 'auto'): Promise<Made> {
  const { project_id: id } = await server.project(name, { auto_close: false });
  const path = `/v2/projects/${id}`;
  const names = [...new Set(links.flat())];
  const places = arrange(
    names.map((key) => ({ key, width: 100, height: 90 })),
    links,
    style,
  );
  const nodes = new Map<string, string>();
  for (const each of names) {
    const node_type = /^PC/.test(each) ? 'vpcs' : 'ethernet_switch';
    const { x, y } = places.get(each)!;
    const place = { x: Math.round(x) - 30, y: Math.round(y) - 30 };
    const symbol = usualSymbol(node_type);
    const ports = count(16).map((port_number) => ({
      name: `Ethernet${port_number}`,
      port_number,
      type: 'access',
      vlan: 1,
    }));
    const properties = node_type === 'vpcs' ? {} : { ports_mapping: ports };
    const body = { name: each, node_type, compute_id: 'local', symbol, properties, ...place };
    nodes.set(each, (await server.expect(201, 'POST', `${path}/nodes`, body)).node_id);
  }
  const used = new Map<string, number>();
  const made: string[] = [];
  for (const ends of links) {
    const body = ends.map((end) => {
      const port_number = used.get(end) ?? 0;
      used.set(end, port_number + 1);
      return { node_id: nodes.get(end), adapter_number: 0, port_number };
    });
    made.push((await server.expect(201, 'POST', `${path}/links`, { nodes: body })).link_id);
  }
  return { id, nodes, links: made };
}

const CAMPUS: readonly Link[] = [
  ['Core', 'Building A'],
  ['Core', 'Building B'],
  ...count(4).map((at): Link => [at < 2 ? 'Building A' : 'Building B', `Floor ${at + 1}`]),
  ...count(13).map((at): Link => [`Floor ${(at % 4) + 1}`, `PC${at + 1}`]),
];

const REGION: readonly Link[] = [
  ...count(8).map((at): Link => ['Region', `Site ${at + 1}`]),
  ...count(40).map((at): Link => [`Site ${(at % 8) + 1}`, `Access ${at + 1}`]),
  ...count(151).map((at): Link => [`Access ${(at % 40) + 1}`, `PC${at + 1}`]),
];

/** What the host of the pictures cannot run, whatever this one can. */
const UNAVAILABLE = Object.entries({
  docker:
    'There is no Docker Engine here (no socket /var/run/docker.sock): apt install docker.io, or name its socket in section [Docker].',
  virtualbox:
    'VirtualBox cannot be used: there is no program VBoxManage; install VirtualBox, or set vboxmanage_path in section [VirtualBox] to where its VBoxManage is.',
  vmware:
    'VMware cannot be used: there is no program vmrun; install VMware Workstation or Player, or set vmrun_path in section [VMware] to where its vmrun is.',
  traceng: 'TraceNG is a program of Windows; use a VPCS node, whose command "trace" does the same.',
}).map(([node_type, hindrance]): UnavailableKind => ({ node_type, hindrance }));

/** Opens a screen and waits until it has read everything. */
async function lookAt(page: Page, address: string): Promise<void> {
  await page.goto(address);
  await page.locator('header').waitFor();
  await page.waitForLoadState('networkidle');
}

/** A pane of a lab on a phone, where there is room for one; the map shows all of the lab. */
async function fitted(page: Page, pane: 'Map' | 'Details'): Promise<void> {
  const button = page.getByRole('button', { name: pane, exact: true });
  if ((page.viewportSize()?.width ?? 0) < 600 && (await button.getAttribute('aria-pressed')) !== 'true')
    await button.click();
  await page.locator('button', { hasText: 'Fit' }).dispatchEvent('click');
}

test('the screens look as they are kept', { skip: WITHOUT_BROWSER || WITHOUT_FONT }, async (t) => {
  const server = await serveInside(t, { 'VPCS.engine': 'built-in' });
  const address = `http://127.0.0.1:${server.port}`;
  const browser = await startBrowser(t);
  const isUpdate = process.env['LABWIRE_UPDATE_PICTURES'] === '1';
  const pictures = await ReferencePictures.start(browser, { kept: KEPT, left: LEFT, isUpdate });
  const { page, complaints } = await visit(browser, address, { place: { locale: 'en-US', timezoneId: 'UTC' } });
  await page.route('**/node_types/hindrances', (route) => route.fulfill({ json: UNAVAILABLE }));
  // Words such as "just now" stay so.
  await page.clock.setFixedTime(new Date());

  await page.locator('.first').waitFor();
  await pictures.take(page, 'labs-none');

  const accounts = new AccountsFile(server.state);
  const people = PEOPLE.map((name) => ({ name, role: 'user' as const, password: `password of ${name}` }));
  await accounts.add(people, ['ada']);
  // Dates have one width at each run: columns of a table follow it.
  const content = readFileSync(accounts.path, 'utf8').replace(
    /"created": ?"[^"]*"/g,
    '"created":"2026-10-20T10:20:30.000Z"',
  );
  assert.ok(content.includes('10:20:30'));
  writeFileSync(accounts.path, content);
  const campus = await makeLab(server, 'Campus', CAMPUS);
  const path = `/v2/projects/${campus.id}`;
  for (const name of ['PC1', 'PC2', 'PC3', 'PC4', 'PC5', 'PC6']) {
    await server.expect(200, 'POST', `${path}/nodes/${campus.nodes.get(name)}/start`);
  }
  const region = await makeLab(server, 'Region', REGION, 'force');
  for (const name of ['CCNA/Lab 1: VLANs', 'CCNA/Lab 2: Spanning tree', 'CCNA/Lab 3: OSPF', 'Homework']) {
    await makeLab(server, name, CAMPUS.slice(0, 6));
  }
  const { project_id: closed } = await server.project('Old exercise');
  await server.expect(204, 'POST', `/v2/projects/${closed}/close`);

  await lookAt(page, `${address}/`);
  await page.getByRole('row').filter({ hasText: 'Homework' }).getByText('just now').waitFor();
  await pictures.take(page, 'labs');
  await pictures.takeForReaders(page, 'labs');
  await page.getByRole('button', { name: 'Cards' }).click();
  await page.locator('.thumbnail img').nth(6).waitFor();
  await page.waitForLoadState('networkidle');
  await pictures.take(page, 'labs-cards');
  const homework = page.getByRole('article').filter({ hasText: 'Homework' });
  // A menu is where its button was when it was opened.
  const opened = (open: () => Promise<unknown>) => async () => {
    await page.keyboard.press('Escape');
    await open();
    await page.getByRole('menu').waitFor();
  };
  await pictures.take(
    page,
    'labs-menu',
    opened(() => homework.getByRole('button', { name: 'More' }).click()),
  );
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Cards' }).click();

  const map = () => fitted(page, 'Map');
  const details = () => fitted(page, 'Details');
  await page
    .getByRole('row', { name: /^Homework|Select Homework/ })
    .getByRole('button', { name: 'Share' })
    .click();
  await page.getByRole('dialog').getByText('lena').waitFor();
  await pictures.take(page, 'sharing');
  await page.keyboard.press('Escape');

  await lookAt(page, `${address}/labs/${campus.id}`);
  await page.locator('[data-node]').nth(18).waitFor({ state: 'attached' });
  await pictures.take(page, 'lab-20', map);
  await pictures.takeForReaders(page, 'lab-20', map);
  const list = page.getByRole('navigation');
  await list.getByRole('button', { name: 'PC1 on' }).click();
  await pictures.take(page, 'lab-node', details);
  await pictures.takeForReaders(page, 'lab-node', details);
  await pictures.take(
    page,
    'lab-menu',
    opened(async () => {
      await map();
      await page.getByRole('main', { name: 'Topology' }).press('Shift+F10');
    }),
  );
  await page.keyboard.press('Escape');
  await list.getByRole('button', { name: /^Core on/ }).click();
  await page.getByRole('complementary').getByRole('tab', { name: 'Ports' }).click();
  await pictures.take(page, 'lab-switch', details);
  await list.getByRole('button', { name: 'Core e0 – BuildingA e0' }).click();
  await page.getByRole('complementary').getByRole('tab', { name: 'Impairments' }).click();
  await page.getByLabel('Preset').waitFor();
  await pictures.take(page, 'lab-link', details, [page.locator('.achieved')]);
  await page.getByRole('button', { name: 'Add node' }).click();
  await page.locator('.palette .templates img').first().waitFor();
  // In a narrower window the pointer would be over another button, which looks pressed below it.
  await page.mouse.move(0, 0);
  await pictures.take(page, 'lab-templates', map);

  const captured = await star(t, server, 1);
  await lookAt(page, `${address}/labs/${captured.project.project_id}`);
  await list.getByRole('button', { name: /^H1 .* – Middle |^Middle .* – H1 / }).click();
  await page.getByRole('button', { name: 'Start capture' }).click();
  await pane(page).getByText('0 frames').waitFor();
  const frames = CORPUS.filter((sample) => sample.link === 1).slice(0, 14);
  await captured.send(frames.map(({ bytes }) => bytes));
  // A click ends that the list follows its end: where it stands depends on the frames that are there by then.
  await pane(page).getByText(`${frames.length} frames`).waitFor();
  await rows(page)
    .nth(frames.length - 1)
    .waitFor();
  await rows(page).nth(5).click();
  await page
    .locator('.mark')
    .filter({ hasText: `${frames.length}` })
    .waitFor({ state: 'attached' });
  // Times, and the address of the capture, are others at each run.
  await addStyle(page, '.packets td:nth-child(2), .inspector pre { color: transparent }');
  await pictures.take(page, 'lab-packets', map);

  await lookAt(page, `${address}/labs/${region.id}`);
  await page.locator('[data-node]').nth(199).waitFor({ state: 'attached' });
  await pictures.take(page, 'lab-200', map);

  await lookAt(page, `${address}/templates`);
  await page.getByRole('row', { name: /^VPCS/ }).waitFor();
  await pictures.take(page, 'templates');
  await page.getByRole('button', { name: 'New template' }).click();
  await page.getByRole('button', { name: /^Container/ }).waitFor();
  await pictures.take(page, 'template-types');
  await page.getByRole('button', { name: 'Back to the list' }).click();
  await page.getByRole('button', { name: 'Appliances' }).click();
  await page.locator('.appliances [role="listitem"]').first().waitFor();
  await pictures.take(page, 'appliances');
  await lookAt(page, `${address}/images`);
  await pictures.take(page, 'images');
  await lookAt(page, `${address}/hosts`);
  await page.locator('.hosts li').first().waitFor();
  // What a host is called and has must not change how high it is.
  await addStyle(page, '.hosts :is(h2, dd) { white-space: nowrap; overflow: hidden }');
  await pictures.take(page, 'hosts', undefined, [page.locator('.hosts h2'), page.locator('.hosts dd')]);
  await lookAt(page, `${address}/people`);
  await page.getByRole('row', { name: /anna/ }).waitFor();
  await pictures.take(page, 'people', undefined, [page.locator('td[data-title="Since"]')]);
  await lookAt(page, `${address}/help`);
  await page.getByRole('heading', { name: 'First steps' }).waitFor();
  await pictures.take(page, 'help');

  assert.deepEqual(complaints, []);
  assert.deepEqual(pictures.faults, []);
  assert.deepEqual(
    readdirSync(KEPT).sort(),
    pictures.names.map((name) => `${name}.webp`).sort(),
    'no picture is left of a screen that is not drawn any more',
  );
});

test('a moved button and another colour are found, and both pictures are left', {
  skip: WITHOUT_BROWSER || WITHOUT_FONT,
}, async (t) => {
  const server = await serveInside(t);
  const browser = await startBrowser(t);
  const { page } = await visit(browser, `http://127.0.0.1:${server.port}`);
  await page.locator('.first').waitFor();
  const folder = await scratchDirectory(t);
  const options = { kept: join(folder, 'kept'), left: join(folder, 'left') };
  const seen = async (isUpdate: boolean): Promise<string[]> => {
    const pictures = await ReferencePictures.start(browser, { ...options, isUpdate });
    await pictures.take(page, 'none');
    return pictures.faults;
  };
  assert.equal((await seen(false)).length, 6, 'none is kept');
  await seen(true);
  assert.deepEqual(await seen(false), []);
  await page.evaluate(() => document.querySelector<HTMLElement>('.first')!.style.setProperty('translate', '12px'));
  const moved = await seen(false);
  assert.match(moved.join(), /none-1440-light: .* % of the pixels differ/);
  const left = readdirSync(options.left).filter((name) => name.startsWith('none-1440-light'));
  assert.deepEqual(left, ['none-1440-light-difference.png', 'none-1440-light-kept.png', 'none-1440-light-seen.png']);
  await page.evaluate(() => document.querySelector<HTMLElement>('.first')!.style.setProperty('translate', '0'));
  await page.evaluate(() => document.documentElement.style.setProperty('--panel', 'gold'));
  assert.equal((await seen(false)).length, 6);
});
