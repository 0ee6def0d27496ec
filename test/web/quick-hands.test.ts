// Hands that are quicker than the server: keys and clicks count, and for what is meant, before lists, answers and dialogs have come or gone.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { LabServer } from '../controller/lab-server.ts';
import { until } from '../controller/lab-server.ts';
import { startBrowser, visit, WITHOUT_BROWSER } from './browser.ts';
import { serveInside } from './served.ts';

interface Scene {
  server: LabServer;
  page: Page;
  address: string;
  /** A new lab that is open on the page; nothing on it has the focus. */
  open(name: string): Promise<{ id: string; path: string }>;
}

/** Holds requests back until they are let go. */
async function hold(page: Page, address: RegExp): Promise<{ count(): number; go(): void }> {
  const { promise: gate, resolve: go } = Promise.withResolvers<void>();
  let count = 0;
  await page.route(address, async (route) => {
    count += 1;
    await gate;
    await route.continue();
  });
  return { count: () => count, go };
}

async function scene(t: TestContext): Promise<Scene> {
  const server = await serveInside(t, { 'VPCS.engine': 'built-in' });
  const address = `http://127.0.0.1:${server.port}`;
  const { page } = await visit(await startBrowser(t), 'about:blank');
  return {
    ...{ server, page, address },
    async open(name) {
      const { project_id: id } = await server.project(name, { auto_close: false });
      await page.goto(`${address}/labs/${id}`);
      await page.getByText('This lab is empty.').waitFor();
      return { id: String(id), path: `/v2/projects/${id}` };
    },
  };
}

const field = (page: Page) => page.getByRole('combobox', { name: 'Search or command' });

test('keys work in a lab as soon as it is open, and what is typed goes where it is meant', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const { server, page, open } = await scene(t);
  const { path } = await open('Keys');
  const nodes = () => server.expect(200, 'GET', `${path}/nodes`);
  const addPanel = page.getByRole('dialog', { name: 'Add node' });

  await t.test('n, with the focus nowhere, also after a reload, and after a dialog', async () => {
    await page.keyboard.press('n');
    await addPanel.waitFor();
    await page.keyboard.press('Escape');
    await page.reload();
    await page.getByText('This lab is empty.').waitFor();
    assert.equal(await page.evaluate(() => document.activeElement === document.body), true);
    // What is typed before the field has been loaded is typed into it.
    const script = await hold(page, /command-field/);
    await page.keyboard.press('Control+k');
    await page.keyboard.type('xn');
    script.go();
    await field(page).waitFor();
    assert.equal(await field(page).inputValue(), 'xn');
    await page.keyboard.press('Escape');
    await field(page).waitFor({ state: 'detached' });
    assert.equal(await addPanel.count(), 0);
    assert.equal(await page.evaluate(() => document.activeElement === document.body), true);
    await page.keyboard.press('n');
    await addPanel.waitFor();
    await page.keyboard.press('Escape');
  });

  await t.test('Enter adds nodes whose templates come later, each at a place of its own', async () => {
    const templates = await hold(page, /\/v2\/templates$/);
    await page.keyboard.press('n');
    // Not a moment for the page to think: the letters are for the field.
    await page.keyboard.type('VPCS');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    assert.equal(await addPanel.getByRole('searchbox').inputValue(), 'VPCS');
    await until(() => templates.count() > 0, 'the question for templates');
    templates.go();
    await until(async () => (await nodes()).length === 2, 'two PCs');
    const [one, other] = await nodes();
    assert.ok(Math.abs(one.x - other.x) >= 120 || Math.abs(one.y - other.y) >= 130, JSON.stringify([one, other]));
    const panel = (await addPanel.boundingBox())!;
    for (const picture of await page.locator('.node image').all())
      assert.ok((await picture.boundingBox())!.x >= panel.x + panel.width, 'a node below the templates');
    await addPanel.getByRole('searchbox').fill('no such thing');
    await addPanel.getByText('No results.').waitFor();
    await page.keyboard.press('Escape');
  });

  await t.test('the first letter after Ctrl+K is no key of the map', async () => {
    await page.getByRole('navigation', { name: 'Nodes and links' }).getByRole('button', { name: /^PC1 / }).click();
    await page.locator('.topology').focus();
    const focused = await page.evaluate(async () => {
      const key = { key: 'k', ctrlKey: true, bubbles: true, cancelable: true };
      document.activeElement!.dispatchEvent(new KeyboardEvent('keydown', key));
      // As much as is between two keys at least.
      for (let turn = 0; turn < 20; turn += 1) await undefined;
      return document.activeElement?.getAttribute('role');
    });
    assert.equal(focused, 'combobox');
  });

  await t.test('a verb that becomes possible appears in the open field, and what was chosen stays chosen', async () => {
    const options = page.locator('#commands').getByRole('option');
    await field(page).fill('Stop');
    await options.filter({ hasText: /^Stop all/ }).waitFor();
    assert.equal(await options.filter({ hasText: /^Stop action/ }).count(), 0);
    await page.keyboard.press('ArrowDown');
    const chosen = page.locator('#commands [aria-selected=true]');
    const before = await chosen.innerText();
    const [pc] = (await nodes()).filter(({ name }: { name: string }) => name === 'PC1');
    await server.expect(200, 'POST', `${path}/nodes/${pc.node_id}/start`);
    await options.filter({ hasText: /^Stop action/ }).waitFor();
    assert.equal(await chosen.innerText(), before);
    await page.keyboard.press('Escape');
  });

  await t.test('the key of the field right after it was left opens it again', async () => {
    for (const way of ['Enter', 'Escape'] as const) {
      await page.keyboard.press('Control+k');
      await field(page).fill('Show grid');
      await page
        .getByRole('option')
        .filter({ hasText: /(Show|Hide) grid/ })
        .or(page.getByText('No results.'))
        .first()
        .waitFor();
      const isOpen = await page.evaluate(async (by) => {
        const input = document.querySelector('dialog input')!;
        const init = { bubbles: true, cancelable: true };
        if (by === 'Enter') input.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', ...init }));
        else (input.closest('dialog') as HTMLDialogElement & { requestClose(): void }).requestClose();
        for (let turn = 0; turn < 20; turn += 1) await undefined;
        document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true, ...init }));
        // The former dialog's event comes by then.
        await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
        return document.querySelector('dialog[open] input[role=combobox]') !== null;
      }, way);
      assert.equal(isOpen, true, `after ${way}`);
      await page.keyboard.press('Escape');
    }
  });

  await t.test('Enter in the field goes to a lab that is listed later', async () => {
    const other = await server.project('Far away', { auto_close: false });
    const labs = await hold(page, /\/v2\/projects$/);
    await page.keyboard.press('Control+k');
    await page.keyboard.type('Far away');
    await page.keyboard.press('Enter');
    labs.go();
    await page.waitForURL(new RegExp(String(other.project_id)));
  });
});

