// Schedules of impairments: values of each step, what two people see of one, and what is wrong with it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { until } from '../controller/lab-server.ts';
import { accessibilityFaults } from './accessibility.ts';
import { startBrowser, visit, WITHOUT_BROWSER } from './browser.ts';
import { serveInside } from './served.ts';

test('steps have values, errors stand at their fields, a second browser shows the same, and it can be undone', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const server = await serveInside(t);
  const project = await server.project('lines', { auto_close: false });
  const [a, b] = [await server.hub(project, 'A', { x: -150, y: 0 }), await server.hub(project, 'B', { x: 150, y: 0 })];
  const { link_id: id } = await server.link(project, [a, 0], [b, 0]);
  const path = `/v2/projects/${project.project_id}/links/${id}/schedule`;
  const read = () => server.expect(200, 'GET', path);
  const browser = await startBrowser(t);
  const open = async (): Promise<{ page: Page; complaints: string[] }> => {
    const seen = await visit(browser, `http://127.0.0.1:${server.port}/labs/${project.project_id}`);
    const list = seen.page.getByRole('navigation', { name: 'Nodes and links' });
    await list.getByRole('button', { name: /^A .* – B / }).click();
    await seen.page.getByRole('tab', { name: 'Impairments' }).click();
    await seen.page.getByText('Schedule', { exact: true }).click();
    return seen;
  };
  const { page, complaints } = await open();
  const step = (number: number, on = page) => on.getByRole('group', { name: `Step ${number}`, exact: true });
  await step(1).getByLabel('at s').fill('0');
  await step(1).getByLabel('for s').fill('300');
  await step(1).getByLabel('Effect').selectOption('values');
  await step(1).getByLabel('Step 1, Delay, both directions', { exact: true }).fill('40');
  await step(1).getByLabel('Each direction on its own').check();
  await step(1).getByLabel('Step 1, Loss, B → A').fill('200');
  await page.getByRole('button', { name: 'Add step' }).click();
  assert.equal(await step(2).getByLabel('at s').inputValue(), '300', 'where the first one ends');
  await step(2).getByLabel('Effect').selectOption('adsl');
  await step(2).getByLabel('Subscriber').selectOption('B');
  await page.getByRole('button', { name: 'Add step' }).click();
  await step(3).getByLabel('Effect').selectOption('no impairments');
  await step(3).getByLabel('for s').fill('soon');
  await page.getByLabel('rounds').fill('0');
  await page.getByRole('img', { name: 'Preview of a round: 305 s' }).waitFor();
  assert.deepEqual(await accessibilityFaults(page), []);
  const start = page.getByRole('button', { name: 'Start schedule' });
  await start.click();
  // Both, each at its field; nothing was started.
  const loss = step(1).getByLabel('Step 1, Loss, B → A');
  await until(async () => (await loss.getAttribute('aria-invalid')) === 'true', 'the mark of the loss');
  assert.equal(await step(3).getByLabel('for s').getAttribute('aria-invalid'), 'true');
  assert.match((await step(3).locator('.problem').allTextContents()).join(''), /^expected number, received "soon"/);
  assert.equal((await read()).state, 'none');
  await loss.fill('2');
  await step(3).getByLabel('for s').fill('60');
  await start.click();
  await page.getByText('Running, round 1').waitFor();
  const told = await read();
  assert.deepEqual(told.steps[0], {
    at: 0,
    for: 300,
    forward: { delay: { ms: 40 } },
    backward: { delay: { ms: 40 }, loss: { percent: 2 } },
  });
  assert.equal(told.steps[1].backward.rate.kbit, 384, 'the subscriber sends slowly');
  assert.equal(told.steps[2].forward.delay, null);

  // Another browser has the same in its form, and sends the same.
  const other = await open();
  await other.page.getByText('Running, round 1').waitFor();
  await step(3, other.page).waitFor();
  assert.equal(await step(1, other.page).getByLabel('Step 1, Loss, B → A').inputValue(), '2');
  assert.equal(await step(2, other.page).getByLabel('Effect').inputValue(), 'adsl');
  assert.equal(await step(2, other.page).getByLabel('Subscriber').inputValue(), '1');
  assert.equal(await step(3, other.page).getByLabel('Effect').inputValue(), 'clear');
  await step(1, other.page).getByLabel('at s').fill('7');
  await other.page.getByRole('button', { name: 'Start schedule' }).click();
  await until(async () => (await read()).steps[0].at === 7, 'the schedule of the other');
  const { steps, rounds } = await read();
  assert.deepEqual([steps, rounds], [[{ ...told.steps[0], at: 7 }, ...told.steps.slice(1)], 0]);
  // The first one shows that, unless somebody types there.
  await until(async () => (await step(1).getByLabel('at s').inputValue()) === '7', 'the values of the other');
  await step(1).getByLabel('at s').fill('9');
  await other.page.getByRole('button', { name: 'Undo' }).click();
  await until(async () => (await read()).steps[0].at === 0, 'the schedule of before');
  await page.getByText('The link has a different schedule from the one typed here.').waitFor();
  assert.equal(await step(1).getByLabel('at s').inputValue(), '9');
  await page.getByRole('button', { name: 'Show that one' }).click();
  assert.equal(await step(1).getByLabel('at s').inputValue(), '0');
  await page.getByRole('button', { name: 'Cancel schedule' }).click();
  await page.getByText('Cancelled').waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('Running, round 1').waitFor();
  // The browser itself notes what was refused.
  assert.deepEqual(
    complaints.filter((complaint) => !/status of 400/.test(complaint)),
    [],
  );
});
