// Nodes in the page: their settings, files, ports, and what happens when two people edit one node.
import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { basicHeader } from '../../src/http/access/authentication.ts';
import { bootSector, noQemu, PANIC, SMALL } from '../compute/qemu-support.ts';
import { until } from '../controller/lab-server.ts';
import { accessibilityFaults } from './accessibility.ts';
import { startBrowser, visit, WITHOUT_BROWSER } from './browser.ts';
import { CREDENTIALS } from './credentials.ts';
import { serveInside } from './served.ts';

function pick(page: Page, name: string): Promise<void> {
  return page
    .getByRole('navigation')
    .getByRole('button', { name: new RegExp(`^${name} `) })
    .click();
}

const inspector = (page: Page): Locator => page.getByRole('complementary');
/** Unfolds what few people need. */
const more = (page: Page): Promise<void> => inspector(page).getByText('More', { exact: true }).click();
const tab = (page: Page, name: string): Promise<void> => page.getByRole('tab', { name }).click();
/** The changes are with the server when there is nothing left to save. */
async function save(page: Page): Promise<void> {
  const button = inspector(page).getByRole('button', { name: 'Save' });
  await button.click();
  await inspector(page).locator('button.main:disabled').waitFor();
  await inspector(page)
    .getByText(/^\d+ changes?$/)
    .waitFor({ state: 'detached' });
}

test('nodes of every type that this host can make are renamed and set by their forms', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const server = await serveInside(t, { 'VPCS.engine': 'built-in' });
  const project = await server.project('types');
  const path = `/v2/projects/${project.project_id}/nodes`;
  /** A setting of each type: how it is called, what is typed, what the API has then. */
  const settings: Record<
    string,
    [tab: string, label: string, typed: string, member: string, value: unknown, given?: object]
  > = {
    vpcs: ['General', 'Start order', '3', 'start_order', 3],
    ethernet_switch: ['Ports', 'VLAN, row 2', '20', 'ports_mapping.1.vlan', 20],
    ethernet_hub: ['Ports', 'Number of ports', '12', 'ports_mapping.length', 12],
    cloud: ['Settings', 'Console host', '192.0.2.7', 'remote_console_host', '192.0.2.7', { ports_mapping: [] }],
    frame_relay_switch: ['Ports', 'From, row 1', '1:101', 'mappings', { '1:101': '2:202' }],
    atm_switch: ['Ports', 'From, row 1', '1:10:100', 'mappings', { '1:10:100': '2:202' }],
    traceng: ['Settings', 'Address', '10.0.0.1', 'ip_address', '10.0.0.1'],
    qemu: ['Settings', 'Memory MiB', '192', 'ram', 192, { platform: 'x86_64' }],
    docker: ['Settings', 'Environment', 'A=1', 'environment', 'A=1', { image: 'labwire-none' }],
    dynamips: ['Settings', 'Memory MiB', '300', 'ram', 300, { platform: 'c7200', image: 'none.bin', ram: 256 }],
    iou: ['Settings', 'Memory MiB', '300', 'ram', 300, { path: 'none.bin' }],
    virtualbox: ['General', 'Notes', 'hello', 'usage', 'hello', { vmname: 'none' }],
    vmware: ['General', 'Notes', 'hello', 'usage', 'hello', { vmx_path: '/none.vmx', linked_clone: false }],
  };
  // The heads of images: a router's for MIPS, a program for Linux. They are looked at in full when they start.
  for (const [emulator, head] of [
    ['dynamips', [0x7f, 0x45, 0x4c, 0x46, 1, 2, 1]],
    ['iou', [0x7f, 0x45, 0x4c, 0x46, 1, 1, 1]],
  ] as const) {
    const address = `http://127.0.0.1:${server.port}/v2/compute/${emulator}/images/none.bin`;
    const body = new Uint8Array([...head, ...Array.from({ length: 57 }, () => 0)]);
    const { status } = await fetch(address, {
      method: 'POST',
      headers: { Authorization: basicHeader(CREDENTIALS) },
      body,
    });
    assert.equal(status, 204);
  }
  const made: string[] = [];
  const refused: string[] = [];
  for (const [node_type, [, , , , , properties = {}]] of Object.entries(settings)) {
    const answer = await server.call('POST', path, { name: node_type, node_type, compute_id: 'local', properties });
    if (answer.status === 201) made.push(node_type);
    else refused.push(`${node_type}: ${answer.json.message}`);
  }
  t.diagnostic(`made: ${made}; refused here: ${refused.join(' | ')}`);
  assert.ok(made.length >= 7, refused.join('\n'));
  const browser = await startBrowser(t);
  const { page, complaints } = await visit(browser, `http://127.0.0.1:${server.port}/labs/${project.project_id}`);
  const described: (string | null)[] = [];
  page.on('request', (request) => {
    const { pathname, searchParams } = new URL(request.url());
    if (pathname === '/v2/openapi.json') described.push(searchParams.get('path'));
  });
  for (const type of made) {
    const [where, label, typed, member, value] = settings[type]!;
    await pick(page, type);
    await tab(page, 'General');
    await more(page);
    await inspector(page).getByLabel('Name', { exact: true }).fill(`${type}-1`);
    await save(page);
    await tab(page, where);
    if (member === 'mappings') {
      await inspector(page).getByRole('button', { name: 'Add', exact: true }).click();
      await inspector(page).getByLabel('To, row 1').fill('2:202');
    }
    await inspector(page).getByLabel(label, { exact: true }).fill(typed);
    if (type === 'ethernet_hub') await inspector(page).getByRole('button', { name: 'Set', exact: true }).click();
    await save(page);
    const nodes = await server.expect(200, 'GET', path);
    const node = nodes.find(({ node_type }: { node_type: string }) => node_type === type);
    assert.equal(node.name, `${type}-1`);
    let found = { ...node.properties, ...node };
    for (const step of member.split('.')) found = found[step];
    assert.deepEqual(found, value, type);
  }
  // Of the document the forms read what they need, each path once.
  assert.ok(described.length > 0 && !described.includes(null), described.join());
  assert.equal(new Set(described).size, described.length, described.join());
  assert.deepEqual(await accessibilityFaults(page), []);
  assert.deepEqual(complaints, []);
});

