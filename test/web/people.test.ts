// People on the page: what each may not do is not offered, accounts and tokens have forms, and one can log out.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { WebSocket } from 'ws';
import { basicHeader } from '../../src/http/access/authentication.ts';
import { eventually } from '../system/daemon.ts';
import { accessibilityFaults, accessibilityFaultsInAll } from './accessibility.ts';
import { startBrowser, startBrowserBy, visit, WHOLE_CHROMIUM, WITHOUT_BROWSER } from './browser.ts';
import { CREDENTIALS, type Credentials } from './credentials.ts';
import { serve } from './served.ts';
import { BOB, EVE, OLGA, type People, people } from './several.ts';

/** A lab of bob's that everybody may watch: two PCs, a link, a drawing, a snapshot. */
async function watchedLab({ as }: People): Promise<string> {
  const bob = as(BOB);
  const { project_id: id } = await bob('POST', '/v2/projects', { name: 'Thesis', auto_close: false });
  const path = `/v2/projects/${id}`;
  const nodes: string[] = [];
  for (const [name, x] of [
    ['PC1', -150],
    ['PC2', 150],
  ] as const) {
    const body = { compute_id: 'local', node_type: 'vpcs', name, x, y: 0 };
    nodes.push((await bob('POST', `${path}/nodes`, body))['node_id']!);
  }
  const ends = nodes.map((node_id) => ({ node_id, adapter_number: 0, port_number: 0 }));
  await bob('POST', `${path}/links`, { nodes: ends });
  await bob('POST', `${path}/drawings`, {
    svg: '<svg width="80" height="40"><rect width="80" height="40"/></svg>',
    y: 90,
  });
  await bob('POST', `${path}/snapshots`, { name: 'Before' });
  await bob('PUT', `${path}/sharing`, { everybody: 'watch' });
  return id!;
}

/** Requests of a page that change something, and refusals. */
function watchChanges(page: Page): string[] {
  const found: string[] = [];
  page.on('request', (request) => {
    const path = new URL(request.url()).pathname;
    if (request.method() !== 'GET' && path !== '/v2/tickets') found.push(`${request.method()} ${path}`);
  });
  page.on('response', (response) => {
    if (response.status() === 403) found.push(`403 ${response.request().method()} ${new URL(response.url()).pathname}`);
  });
  return found;
}

/** Clicks all that can be clicked there, and in the windows that it opens; answers what that was. */
async function clickAll(page: Page, place: Locator, clicked: string[] = []): Promise<string[]> {
  const buttons = await place.locator('button:not(:disabled), summary').all();
  for (const button of buttons) {
    if (!(await button.isVisible())) continue;
    const name = (await button.getAttribute('aria-label')) ?? (await button.innerText());
    // These lead to another thing's details.
    if (/^PC\d/.test(name)) continue;
    await button.click({ timeout: 10_000 });
    clicked.push(name.trim());
    const dialog = page.locator('dialog[open]');
    if ((await dialog.count()) > 0) {
      for (const inner of await dialog.locator('button:not(:disabled)').all())
        if (await inner.isVisible()) {
          clicked.push(await inner.innerText());
          await inner.click({ timeout: 10_000 });
        }
      await page.keyboard.press('Escape');
    }
  }
  return clicked;
}

/** All tabs of what is selected, and what can be clicked in each of them. */
async function clickDetails(page: Page): Promise<string[]> {
  const inspector = page.getByRole('complementary');
  const clicked: string[] = [];
  const tabs = await inspector.getByRole('tab').all();
  for (const tab of tabs.length > 0 ? tabs : [undefined]) {
    await tab?.click();
    await clickAll(page, tab ? inspector.getByRole('tabpanel') : inspector, clicked);
  }
  return clicked;
}

