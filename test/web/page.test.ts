// The page as people use it: a real browser, a real server, real PCs.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LabServer } from '../controller/lab-server.ts';
import { freeTcpPort } from '../free-tcp-port.ts';
import { accessibilityFaults } from './accessibility.ts';
import { startBrowser, visit, WITHOUT_BROWSER } from './browser.ts';
import { doubleClick } from './firefox.ts';

test('a lab is made, wired, started and pinged in the browser', { skip: WITHOUT_BROWSER }, async (t) => {
  const server = await LabServer.start(t, { 'VPCS.engine': 'built-in' });
  const browser = await startBrowser(t);
  const { page, complaints } = await visit(browser, `http://127.0.0.1:${server.port}/`, { credentials: null });
  await page.getByText('There is no lab yet.').waitFor();
  assert.deepEqual(await accessibilityFaults(page), []);

  await page.getByLabel('Name of the new lab').fill('In the browser');
  await page.getByRole('button', { name: 'New lab' }).click();
  await page.getByText('This lab is empty.').waitFor();
  await page.getByText('live', { exact: true }).waitFor();

  // By keyboard: two nodes.
  for (const count of [1, 2]) {
    await page.getByRole('main', { name: 'Topology' }).press('n');
    await page.getByRole('dialog').getByLabel('Template').fill('VPCS');
    await page.getByRole('dialog').getByRole('button', { name: /^VPCS/ }).waitFor();
    await page.getByRole('dialog').getByLabel('Template').press('Enter');
    await page
      .getByRole('navigation')
      .getByRole('button', { name: `PC${count}` })
      .waitFor();
  }
  const list = page.getByRole('navigation');

  // A link between their only ports.
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
  await list.getByRole('button', { name: 'PC1' }).click();
  await page.getByRole('button', { name: 'Add link' }).click();
  await list.getByRole('button', { name: 'PC2' }).click();
  await page.getByRole('form', { name: 'Add link' }).getByRole('button', { name: 'Link' }).click();
  await list.getByRole('button', { name: /PC1 e0 – PC2 e0/ }).waitFor();

  await page.getByRole('button', { name: 'Start all' }).click();
  await list.getByRole('button', { name: 'PC1 on' }).waitFor();
  await list.getByRole('button', { name: 'PC2 on' }).waitFor();

  for (const [name, line] of [
    ['PC1', 'ip 10.0.0.1/24'],
    ['PC2', 'ip 10.0.0.2/24'],
  ] as const) {
    // One by its details, the other by a double click on its picture.
    await list.getByRole('button', { name: `${name} on` }).click();
    if (name === 'PC1') await page.getByRole('complementary').getByRole('button', { name: 'Console' }).click();
    else {
      const { x, y, width, height } = (await page.locator('.node.selected image').boundingBox())!;
      await doubleClick(page, x + width / 2, y + height / 2);
    }
    const screen = page.locator('.console:not([hidden]) .xterm-rows');
    await screen.getByText(`${name}>`).first().waitFor();
    await page.keyboard.type(`${line}\r`);
    await screen
      .getByText(new RegExp(`${name}.*10\\.0\\.0`))
      .first()
      .waitFor();
  }
  await page.keyboard.type('ping 10.0.0.1 -c 2\r');
  await page
    .locator('.console:not([hidden]) .xterm-rows')
    .getByText(/84 bytes from 10\.0\.0\.1 icmp_seq=2/)
    .waitFor();
  assert.deepEqual(await accessibilityFaults(page), []);

  const [project] = await server.expect(200, 'GET', '/v2/projects');
  const links = await server.expect(200, 'GET', `/v2/projects/${project.project_id}/links`);
  assert.equal(links.length, 1);
  assert.deepEqual(complaints, []);
});

