// Templates, appliances and hosts in the page.
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { LabServer, until } from '../controller/lab-server.ts';
import { accessibilityFaults } from './accessibility.ts';
import { confirmIn, startBrowser, visit, WITHOUT_BROWSER } from './browser.ts';
import { CREDENTIALS } from './credentials.ts';
import { serveInside } from './served.ts';

test('a template that is made in the form gives a node; it is changed, copied and deleted', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const server = await serveInside(t, { 'VPCS.engine': 'built-in' });
  const browser = await startBrowser(t);
  const { page, complaints } = await visit(browser, `http://127.0.0.1:${server.port}/templates`);
  await page.getByRole('row', { name: /^VPCS/ }).waitFor();
  // What cannot run here says so in its row.
  const virtualbox = { template_type: 'virtualbox', name: 'Elsewhere', compute_id: 'local', vmname: 'x' };
  await server.expect(201, 'POST', '/v2/templates', virtualbox);
  await page.getByRole('row', { name: /Elsewhere.*VirtualBox cannot be used/ }).waitFor();

  const types = page.getByRole('region', { name: 'New template' });
  const choose = async (type: string): Promise<void> => {
    await page.getByRole('button', { name: 'New template' }).click();
    await types.getByRole('button', { name: new RegExp(`^${type}\\b`) }).click();
  };
  await page.getByRole('button', { name: 'New template' }).click();
  await types.getByRole('listitem').nth(15).waitFor();
  assert.deepEqual(await accessibilityFaults(page), []);
  await page.getByRole('button', { name: 'Back to the list' }).click();

  // The form that the images screen opens is in the address, until it is left.
  const address = `http://127.0.0.1:${server.port}/templates`;
  await page.goto(`${address}?type=qemu&image=tiny.img`);
  const name = page.getByLabel('Name', { exact: true });
  await until(async () => (await name.inputValue()) === 'tiny', 'the form of the image');
  await page.getByRole('button', { name: 'Back to the list' }).click();
  await page.getByRole('row', { name: /^VPCS/ }).waitFor();
  assert.equal(page.url(), address);

  for (const type of ['Container', 'IOS router c7200', 'QEMU machine', 'IOU device', 'Cloud']) {
    await choose(type);
    await page.getByRole('heading', { name: `New template: ${type}` }).waitFor();
    await page.getByLabel('Names of nodes').waitFor();
    await page.getByRole('button', { name: 'Back to the list' }).click();
  }

  await choose('Switch');
  await page.getByRole('button', { name: 'New template' }).click();
  await page.getByText('This field is required.').waitFor();
  await page.getByLabel('Name', { exact: true }).fill('Trunks');
  await page.getByLabel('Names of nodes').fill('T{0}');
  await page.locator('summary', { hasText: 'Network' }).waitFor();
  await page.getByLabel('Type, row 1', { exact: true }).selectOption('dot1q');
  await page.getByLabel('VLAN, row 1').fill('30');
  assert.deepEqual(await accessibilityFaults(page), []);
  await page.getByRole('button', { name: 'New template' }).click();
  await page.getByRole('row', { name: /^Trunks/ }).waitFor();
  await choose('QEMU machine');
  await page.getByLabel('Name', { exact: true }).fill('Machine');
  await page.getByRole('button', { name: 'New template' }).click();
  await page.getByRole('row', { name: /^Machine QEMU machine x86_64/ }).waitFor();
  const made: { name: string; platform: string; hda_disk_interface: string }[] = await server.expect(
    200,
    'GET',
    '/v2/templates',
  );
  const machine = made.find(({ name }) => name === 'Machine')!;
  assert.deepEqual([machine.platform, machine.hda_disk_interface], ['x86_64', 'ide'], 'a guest would not see its disk');
  const project = await server.project('of templates');
  const listed: { name: string; template_id: string }[] = await server.expect(200, 'GET', '/v2/templates');
  const { template_id: id } = listed.find(({ name }) => name === 'Trunks')!;
  const node = await server.expect(201, 'POST', `/v2/projects/${project.project_id}/templates/${id}`, { x: 0, y: 0 });
  assert.equal(node.name, 'T1');
  assert.deepEqual([node.properties.ports_mapping.length, node.properties.ports_mapping[0].vlan], [8, 30]);

  await page
    .getByRole('row', { name: /^Trunks/ })
    .getByRole('button', { name: 'Edit' })
    .click();
  await page.getByLabel('Names of nodes').fill('Trunk{0}');
  // Rows are sent as a whole: one that somebody else adds meanwhile stays.
  const ports_mapping = [
    ...node.properties.ports_mapping,
    { name: 'Ethernet8', port_number: 8, type: 'access', vlan: 9 },
  ];
  await server.expect(200, 'PUT', `/v2/templates/${id}`, { ports_mapping });
  await page.getByLabel('VLAN, row 9').waitFor();
  await page.getByLabel('VLAN, row 2', { exact: true }).fill('31');
  await page.getByRole('button', { name: 'Save' }).click();
  await page
    .getByRole('row', { name: /^Trunks/ })
    .getByRole('button', { name: 'Duplicate' })
    .click();
  await page
    .getByRole('row', { name: /^Trunks/ })
    .nth(1)
    .waitFor();
  await page
    .getByRole('row', { name: /^Trunks/ })
    .first()
    .getByRole('button', { name: 'Delete' })
    .click();
  await confirmIn(page);
  await page
    .getByRole('row', { name: /^Trunks/ })
    .nth(1)
    .waitFor({ state: 'detached' });
  const left: { name: string; default_name_format: string; ports_mapping: { vlan: number }[] }[] = await server.expect(
    200,
    'GET',
    '/v2/templates',
  );
  assert.deepEqual(
    left.filter(({ name }) => name === 'Trunks').map((each) => each.default_name_format),
    ['Trunk{0}'],
  );
  const { ports_mapping: rows } = left.find(({ name }) => name === 'Trunks')!;
  assert.deepEqual([rows.length, rows[1]?.vlan, rows[8]?.vlan], [9, 31, 9]);
  assert.deepEqual(complaints, []);
});

