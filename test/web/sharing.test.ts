// Labs of several people on the page: who is logged in, and sharing by a window.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AccountsFile } from '../../src/store/accounts.ts';
import '../cheap-passwords.ts';
import { startBrowser, visit, WITHOUT_BROWSER } from './browser.ts';
import { serve } from './served.ts';

const BOB = { user: 'bob', password: 'password of bob' };
const CARL = { user: 'carl', password: 'password of carl' };
const EVE = { user: 'eve', password: 'password of eve' };

test('a lab is shared for watching by its owner; who watches sees it, and finds nothing that would change it', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const { daemon, address } = await serve(t);
  const file = new AccountsFile(daemon.state);
  for (const { user: name, password } of [BOB, EVE, CARL]) await file.add([{ name, role: 'user', password }], ['ada']);
  const browser = await startBrowser(t);
  const { page: own } = await visit(browser, address, { credentials: BOB });
  await own.getByText('bob (user)').waitFor();
  await own.getByPlaceholder('Name of the new lab').fill('Thesis');
  await own.getByRole('button', { name: 'New lab' }).click();
  await own.waitForURL(/\/labs\//);
  await own.goto(address);
  const row = own.getByRole('row').filter({ hasText: 'Thesis' });
  await row.getByText('just now').waitFor();
  await own.getByRole('button', { name: 'Changed' }).click();
  await own.getByRole('columnheader', { name: 'Changed' }).and(own.locator('[aria-sort="ascending"]')).waitFor();

  const { page: other } = await visit(browser, address, { credentials: EVE });
  await other.getByText('There is no lab yet.').waitFor();

  await row.getByRole('button', { name: 'Share' }).click();
  const dialog = own.getByRole('dialog');
  await dialog.getByText('The lab belongs to bob.').waitFor();
  assert.equal(await dialog.getByRole('radio', { name: 'Everybody hidden' }).isChecked(), true);
  await dialog.getByRole('radio', { name: 'eve may watch' }).check();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });

  const shared = other.getByRole('row').filter({ hasText: 'Thesis' });
  await shared.waitFor(); // by the notification alone
  await shared.getByText('watch only').waitFor();
  assert.deepEqual(await shared.getByRole('button').allInnerTexts(), ['Duplicate', 'Export']);

  // Rights that are withdrawn while the window is open stay withdrawn, and a deleted account does not fail the rest.
  await row.getByRole('button', { name: 'Share' }).click();
  await dialog.getByRole('radio', { name: 'carl may watch' }).waitFor();
  const [lab] = await daemon.get('/v2/projects');
  const sharing = `/v2/projects/${lab.project_id}/sharing`;
  await daemon.put(sharing, { update: { eve: 'none' } });
  await daemon.delete('/v2/accounts/carl');
  await dialog.getByRole('radio', { name: 'Everybody may watch' }).check();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
  const { everybody, accounts } = await daemon.get(sharing);
  assert.deepEqual([everybody, accounts], ['watch', {}]);
});
