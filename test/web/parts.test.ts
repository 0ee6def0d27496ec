// The page and its parts where the way to the server is broken while they are loaded, and where the server is another one.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import { LabServer, until } from '../controller/lab-server.ts';
import { startBrowser, visit, WITHOUT_BROWSER } from './browser.ts';
import { Way } from './way.ts';

const LOST = 'Connection lost: a part of the page is loaded as soon as the server answers.';
const NEW = 'A new version of the server is running.';

/** The page of a server, when it has read all that it shows first. */
async function livePage(t: TestContext, port?: number): Promise<Page> {
  const at = port ?? (await LabServer.start(t)).port;
  const browser = await startBrowser(t);
  const { page } = await visit(browser, `http://127.0.0.1:${at}/`, { credentials: null });
  await page.locator('.live[data-connection="live"]').waitFor();
  return page;
}

test('a part that cannot be loaded without a connection says so, and comes when the connection is back', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const server = await LabServer.start(t);
  const way = new Way(() => server.port);
  const page = await livePage(t, await way.open(t));
  way.cut();
  await page.getByRole('link', { name: 'Templates' }).click();
  await page.getByText(LOST).waitFor();
  assert.equal(await page.getByText(NEW).count(), 0);
  way.mend();
  await page.getByRole('button', { name: 'New template' }).waitFor();
  await page.getByText(LOST).waitFor({ state: 'detached' });
  assert.equal(await page.getByText(NEW).count(), 0);
});

test('a part that a server which answers does not have any more belongs to a page that is to be loaded again', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const page = await livePage(t);
  // As after an upgrade, whose parts have other names.
  await page.route(/templates-screen/, (route) => route.fulfill({ status: 404 }));
  await page.getByRole('link', { name: 'Templates' }).click();
  await page.getByText(NEW).waitFor();
  assert.equal(await page.getByText(LOST).count(), 0);
});

test('a part comes after failures of a network that changes, though the server answers between them', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const page = await livePage(t);
  let failures = 0;
  await page.route(/templates-screen/, (route) => {
    failures += 1;
    return failures > 2 ? route.continue() : route.abort('internetdisconnected');
  });
  await page.getByRole('link', { name: 'Templates' }).click();
  await page.getByRole('button', { name: 'Appliances' }).waitFor();
  assert.equal(await page.getByText(NEW).count(), 0);
});

test('packets are listed though the script of their worker did not come at first', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const { server, project } = await LabServer.withLab(t, { auto_close: false });
  const [one, other] = [await server.hub(project, 'A'), await server.hub(project, 'B')];
  const { link_id } = await server.link(project, [one, 0], [other, 0]);
  const { page } = await visit(await startBrowser(t), 'about:blank', { credentials: null });
  let requests = 0;
  await page.route('**/assets/capture-worker-*', (route) => {
    requests += 1;
    return requests > 2 ? route.continue() : route.abort('internetdisconnected');
  });
  await page.goto(`http://127.0.0.1:${server.port}/labs/${project.project_id}/links/${link_id}/capture`);
  await page.getByText('0 frames').waitFor();
  assert.equal(requests, 3);
});

const NOT_YET = 'The page has not arrived yet: the connection to the server is slow, or was lost.';

test('whichever file of the page does not come: it says so, and the page is there as soon as the file comes', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const server = await LabServer.start(t);
  await server.project('Shown', { auto_close: false });
  const browser = await startBrowser(t);
  const address = `http://127.0.0.1:${server.port}/`;
  const html = await (await server.request('/')).text();
  const files = [...html.matchAll(/"\/(assets\/[^"]+)"/g)].map(([, name]) => name!);
  const named = (part: string) => [files.find((name) => name.includes(part))!];
  const parts = { start: named('start-'), main: named('main-'), shared: named('chunk-'), style: named('style-') };
  const others = files.filter((name) => !parts.start.includes(name));
  const tried = Object.entries({ ...parts, others }).map(async ([part, broken]) => {
    const { page } = await visit(browser, 'about:blank');
    let isBroken = true;
    let failures = 0;
    await page.route(
      ({ pathname }) => broken.includes(pathname.slice(1)),
      (route) => {
        if (!isBroken) return route.continue();
        failures += 1;
        // As while the network changes.
        return route.abort('internetdisconnected');
      },
    );
    await page.goto(address);
    await page.getByText(NOT_YET).waitFor();
    assert.equal(await page.getByText('Shown').count(), 0, `without ${part} nothing is half there`);
    if (part === 'start') {
      isBroken = false;
      await page.getByRole('link', { name: 'Load it again' }).click();
    } else {
      await until(async () => failures > broken.length, `${part} is asked for again`);
      assert.ok(await page.getByText(NOT_YET).isVisible());
      isBroken = false;
    }
    await page.getByRole('row').filter({ hasText: 'Shown' }).waitFor();
    await page.getByText(NOT_YET).waitFor({ state: 'detached' });
    assert.equal(await page.locator('body').evaluate((body) => getComputedStyle(body).margin), '0px', 'styled');
  });
  await Promise.all(tried);

  // The server was upgraded while the page came: the page of the new one is loaded.
  const { page } = await visit(browser, 'about:blank');
  const seen: string[] = [];
  // The script that begins is that of another release, until the page is asked for again.
  await page.route('**/assets/start-*', async (route) => {
    if (seen.length > 0) return route.continue();
    const answer = await route.fetch();
    await route.fulfill({ response: answer, body: (await answer.text()).replaceAll(/begin-\w+/g, 'begin-FORMER0') });
  });
  await page.route(address, async (route) => {
    const kind = route.request().resourceType();
    if (kind !== 'fetch') return route.continue();
    seen.push(kind);
    const answer = await route.fetch();
    await route.fulfill({ response: answer, body: (await answer.text()).replaceAll(/start-\w+/g, 'start-LATER000') });
  });
  await page.goto(address);
  await page.getByRole('row').filter({ hasText: 'Shown' }).waitFor();
  assert.deepEqual(seen, ['fetch'], 'asked once what the server has now');
});