test('what is shown late moves and covers nothing that is about to be clicked, and hits nothing else', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const { server, page, open } = await scene(t);
  const { id, path } = await open('Clicks');
  const start = page.getByRole('complementary').getByRole('button', { name: 'Start', exact: true });

  await t.test('the first node stays where it was dropped', async () => {
    await page.keyboard.press('n');
    const template = page.getByRole('button', { name: /^VPCS/ });
    const from = (await template.boundingBox())!;
    const map = (await page.locator('main.map').boundingBox())!;
    const to = { x: map.x + map.width * 0.8, y: map.y + map.height * 0.25 };
    await page.mouse.move(from.x + 20, from.y + 10);
    await page.mouse.down();
    await page.mouse.move(to.x, to.y, { steps: 4 });
    await page.mouse.up();
    const image = page.locator('[data-node] image');
    await image.waitFor();
    // Two frames: a map that fits itself does so in the next one.
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
    const box = (await image.boundingBox())!;
    assert.ok(
      Math.abs(box.x + box.width / 2 - to.x) < 3 && Math.abs(box.y + box.height / 2 - to.y) < 3,
      JSON.stringify({ to, box }),
    );
    await page.getByRole('button', { name: 'Close', exact: true }).click();
  });

  await t.test('a refusal, a notice and the end of the lab leave the buttons where they are', async () => {
    await page.locator('[data-node]').click();
    const places = async () => [
      await start.boundingBox(),
      await page.locator('.lists').boundingBox(),
      await page.locator('[data-node] image').boundingBox(),
    ];
    const before = await places();
    const seen = (): Promise<boolean> =>
      start.evaluate((button) => {
        const { x, y, width, height } = button.getBoundingClientRect();
        return document.elementFromPoint(x + width / 2, y + height / 2) === button;
      });
    await page.route(/\/start$/, (route) =>
      route.fulfill({ status: 409, json: { status: 409, message: 'sentence of a refusal' } }),
    );
    await start.click();
    await page.getByRole('alert').getByText('sentence of a refusal').waitFor();
    assert.deepEqual(await places(), before);
    assert.equal(await seen(), true);
    await page.unroute(/\/start$/);
    await server.expect(204, 'POST', `${path}/close`);
    await page.getByRole('alert').getByText('This lab is closed').waitFor();
    assert.deepEqual(await places(), before);
    await server.expect(201, 'POST', `${path}/open`);
    await page.getByText('This lab is closed').waitFor({ state: 'detached' });
  });

  await t.test('Delete before a drawing has come is not for what was selected before', async () => {
    const made = await hold(page, new RegExp(`${id}/drawings$`));
    await page.locator('[data-node]').click();
    await page.locator('[data-node].selected').waitFor();
    await page.keyboard.press('t');
    await until(() => made.count() > 0, 'the question for a text');
    await page.keyboard.press('Delete');
    assert.equal(await page.getByRole('dialog').count(), 0);
    made.go();
    await page.locator('[data-drawing].selected').waitFor();
  });
});

