// Lists with hundreds of rows: only those in sight are in the document, and keys, readers, search and focus find all the same what is there.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../controller/lab-server.ts';
import { accessibilityFaults } from './accessibility.ts';
import { startBrowser, visit, WITHOUT_BROWSER } from './browser.ts';
import { serveInside } from './served.ts';

const NODES = 300;

for (const width of [1280, 320]) {
  test(`${NODES} nodes in a window ${width} pixels wide: the list has those in sight`, {
    skip: WITHOUT_BROWSER,
  }, async (t) => {
    const server = await serveInside(t);
    const project = await server.project('long', { auto_close: false });
    for (let at = 1; at <= NODES; at += 1) {
      await server.hub(project, `N${at}`, { x: (at % 20) * 100, y: Math.floor(at / 20) * 100 });
    }
    const browser = await startBrowser(t);
    const address = `http://127.0.0.1:${server.port}/labs/${project.project_id}`;
    const { page, complaints } = await visit(browser, address, { viewport: { width, height: 800 } });
    const lists = page.getByRole('navigation', { name: 'Nodes and links' });
    const row = (name: string) => lists.getByRole('button', { name: `${name} on`, exact: true });
    const count = () => lists.getByRole('listitem').count();
    const focused = () => page.evaluate(() => document.activeElement?.textContent ?? '');
    await row('N1').waitFor();
    assert.ok((await count()) < NODES / 2, `${await count()} rows`);
    const first = lists.getByRole('listitem').first();
    assert.equal(await first.getAttribute('aria-setsize'), String(NODES));
    assert.equal(await first.getAttribute('aria-posinset'), '1');

    // By the Tab key, row after row, beyond what was there at first.
    await row('N1').focus();
    for (let at = 2; at <= 100; at += 1) {
      await page.keyboard.press('Tab');
      // The next row may have to be drawn first.
      await until(async () => (await focused()).includes(`N${at} `), `the focus on N${at}`);
    }
    assert.ok((await count()) < NODES / 2, `${await count()} rows`);
    const hundredth = lists.getByRole('listitem').filter({ hasText: /^\s*N100 / });
    assert.equal(await hundredth.getAttribute('aria-posinset'), '100');

    // Scrolled to its end, and back: what has the focus has kept it.
    const scroll = (to: 'end' | 'begin') =>
      lists.evaluate((element, to) => {
        let box: Element | null = element;
        while (box && box.scrollHeight <= box.clientHeight + 1) box = box.parentElement;
        (box ?? document.scrollingElement)!.scrollTo(0, to === 'end' ? 1e6 : 0);
      }, to);
    await scroll('end');
    await row(`N${NODES}`).waitFor();
    assert.ok((await count()) < NODES / 2, `${await count()} rows`);
    assert.ok((await focused()).includes('N100 '));
    await scroll('begin');
    await row('N1').waitFor();
    assert.ok((await focused()).includes('N100 '));

    // Searched for, also among those that were out of sight.
    await lists.getByRole('searchbox').fill(`N${NODES - 50}`);
    await row(`N${NODES - 50}`).waitFor();
    await until(async () => (await count()) === 1, 'one row');
    await lists.getByRole('searchbox').fill('');
    await row('N1').waitFor();
    assert.deepEqual(await accessibilityFaults(page), []);
    await row('N3').click();
    await page.getByRole('complementary', { name: 'Details' }).getByRole('heading', { name: 'N3' }).waitFor();
    assert.deepEqual(complaints, []);
  });
}
