// The log of a node: it has what happened before the page was opened, and goes on; and settings of a node can be taken back.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../controller/lab-server.ts';
import { startBrowser, visit, WITHOUT_BROWSER } from './browser.ts';
import { serveInside } from './served.ts';

test('the log of a node begins before the page, and its settings can be undone', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const server = await serveInside(t, { 'VPCS.engine': 'built-in' });
  const project = await server.project('log', { auto_close: false });
  const path = `/v2/projects/${project.project_id}/nodes`;
  const pc = await server.expect(201, 'POST', path, { name: 'PC1', node_type: 'vpcs', compute_id: 'local' });
  const act = (verb: string) => server.call('POST', `${path}/${pc.node_id}/${verb}`);
  await act('start');
  await act('stop');
  const browser = await startBrowser(t);
  const { page, complaints } = await visit(browser, `http://127.0.0.1:${server.port}/labs/${project.project_id}`);
  await page.getByRole('navigation').getByRole('button', { name: 'PC1 off' }).first().click();
  await page.getByRole('tab', { name: 'Log' }).click();
  const lines = page.getByRole('tabpanel').locator('.log').getByRole('listitem');
  const said = async (): Promise<string[]> =>
    (await lines.allTextContents()).map((line) => /is (on|off) now/.exec(line)?.[1] ?? line);
  await until(async () => (await said()).length === 2, 'what was before');
  assert.deepEqual(await said(), ['off', 'on'], 'the newest first');
  await act('start');
  await until(async () => (await said()).length === 3, 'what happens now');
  assert.equal((await said())[0], 'on');
  await page.reload();
  await page.getByRole('navigation').getByRole('button', { name: 'PC1 on' }).first().click();
  await page.getByRole('tab', { name: 'Log' }).click();
  await until(async () => (await said()).length === 3, 'all of it');

  await page.getByRole('tab', { name: 'General' }).click();
  const name = page.locator('[data-field="name"] input').first();
  await name.fill('Other');
  await name.press('Enter');
  const now = async (): Promise<string> => (await server.expect(200, 'GET', `${path}/${pc.node_id}`)).name;
  await until(async () => (await now()) === 'Other', 'the name');
  await page.getByRole('button', { name: 'Undo' }).click();
  await until(async () => (await now()) === 'PC1', 'the name of before');
  await until(async () => (await name.inputValue()) === 'PC1', 'it in the form');
  assert.deepEqual(complaints, []);
});