test('what is typed, chosen or being edited outlasts answers that come late', { skip: WITHOUT_BROWSER }, async (t) => {
  const { server, page, address } = await scene(t);
  const project = await server.project('Late answers', { auto_close: false });
  const path = `/v2/projects/${project.project_id}`;
  const [a, b, c] = [
    await server.hub(project, 'A', { x: 0, y: 0 }),
    await server.hub(project, 'B', { x: 200, y: 0 }),
    await server.hub(project, 'C', { x: 0, y: 200 }),
  ];
  const { link_id: first } = await server.link(project, [a, 7], [b, 7]);
  const svg = '<svg width="60" height="20"><text font-size="10" fill="#000000">old</text></svg>';
  const { drawing_id: note } = await server.expect(201, 'POST', `${path}/drawings`, { svg, x: 200, y: 200 });
  await page.goto(`${address}/labs/${project.project_id}`);
  const details = page.getByRole('complementary');
  const node = (name: string) => page.locator(`.node[aria-label^="${name},"] image`);

  await t.test('the text of a drawing, when its next field is set before the text has arrived', async () => {
    await page.locator(`[data-drawing="${note}"]`).click();
    const gate = await hold(page, new RegExp(note));
    await details.getByLabel('Text', { exact: true }).fill('new');
    await details.getByLabel('Bold').check();
    await until(() => gate.count() > 0, 'the request with the text');
    gate.go();
    const now = async (): Promise<string> => (await server.expect(200, 'GET', `${path}/drawings/${note}`)).svg;
    await until(async () => (await now()).includes('bold'), 'bold letters');
    assert.match(await now(), />new</);
    await page.unroute(new RegExp(note));
  });

  await t.test('the width of a line, when its colour is set before the width has arrived', async () => {
    await page
      .getByRole('navigation')
      .getByRole('button', { name: /^A .* B / })
      .click();
    await page.getByRole('tab', { name: 'Line' }).click();
    const gate = await hold(page, new RegExp(first));
    await details.getByLabel('Width').fill('9');
    await details.getByLabel('Width').press('Enter');
    await until(() => gate.count() > 0, 'the request with the width');
    await details.getByLabel('Colour').fill('#ff0000');
    gate.go();
    const style = async () => (await server.expect(200, 'GET', `${path}/links/${first}`)).link_style;
    await until(async () => (await style()).color === '#ff0000', 'the colour');
    assert.equal((await style()).width, 9);
    await page.unroute(new RegExp(first));
  });

  await t.test('the chosen port, when others have linked it: no link at another port', async () => {
    await node('A').click();
    await page.keyboard.press('l');
    await node('B').click();
    const port = page.getByRole('group', { name: 'Port of A' }).getByRole('radio').nth(3);
    await port.check();
    await server.link(project, [a, 3], [c, 0]);
    await until(() => port.isDisabled(), 'the port to be linked');
    const link = page.getByRole('button', { name: 'Link', exact: true });
    await link.click();
    await page.getByText('That port is linked by now: choose another one.').waitFor();
    const links = (): Promise<{ nodes: { node_id: string; port_number: number }[] }[]> =>
      server.expect(200, 'GET', `${path}/links`);
    assert.equal((await links()).length, 2);
    await page.getByRole('group', { name: 'Port of A' }).getByRole('radio').nth(5).check();
    await link.click();
    await until(async () => (await links()).length === 3, 'the link');
    const made = (await links()).flatMap(({ nodes }) => nodes).filter(({ node_id: id }) => id === a.node_id);
    assert.deepEqual(made.map(({ port_number: number }) => number).sort(), [3, 5, 7]);
  });

  await t.test('an open form, when a node comes that was added before', async () => {
    await page.keyboard.press('Escape');
    const gate = await hold(page, /\/templates\/[^/]+$/);
    await page.keyboard.press('n');
    await page.keyboard.type('VPCS');
    await page.keyboard.press('Enter');
    await until(() => gate.count() > 0, 'the request for the node');
    await page.keyboard.press('Escape');
    await node('C').click();
    await details.getByRole('heading', { name: 'C' }).waitFor();
    gate.go();
    await node('PC1').waitFor();
    await page.locator('.node.selected[aria-label^="C,"]').waitFor();
    assert.equal(await page.locator('.node.selected').count(), 1);
    await page.unroute(/\/templates\/[^/]+$/);
    // Without another choice a new node is selected.
    await page.keyboard.press('n');
    await page.keyboard.type('VPCS');
    await page.keyboard.press('Enter');
    await page.locator('.node.selected[aria-label^="PC2,"]').waitFor();
  });
});
