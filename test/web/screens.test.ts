// Addresses of the page, the command field, the keys, the help.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Locator } from 'playwright-core';
import { accessibilityFaults, accessibilityFaultsInAll } from './accessibility.ts';
import { startBrowser, visit, WITHOUT_BROWSER } from './browser.ts';
import { serve } from './served.ts';

const ID = '11111111-2222-4333-8444-555555555555';

test('addresses of the page are served with its policy, others are not; those of the release lead to the same labs', async (t) => {
  const { daemon } = await serve(t, { withPassword: false });
  const pages = [
    '/',
    `/labs/${ID}`,
    `/labs/${ID}/nodes/${ID}/console`,
    `/labs/${ID}/links/${ID}/capture`,
    `/labs/${ID}/captures`,
    '/templates',
    '/images',
    '/hosts',
    '/people',
    '/account',
    '/help',
  ];
  for (const path of pages) {
    const { status, headers, text } = await daemon.ask('GET', path);
    assert.equal(status, 200, path);
    assert.match(String(headers['content-security-policy']), /default-src 'none'.*require-trusted-types-for 'script'/);
    assert.equal(headers['cross-origin-opener-policy'], undefined);
    assert.match(text, /<div id="app">/);
  }
  const heeding = await daemon.ask('GET', '/', { headers: { 'Sec-Fetch-Mode': 'navigate' } });
  assert.equal(heeding.headers['cross-origin-opener-policy'], 'same-origin');
  for (const path of [
    '/labs',
    '/elsewhere',
    '/help/more',
    '/help/docs/qemu/more',
    '/assets/main-AAAAAAAA.js',
    '/static/elsewhere',
  ]) {
    assert.equal((await daemon.ask('GET', path)).status, 404, path);
  }
  for (const [path, to] of [
    [`/static/web-ui/server/1/project/${ID}`, `/labs/${ID}`],
    ['/static/web-ui/server/1/projects', '/'],
    [`/static/web-ui/server/1/project/..%2f${ID}`, '/'],
  ] as const) {
    const { status, headers } = await daemon.ask('GET', path);
    assert.deepEqual([status, headers['location']], [302, to], path);
  }
  const list = await daemon.ask('GET', '/help/docs');
  const [, first] = /<a href="(\/help\/docs\/qemu)">/.exec(list.text) ?? [];
  const document = await daemon.ask('GET', first!);
  assert.match(document.text, /<h1 id="qemu[^>]*>[\s\S]*href="\/help\/docs\//);
  assert.match(String(document.headers['content-security-policy']), /^default-src 'none'; style-src 'sha256-/);
  const unknown = await daemon.ask('GET', '/help/docs/nothing');
  assert.deepEqual(
    [unknown.status, JSON.parse(unknown.text).message],
    [404, 'topic: there is no document "nothing"; /help/docs lists them.'],
  );
  const licences = await daemon.ask('GET', '/assets/licences.txt');
  assert.match(licences.text, /preact[\s\S]*Node\.js/);
});

/** Roles and names of what is within, as a reader of the screen has them. */
async function assertRead(shown: Locator, lines: readonly string[]): Promise<void> {
  await shown.waitFor();
  const all = (await shown.ariaSnapshot()).split('\n').map((line) => line.trim().replace(/^- /, ''));
  // A busy machine takes minutes.
  const lately = all.slice(1).map((line) => line.replace(/\d+ min ago/, 'just now'));
  const read = lately.flatMap((line) => /^'?(\w+( "[^"]*")?)/.exec(line)?.[1] ?? []);
  assert.deepEqual(
    read.filter((line) => line !== 'text'),
    lines,
  );
}

test('the command field finds what can be done and what there is; the keys are shown; the demonstration is built', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const { daemon, address } = await serve(t, { withPassword: false });
  await daemon.post('/v2/projects', { name: 'Elsewhere', auto_close: false });
  const browser = await startBrowser(t);
  const { page, complaints } = await visit(browser, `${address}help`, { credentials: null });
  await page.getByRole('heading', { name: 'First steps' }).waitFor();
  // Also a screen that reads nothing live says whether the server is there.
  await page.locator('.live').getByText('live').waitFor();
  // Nobody logs in here.
  assert.equal(await page.getByRole('link', { name: 'People' }).count(), 0);
  assert.equal(await page.getByRole('button', { name: 'Log out' }).count(), 0);
  assert.deepEqual(await accessibilityFaultsInAll(page), []);
  await page.getByRole('button', { name: 'Create demo lab (2 PCs)' }).click();
  await page.waitForURL(/\/labs\//);
  const list = page.getByRole('navigation');
  await list.getByRole('button', { name: 'PC2 on' }).first().waitFor();
  // The search of the lists is for links, too.
  await list.getByRole('searchbox').fill('pc2');
  await list.getByRole('heading', { name: 'Nodes 1 of 3' }).waitFor();
  await list.getByRole('heading', { name: 'Links 1 of 2' }).waitFor();
  await list.getByRole('button', { name: 'PC2 e0 – Hub e1' }).waitFor();
  assert.equal(await list.getByRole('button').count(), 2);
  await list.getByRole('searchbox').fill('');

  const found = page.getByRole('dialog');
  // A verb.
  await page.keyboard.press('Control+k');
  const field = page.getByRole('combobox', { name: 'Search or command' });
  await field.fill('stop al');
  await found.getByRole('option', { name: /^Stop all/ }).waitFor();
  assert.deepEqual(await accessibilityFaults(page), []);
  await field.press('Enter');
  await list.getByRole('button', { name: 'PC2 off' }).first().waitFor();
  // What is read out of it: the map, what has just happened, and a capture, whose figures would never end.
  await page.getByRole('status').filter({ hasText: 'PC1 off, PC2 off' }).waitFor();
  await assertRead(page.getByRole('listbox', { name: 'Topology' }), [
    'option "Link PC1 e0 – Hub e0"',
    'option "Link PC2 e0 – Hub e1"',
    'option "PC1, virtual PC, off, 1 link"',
    'option "PC2, virtual PC, off, 1 link"',
    'option "Hub, hub, on, 2 links"',
  ]);
  await list.getByRole('button', { name: 'PC1 e0 – Hub e0' }).click();
  await page.getByRole('complementary').getByRole('button', { name: 'Start capture' }).first().click();
  await page
    .getByRole('option', { name: 'Link PC1 e0 – Hub e0, captured', exact: true })
    .waitFor({ state: 'attached' });
  await page.getByRole('status').filter({ hasText: 'Link PC1 e0 – Hub e0 captured' }).waitFor();
  const packets = page.getByRole('region', { name: 'Packets PC1 – Hub' });
  await packets.getByText('0 frames, 0 bytes, 0 dropped').waitFor();
  assert.equal(await packets.getByRole('status').filter({ hasText: 'frames' }).count(), 0);
  // A node, by the arrow keys.
  await page.keyboard.press('Control+k');
  await field.fill('PC');
  await found.getByRole('option', { name: /PC2/ }).waitFor();
  await field.press('ArrowDown');
  await field.press('Enter');
  await page.getByRole('complementary').getByText('PC2').first().waitFor();
  // A template.
  await page.keyboard.press('Control+k');
  await field.fill('Ethernet hub');
  await found.getByRole('option', { name: /Ethernet hub.*template/ }).click();
  await page.locator('[data-node]').nth(3).waitFor();
  // Keys, while the map has the focus.
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keys' }).getByText('Add node').waitFor();
  assert.deepEqual(await accessibilityFaults(page), []);
  await page.keyboard.press('Escape');
  // Another lab.
  await page.keyboard.press('Control+k');
  await field.fill('elsewh');
  await found.getByRole('option', { name: /Elsewhere/ }).waitFor();
  await field.press('Enter');
  await page.getByRole('heading', { name: 'Elsewhere' }).waitFor();
  await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: 'Help' }).waitFor();
  // Rows are complete when they appear, even if the times of the labs arrive late.
  await page.route('**/project-changes', (route) => sleep(1000).then(() => route.continue()));
  await page.getByRole('link', { name: 'Labs', exact: true }).click();
  await assertRead(
    page
      .getByRole('table', { name: 'Labs', exact: true })
      .getByRole('row')
      .filter({ hasText: /^Elsewhere/ }),
    [
      'cell "Select Elsewhere"',
      'checkbox "Select Elsewhere"',
      'rowheader "Elsewhere"',
      'link "Elsewhere"',
      'cell "open"',
      'cell "0 of 0"',
      'cell "just now"',
      'time',
      'cell "Close Settings Duplicate More"',
      'button "Close"',
      'button "Settings"',
      'button "Duplicate"',
      'button "More"',
    ],
  );
  const more = page
    .getByRole('row')
    .filter({ hasText: /^Elsewhere/ })
    .getByRole('button', { name: 'More' });
  assert.equal(await more.getAttribute('aria-description'), 'Elsewhere');
  await page.goBack();
  await page.goBack();
  await page.getByRole('heading', { name: 'Two PCs on a hub' }).waitFor();
  assert.deepEqual(complaints, []);
});