test('what others change is shown, and what a hand moves is kept', { skip: WITHOUT_BROWSER }, async (t) => {
  const { server, project, path } = await LabServer.withLab(t, { name: 'shared', snap_to_grid: true, grid_size: 25 });
  const hub = await server.hub(project, 'Hub', { x: 0, y: 0 });
  const browser = await startBrowser(t);
  const { page, complaints } = await visit(browser, `http://127.0.0.1:${server.port}/labs/${project.project_id}`, {
    credentials: null,
  });
  const picture = page.locator(`[data-node="${hub.node_id}"]`);
  await picture.waitFor();
  await page.locator('.live[data-connection="live"]').waitFor();

  const other = await server.hub(project, 'Elsewhere', { x: 200, y: 100 });
  await page.getByText('Elsewhere').first().waitFor();
  const link = await server.link(project, [hub, 0], [other, 0]);
  await page.locator(`[data-link="${link.link_id}"]`).waitFor({ state: 'attached' });
  await server.expect(200, 'PUT', `${path}/nodes/${other.node_id}`, { name: 'Renamed' });
  await page.getByRole('navigation').getByRole('button', { name: 'Renamed', exact: false }).first().waitFor();

  // Dragged by hand, to the grid.
  await page.getByRole('button', { name: 'Fit' }).click();
  const box = (await picture.locator('image').boundingBox())!;
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2 + 60, box.y + box.height / 2 + 110, { steps: 8 });
  await page.mouse.up();
  await page.waitForFunction(
    async ([address]) => ((await (await fetch(address!)).json()) as { y: number }).y > 50,
    [`${path}/nodes/${hub.node_id}`],
  );
  const moved = await server.expect(200, 'GET', `${path}/nodes/${hub.node_id}`);
  assert.ok(moved.x > 20 && moved.y > 70, `${moved.x} ${moved.y}`);
  const off = (moved.x + moved.width / 2) % 25;
  assert.ok(off <= 0.5, `${off} pixels beside the grid`);

  // A deletion can be undone, and done again.
  const line = page.locator(`[data-link="${link.link_id}"]`);
  await page.getByRole('main', { name: 'Topology' }).press('Delete');
  await picture.waitFor({ state: 'detached' });
  await line.waitFor({ state: 'detached' });
  await page.getByText('Undo brings the disks back for an hour').waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await picture.waitFor();
  await line.waitFor({ state: 'attached' });
  await page.getByRole('button', { name: 'Redo' }).click();
  await picture.waitFor({ state: 'detached' });
  await line.waitFor({ state: 'detached' });

  await server.expect(204, 'POST', `${path}/close`);
  await page.getByText('This lab is closed.').waitFor();
  await page.getByRole('button', { name: 'Open' }).click();
  await page.getByText('Renamed').first().waitFor();
  await server.expect(204, 'DELETE', path);
  await page.getByText('This lab was deleted.').waitFor();
  // The browser says of its own accord that what the page asks for may be gone by then.
  assert.deepEqual(
    complaints.filter((text) => !/status of 404/.test(text)),
    [],
  );
});

test('a server that goes away is said to be away, and the page goes on where it was', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const { server, project } = await LabServer.withLab(
    t,
    { name: 'comes back', auto_close: false },
    { port: String(await freeTcpPort()) },
  );
  const hub = await server.hub(project, 'Before');
  const browser = await startBrowser(t);
  const { page } = await visit(browser, `http://127.0.0.1:${server.port}/labs/${project.project_id}`, {
    credentials: null,
  });
  await page.locator('.live[data-connection="live"]').waitFor();
  await page.getByText('Before').first().waitFor();
  await server.stop();
  await page.getByText('Connection lost, trying again').waitFor();
  await page.getByText('Before').first().waitFor();
  await server.start();
  await server.call('POST', `/v2/projects/${project.project_id}/open`);
  await server.expect(200, 'PUT', `/v2/projects/${project.project_id}/nodes/${hub.node_id}`, { name: 'After' });
  await page.locator('.live[data-connection="live"]').waitFor();
  await page.getByText('After').first().waitFor();
});

test('names and drawings that are code are shown and do nothing', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const server = await LabServer.start(t);
  const evil = '<img src=x onerror="window.broken=1"><script>window.broken=1</script>';
  const project = await server.project(evil.slice(0, 60).replaceAll('/', ''));
  const path = `/v2/projects/${project.project_id}`;
  await server.expect(201, 'POST', `${path}/drawings`, {
    svg: '<svg width="50" height="50"><script>window.broken=1</script><image href="http://192.0.2.1/p.png" width="9" height="9"/><foreignObject><body onload="window.broken=1"/></foreignObject></svg>',
  });
  const browser = await startBrowser(t);
  const { page, complaints } = await visit(browser, `http://127.0.0.1:${server.port}/labs/${project.project_id}`, {
    credentials: null,
  });
  await page.locator('.drawing image').waitFor({ state: 'attached' });
  assert.equal(await page.evaluate(() => (globalThis as { broken?: number }).broken), undefined);
  await page.goto(`http://127.0.0.1:${server.port}/`);
  await page.getByRole('link', { name: '<img' }).waitFor();
  assert.equal(await page.evaluate(() => (globalThis as { broken?: number }).broken), undefined);
  assert.deepEqual(complaints, []);
});