test('an observer, and a user with a lab to watch, find nothing on any screen that changes something or is refused', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const served = await people(t);
  const { address } = served;
  const id = await watchedLab(served);
  const browser = await startBrowser(t);
  const watchers = [
    { who: OLGA, why: /You are an observer/ },
    { who: EVE, why: /shared with you for watching: bob can/ },
  ];
  for (const { who, why } of watchers) {
    const { page, complaints } = await visit(browser, address, { credentials: who });
    const found = watchChanges(page);
    const row = page.getByRole('row').filter({ hasText: 'Thesis' });
    await row.getByText('watch only').waitFor();
    await row.getByRole('cell', { name: 'bob', exact: true }).waitFor();
    assert.equal(await row.getByRole('button', { name: /^(Close|Open|Settings|Delete|Share|More)$/ }).count(), 0);
    const isObserver = who === OLGA;
    assert.equal(await page.getByRole('button', { name: 'New lab' }).count(), isObserver ? 0 : 1);
    assert.equal(await row.getByRole('button', { name: 'Duplicate' }).count(), isObserver ? 0 : 1);

    await row.getByRole('link', { name: 'Thesis' }).click();
    await page.locator('[data-node]').nth(1).waitFor();
    await page.locator('.notice.watching').filter({ hasText: why }).waitFor();
    assert.deepEqual(await page.getByText(/^(Add a node|Link two nodes)/).count(), 0);
    const tools = page.getByRole('toolbar');
    assert.deepEqual(await tools.getByRole('button').allInnerTexts(), ['Traffic', 'Fit', 'Snapshots', 'Export']);
    await tools.getByRole('button', { name: 'Snapshots' }).click();
    const snapshots = page.getByRole('dialog');
    await snapshots.getByText('Before').waitFor();
    assert.deepEqual(await snapshots.getByRole('button').allInnerTexts(), ['Close']);
    await page.keyboard.press('Escape');
    // Hands and keys change nothing, and keys say why.
    const node = page.locator('[data-node]').first();
    const place = (await node.boundingBox())!;
    await page.mouse.move(place.x + place.width / 2, place.y + place.height / 2);
    await page.mouse.down();
    await page.mouse.move(place.x + 120, place.y + 90, { steps: 4 });
    await page.mouse.up();
    for (const key of ['n', 'l', 't', 's', 'x', 'r', 'd', 'm', 'F2', 'Delete', 'Control+z', 'Control+y']) {
      await page.keyboard.press(key);
    }
    await page.getByRole('status').filter({ hasText: why }).waitFor();
    assert.equal(await page.getByRole('dialog').count(), 0);
    const lists = page.getByRole('navigation');
    await lists.getByRole('button', { name: /^PC1 off/ }).click();
    const details = await clickDetails(page);
    assert.ok(details.includes('Copy'), details.join());
    await lists.getByRole('button', { name: /PC1 .* PC2/ }).click();
    await page.getByRole('tab', { name: 'Impairments' }).click();
    await page.getByRole('complementary').getByRole('combobox').first().waitFor();
    assert.equal(await page.getByRole('complementary').getByRole('combobox').first().isDisabled(), true);
    await clickDetails(page);
    await node.click({ button: 'right' });
    const items = page.getByRole('menuitem');
    assert.deepEqual(await items.filter({ hasText: why }).count(), 1);
    assert.equal(await items.filter({ hasText: /^(Start|Stop|Delete)/ }).count(), 0);
    await page.keyboard.press('Escape');

    for (const screen of ['templates', 'images', 'hosts', 'help']) {
      await page.goto(`${address}${screen}`);
      await page.getByText(`${who.user} (${isObserver ? 'observer' : 'user'})`).waitFor();
      if (screen !== 'help') await page.getByText('Only admins change anything here.').waitFor();
      const main = page.getByRole('main');
      const names = screen === 'help' && !isObserver ? [] : await clickAll(page, main);
      const forbidden = names.filter((name) => /delete|remove|edit|add|new|upload|duplicate|make/i.test(name));
      assert.deepEqual(forbidden, [], screen);
    }
    await page.goto(`${address}labs/${id}/links/${'0'.repeat(8)}-0000-4000-8000-000000000000/capture`);
    assert.deepEqual(found, [], who.user);
    // A link that is not there is a 404, of which the console tells.
    assert.deepEqual(
      complaints.filter((line) => !line.includes('404')),
      [],
    );
  }

  // The same places offer it to who may: nothing was searched for in vain.
  const { page } = await visit(browser, address, { credentials: CREDENTIALS });
  const row = page.getByRole('row').filter({ hasText: 'Thesis' });
  await row.getByRole('cell', { name: 'bob', exact: true }).waitFor();
  assert.equal(await row.getByRole('button', { name: /^(Close|Settings|Share|More)$/ }).count(), 4);
  await row.getByRole('link', { name: 'Thesis' }).click();
  await page.getByRole('toolbar').getByRole('button', { name: 'Start all' }).waitFor();
  assert.equal(await page.locator('.watching').count(), 0);
  for (const [screen, name] of [
    ['templates', 'Duplicate'],
    ['hosts', 'Add a host'],
  ] as const) {
    await page.goto(`${address}${screen}`);
    await page.getByText('ada (admin)').waitFor();
    if (screen === 'hosts') await page.getByRole('button', { name }).waitFor();
    assert.equal(await page.getByText('Only admins change anything here.').count(), 0);
  }
});

