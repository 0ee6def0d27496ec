// What a link does to frames, in the page: presets, one direction, what is achieved, schedules, suspension, and values that do not fit.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import type { Body } from '../body.ts';
import { frameSender } from '../controller/frame-sender.ts';
import { until } from '../controller/lab-server.ts';
import { accessibilityFaults } from './accessibility.ts';
import { startBrowser, visit, WITHOUT_BROWSER } from './browser.ts';
import { serveInside } from './served.ts';

const cell = (page: Page, title: string, direction: number) =>
  page
    .getByRole('region', { name: 'Asked / achieved' })
    .getByRole('row', { name: title })
    .getByRole('cell')
    .nth(direction);

test('impairments are chosen, applied, seen, scheduled and refused by name', { skip: WITHOUT_BROWSER }, async (t) => {
  const server = await serveInside(t, { 'VPCS.engine': 'built-in' });
  const project = await server.project('lines', { auto_close: false });
  const [a, b] = [await server.hub(project, 'A', { x: -150, y: 0 }), await server.hub(project, 'B', { x: 150, y: 0 })];
  const { link_id: id } = await server.link(project, [a, 0], [b, 0]);
  const path = `/v2/projects/${project.project_id}/links/${id}`;
  const read = (): Promise<Body> => server.expect(200, 'GET', path);
  const send = await frameSender(t, server, { project, hub: a });
  const browser = await startBrowser(t);
  const { page, complaints } = await visit(browser, `http://127.0.0.1:${server.port}/labs/${project.project_id}`);
  await page
    .getByRole('navigation', { name: 'Nodes and links' })
    .getByRole('button', { name: /^A .* – B / })
    .click();

  // From the link's menu: a preset by its title, and none again.
  const choose = async (title: string): Promise<void> => {
    await page.getByRole('main', { name: 'Topology' }).press('Shift+F10');
    const entries = page.getByRole('menu').getByRole('menuitem');
    await entries.first().waitFor();
    assert.ok((await entries.count()) <= 10, 'entries of the menu');
    await page.getByRole('menuitem', { name: 'Impairments' }).click();
    await page.getByRole('menuitem', { name: title }).waitFor();
    assert.ok((await entries.count()) <= 10, 'entries of the submenu');
    await page.getByRole('menuitem', { name: title }).click();
  };
  await choose('Satellite (GEO)');
  await until(async () => (await read()).impairments?.forward.delay?.ms === 260, 'the preset of the menu');
  await choose('No impairments');
  await until(async () => (await read()).impairments === undefined, 'no impairments');
  await page.getByRole('tab', { name: 'Impairments' }).click();

  // A preset, in numbers, with its source; nothing happens before it is applied.
  await page.getByLabel('Preset').selectOption('adsl');
  await page.getByText('the profile "DSL" of WebPageTest').waitFor();
  assert.equal(await page.getByLabel('Rate, A → B').inputValue(), '384');
  assert.equal(await page.getByLabel('Subscriber').inputValue(), '0');
  assert.equal((await read()).impairments, undefined);
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByRole('button', { name: 'Apply' }).waitFor({ state: 'detached' });
  assert.deepEqual((await read()).impairments.backward.rate, { kbit: 1500, queue_ms: 250 });

  // None any more, and half of the frames of one direction lost.
  await page.getByLabel('Preset').selectOption('lte');
  assert.equal(await page.getByLabel('Delay, both directions', { exact: true }).inputValue(), '35', 'one row');
  assert.equal(await page.getByLabel('Subscriber').count(), 0, 'no up and down');
  await page.getByRole('button', { name: 'Discard' }).click();
  assert.equal(await page.getByLabel('Preset').inputValue(), 'adsl', 'what the link has');
  await page.getByLabel('Preset').selectOption('No impairments');
  await page.getByLabel('Each direction on its own').check();
  const share = page.getByLabel('Loss, A → B');
  await share.fill('50');
  await share.press('Enter');
  await until(async () => (await read()).impairments?.forward.loss?.percent === 50, 'the loss');
  assert.deepEqual((await read()).impairments, { forward: { loss: { percent: 50 } }, backward: {} });
  const isReset = page.waitForResponse((response) => response.url().endsWith('/statistics/reset'));
  await page.getByRole('button', { name: 'Reset counters' }).click();
  await isReset;
  let forward: Body;
  const statistics = async (): Promise<void> => {
    ({ forward } = await server.expect(200, 'GET', `${path}/statistics`));
  };
  await until(async () => {
    // A busy host may drop some at the socket.
    await send(Array.from({ length: 1000 }, () => Buffer.alloc(60)));
    await statistics();
    return forward.offered.frames >= 5000;
  }, 'frames enough');
  await until(async () => {
    await statistics();
    return (await cell(page, 'Loss', 0).textContent()) === `50 % / ${forward.loss_percent} %`;
  }, 'the loss that is achieved');
  // The mean of so many strays by 0.7 points.
  assert.ok(Math.abs(forward.loss_percent - 50) < 3, `${forward.loss_percent} %`);
  await cell(page, 'Dropped', 0)
    .getByText(`${forward.dropped.loss.toLocaleString('en')} lost`)
    .waitFor();
  await page.getByRole('img', { name: /Rates of the last minute/ }).waitFor();

  // A bad value is marked at its field with the server's words, and what was typed stays.
  await share.fill('150');
  await page.getByLabel('Delay, B → A', { exact: true }).fill('soon');
  await page.getByText('2 changes:').waitFor();
  await share.press('Enter');
  await page.getByText('expected a number from 0 to 100 (percent), received 150').waitFor();
  await page.getByText(/received (string|"soon")/).waitFor();
  assert.equal(await share.getAttribute('aria-invalid'), 'true');
  assert.equal(await page.getByLabel('Loss, B → A').getAttribute('aria-invalid'), 'false');
  assert.deepEqual([await share.inputValue(), (await read()).impairments.forward.loss.percent], ['150', 50]);
  assert.deepEqual(await accessibilityFaults(page), []);
  await page.getByRole('button', { name: 'Discard' }).click();
  assert.equal(await share.inputValue(), '50');

  // Both directions at once, also what somebody else changes.
  await page.getByLabel('Each direction on its own').uncheck();
  await page.getByText('1 change:').waitFor();
  const both = page.getByLabel('Loss, both directions', { exact: true });
  assert.equal(await both.inputValue(), '50', 'the values of the first direction');
  await page.getByRole('button', { name: 'Apply' }).click();
  await until(async () => (await read()).impairments?.backward.loss?.percent === 50, 'the second direction');
  await page.getByText('More impairments').click();
  const duplicates = page.getByLabel('Duplicates, share, both directions');
  await duplicates.fill('10');
  await page.getByText('1 change:').waitFor();
  await server.expect(201, 'PUT', path, { impairments: { both: { loss: { percent: 1 } } } });
  await until(async () => (await both.inputValue()) === '1', 'what another client changed');
  assert.equal(await duplicates.inputValue(), '10');
  await page.getByRole('button', { name: 'Apply' }).click();
  await until(async () => (await read()).impairments?.forward.duplicate?.percent === 10, 'the duplicates');

  // Undone as one step, and done again.
  const undo = page.getByRole('button', { name: 'Undo' });
  await undo.click();
  await until(async () => (await read()).impairments?.forward.duplicate === undefined, 'what was before');
  assert.deepEqual((await read()).impairments.forward, { loss: { percent: 1 } });
  await until(async () => (await duplicates.inputValue()) === '', 'what was before in the form');
  await page.getByRole('button', { name: 'Redo' }).click();
  await until(async () => (await read()).impairments?.forward.duplicate?.percent === 10, 'the duplicates again');

  // A schedule runs, and ends.
  await page.getByText('Schedule', { exact: true }).click();
  await page.getByLabel('at s').fill('0');
  await page.getByLabel('for s').fill('2');
  await page.getByRole('button', { name: 'Start schedule' }).click();
  await page.getByText('Running, round 1 of 1').waitFor();
  await page.getByText('Finished').waitFor();
  await page.getByLabel('at s').fill('-1');
  await page.getByRole('button', { name: 'Start schedule' }).click();
  // In the server's words, at the field.
  await page.locator('.step .problem', { hasText: /^expected a number from 0/ }).waitFor();
  assert.equal(await page.getByLabel('at s').getAttribute('aria-invalid'), 'true');

  // Suspension, and the filters of GNS3, which links between hubs do not have.
  await page.getByRole('button', { name: 'Suspend' }).click();
  await until(async () => (await read()).suspend === true, 'suspension');
  await page.getByRole('button', { name: 'Resume' }).waitFor();
  await undo.click();
  await until(async () => (await read()).suspend === false, 'the end of suspension');
  assert.equal(await page.getByText('GNS3 filters').count(), 0);
  const nodes = `/v2/projects/${project.project_id}/nodes`;
  const pc = await server.expect(201, 'POST', nodes, {
    name: 'PC',
    node_type: 'vpcs',
    compute_id: 'local',
    x: 0,
    y: 150,
  });
  const filtered = await server.link(project, [pc, 0], [b, 1]);
  await page
    .getByRole('navigation', { name: 'Nodes and links' })
    .getByRole('button', { name: /^PC .* – B / })
    .click();
  await page.getByRole('tab', { name: 'Impairments' }).click();
  await page.getByText('GNS3 filters').click();
  const loss = page.getByRole('group', { name: 'Packet loss' }).getByLabel('Chance');
  await loss.fill('200');
  await loss.press('Enter');
  await page.locator('.filters').getByRole('alert').getByText('packet_loss').waitFor();
  assert.equal(await loss.inputValue(), '200');
  await loss.fill('20');
  await loss.press('Enter');
  const pcLink = `/v2/projects/${project.project_id}/links/${filtered.link_id}`;
  await until(async () => (await server.expect(200, 'GET', pcLink)).filters.packet_loss?.[0] === 20, 'the filter');
  await undo.click();
  await until(async () => (await server.expect(200, 'GET', pcLink)).filters.packet_loss === undefined, 'no filter');
  // A ping across the link loses about what it is asked to lose.
  const other = await server.expect(201, 'POST', nodes, {
    ...{ name: 'Other', node_type: 'vpcs', compute_id: 'local', x: 0, y: -150 },
    properties: { startup_script: 'ip 10.0.0.2/24\n' },
  });
  await server.link(project, [other, 0], [a, 1]);
  await server.expect(204, 'POST', `${nodes}/start`);
  await page.getByRole('navigation').getByRole('button', { name: 'PC on', exact: true }).click();
  await page.getByRole('main', { name: 'Topology' }).press('c');
  const screen = page.locator('.console .xterm-rows');
  await screen
    .getByText(/^(VPCS|PC)>/)
    .first()
    .waitFor();
  await page.keyboard.type('ip 10.0.0.1/24\r');
  await screen.getByText(/10\.0\.0\.1 255/).waitFor();
  // Each has the other's MAC address before frames are lost.
  await server.expect(201, 'PUT', path, { impairments: null });
  await page.keyboard.type('ping 10.0.0.2 -c 1\r');
  await screen.getByText(/bytes from 10\.0\.0\.2 icmp_seq=1 /).waitFor();
  await server.expect(201, 'PUT', path, { impairments: { forward: { loss: { percent: 50 } }, backward: {} } });
  await page.keyboard.type('ping 10.0.0.2 -c 40 -i 10 -w 50\r');
  await screen.getByText(/icmp_seq=40/).waitFor();
  await screen
    .getByText(/icmp_seq=\d+ timeout/)
    .first()
    .waitFor();
  await screen
    .getByText(/bytes from 10\.0\.0\.2 icmp_seq=([2-9]|\d\d) /)
    .first()
    .waitFor();
  assert.deepEqual(await accessibilityFaults(page), []);
  // The browser itself notes each of the three values that were refused.
  assert.deepEqual(
    complaints.filter((complaint) => !/status of 400/.test(complaint)),
    [],
  );
});