test('the catalogue names the missing files of an appliance, and a container becomes a template by one click', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const server = await serveInside(t);
  const browser = await startBrowser(t);
  const { page, complaints } = await visit(browser, `http://127.0.0.1:${server.port}/templates`);
  await page.getByRole('button', { name: 'Appliances' }).click();
  const all: {
    appliance_id: string;
    version: string | null;
    complete: boolean;
    name: string;
    images: { filename: string; md5sum: string | null }[];
  }[] = await server.expect(200, 'GET', '/v2/appliances/matches?all=yes');
  assert.ok(all.length > 300, `${all.length}`);
  const lacking = all.find(({ version, complete }) => version !== null && !complete)!;
  await page.getByLabel('Search').fill(lacking.images[0]!.filename);
  await page.getByText(`missing: ${lacking.images[0]!.filename}`).first().waitFor();
  assert.equal(
    await page
      .getByRole('button', { name: /^Make the template of/ })
      .first()
      .isDisabled(),
    true,
  );
  const container = all.find(({ version }) => version === null)!;
  await page.getByLabel('Search').fill(container.name);
  await page.locator('summary', { hasText: container.name }).first().click();
  const make = page.getByRole('button', { name: `Make the template of ${container.name}`, exact: true });
  if (!(await make.isVisible())) await page.locator('summary', { hasText: container.name }).first().click();
  await make.click();
  await page.getByText(/^The template .* is there\.$/).waitFor();
  const templates: { template_type: string; builtin: boolean }[] = await server.expect(200, 'GET', '/v2/templates');
  assert.deepEqual(
    templates.filter(({ builtin }) => !builtin).map(({ template_type }) => template_type),
    ['docker'],
  );
  assert.deepEqual(await accessibilityFaults(page), []);
  assert.deepEqual(complaints, []);
});