test('a bad value is marked at its field, by the page or by the server, and stays until it fits', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const server = await serveInside(t);
  const project = await server.project('bad values');
  const path = `/v2/projects/${project.project_id}/nodes`;
  const create = (name: string, node_type: string): Promise<{ node_id: string }> =>
    server.expect(201, 'POST', path, { name, node_type, compute_id: 'local' });
  const node = await create('SW', 'ethernet_switch');
  const pc = await create('PC', 'vpcs');
  const browser = await startBrowser(t);
  const { page } = await visit(browser, `http://127.0.0.1:${server.port}/labs/${project.project_id}`);
  await pick(page, 'SW');
  await tab(page, 'Ports');
  const vlan = inspector(page).getByLabel('VLAN, row 3', { exact: true });
  await vlan.fill('0');
  await inspector(page).getByRole('button', { name: 'Save' }).click();
  await inspector(page).getByText('The least is 1.').waitFor();
  assert.equal(await vlan.getAttribute('aria-invalid'), 'true');
  await page.waitForFunction(() => document.activeElement?.getAttribute('aria-label') === 'VLAN, row 3');
  await vlan.fill('7');
  await save(page);
  // Ports are named by position: without a middle one the VLANs of all later ones would move.
  await inspector(page).getByRole('button', { name: 'Remove row 8' }).waitFor();
  assert.equal(
    await inspector(page)
      .getByRole('button', { name: /^Remove row/ })
      .count(),
    1,
  );

  await pick(page, 'PC');
  await more(page);
  const order = inspector(page).getByLabel('Start order', { exact: true });
  const answers = [
    [400, 'Invalid request: start_order: is too early', /is too early/],
    [403, 'The project is closed', /The project is closed/],
    [409, 'start_order: not while this happens', /not while this happens/],
    [413, 'too large', /too large/],
    [429, 'Try again in 4 s', /Try again in 4 s/],
    [500, 'Internal error: the server log has the details.', /server log/],
    [507, 'No space is left', /No space is left/],
    [0, '', /The server does not answer/],
  ] as const;
  const address = `**/nodes/${pc.node_id}`;
  await order.fill('5');
  for (const [status, message, told] of answers) {
    await page.route(address, (route) =>
      status === 0
        ? route.abort()
        : route.fulfill({ status, contentType: 'application/json', body: JSON.stringify({ message, status }) }),
    );
    await inspector(page).getByRole('button', { name: 'Save' }).click();
    await inspector(page).getByText(told).waitFor();
    assert.equal(await order.inputValue(), '5', `after ${status}`);
    assert.equal(await order.getAttribute('aria-invalid'), String(message.includes('start_order')), `${status}`);
    await page.unroute(address);
  }
  await save(page);
  const of = ({ node_id: id }: { node_id: string }) => server.expect(200, 'GET', `${path}/${id}`);
  assert.deepEqual([(await of(pc)).start_order, (await of(node)).properties.ports_mapping[2].vlan], [5, 7]);
});

