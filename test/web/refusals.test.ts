// What the server refuses is said where it was asked for, in its own words, and what was typed stays.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accessibilityFaults } from './accessibility.ts';
import { chooseFromMore, startBrowser, visit, WITHOUT_BROWSER } from './browser.ts';
import { serveInside } from './served.ts';

test('a taken name, a full disk, a server in trouble: the form keeps what was typed and says why', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const server = await serveInside(t);
  await server.project('Taken', { auto_close: false });
  const mine = await server.project('CCNA/Mine', { auto_close: false });
  const address = `http://127.0.0.1:${server.port}`;
  const browser = await startBrowser(t);
  const { page } = await visit(browser, `${address}/`);
  const row = page.getByRole('row').filter({ hasText: 'Mine' });
  await row.getByRole('button', { name: 'Settings' }).click();
  const form = page.getByRole('dialog');
  const name = form.getByLabel('Name');
  await name.fill('Taken');
  await form.getByRole('button', { name: 'Save' }).click();
  const message = form.getByRole('alert');
  await message.getByText(/Taken/).waitFor();
  await message.getByRole('button', { name: /^Request \S+-\S+/ }).waitFor();
  assert.equal(await name.inputValue(), 'Taken');
  assert.deepEqual(await accessibilityFaults(page), []);

  // What cannot be had of a server in good health: its answers are put in its place.
  for (const status of [401, 403, 413, 429, 500, 507]) {
    await page.route(`**/v2/projects/${mine.project_id}`, (route) =>
      route.fulfill({
        status,
        headers: { 'X-Request-Id': `test-${status}`, ...(status === 429 && { 'Retry-After': '60' }) },
        json: { status, message: `name: sentence ${status}` },
      }),
    );
    await form.getByRole('button', { name: 'Save' }).click();
    await message.getByText(`name: sentence ${status}`).waitFor();
    await message.getByRole('button', { name: `Request test-${status}` }).waitFor();
    if (status === 429) await message.getByText(/Try again in 5\d s\./).waitFor();
    assert.equal(await name.inputValue(), 'Taken');
    await page.unroute(`**/v2/projects/${mine.project_id}`);
  }
  await name.fill('CCNP/Mine');
  await form.getByLabel('Start its nodes when it is opened').check();
  await form.getByRole('button', { name: 'Save' }).click();
  await form.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'CCNP 1' }).waitFor();
  const changed = await server.expect(200, 'GET', `/v2/projects/${mine.project_id}`);
  assert.deepEqual([changed.name, changed.auto_start, changed.auto_close], ['CCNP/Mine', true, false]);
});

test('what runs is deleted only when its name is typed', { skip: WITHOUT_BROWSER }, async (t) => {
  const server = await serveInside(t);
  const project = await server.project('Runs (a lot)', { auto_close: false });
  await server.hub(project, 'Hub');
  const browser = await startBrowser(t);
  const { page, complaints } = await visit(browser, `http://127.0.0.1:${server.port}/`);
  const row = page.getByRole('row').filter({ hasText: 'Runs' });
  await row.getByText('1 of 1').waitFor();
  await chooseFromMore(row, 'Delete');
  const form = page.getByRole('dialog');
  await form.getByRole('textbox').fill('Runs');
  await form.getByRole('button', { name: 'Delete' }).click();
  await form.getByRole('textbox').fill('Runs (a lot)');
  await server.expect(200, 'GET', `/v2/projects/${project.project_id}`);
  await form.getByRole('button', { name: 'Delete' }).click();
  await page.getByText('There is no lab yet.').waitFor();
  assert.equal((await server.call('GET', `/v2/projects/${project.project_id}`)).status, 404);
  assert.deepEqual(complaints, []);
});
