// Parts of the page that are loaded when they are shown first, where the way to the server is broken, and where the server is another one.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LabServer } from '../controller/lab-server.ts';
import { startBrowser, visit, WITHOUT_BROWSER } from './browser.ts';
import { Way } from './way.ts';

const LOST = 'Connection lost: a part of the page is loaded as soon as the server answers.';
const NEW = 'A new version of the server is running.';

test('a part that cannot be loaded without a connection says so, and comes when the connection is back', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const server = await LabServer.start(t);
  const way = new Way(() => server.port);
  const browser = await startBrowser(t);
  const { page } = await visit(browser, `http://127.0.0.1:${await way.open(t)}/`);
  await page.locator('.live[data-connection="live"]').waitFor();
  way.cut();
  await page.getByRole('link', { name: 'Templates' }).click();
  await page.getByText(LOST).waitFor();
  assert.equal(await page.getByText(NEW).count(), 0);
  way.mend();
  await page.getByRole('combobox', { name: 'New template' }).waitFor();
  await page.getByText(LOST).waitFor({ state: 'detached' });
  assert.equal(await page.getByText(NEW).count(), 0);
});

test('a part that a server which answers does not have any more belongs to a page that is to be loaded again', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const server = await LabServer.start(t);
  const browser = await startBrowser(t);
  const { page } = await visit(browser, `http://127.0.0.1:${server.port}/`);
  await page.locator('.live[data-connection="live"]').waitFor();
  // As after an upgrade, whose parts have other names.
  await page.route(/templates-screen/, (route) => route.fulfill({ status: 404 }));
  await page.getByRole('link', { name: 'Templates' }).click();
  await page.getByText(NEW).waitFor();
  assert.equal(await page.getByText(LOST).count(), 0);
});