test('two browsers edit one node: neither loses its input, and each sees the change of the other', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const server = await serveInside(t, { 'VPCS.engine': 'built-in' });
  const project = await server.project('two');
  const node = await server.expect(201, 'POST', `/v2/projects/${project.project_id}/nodes`, {
    ...{ name: 'PC1', node_type: 'vpcs', compute_id: 'local' },
  });
  const browser = await startBrowser(t);
  const address = `http://127.0.0.1:${server.port}/labs/${project.project_id}`;
  const [{ page: one }, { page: other }] = await Promise.all([visit(browser, address), visit(browser, address)]);
  for (const page of [one, other]) {
    await pick(page, 'PC1');
    await more(page);
  }
  await one.getByLabel('Start order', { exact: true }).fill('1');
  await one.getByLabel('Wait before starting s', { exact: true }).fill('2.5');
  await other.getByLabel('Start order', { exact: true }).fill('9');
  await save(other);
  await one.getByText('Another user has changed this meanwhile to 9.').waitFor();
  assert.equal(await one.getByLabel('Start order', { exact: true }).inputValue(), '1');
  await one.getByRole('button', { name: 'Take theirs' }).click();
  await save(one);
  await other.waitForFunction(() => [...document.querySelectorAll('input')].some(({ value }) => value === '2.5'));
  const now = await server.expect(200, 'GET', `/v2/projects/${project.project_id}/nodes/${node.node_id}`);
  assert.deepEqual([now.start_order, now.start_delay], [9, 2.5]);
});

