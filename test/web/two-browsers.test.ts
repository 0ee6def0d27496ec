// Two people in one lab.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startBrowser, type Visit, visit, WITHOUT_BROWSER } from './browser.ts';
import { serve } from './served.ts';

test('each sees what the other does; what one drags and the other deletes is gone with a sentence', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const { daemon, address, credentials } = await serve(t, { withPassword: true });
  const { project_id: id } = await daemon.post('/v2/projects', { name: 'Together', auto_close: false });
  const path = `/v2/projects/${id}`;
  const add = async (name: string, x: number): Promise<string> =>
    (await daemon.post(`${path}/nodes`, { name, node_type: 'vpcs', compute_id: 'local', x, y: 0 })).node_id;
  const [one, two] = [await add('PC1', -150), await add('PC2', 150)];
  const browser = await startBrowser(t);
  const open = async (): Promise<Visit> => {
    const seen = await visit(browser, `${address}labs/${id}`, { credentials });
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
  const link = await daemon.post(`${path}/links`, {
    nodes: [one, two].map((node_id) => ({ node_id, adapter_number: 0, port_number: 0 })),
  });
  for (const { page } of [ada, bob]) {
    await page.locator(`[data-link="${link.link_id}"]`).first().waitFor({ state: 'attached' });
  }

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
  const box = (await picture.locator('image').first().boundingBox())!;
  await bob.page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await bob.page.mouse.down();
  await bob.page.mouse.move(box.x + box.width / 2 + 40, box.y + box.height / 2 + 40, { steps: 4 });
  await daemon.delete(`${path}/nodes/${two}`);
  await ada.page.locator(`[data-node="${two}"]`).waitFor({ state: 'detached' });
  await picture.waitFor({ state: 'detached' });
  await bob.page.mouse.move(box.x + box.width / 2 + 60, box.y + box.height / 2 + 60, { steps: 3 });
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