test('a host is added, found unreachable with the reason, mended and removed', { skip: WITHOUT_BROWSER }, async (t) => {
  const server = await serveInside(t);
  const other = await LabServer.start(t);
  const browser = await startBrowser(t);
  const { page } = await visit(browser, `http://127.0.0.1:${server.port}/hosts`);
  await page.getByText(/memory \d+ % of/).waitFor();
  await page.getByRole('button', { name: 'Add a host' }).click();
  const form = page.locator('form.settings');
  await form.getByLabel('Name', { exact: true }).fill('Rack 2');
  await form.getByLabel('Address', { exact: true }).fill('127.0.0.1');
  await form.getByLabel('Port', { exact: true }).fill('70000000000000000000');
  await form.getByRole('button', { name: 'Add a host' }).click();
  await page.getByText('This must be a whole number.').waitFor();
  assert.equal(await form.getByLabel('Name', { exact: true }).inputValue(), 'Rack 2');
  await form.getByLabel('Port', { exact: true }).fill('1');
  await form.getByRole('button', { name: 'Add a host' }).click();
  const rack = page.getByRole('region', { name: 'Rack 2' });
  await rack.getByText('not reachable').waitFor();
  await page.getByRole('button', { name: 'Edit' }).click();
  await form.getByLabel('Port', { exact: true }).fill(String(other.port));
  await form.getByRole('button', { name: 'Save' }).click();
  await rack.getByText(/^reachable since/).waitFor();
  await rack.getByText('What it can run').click();
  await rack.getByText('TraceNG is a program of Windows').waitFor();
  assert.deepEqual(await accessibilityFaults(page), []);
  // Of all hosts' images the page says who has them.
  for (const [host, image] of [
    [server, 'both.img'],
    [other, 'both.img'],
    [other, 'only.img'],
  ] as const) {
    const folder = join(host.state, 'images/QEMU');
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, image), 'some image');
  }
  await page.goto(`http://127.0.0.1:${server.port}/images`);
  await page.getByLabel('Host').selectOption({ label: 'Placed automatically' });
  await page.getByRole('row', { name: /^only\.img .*rack/i }).waitFor();
  await page.getByRole('row', { name: /^both\.img .*, rack/i }).waitFor();
  // Buttons are for the host that is chosen: the former one's list is gone while the other one is read.
  await page.route(/\/computes\/(?!auto)[^/]+\/images$/, (route) => route.abort());
  await page.getByLabel('Host').selectOption({ label: 'Rack 2' });
  await page.getByRole('row', { name: /^only\.img / }).waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Try again' }).waitFor();
  await page.unroute(/\/computes\/(?!auto)[^/]+\/images$/);
  assert.deepEqual(await accessibilityFaults(page), []);
  await page.goBack();
  await page.getByRole('button', { name: 'Remove' }).click();
  await confirmIn(page, 'Remove');
  await rack.waitFor({ state: 'detached' });
  const computes: { compute_id: string }[] = await server.expect(200, 'GET', '/v2/computes');
  assert.deepEqual(
    computes.map(({ compute_id: id }) => id),
    ['local'],
  );

  // A wrong password: the host is registered all the same, and the form goes on with it.
  const locked = await serveInside(t);
  await page.getByRole('button', { name: 'Add a host' }).click();
  await form.getByLabel('Address', { exact: true }).fill('127.0.0.1');
  await form.getByLabel('Port', { exact: true }).fill(String(locked.port));
  await form.getByLabel('User', { exact: true }).fill(CREDENTIALS.user);
  await form.getByLabel('Password', { exact: true }).fill('not this one');
  await form.getByRole('button', { name: 'Add a host' }).click();
  await form
    .getByRole('alert')
    .filter({ hasText: /password/ })
    .waitFor();
  await form.getByLabel('Password', { exact: true }).fill(CREDENTIALS.password);
  await form.getByRole('button', { name: 'Save' }).click();
  await form.waitFor({ state: 'detached' });
  const named = page.getByRole('region', { name: `http://ada@127.0.0.1:${locked.port}` });
  await named.getByText(/^reachable/).waitFor();
  await page.getByRole('button', { name: 'Edit' }).click();
  await form.getByText(/Belongs to the address/).waitFor();
});