test('a file that is edited in place is on the disk, and what another user wrote into it is not lost', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const server = await serveInside(t, { 'VPCS.engine': 'built-in' });
  const project = await server.project('files');
  const node = await server.expect(201, 'POST', `/v2/projects/${project.project_id}/nodes`, {
    ...{ name: 'PC1', node_type: 'vpcs', compute_id: 'local', properties: { startup_script: 'set pcname A\n' } },
  });
  const file = join(node.node_directory, 'startup.vpc');
  const browser = await startBrowser(t);
  const { page, complaints } = await visit(browser, `http://127.0.0.1:${server.port}/labs/${project.project_id}`, {
    isAsked: true,
  });
  await pick(page, 'PC1');
  await tab(page, 'Files');
  await page.getByRole('button', { name: 'Edit startup.vpc' }).click();
  const content = page.getByLabel('Content of startup.vpc');
  await page.waitForFunction(() => document.querySelector('textarea')?.value.includes('set pcname A'));
  await content.fill('ip 10.0.0.9/24\nset pcname Mine\n');
  await writeFile(file, 'set pcname Theirs\n');
  await page.getByText('Another user has changed this file meanwhile.').waitFor();
  assert.match(await content.inputValue(), /Mine/);
  assert.equal(await readFile(file, 'utf8'), 'set pcname Theirs\n');
  await page.getByRole('button', { name: 'Overwrite with mine' }).click();
  await page.getByText('Saved.').waitFor();
  assert.equal(await readFile(file, 'utf8'), 'ip 10.0.0.9/24\nset pcname Mine\n');

  // Faster than any event: what is on the disk is looked at before it is written.
  await content.fill('third\n');
  await writeFile(file, 'fourth\n');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('button', { name: 'Load theirs' }).click();
  assert.equal(await content.inputValue(), 'fourth\n');
  assert.equal(await readFile(file, 'utf8'), 'fourth\n');

  // A textarea has line feeds only; the file keeps the ends of its lines.
  await writeFile(file, 'one\r\ntwo\r\n');
  await page.waitForFunction(() => document.querySelector('textarea')?.value === 'one\ntwo\n');
  await content.fill('one\ntwo\nthree\n');
  const saving = page.getByRole('button', { name: 'Save', exact: true });
  assert.equal(await saving.isDisabled(), false);
  await content.fill('one\ntwo\n');
  assert.equal(await saving.isDisabled(), true, 'as it was');
  await content.fill('one\ntwo\nthree\n');
  await saving.click();
  await page.getByText('Saved.').waitFor();
  assert.equal(await readFile(file, 'utf8'), 'one\r\ntwo\r\nthree\r\n');
  await writeFile(file, 'fourth\n');
  await page.waitForFunction(() => document.querySelector('textarea')?.value === 'fourth\n');

  // What is no text any more is left alone, by the editor and by what gives addresses.
  const binary = Buffer.from([0xff, 0x00, 0xfe]);
  await content.fill('fifth\n');
  await writeFile(file, binary);
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText(/^This file is no longer text/).waitFor();
  assert.equal(await content.inputValue(), 'fifth\n');
  assert.deepEqual(await readFile(file), binary);
  await page.getByRole('option', { name: /^PC1/ }).focus();
  await page.keyboard.press('a');
  await page.getByText('PC1: no address given, because the startup script is not text').waitFor();
  assert.deepEqual(await readFile(file), binary);
  await writeFile(file, 'fourth\n');
  await page.getByText(/^This file is no longer text/).waitFor({ state: 'detached' });
  await content.fill('fourth\n');

  await page.getByLabel('Find').fill('our');
  await page.getByLabel('Find').press('Enter');
  assert.equal(await content.evaluate((area: HTMLTextAreaElement) => area.selectionStart), 1);
  assert.deepEqual(await accessibilityFaults(page), []);
  await page.getByRole('button', { name: 'Back to the list' }).click();
  await page
    .getByLabel('Upload a file')
    .setInputFiles({ name: 'extra.txt', mimeType: 'text/plain', buffer: Buffer.from('hello') });
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page
      .getByRole('row', { name: /extra\.txt/ })
      .getByRole('link', { name: 'Download' })
      .click(),
  ]);
  assert.equal(await readFile(await download.path(), 'utf8'), 'hello');
  assert.deepEqual(complaints, []);
});

