// Two people in one lab.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { eventually } from '../system/daemon.ts';
import { confirmIn, startBrowser, type Visit, visit, WITHOUT_BROWSER } from './browser.ts';
import { serve } from './served.ts';

/** Takes a node by its picture and moves it by so much, without letting go; answers where the pointer is. */
async function drag(page: Page, node: string, by: { x: number; y: number }): Promise<{ x: number; y: number }> {
  const box = (await page.locator(`[data-node="${node}"] image`).first().boundingBox())!;
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + by.x, y + by.y, { steps: 4 });
  return { x: x + by.x, y: y + by.y };
}

test('each sees what the other does; what one drags and the other deletes is gone with a sentence', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const { daemon, address } = await serve(t);
  const { project_id: id } = await daemon.post('/v2/projects', { name: 'Together', auto_close: false });
  const path = `/v2/projects/${id}`;
  const add = async (name: string, x: number): Promise<string> =>
    (await daemon.post(`${path}/nodes`, { name, node_type: 'vpcs', compute_id: 'local', x, y: 0 })).node_id;
  const [one, two] = [await add('PC1', -150), await add('PC2', 150)];
  const browser = await startBrowser(t);
  const open = async (): Promise<Visit> => {
    const seen = await visit(browser, `${address}labs/${id}`);
    await seen.page.locator('.live[data-connection="live"]').waitFor();
    await seen.page.locator(`[data-node="${one}"]`).waitFor();
    return seen;
  };
  const [ada, bob] = [await open(), await open()];

  // Starts and links of the one are seen by the other.
  await ada.page.getByRole('button', { name: 'Start all' }).click();
  for (const name of ['PC1 on', 'PC2 on']) {
    await bob.page.getByRole('navigation').getByRole('button', { name }).first().waitFor();
  }
  const list = (page: Page) => page.getByRole('navigation', { name: 'Nodes and links' });
  await list(ada.page).getByRole('button', { name: 'PC1 on' }).first().click();
  await ada.page.getByRole('button', { name: 'Add link' }).click();
  await list(ada.page).getByRole('button', { name: 'PC2 on' }).first().click();
  await ada.page.getByRole('form', { name: 'Add link' }).getByRole('button', { name: 'Link' }).click();
  for (const { page } of [ada, bob])
    await list(page)
      .getByRole('button', { name: /^PC1 e0 – PC2 e0/ })
      .waitFor();

  // What a link is asked to do, and where a node stands.
  await list(ada.page)
    .getByRole('button', { name: /^PC1 e0 – PC2 e0/ })
    .click();
  await ada.page.getByRole('tab', { name: 'Impairments' }).click();
  await ada.page.getByLabel('Delay, both directions', { exact: true }).fill('7');
  await ada.page.keyboard.press('Enter');
  await bob.page.locator('[data-link] .mark').filter({ hasText: '7 ms' }).waitFor({ state: 'attached' });
  await drag(ada.page, one, { x: 30, y: 60 });
  await ada.page.mouse.up();
  const placeOf = (page: Page): Promise<string | null> =>
    page.locator(`[data-node="${one}"]`).getAttribute('data-place');
  await eventually('the place that the other sees', async () => {
    const { x, y } = await daemon.get(`${path}/nodes/${one}`);
    return y > 0 && (await placeOf(bob.page)) === `${x} ${y}`;
  });

  // The same console in both.
  for (const { page } of [ada, bob]) {
    await page.getByRole('navigation').getByRole('button', { name: 'PC1 on' }).first().click();
    await page.getByRole('complementary').getByRole('button', { name: 'Console' }).first().click();
    await page.locator('.xterm-rows').first().getByText(/>/).first().waitFor();
  }
  await ada.page.keyboard.type('ip 10.9.8.7/24\r');
  await bob.page
    .locator('.xterm-rows')
    .first()
    .getByText(/10\.9\.8\.7/)
    .first()
    .waitFor();

  // Bob holds PC2 when Ada deletes it.
  const picture = bob.page.locator(`[data-node="${two}"]`);
  const held = await drag(bob.page, two, { x: 40, y: 40 });
  await list(ada.page).getByRole('button', { name: 'PC2 on' }).first().click();
  await ada.page.getByRole('main', { name: 'Topology' }).press('Delete');
  await confirmIn(ada.page);
  await ada.page.locator(`[data-node="${two}"]`).waitFor({ state: 'detached' });
  await picture.waitFor({ state: 'detached' });
  await bob.page.mouse.move(held.x + 20, held.y + 20, { steps: 3 });
  await bob.page.mouse.up();
  assert.equal(await picture.count(), 0);
  await bob.page
    .getByText(/PC2 (was )?deleted/)
    .first()
    .waitFor({ state: 'attached' });
  assert.deepEqual(ada.complaints, []);

  // And the lab as a whole.
  await daemon.post(`${path}/close`);
  for (const { page } of [ada, bob]) await page.getByText('This lab is closed.').waitFor();
  await ada.page.getByRole('button', { name: 'Open', exact: true }).click();
  for (const { page } of [ada, bob]) await page.getByText('This lab is closed.').waitFor({ state: 'hidden' });
});
