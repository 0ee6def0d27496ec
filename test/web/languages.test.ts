// Another language than English: all words of the page come from its file, and longer ones fit a telephone.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { words } from '../../src/web/languages/en-XA.ts';
import { WORDS } from '../../src/web/words.ts';
import { startBrowser, visit, WITHOUT_BROWSER } from './browser.ts';
import { serve } from './served.ts';

/** Names of keys, of types as the API has them, of templates and ports, and sentences of the server: not words of the page. */
const NOT_OURS = [
  /^((Ctrl|Shift)\+)*([A-Za-z]|F6|Enter|Delete|Backspace|Ctrl)$/,
  /^(http|linux|local|cloud|nat|vpcs|qemu|iou|docker|traceng|virtualbox|vmware|guest|switch|dynamips)$/,
  /^(atm|frame relay|ethernet) (switch|hub)$/i,
  /^ada$/, // who is logged in
  /^(Labwire|Cloud|NAT|VPCS|Ethernet\d)$/,
  /\b(Docker|TraceNG|VirtualBox|VMware|QEMU|IOU|Dynamips|VPCS)\b.*[.;:]/,
];

/** What a panel says until its content has come. */
const LOADING = words(WORDS).node.loading;

/** Pieces of text, and of attributes that are shown or read out, which have plain English words. */
async function english(page: Page): Promise<string[]> {
  const texts = await page.evaluate(() => {
    const found = new Set<string>();
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      // Titles of settings, and of the columns of their lists, are the server's, see the API document.
      const others = 'script, noscript, code, pre, textarea, svg, .xterm, .settings .field, .list thead';
      if (!node.parentElement?.closest(others)) found.add(node.textContent ?? '');
    }
    for (const element of document.querySelectorAll('[aria-label], [placeholder], [title]')) {
      if (element.matches('.list > .scroll, .list th')) continue;
      for (const name of ['aria-label', 'placeholder', 'title']) found.add(element.getAttribute(name) ?? '');
    }
    return [...found];
  });
  return (
    texts
      // A key stands behind what it does.
      .map((text) => text.trim().replace(/ \((Ctrl|Shift)\+[^)]+\)$/, ''))
      .filter((text) => /[a-z]{3}/.test(text) && !NOT_OURS.some((pattern) => pattern.test(text)))
  );
}

/** The outermost elements that reach beyond the window. */
function widest(page: Page): Promise<string> {
  return page.evaluate(() =>
    [...document.querySelectorAll('body *')]
      .filter((element) => element.getBoundingClientRect().right > innerWidth && element.clientWidth > 0)
      .slice(0, 8)
      .map((element) => `${element.tagName}.${element.className} ${Math.round(element.getBoundingClientRect().right)}`)
      .join('; '),
  );
}

test('in a language of longer words no English word stays on the screens, and nothing is wider than a telephone', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const { daemon, address } = await serve(t);
  const { project_id } = await daemon.post('/v2/projects', { name: 'L1', auto_close: false });
  const path = `/v2/projects/${project_id}`;
  const make = async (name: string, x: number): Promise<object> => {
    const { node_id } = await daemon.post(`${path}/nodes`, {
      ...{ name, node_type: 'ethernet_hub', compute_id: 'local', x, y: 0 },
    });
    return { node_id, adapter_number: 0, port_number: 0 };
  };
  await daemon.post(`${path}/links`, { nodes: [await make('H1', -100), await make('H2', 100)] });
  const browser = await startBrowser(t);
  const { page, complaints } = await visit(browser, `${address}?language=en-XA`);
  await page.locator('.live[data-connection="live"]').waitFor();
  assert.equal(await page.evaluate(() => document.documentElement.lang), 'en-XA');

  const left: Record<string, string[]> = {};
  const wide: string[] = [];
  const look = async (where: string): Promise<void> => {
    left[where] = await english(page);
    await page.setViewportSize({ width: 390, height: 844 });
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    if (width > 390) wide.push(`${where}: ${await widest(page)}`);
    await page.setViewportSize({ width: 1280, height: 800 });
  };
  await page.getByRole('link', { name: 'L1' }).waitFor();
  await look('labs');
  for (const screen of ['templates', 'images', 'hosts', 'help']) {
    await page.goto(`${address}${screen}`);
    await page.waitForLoadState('networkidle');
    await look(screen);
  }
  await page.goto(`${address}labs/${project_id}`);
  await page.locator('[data-node]').nth(1).waitFor();
  await look('lab');
  await page.getByRole('option', { name: /^H1, / }).click();
  await page.getByRole('complementary').getByRole('tab').first().waitFor();
  for (const [index] of (await page.getByRole('complementary').getByRole('tab').all()).entries()) {
    await page.getByRole('complementary').getByRole('tab').nth(index).click();
    await page.getByRole('tabpanel').getByText(LOADING).waitFor({ state: 'hidden' });
    await look(`node, tab ${index}`);
  }
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog').waitFor();
  await look('commands');
  assert.deepEqual(wide, []);
  assert.deepEqual(
    Object.entries(left).filter(([, texts]) => texts.length > 0),
    [],
  );
  // A file of the language that does not come is told, and English is there; a language that there is not is no news.
  const parts = [
    ...new Set(await page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name))),
  ];
  const of = parts.filter((name) => /en-XA/.test(name));
  assert.equal(of.length, 1, parts.join(' '));
  await page.route(of[0]!, (route) => route.abort());
  await page.goto(address);
  const notice = page.getByRole('status').filter({ hasText: 'could not be loaded' });
  await notice.waitFor();
  assert.match((await notice.textContent())!, /^The page is in English: English .*could not be loaded\./);
  await notice.getByRole('button', { name: 'Stay with English' }).click();
  await notice.waitFor({ state: 'hidden' });
  await page.goto(`${address}?language=tlh`);
  await page.getByRole('link', { name: 'L1' }).waitFor();
  assert.equal(await notice.count(), 0);
  assert.deepEqual(
    complaints.filter((line) => !line.startsWith('console: ')),
    [],
  );
});