test('an admin adds, changes and removes accounts and reads who did what; everybody has tokens', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const served = await people(t);
  const { address, daemon, as } = served;
  const labId = await watchedLab(served);
  const browser = await startBrowser(t);
  const { page: own, complaints: ownComplaints } = await visit(browser, `${address}account`, { credentials: BOB });
  await own.getByRole('link', { name: 'bob (user)' }).waitFor();
  assert.equal(await own.getByRole('link', { name: 'People' }).count(), 0);
  await own.getByText('You have no token.').waitFor();
  await own.getByRole('button', { name: 'New token' }).click();
  const window = own.getByRole('dialog');
  await window.getByLabel('What it is for').fill('backup <b>');
  assert.deepEqual(await window.getByLabel('May do').locator('option').allInnerTexts(), [
    'everything that I may do',
    'what an observer may',
  ]);
  await window.getByLabel('May do').selectOption('observer');
  await window.getByLabel('Expires').selectOption('in 7 days');
  await window.getByRole('button', { name: 'Make it' }).click();
  const token = await own.getByLabel('Token', { exact: true }).inputValue();
  assert.match(token, /^lwt_/);
  await own.getByRole('button', { name: 'Copy' }).waitFor();
  await own.getByRole('row').filter({ hasText: 'backup <b>' }).getByText('what an observer may').waitFor();
  assert.deepEqual(await accessibilityFaultsInAll(own), []);
  const byToken = async (): Promise<number> =>
    (await fetch(`${daemon.url}/v2/projects`, { headers: { Authorization: `Bearer ${token}` } })).status;
  assert.equal(await byToken(), 200);
  await own.getByRole('button', { name: 'I have saved it' }).click();
  assert.equal(await own.getByText(token).count(), 0);
  await own.getByRole('button', { name: 'Revoke backup <b>' }).click();
  await window.getByRole('button', { name: 'Revoke' }).click();
  await own.getByText('You have no token.').waitFor();
  assert.equal(await byToken(), 401);

  await own.close();
  const { page, complaints } = await visit(browser, address, { credentials: CREDENTIALS });
  await page.getByRole('link', { name: 'People' }).click();
  const row = (name: string): Locator =>
    page.getByRole('row').filter({ has: page.getByRole('rowheader', { name, exact: true }) });
  const dialog = page.getByRole('dialog');
  await row('bob').getByText('1', { exact: true }).waitFor();
  assert.equal(await page.getByRole('row').filter({ hasText: 'kept by the host' }).getByRole('button').count(), 0);
  await page.getByRole('button', { name: 'New account' }).click();
  await dialog.getByLabel('Name').fill('a:b');
  await dialog.getByLabel('Password').fill('password of carl');
  await dialog.getByRole('button', { name: 'Add' }).click();
  await dialog.getByText(/cannot be the name of an account/).waitFor();
  await dialog.getByLabel('Name').fill('Zoë & carl');
  await dialog.getByRole('button', { name: 'Add' }).click();
  await row('Zoë & carl').getByText('user', { exact: true }).waitFor();
  const carl = { user: 'Zoë & carl', password: 'password of carl' };
  assert.equal((await as(carl)('GET', '/v2/account'))['role'], 'user');
  await page.getByRole('button', { name: 'Role of Zoë & carl' }).click();
  await dialog.getByLabel('Role').selectOption('observer');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await row('Zoë & carl').getByText('observer', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'New password for Zoë & carl' }).click();
  await dialog.getByLabel('Password').fill('another one');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
  assert.equal((await as({ ...carl, password: 'another one' })('GET', '/v2/account'))['role'], 'observer');
  assert.deepEqual(await accessibilityFaultsInAll(page), []);

  // Several at once, found by a search.
  await page.getByLabel('Search').fill('carl');
  await page.getByRole('checkbox', { name: 'Select all accounts' }).check();
  assert.equal(await page.getByRole('rowheader').count(), 1);
  await page.getByLabel('Search').fill('');
  await page.getByRole('checkbox', { name: 'Select eve', exact: true }).check();
  await page
    .getByRole('toolbar')
    .getByRole('button', { name: /^Role of / })
    .click();
  await dialog.getByLabel('Role').selectOption('user');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
  await row('Zoë & carl').getByText('user', { exact: true }).waitFor();

  // The end of an account says what becomes of its labs, and lets them go to somebody else.
  await page.getByRole('button', { name: 'Remove bob' }).click();
  await dialog.getByText('It owns a lab, which stays: Thesis.').waitFor();
  await dialog.getByLabel('Its labs go to').selectOption('eve');
  await dialog.getByRole('button', { name: 'Remove', exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
  await row('eve').getByText('1', { exact: true }).waitFor();
  assert.equal(await row('bob').count(), 0);
  assert.equal((await as(EVE)('GET', `/v2/projects/${labId}/sharing`))['owner'], 'eve');

  await page.getByRole('button', { name: 'Audit trail' }).click();
  const lines = page.locator('.trail tbody tr');
  await lines.first().getByText('Remove the account bob', { exact: true }).waitFor(); // the newest first
  await page.getByRole('combobox', { name: 'Lab', exact: true }).selectOption('Thesis');
  await lines.last().getByText('Make the lab Thesis', { exact: true }).waitFor();
  await lines.getByText('Add the node PC1 to the lab Thesis', { exact: true }).waitFor();
  await lines.getByText(/^Add the link [0-9a-f]{8} to the lab Thesis$/).click();
  await lines.getByText('POST /v2/projects/{project_id}/links', { exact: true }).waitFor();
  assert.equal(await lines.locator('details[open]').getByText(labId, { exact: true }).count(), 1);
  await page.getByRole('combobox', { name: 'Account', exact: true }).selectOption('ada');
  await page.waitForFunction(() => document.querySelectorAll('.trail tbody tr').length === 1);
  await lines.getByText('Share the lab Thesis otherwise', { exact: true }).waitFor();
  assert.deepEqual(await accessibilityFaultsInAll(page), []);

  // More than is read at a time: the older ones come when they are asked for, down to the first.
  const headers = { Authorization: basicHeader(EVE) };
  const unknown = `/v2/operations/${'0'.repeat(8)}-0000-4000-8000-000000000000`;
  await Promise.all(Array.from({ length: 120 }, () => daemon.ask('DELETE', unknown, { headers })));
  await page.getByRole('combobox', { name: 'Lab', exact: true }).selectOption('every lab');
  await page.getByRole('combobox', { name: 'Account', exact: true }).selectOption('everybody');
  await page.getByRole('button', { name: 'Read again' }).click();
  await lines.getByText('Cancel a task').nth(99).waitFor();
  assert.equal(await lines.count(), 100);
  assert.equal(await page.getByText('No older entries are kept.').count(), 0);
  await page.getByRole('button', { name: 'Older lines' }).click();
  await page.getByText('No older entries are kept.').waitFor();
  assert.equal(await lines.getByText('Cancel a task').count(), 120);
  await lines.last().getByText('Make the lab Thesis', { exact: true }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Older lines' }).count(), 0);
  assert.deepEqual([...complaints.filter((line) => !line.includes('400')), ...ownComplaints], []);
});

test("the first account besides the host's one is removed with its labs in view, and Cancel keeps the accounts that are left", {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const { daemon, address } = await serve(t);
  const browser = await startBrowser(t);
  const { page } = await visit(browser, `${address}people`, { credentials: CREDENTIALS });
  const dialog = page.getByRole('dialog');
  const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true });
  for (const name of ['bob', 'carl']) {
    await button('New account').click();
    await dialog.getByLabel('Name').fill(name);
    await dialog.getByLabel('Password').fill('password of bob');
    await dialog.getByLabel('Role').selectOption(name === 'carl' ? 'none' : 'user');
    await dialog.getByRole('button', { name: 'Add' }).click();
    await dialog.waitFor({ state: 'detached' });
  }
  const headers = { Authorization: basicHeader(BOB) };
  const made = await daemon.ask('POST', '/v2/projects', { headers, body: { name: 'Thesis' } });
  assert.equal(made.status, 201, made.text);

  await page.route('**/v2/project-sharing', (route) => route.abort());
  await button('Remove bob').click();
  await dialog.getByRole('button', { name: 'Try again' }).waitFor();
  assert.equal(await dialog.getByText('It owns no lab.').count(), 0);
  await page.unroute('**/v2/project-sharing');
  await dialog.getByRole('button', { name: 'Try again' }).click();
  await dialog.getByText('It owns a lab, which stays: Thesis.').waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();

  await page.getByRole('checkbox', { name: 'Select all accounts' }).check();
  await page
    .getByRole('toolbar')
    .getByRole('button', { name: /^Remove / })
    .click();
  await dialog.getByText('It owns a lab, which stays: Thesis.').waitFor();
  const { promise: cancelled, resolve: cancel } = Promise.withResolvers<void>();
  await page.route('**/v2/accounts/*', async (route) => {
    await cancelled;
    await route.continue();
  });
  const asked = page.waitForRequest((request) => request.method() === 'DELETE');
  await dialog.getByRole('button', { name: 'Remove', exact: true }).click();
  await asked;
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  cancel();
  await page.getByRole('rowheader', { name: 'bob', exact: true }).waitFor({ state: 'detached' });
  const names = async () => (await daemon.get('/v2/accounts')).map(({ name }: { name: string }) => name);
  assert.deepEqual(await names(), ['ada', 'carl']);
  // Other screens know now that labs have owners.
  await page.getByRole('link', { name: 'Labs' }).click();
  await page.getByRole('columnheader', { name: 'Owner' }).waitFor();

  const { page: own } = await visit(browser, `${address}account`, {
    credentials: { user: 'carl', password: BOB.password },
  });
  await own.getByText('You have no token.').waitFor();
  await own.getByRole('button', { name: 'Change the password' }).waitFor();
  assert.equal(await own.getByRole('button', { name: 'Try again' }).count(), 0);
});