test('a switch begins with its ports and the addresses that it learns, and offers nothing that it cannot do', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const server = await serveInside(t, { 'VPCS.engine': 'built-in' });
  const project = await server.project('learned');
  const path = `/v2/projects/${project.project_id}`;
  const create = (name: string, node_type: string): Promise<{ node_id: string }> =>
    server.expect(201, 'POST', `${path}/nodes`, {
      name,
      node_type,
      compute_id: 'local',
      x: { PC1: -200, SW1: 0 }[name] ?? 200,
      properties: node_type === 'vpcs' ? { startup_script: 'ip 10.0.0.1/24\n' } : {},
    });
  const pc = await create('PC1', 'vpcs');
  const lan = await create('SW1', 'ethernet_switch');
  const other = await create('PC2', 'vpcs');
  await server.expect(201, 'POST', `${path}/links`, {
    nodes: [
      { node_id: pc.node_id, adapter_number: 0, port_number: 0 },
      { node_id: lan.node_id, adapter_number: 0, port_number: 4 },
    ],
  });
  const browser = await startBrowser(t);
  const { page, complaints } = await visit(browser, `http://127.0.0.1:${server.port}/labs/${project.project_id}`);
  const verbs = (): Promise<string[]> => inspector(page).locator('> .tools button').allInnerTexts();
  await pick(page, 'SW1');
  await page.getByText('No address has been learned yet.').waitFor();
  assert.deepEqual(await verbs(), ['Delete']);
  assert.deepEqual(await inspector(page).getByRole('columnheader').allInnerTexts(), [
    ...['Port', 'Type', 'VLAN', 'Leads to', 'Actions'],
  ]);
  await page.getByRole('main', { name: 'Topology' }).press('Shift+F10');
  assert.deepEqual(
    (await page.getByRole('menu').locator('[role^=menuitem]').allInnerTexts()).map((text) => text.split('\n')[0]),
    ['Isolate', 'Rename', 'Duplicate', 'Position and layers', 'Delete'],
  );
  await page.keyboard.press('Escape');
  await tab(page, 'General');
  await more(page);
  assert.equal(await inspector(page).getByLabel('Start order', { exact: true }).count(), 0, 'it always runs');
  assert.equal(await inspector(page).getByText(':/symbols').count(), 0, 'the path of a symbol');
  assert.deepEqual(await accessibilityFaults(page), []);
  await tab(page, 'Ports');
  await page
    .getByRole('row', { name: /Ethernet4/ })
    .getByRole('button', { name: 'PC1 e0' })
    .press('Enter');
  await page.getByRole('tab', { name: 'Impairments' }).waitFor();
  await page.getByRole('navigation').getByRole('button', { name: 'PC1 off' }).click();
  await inspector(page).getByText('10.0.0.1/24').waitFor();
  assert.deepEqual(await verbs(), ['Start', 'Stop', 'Reload', 'Console', 'Delete']);
  await pick(page, 'SW1');
  // It asks whether its address is taken.
  await server.expect(200, 'POST', `${path}/nodes/${pc.node_id}/start`);
  await page.getByRole('cell', { name: '00:50:79:66:68:00' }).waitFor();
  await page.getByRole('button', { name: 'Clear' }).click();
  await page.getByText('No address has been learned yet.').waitFor();

  // Several nodes are set at once.
  await page.getByRole('button', { name: 'Fit' }).click();
  for (const { node_id: id } of [pc, other]) {
    await page.locator(`[data-node="${id}"] image`).click({ modifiers: ['Control'] });
  }
  await inspector(page).getByLabel('Start order', { exact: true }).fill('4');
  await save(page);
  const nodes: { start_order?: number }[] = await server.expect(200, 'GET', `${path}/nodes`);
  assert.deepEqual(
    nodes.map(({ start_order: order }) => order),
    [4, 4, 4],
  );
  // What differs says so, can be set to either value, and follows others.
  await server.expect(200, 'PUT', `${path}/nodes/${pc.node_id}`, { locked: true, start_order: 7 });
  const locked = inspector(page).getByLabel('Locked', { exact: true });
  const order = inspector(page).getByLabel('Start order', { exact: true });
  await until(() => locked.evaluate((box: HTMLInputElement) => box.indeterminate), 'a flag that differs');
  assert.deepEqual([await order.inputValue(), await order.getAttribute('placeholder')], ['', 'different values']);
  assert.deepEqual(await accessibilityFaults(page), []);
  await locked.click();
  await locked.click();
  await save(page);
  const flags: { locked: boolean }[] = await server.expect(200, 'GET', `${path}/nodes`);
  assert.deepEqual(
    flags.map((each) => each.locked),
    [false, false, false],
  );
  await server.expect(200, 'PUT', `${path}/nodes/${pc.node_id}`, { start_order: 4 });
  await until(async () => (await order.inputValue()) === '4', 'the common value again');
  assert.deepEqual(complaints, []);
});

