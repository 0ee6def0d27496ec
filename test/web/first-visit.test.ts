// The first visit, where nothing but the server can be reached, and the address is no secure context.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cannotMakeInterfaces } from '../fabric/namespaces.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { accessibilityFaultsInAll } from './accessibility.ts';
import { startBrowser, type Visit, visit, WITHOUT_BROWSER } from './browser.ts';
import { Room, serve } from './served.ts';

/** Bytes of scripts and styles that the first screen may take on the wire. */
const LARGEST_SHELL = 55_000;

async function assertFirstVisit({ page, complaints }: Visit): Promise<void> {
  await page.getByRole('link', { name: 'There already' }).waitFor();
  await page.locator('.live[data-connection="live"]').waitFor();
  const bytes = await page.evaluate(() =>
    performance
      .getEntriesByType('resource')
      .filter(({ name }) => name.includes('/assets/'))
      .reduce((sum, entry) => sum + (entry as PerformanceResourceTiming).transferSize, 0),
  );
  assert.ok(bytes > 10_000 && bytes < LARGEST_SHELL, `${bytes} bytes`);
  assert.deepEqual(complaints, []);
}

test('without any network the labs are listed, nothing else is asked for, and nothing hinders anybody', {
  skip: WITHOUT_BROWSER || cannotMakeInterfaces,
}, async (t) => {
  const room = await Room.make(t);
  const { daemon, address } = await serve(t, { room });
  await daemon.post('/v2/projects', { name: 'There already', auto_close: false });
  const browser = await room.browser(t, await scratchDirectory(t));
  const visited = await visit(browser, address);
  assert.equal(await visited.page.evaluate(() => isSecureContext), false);
  await assertFirstVisit(visited);
  assert.deepEqual(await accessibilityFaultsInAll(visited.page), []);
  assert.deepEqual(visited.complaints, []);
});

test('a server with a password shows nothing without it', { skip: WITHOUT_BROWSER }, async (t) => {
  const { daemon, address } = await serve(t);
  await daemon.post('/v2/projects', { name: 'There already', auto_close: false });
  const browser = await startBrowser(t);
  const visited = await visit(browser, address);
  assert.equal(await visited.page.evaluate(() => isSecureContext), true);
  await assertFirstVisit(visited);
  const seen = await visit(browser, address, { credentials: { user: 'ada', password: 'guessed' } }).then(
    ({ page: refused }) => refused.locator('#app').count(),
    // Without a page in the answer the browser has nothing to show.
    (error: Error) => (/ERR_(HTTP_RESPONSE_CODE_FAILURE|INVALID_AUTH_CREDENTIALS)/.test(error.message) ? 0 : error),
  );
  assert.equal(seen, 0);
});