test('a logout ends the session in all tabs of the browser, and another user can log in', {
  skip: WHOLE_CHROMIUM === undefined && 'chromium is not installed',
}, async (t) => {
  const { address, daemon } = await people(t);
  const browser = await startBrowserBy(t, WHOLE_CHROMIUM!);
  /** As if somebody typed it into the browser's own window: from then on the browser has only what it remembers. */
  const logIn = async (page: Page, { user, password }: Credentials): Promise<void> => {
    await page.goto(address.replace('//', `//${user}:${encodeURIComponent(password)}@`));
    await page.goto(address);
    await page.getByRole('link', { name: `${user} (user)` }).waitFor();
  };
  const context = await browser.newContext();
  const [page, other] = [await context.newPage(), await context.newPage()];
  const listeners = async (): Promise<number> => {
    const answer = await fetch(`${address}metrics`, { headers: { Authorization: basicHeader(CREDENTIALS) } });
    const lines = (await answer.text()).matchAll(/^labwire_listeners\{[^}]*\} (\d+)$/gm);
    return [...lines].reduce((sum, [, count]) => sum + Number(count), 0);
  };
  const before = await listeners();
  await logIn(page, BOB);
  await other.goto(`${address}templates`);
  await other.getByRole('link', { name: 'bob (user)' }).waitFor();
  assert.ok((await listeners()) > before);
  const refused = [page, other].map((each) =>
    each.waitForEvent('requestfailed', (one) => one.url().includes('/logout?')),
  );
  // On a phone the way out is on the screen of one's account.
  await page.setViewportSize({ width: 390, height: 844 });
  await page.getByRole('link', { name: 'Account', exact: true }).click();
  const out = page.getByRole('main').getByRole('button', { name: 'Log out' });
  await out.waitFor();
  assert.deepEqual(await accessibilityFaults(page), []);
  await out.click();
  await Promise.all(refused);
  await eventually('the end of the streams of both tabs', async () => (await listeners()) === before);
  // A browser without a window asks nobody: this is what it says where others ask for a password.
  for (const each of [page, other]) await assert.rejects(each.goto(address), /ERR_INVALID_AUTH_CREDENTIALS/);
  // In a tab of its own: the browser may still be on its way to its page for the refusal.
  await logIn(await context.newPage(), EVE);

  const leave = (word: string, site = 'none') =>
    daemon.ask('GET', `/logout?${word}`, {
      headers: { Authorization: basicHeader(BOB), 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Site': site },
    });
  const first = await leave('word');
  assert.equal(first.status, 401);
  assert.match(first.text, /You have logged out/);
  const again = await leave('word');
  assert.deepEqual([again.status, again.headers['location']], [302, '/']);
  assert.equal((await leave('other', 'cross-site')).status, 302);
});

