// The list of labs as cards with pictures of their maps, and what is done with several labs at once.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { type LabServer, until } from '../controller/lab-server.ts';
import { accessibilityFaultsInAll } from './accessibility.ts';
import { confirmIn, startBrowser, visit, WITHOUT_BROWSER } from './browser.ts';
import { serveInside } from './served.ts';

const skip = WITHOUT_BROWSER;

/** Labs with two linked hubs each. */
async function labs(server: LabServer, names: readonly string[]): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  for (const name of names) {
    const project = await server.project(name, { auto_close: false });
    const one = await server.hub(project, 'One', { x: 0, y: 0 });
    const two = await server.hub(project, 'Two', { x: 300, y: 100 });
    await server.link(project, [one, 0], [two, 0]);
    ids.set(name, project.project_id);
  }
  return ids;
}

const box = (page: Page, name: string) => page.getByRole('checkbox', { name: `Select ${name}`, exact: true });
const bar = (page: Page) => page.getByRole('toolbar', { name: 'Actions' });
const state = async (server: LabServer, id: string): Promise<string> =>
  (await server.expect(200, 'GET', `/v2/projects/${id}`)).status;

test('cards show the maps of labs, are kept by the browser, and do what the table does, with the keyboard alone', {
  skip,
}, async (t) => {
  const server = await serveInside(t);
  const ids = await labs(server, ['Course/Lab 1', 'Office', 'Zoo']);
  const closed = ids.get('Office')!;
  await server.expect(204, 'POST', `/v2/projects/${closed}/close`);
  const browser = await startBrowser(t);
  const { page, complaints } = await visit(browser, `http://127.0.0.1:${server.port}/`);
  await page.getByRole('row').filter({ hasText: 'Office' }).waitFor();
  await page.getByRole('button', { name: 'Cards' }).press('Enter');
  await page.getByRole('article').nth(2).waitFor();
  await page.reload();
  const office = page.getByRole('article').filter({ hasText: 'Office' });
  await office.getByText('closed').waitFor();
  for (const card of await page.getByRole('article').all()) {
    await card
      .locator('img')
      .and(page.locator('[src*="changed"]'))
      .evaluate((picture: HTMLImageElement) => picture.decode());
  }
  const names = () => page.getByRole('article').getByRole('heading').allInnerTexts();
  assert.deepEqual(await names(), ['Office', 'Zoo', 'Lab 1']);
  await page.getByRole('button', { name: 'Reverse order' }).click();
  assert.deepEqual(await names(), ['Zoo', 'Office', 'Lab 1']);
  await page.getByLabel('Sort by').selectOption('State');
  assert.deepEqual(await names(), ['Zoo', 'Office', 'Lab 1']);
  assert.deepEqual(await accessibilityFaultsInAll(page), []);

  await office.getByRole('button', { name: 'Open' }).press('Enter');
  await office.getByRole('button', { name: 'Close' }).waitFor();
  assert.equal(await state(server, closed), 'opened');
  await office.getByText('More').press('Enter');
  assert.deepEqual(await accessibilityFaultsInAll(page), []);
  await page.keyboard.press('Escape');
  assert.equal(await page.getByRole('menuitem', { name: 'Duplicate' }).isVisible(), false);
  await page.keyboard.press('Enter');
  await page.getByRole('menuitem').first().and(page.locator(':focus')).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'Settings of Office' }).getByRole('button', { name: 'Cancel' }).click();
  await office.getByRole('link', { name: 'Office' }).press('Enter');
  await page.waitForURL(`**/labs/${closed}`);
  assert.deepEqual(complaints, []);
});