test('a built-in PC shows the addresses that it has now while it runs', { skip: WITHOUT_BROWSER }, async (t) => {
  const server = await serveInside(t, { 'VPCS.engine': 'built-in' });
  const project = await server.project('live');
  const nodes = `/v2/projects/${project.project_id}/nodes`;
  const { node_id: id } = await server.expect(201, 'POST', nodes, {
    ...{ name: 'PC1', node_type: 'vpcs', compute_id: 'local' },
    properties: { startup_script: 'ip 10.0.0.7/24\n' },
  });
  const browser = await startBrowser(t);
  const { page, complaints } = await visit(browser, `http://127.0.0.1:${server.port}/labs/${project.project_id}`);
  await pick(page, 'PC1');
  const addresses = inspector(page).getByRole('term').filter({ hasText: 'Addresses now' });
  await inspector(page).getByLabel('Name', { exact: true }).waitFor();
  assert.equal(await addresses.count(), 0);
  await server.expect(200, 'POST', `${nodes}/${id}/start`);
  await addresses.waitFor();
  assert.equal(await inspector(page).getByRole('definition').first().textContent(), '10.0.0.7/24');
  await server.expect(200, 'POST', `${nodes}/${id}/stop`);
  await addresses.waitFor({ state: 'detached' });
  assert.deepEqual(complaints, []);
});

test('a machine that QEMU has halted is marked on the map, with the reason and the way to its log', {
  skip: WITHOUT_BROWSER || noQemu,
}, async (t) => {
  const server = await serveInside(t);
  const project = await server.project('halted');
  const images = join(server.state, 'images', 'QEMU');
  await mkdir(images, { recursive: true });
  await bootSector(images, 'panic.img', ...PANIC);
  const { node_id: id } = await server.expect(201, 'POST', `/v2/projects/${project.project_id}/nodes`, {
    ...{ name: 'R1', node_type: 'qemu', compute_id: 'local' },
    properties: {
      ...{ ...SMALL, options: `${SMALL.options} -device pvpanic` },
      ...{ hda_disk_image: 'panic.img', hda_disk_interface: 'ide' },
    },
  });
  const browser = await startBrowser(t);
  const { page, complaints } = await visit(browser, `http://127.0.0.1:${server.port}/labs/${project.project_id}`);
  await server.expect(200, 'POST', `/v2/projects/${project.project_id}/nodes/${id}/start`);
  const state = page.locator(`[data-node="${id}"].halted .state`);
  await state.waitFor();
  assert.match((await state.textContent()) ?? '', /^the guest has panicked; reload the node/);
  await pick(page, 'R1');
  await inspector(page).getByText('the guest has panicked; reload the node to start it again').waitFor();
  await inspector(page).getByRole('button', { name: 'Open log' }).click();
  await inspector(page).getByText('R1 stands still: the guest has panicked').waitFor();
  await inspector(page).getByText('qemu.log').waitFor();
  assert.deepEqual(complaints, []);
});

test('the cache of a disk is chosen in the form, and is the default again when it is not set', {
  skip: WITHOUT_BROWSER || noQemu,
}, async (t) => {
  const server = await serveInside(t);
  const project = await server.project('cache');
  const nodes = `/v2/projects/${project.project_id}/nodes`;
  const { node_id: id, properties } = await server.expect(201, 'POST', nodes, {
    ...{ name: 'R1', node_type: 'qemu', compute_id: 'local', properties: SMALL },
  });
  assert.equal('hda_disk_cache' in properties, false);
  const browser = await startBrowser(t);
  const { page, complaints } = await visit(browser, `http://127.0.0.1:${server.port}/labs/${project.project_id}`);
  await pick(page, 'R1');
  await tab(page, 'Settings');
  const choice = inspector(page).getByLabel('Cache of disk A');
  for (const [mode, label] of [
    ['writethrough', 'writethrough'],
    [undefined, 'not set'],
  ] as const) {
    await choice.selectOption({ label });
    await save(page);
    const now = await server.expect(200, 'GET', `${nodes}/${id}`);
    assert.equal(now.properties.hda_disk_cache, mode);
  }
  assert.deepEqual(complaints, []);
});