test('a viewer sees consoles and captures as they go on, cannot type, and sees why', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const served = await people(t);
  const { address, daemon, as } = served;
  const id = await watchedLab(served);
  const [lab, place] = [`/v2/projects/${id}`, `${address}labs/${id}`];
  const bob = as(BOB);
  const [{ node_id }] = (await bob('GET', `${lab}/nodes`)) as unknown as [{ node_id: string }];
  const [{ link_id }] = (await bob('GET', `${lab}/links`)) as unknown as [{ link_id: string }];
  await bob('POST', `${lab}/nodes/start`);
  const way = `${daemon.url.replace('http', 'ws')}${lab}/nodes/${node_id}/console/ws`;
  const console = new WebSocket(way, { headers: { Authorization: basicHeader(BOB) } });
  t.after(() => console.terminate());
  let told = '';
  console.on('message', (data) => (told += String(data)));
  await once(console, 'open');
  console.send(Buffer.from('ip 10.0.0.1/24\r'));
  const browser = await startBrowser(t);
  const link = `links/${link_id}`;
  for (const who of [OLGA, EVE]) {
    const { page, complaints } = await visit(browser, place, { credentials: who });
    const found = watchChanges(page);
    const sent: string[] = [];
    page.on('websocket', (socket) => {
      if (!socket.url().includes('/console/ws')) return;
      socket.on(
        'framesent',
        ({ payload }) => void (String(payload).startsWith('{"type":"resize"') || sent.push(String(payload))),
      );
    });
    await page.getByRole('navigation').getByRole('button', { name: 'PC1 on', exact: true }).click();
    await page.getByRole('main', { name: 'Topology' }).press('c');
    await page.getByText('You are watching: what you type goes nowhere.').waitFor();
    console.send(Buffer.from(`echo shown to ${who.user}\r`));
    await page.locator('.xterm-rows').getByText(`shown to ${who.user}`).first().waitFor();
    await page.locator('.xterm-helper-textarea').focus();
    await page.keyboard.type(`echo typed by ${who.user}`);
    await page.keyboard.press('Enter');
    await page.locator('.opens-menu').click();
    const actions = await page.getByRole('menu').locator('[role^=menuitem]').allInnerTexts();
    assert.deepEqual(
      actions.filter((name) => /paste|break|reset/i.test(name)),
      [],
    );
    assert.ok(actions.includes('Save output'), actions.join());
    assert.deepEqual(await accessibilityFaults(page), []);
    // What was typed before this line would be there before it.
    console.send(Buffer.from(`echo after ${who.user}\r`));
    await page.locator('.xterm-rows').getByText(`after ${who.user}`).first().waitFor();
    assert.doesNotMatch(told, /typed by/);
    assert.deepEqual(sent, [], 'what is typed does not even leave the page');

    await page.goto(`${place}/${link}/capture`);
    await page
      .getByRole('alert')
      .filter({ hasText: /This link is not captured\. (You are an observer|This lab)/ })
      .waitFor();
    assert.deepEqual(await accessibilityFaults(page), []);
    await bob('POST', `${lab}/${link}/start_capture`);
    await page.reload();
    await page.locator('.capture-figures').first().waitFor();
    console.send(Buffer.from('ping 10.0.0.2 -c 1\r'));
    await page.getByRole('row').filter({ hasText: 'ARP' }).first().waitFor();
    assert.equal(await page.getByRole('button', { name: /stop/i }).count(), 0);
    await bob('POST', `${lab}/${link}/stop_capture`);
    assert.deepEqual([...found, ...complaints.filter((line) => !line.includes('404'))], [], who.user);
    await page.close();
  }
});