test('selected labs are closed, opened and deleted together, after one question; a hidden one is left alone', {
  skip,
}, async (t) => {
  const server = await serveInside(t);
  const ids = await labs(server, ['Lab 1', 'Lab 2', 'Lab 3', 'Other']);
  const states = () => Promise.all([...ids.values()].map((id) => state(server, id)));
  const browser = await startBrowser(t);
  const { page, complaints } = await visit(browser, `http://127.0.0.1:${server.port}/`);
  // With Shift, the ones between are selected, too.
  await box(page, 'Lab 1').press('Space');
  await box(page, 'Lab 3').click({ modifiers: ['Shift'] });
  await bar(page).getByText('3 labs selected').waitFor();
  assert.equal(await box(page, 'Lab 2').isChecked(), true);
  assert.deepEqual(await accessibilityFaultsInAll(page), []);
  await bar(page).getByRole('button', { name: 'Close' }).press('Enter');
  await bar(page).getByRole('button', { name: 'Open' }).waitFor();
  await bar(page).getByRole('button', { name: 'Close' }).waitFor({ state: 'detached' });
  assert.deepEqual(await states(), ['closed', 'closed', 'closed', 'opened']);
  // Each button counts the labs that it is for.
  await box(page, 'Other').check();
  await bar(page).getByRole('button', { name: 'Open (3)' }).click();
  await bar(page).getByRole('button', { name: 'Close', exact: true }).waitFor();
  assert.deepEqual(await states(), ['opened', 'opened', 'opened', 'opened']);

  // An archive of each, one after another.
  const names: string[] = [];
  page.on('download', (download) => names.push(download.suggestedFilename()));
  await bar(page).getByRole('button', { name: 'Export' }).click();
  const exporting = page.getByRole('dialog', { name: 'Export 4 labs' });
  await exporting.getByRole('button', { name: 'Download' }).click();
  await exporting.waitFor({ state: 'detached' });
  await until(async () => names.length === 4, 'four archives');
  assert.deepEqual(
    names.sort(),
    ['Lab 1', 'Lab 2', 'Lab 3', 'Other'].map((name) => `${name}.gns3project`),
  );

  // What a search hides is not deleted. Hubs always run, so the number of labs is typed.
  await page.getByRole('checkbox', { name: 'Select all labs shown' }).uncheck();
  await page.getByRole('checkbox', { name: 'Select all labs shown' }).check();
  await page.getByRole('searchbox').fill('lab');
  await bar(page).getByText('3 labs selected').waitFor();
  await box(page, 'Lab 3').uncheck();
  await bar(page).getByRole('button', { name: 'Delete' }).click();
  const dialog = page.getByRole('dialog', { name: 'Delete 2 labs' });
  await dialog.getByRole('listitem').first().waitFor();
  assert.deepEqual(await dialog.getByRole('listitem').allInnerTexts(), ['Lab 1', 'Lab 2']);
  const proof = dialog.getByLabel(/^4 nodes are running\. Type 2/);
  await proof.fill('3');
  await dialog.getByRole('button', { name: 'Delete' }).click();
  assert.equal(await proof.evaluate((field: HTMLInputElement) => field.checkValidity()), false);
  await proof.fill('2');
  assert.deepEqual(await accessibilityFaultsInAll(page), []);
  await confirmIn(page);
  await page.getByRole('row').filter({ hasText: 'Lab 1' }).waitFor({ state: 'detached' });
  const left = (await server.expect(200, 'GET', '/v2/projects')) as { name: string }[];
  assert.deepEqual(left.map(({ name }) => name).sort(), ['Lab 3', 'Other']);
  assert.deepEqual(complaints, []);
});

test('several labs are shared at once: only what is chosen changes; each shows its owner', { skip }, async (t) => {
  const server = await serveInside(t);
  for (const name of ['bob', 'eve']) {
    await server.expect(201, 'POST', '/v2/accounts', { name, role: 'user', password: `password of ${name}` });
  }
  const ids = await labs(server, ['Lab 1', 'Lab 2', 'Own']);
  const sharing = (name: string) => `/v2/projects/${ids.get(name)}/sharing`;
  const access = async (name: string) => {
    const { owner, everybody, accounts } = await server.expect(200, 'GET', sharing(name));
    return { owner, everybody, accounts };
  };
  const alone = { everybody: 'none', accounts: {}, groups: {} };
  await server.expect(200, 'PUT', sharing('Lab 1'), { ...alone, accounts: { bob: 'watch' } });
  await server.expect(200, 'PUT', sharing('Lab 2'), { ...alone, owner: 'bob' });
  const browser = await startBrowser(t);
  const { page, complaints } = await visit(browser, `http://127.0.0.1:${server.port}/`);
  const row = (name: string) => page.getByRole('row').filter({ hasText: name });
  await row('Lab 1').getByRole('cell', { name: 'ada', exact: true }).waitFor();
  await row('Lab 2').getByRole('cell', { name: 'bob', exact: true }).waitFor();
  await page.getByRole('button', { name: 'Owner' }).click();
  await page.getByRole('columnheader', { name: 'Owner' }).and(page.locator('[aria-sort="ascending"]')).waitFor();
  assert.deepEqual(await page.getByRole('rowheader').allInnerTexts(), ['Lab 1', 'Own', 'Lab 2']);

  for (const name of ['Lab 1', 'Lab 2']) await box(page, name).check();
  await bar(page).getByRole('button', { name: 'Share' }).click();
  const dialog = page.getByRole('dialog', { name: 'Share 2 labs' });
  await dialog.getByText('The labs belong to several owners.').waitFor();
  assert.equal(await dialog.getByRole('radio', { name: 'Everybody hidden' }).isChecked(), true);
  assert.equal(
    await dialog.getByRole('radio', { name: 'bob may watch' }).isChecked(),
    true,
    'of the lab that is not his',
  );
  await dialog.getByRole('radio', { name: 'eve may change' }).check();
  assert.deepEqual(await accessibilityFaultsInAll(page), []);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
  assert.deepEqual(await access('Lab 1'), {
    owner: 'ada',
    everybody: 'none',
    accounts: { bob: 'watch', eve: 'change' },
  });
  assert.deepEqual(await access('Lab 2'), { owner: 'bob', everybody: 'none', accounts: { eve: 'change' } });
  assert.deepEqual((await access('Own')).accounts, {});
  assert.deepEqual(complaints, []);
});
