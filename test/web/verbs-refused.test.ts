// What the server refuses, or does not answer, is said where it was asked for; what was typed stays, nothing is half done, and it works when tried again.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { basicHeader } from '../../src/http/access/authentication.ts';
import { LabServer, until } from '../controller/lab-server.ts';
import { chooseFromMore, confirmIn, startBrowser, visit, WITHOUT_BROWSER } from './browser.ts';
import { CREDENTIALS } from './credentials.ts';
import { nextOutcome, OUTCOMES, type Outcome, Refusing, sentenceOf } from './refusing.ts';
import { serveInside } from './served.ts';

const WEB = join(import.meta.dirname, '../../src/web');

interface Verb {
  /** The calls in the sources that it proves, as `callsOf` names them. */
  calls: readonly string[];
  /** What is refused: method and path. */
  request: RegExp;
  /** Shows what it is asked with, and types. */
  open?: () => Promise<unknown>;
  ask: () => Promise<unknown>;
  /** Fields, and what was typed into them. */
  typed?: readonly (readonly [Locator, string])[];
  /** Where its sentence stands, without one anywhere in an alert. */
  said?: Locator;
  /** All outcomes; otherwise one of them, another for each verb, as all take their sentence from `sentenceOf` of `src/web/model/server/sentence.ts`. */
  isFirst?: boolean;
  /** These outcomes, where others are answered by trying again. */
  outcomes?: readonly Outcome[];
  /** What is said instead of the usual sentence. */
  words?: Partial<Record<Outcome, string>>;
  /** Long work, which the list of tasks shows until there is an answer: nobody need be told that there is none yet. */
  isLong?: boolean;
  /** After each refusal: nothing is half done. */
  undone?: () => Promise<unknown>;
  /** After it was asked for again, with the server's own answer. */
  done: () => Promise<unknown>;
}

/** Calls of the API that change something, by file: `verbs/lab.ts api.post`. */
function callsOf(): Set<string> {
  const found = new Set<string>();
  for (const entry of readdirSync(WEB, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !/\.tsx?$/.test(entry.name)) continue;
    const path = join(entry.parentPath, entry.name);
    const text = readFileSync(path, 'utf8');
    for (const [, call] of text.matchAll(
      /\b(api\.(?:post|put|delete|upload)|history\.(?:updateEach|updateBy|update|copy|make|remove|schedule|undo|redo))\s*[<(]/g,
    )) {
      found.add(`${path.slice(WEB.length + 1)} ${call}`);
    }
    if (/\bsend(<\w+>)?\(\{\s*path/.test(text)) found.add(`${path.slice(WEB.length + 1)} send`);
  }
  return found;
}

/** Calls that are no row of their own. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'tasks/send.ts send': 'what the other two call',
};

const BOB = { user: 'bob', password: 'password of bob' };

test('every verb of the page that is refused or not answered says so, keeps what was typed, and works again', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const server = await serveInside(t, { 'VPCS.engine': 'built-in', auto_close_grace: '600' });
  const project = await server.project('Lab', { auto_close: false });
  const path = `/v2/projects/${project.project_id}`;
  const [a, b, c] = [
    await server.hub(project, 'A', { x: -200, y: -100 }),
    await server.hub(project, 'B', { x: 0, y: -100 }),
    await server.hub(project, 'C', { x: 0, y: 100 }),
  ];
  const pc = await server.expect(201, 'POST', `${path}/nodes`, {
    ...{ name: 'PC', node_type: 'vpcs', compute_id: 'local', x: -200, y: 100 },
  });
  const link = await server.link(project, [a, 0], [b, 0]);
  const svg = '<svg width="60" height="30"><rect width="60" height="30" fill="#ffffff" stroke="#000000" /></svg>';
  const drawing = await server.expect(201, 'POST', `${path}/drawings`, { x: -100, y: 150, svg });
  const read = (what: string) => server.expect(200, 'GET', `${path}${what}`);
  const node = (id: string) => read(`/nodes/${id}`);

  const browser = await startBrowser(t);
  const { page } = await visit(browser, 'about:blank');
  const refusing = await Refusing.of(page);
  const address = `http://127.0.0.1:${server.port}`;

  const dialog = page.getByRole('dialog');
  const details = page.getByRole('complementary');
  const list = page.getByRole('navigation', { name: 'Nodes and links' });
  const button = (name: string, within: Page | Locator = page) => within.getByRole('button', { name, exact: true });
  const pick = (name: RegExp) => list.getByRole('button', { name }).first().click();
  const show = async (where: string): Promise<void> => {
    if (page.url() === 'about:blank') await page.goto(`${address}${where}`);
    else await refusing.go(where);
    if (where.startsWith('/labs/')) await page.locator('[data-node]').nth(3).waitFor();
  };
  const press = async (key: string): Promise<void> => {
    await page.locator('.topology').first().press(key);
  };
  const confirmed = async (): Promise<void> => {
    await confirmIn(page);
  };
  const row = (name: string) => page.getByRole('row').filter({ hasText: name });
  const field = (name: string) => details.getByLabel(name, { exact: true });

  /** Nothing is complained about any more. */
  const quiet = () =>
    until(async () => (await page.locator('[role=alert]').allTextContents()).join('').trim() === '', 'no complaint');

  async function prove(verb: Verb): Promise<void> {
    const {
      request,
      isFirst,
      isLong,
      outcomes = isFirst ? OUTCOMES : [nextOutcome(isLong)],
      words,
      typed = [],
      said = page.locator('[role=alert]'),
    } = verb;
    await verb.open?.();
    for (const [place, text] of typed) await place.fill(text);
    for (const outcome of outcomes) {
      const what = `${verb.calls[0]}, ${request.source}: ${outcome}`;
      refusing.begin(request, outcome);
      await verb.ask();
      if (outcome === 'never') await refusing.stopWaiting(what);
      await said
        .getByText(words?.[outcome] ?? sentenceOf(outcome))
        .first()
        .waitFor()
        .catch((error: Error) => Promise.reject(new Error(`${what}: ${error.message}`)));
      for (const [place, text] of typed) assert.equal(await place.inputValue(), text, what);
      await verb.undone?.();
    }
    refusing.end();
    await verb.ask();
    await verb.done();
    for (const call of verb.calls) proved.add(call);
  }
  const proved = new Set<string>();

  // The labs.
  await show('/');
  await row('Lab').waitFor();
  const newName = page.getByLabel('Name of the new lab');
  await prove({
    calls: ['labs-screen.tsx api.post'],
    request: /^POST \/v2\/projects$/,
    typed: [[newName, 'Mine']],
    ask: () => button('New lab').click(),
    isFirst: true,
    done: () => page.waitForURL(/\/labs\//),
  });
  await show('/');
  await prove({
    calls: ['labs/lab-dialogs.tsx api.put'],
    request: /^PUT \/v2\/projects\//,
    open: () => button('Settings', row('Mine')).click(),
    typed: [[dialog.getByLabel('Name'), 'Renamed']],
    ask: () => button('Save', dialog).click(),
    said: dialog,
    done: () => row('Renamed').waitFor(),
  });
  await prove({
    calls: ['labs/lab-dialogs.tsx api.post'],
    request: /^POST .*\/duplicate$/,
    isLong: true,
    open: () => button('Duplicate', row('Renamed')).click(),
    typed: [[dialog.getByLabel('Name'), 'Copied']],
    ask: () => button('Duplicate', dialog).click(),
    said: dialog,
    done: () => row('Copied').waitFor(),
  });
  for (const [verb, state] of [
    ['Close', 'Open'],
    ['Open', 'Close'],
  ] as const) {
    await prove({
      calls: ['labs/lab-parts.tsx api.post'],
      isLong: verb === 'Open',
      request: new RegExp(`^POST .*/${verb.toLowerCase()}$`),
      ask: () => button(verb, row('Renamed')).click(),
      done: () => button(state, row('Renamed')).waitFor(),
    });
  }
  await prove({
    calls: ['labs/lab-dialogs.tsx api.delete'],
    request: /^DELETE \/v2\/projects\//,
    open: () => chooseFromMore(row('Renamed'), 'Delete'),
    ask: () => button('Delete', dialog).click(),
    said: dialog,
    done: () => row('Renamed').waitFor({ state: 'detached' }),
  });

  // What somebody holds in the hand on the map is back in its place, and what is typed there stays.
  await show(`/labs/${project.project_id}`);
  await pick(/^A /);
  // As it is seen: what is held is a picture of its own, which is moved as a whole.
  const placeOf = async (id: string) => Math.round((await page.locator(`[data-node="${id}"]`).boundingBox())?.x ?? 0);
  const before = await placeOf(a.node_id);
  await prove({
    calls: ['topology/stage.ts history.update'],
    request: /^PUT .*\/nodes\//,
    ask: async () => {
      for (const key of ['m', 'ArrowRight', 'Enter']) await press(key);
    },
    undone: () => until(async () => (await placeOf(a.node_id)) === before, 'A in its place again'),
    done: () => until(async () => (await node(a.node_id)).x === -190, 'A at its new place'),
  });
  const rename = page.locator('input.rename');
  await prove({
    calls: ['panels/rename.tsx history.update'],
    request: /^PUT .*\/nodes\//,
    open: () => press('F2'),
    typed: [[rename, 'A2']],
    ask: () => rename.press('Enter'),
    done: () => list.getByRole('button', { name: /^A2 / }).first().waitFor(),
  });
  await rename.waitFor({ state: 'detached' });

  // Nodes.
  await pick(/^PC /);
  for (const [verb, status] of [
    ['Start', 'started'],
    ['Stop', 'stopped'],
  ] as const) {
    await prove({
      calls: ['verbs/nodes.ts api.post', 'verbs/lab.ts api.post'],
      request: new RegExp(`^POST .*/${verb.toLowerCase()}$`),
      ask: () => button(verb, details).click(),

      done: () => until(async () => (await node(pc.node_id)).status === status, status),
    });
  }
  await prove({
    calls: ['verbs/addresses.ts api.upload'],
    request: /^POST .*\/files\/startup\.vpc$/,
    ask: () => press('a'),
    done: () =>
      until(async () => {
        const { json } = await server.call('GET', `${path}/nodes/${pc.node_id}/files/startup.vpc`);
        return String(json).includes('ip 10.0.0.1/24');
      }, 'the address'),
  });
  const all = (status: string) => async () =>
    (await read('/nodes')).every(
      (one: { status: string; node_type: string }) => one.status === status || one.node_type !== 'vpcs',
    );
  for (const [verb, status] of [
    ['Start all', 'started'],
    ['Stop all', 'stopped'],
  ] as const) {
    await prove({
      calls: ['verbs/lab.ts api.post'],
      request: /^POST .*\/nodes\/(start|stop)$/,
      ask: () => button(verb).first().click(),
      done: () => until(all(status), status),
    });
  }
  await server.expect(200, 'POST', `${path}/nodes/${pc.node_id}/start`);
  await pick(/^PC on/);
  await button('Console', details).click();
  await prove({
    calls: ['dock/console.tsx api.post'],
    request: /^POST .*\/console\/reset$/,
    ask: async () => {
      await page.locator('.opens-menu').click();
      await page.getByRole('menuitem', { name: 'Reset console' }).click();
    },
    done: quiet,
  });
  await server.expect(200, 'POST', `${path}/nodes/${pc.node_id}/stop`);
  await pick(/^PC off/);
  await prove({
    calls: ['panels/inspector/node/use-node-form.ts history.update'],
    request: /^PUT .*\/nodes\//,
    typed: [[field('Name'), 'PC9']],
    ask: () => button('Save', details).click(),
    said: details,
    isFirst: true,
    done: () => list.getByRole('button', { name: /^PC9 / }).first().waitFor(),
  });
  const second = await LabServer.start(t, { 'VPCS.engine': 'built-in' });
  const at = { protocol: 'http', host: '127.0.0.1', port: second.port };
  await server.expect(201, 'POST', '/v2/computes', { compute_id: 'second', name: 'Second', ...at });
  // Hosts are read anew for each node.
  await pick(/^A2 /);
  await pick(/^PC9 /);
  const hosts = details.getByRole('combobox', { name: /^Host/ });
  const hostOf = async () => (await node(pc.node_id)).compute_id;
  await prove({
    calls: ['panels/inspector/node/host-field.tsx api.put'],
    request: /^PUT .*\/nodes\//,
    outcomes: [409, 'never'],
    ask: () => hosts.selectOption('second'),
    undone: () => until(async () => (await hosts.inputValue()) === 'local', 'the host as before'),
    done: () => until(async () => (await hostOf()) === 'second', 'the node on the other host'),
  });
  await server.expect(200, 'PUT', `${path}/nodes/${pc.node_id}`, { compute_id: 'local' });
  await pick(/^A2 /);
  await pick(/^PC9 /);
  await details.locator('summary', { hasText: 'Style of the label' }).click();
  await prove({
    calls: ['panels/inspector/node/label-style.tsx history.update'],
    request: /^PUT .*\/nodes\//,
    typed: [[details.getByLabel('Size (points)'), '17']],
    ask: () => details.getByLabel('Size (points)').press('Enter'),
    done: () => until(async () => /font-size: ?17/.test((await node(pc.node_id)).label.style), 'the size'),
  });
  const bold = details.getByLabel('Bold');
  const wasBold = await bold.isChecked();
  await prove({
    calls: ['panels/inspector/node/label-style.tsx history.update'],
    request: /^PUT .*\/nodes\//,
    ask: () => bold.click(),
    undone: () => until(async () => (await bold.isChecked()) === wasBold, 'the box as before'),
    done: () => until(async () => /bold/.test((await node(pc.node_id)).label.style) !== wasBold, 'the weight'),
  });
  await prove({
    calls: ['verbs/nodes.ts history.copy'],
    request: /^POST .*\/duplicate$/,
    ask: () => press('d'),
    undone: async () => assert.equal((await read('/nodes')).length, 4),
    done: () => until(async () => (await read('/nodes')).length === 5, 'the copy'),
  });
  const command = async (words: string): Promise<void> => {
    await page.keyboard.press('Control+k');
    await dialog.getByRole('combobox').fill(words);
    await dialog.getByRole('option').filter({ hasText: words }).first().click();
  };
  await pick(/^B /);
  await prove({
    calls: ['verbs/nodes-and-drawings.ts history.update'],
    request: /^PUT .*\/nodes\//,
    ask: () => command('Raise a layer'),
    done: () => until(async () => (await node(b.node_id)).z === 2, 'the layer'),
  });
  await prove({
    calls: ['verbs/nodes.ts history.updateBy'],
    request: /^POST .*\/isolate$/,
    ask: () => command('Isolate'),
    undone: async () => assert.equal((await read(`/links/${link.link_id}`)).suspend, false),
    done: () => until(async () => (await read(`/links/${link.link_id}`)).suspend, 'the suspended link'),
  });
  await command('End the isolation');
  for (const [words, locked] of [
    ['Lock the lab', true],
    ['Unlock the lab', false],
  ] as const) {
    await prove({
      calls: ['verbs/lab.ts history.updateBy'],
      request: new RegExp(`^POST .*/${locked ? 'lock' : 'unlock'}$`),
      ask: () => command(words),
      undone: async () => assert.equal((await node(b.node_id)).locked, !locked),
      done: () => until(async () => (await node(b.node_id)).locked === locked, words),
    });
  }
  await until(async () => !(await read(`/links/${link.link_id}`)).suspend, 'the link in use again');
  const label = { ...(await node(b.node_id)).label, x: 30 };
  await server.expect(200, 'PUT', `${path}/nodes/${b.node_id}`, { label });
  await prove({
    calls: ['verbs/nodes.ts history.update'],
    request: /^PUT .*\/nodes\//,
    ask: () => command('Put the name at the symbol'),
    done: () => until(async () => (await node(b.node_id)).label.x === null, 'the label'),
  });
  await prove({
    calls: ['verbs/lab.ts api.put'],
    request: /^PUT \/v2\/projects\/[^/]+$/,
    ask: () => command('Show grid'),
    undone: () => until(async () => !(await read('')).show_grid, 'no grid'),
    done: () => until(async () => (await read('')).show_grid, 'the grid'),
  });
  const ports = page.getByRole('form', { name: 'Add link' });
  await prove({
    calls: ['panels/linking.tsx history.make'],
    request: /^POST .*\/links$/,
    open: async () => {
      await pick(/^A2 /);
      await press('l');
      await pick(/^C /);
    },
    ask: async () => {
      // After a refusal both ends are still there.
      await ports.getByRole('button', { name: 'Link' }).click();
    },
    undone: async () => assert.equal((await read('/links')).length, 1),
    done: () => until(async () => (await read('/links')).length === 2, 'the link'),
  });
  const nameOfB = page.locator(`#node-${b.node_id} .name`);
  const nameAt = async () => Math.round((await nameOfB.boundingBox())!.x);
  await pick(/^B /);
  const nameBefore = await nameAt();
  await prove({
    calls: ['topology/grips.ts history.update'],
    request: /^PUT .*\/nodes\//,
    ask: async () => {
      const { x, y, width, height } = (await nameOfB.boundingBox())!;
      await page.mouse.move(x + width / 2, y + height / 2);
      await page.mouse.down();
      await page.mouse.move(x + width / 2 + 40, y + height / 2, { steps: 3 });
      await page.mouse.up();
    },
    undone: () => until(async () => (await nameAt()) === nameBefore, 'the name in its place again'),
    done: () => until(async () => (await node(b.node_id)).label.x !== null, 'the name at its new place'),
  });

  const ground = (await page.locator('main.map').boundingBox())!;
  await prove({
    calls: ['lab-context.ts history.make'],
    request: /^POST .*\/drawings$/,
    open: () => button('Add rectangle').click(),
    // The tool is still in the hand, to draw it once more.
    ask: async () => {
      const [x, y] = [ground.x + ground.width * 0.8, ground.y + ground.height * 0.3];
      await page.mouse.move(x, y);
      await page.mouse.down();
      await page.mouse.move(x + 60, y + 40, { steps: 2 });
      await page.mouse.up();
    },
    undone: async () => assert.equal((await read('/drawings')).length, 1),
    done: () => page.locator('[data-drawing].selected').waitFor(),
  });
  await press('Delete');
  await until(async () => (await read('/drawings')).length === 1, 'the end of the rectangle');

  // Files, and several nodes at once.
  await pick(/^PC9 /);
  await page.getByRole('tab', { name: 'Files' }).click();
  await prove({
    calls: ['panels/inspector/node/files.tsx api.upload'],
    request: /^POST .*\/files\//,
    ask: () =>
      details.locator('input[type=file]').setInputFiles({
        ...{ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('as it was') },
      }),
    done: () => button('Edit notes.txt', details).click(),
  });
  const content = details.getByLabel('Content of notes.txt');
  await content.waitFor();
  await prove({
    calls: ['panels/inspector/node/node-files.ts api.upload'],
    request: /^POST .*\/files\//,
    typed: [[content, 'as it is']],
    ask: () => button('Save', details).click(),
    said: details,
    done: () => details.getByText('Saved.').waitFor(),
  });
  await press('Escape');
  await button('Write notes', details).click();
  await prove({
    calls: ['notes/notes.tsx api.put'],
    request: /^PUT .*\/notes$/,
    typed: [[details.getByLabel('Content of Notes'), 'As it is']],
    ask: () => button('Save', details).click(),
    said: details,
    done: () => details.getByText('Saved.').waitFor(),
  });
  await button('Back to the notes', details).click();
  await page.locator(`#node-${b.node_id} image`).click();
  await page.locator(`#node-${c.node_id} image`).click({ modifiers: ['Shift'] });
  await prove({
    calls: ['panels/inspector/node/several-nodes.tsx history.updateEach'],
    request: /^PUT .*\/nodes\//,
    open: () => details.getByText('Settings that all of them have').waitFor(),
    typed: [[details.getByLabel('Start order', { exact: true }), '7']],
    ask: () => button('Save', details).click(),
    said: details,
    done: () => until(async () => (await node(b.node_id)).start_order === 7, 'the order'),
  });
  await prove({
    calls: ['verbs/nodes-and-drawings.ts history.remove'],
    request: /^DELETE .*\/nodes\//,
    open: () => pick(/^C /),
    // It stays selected.
    ask: () => press('Delete'),
    undone: () => page.locator(`[data-node="${c.node_id}"]`).waitFor(),
    done: () => page.locator(`[data-node="${c.node_id}"]`).waitFor({ state: 'detached' }),
  });
  await prove({
    calls: ['lab-context.ts api.post'],
    request: /^POST .*\/templates\//,
    open: () => button('Add node').first().click(),
    typed: [[page.getByRole('searchbox', { name: 'Template' }), 'Ethernet hub']],
    ask: () => page.getByRole('searchbox', { name: 'Template' }).press('Enter'),
    done: () => until(async () => (await read('/nodes')).length === 5, 'the hub'),
  });
  await button('Close', page.getByRole('dialog', { name: 'Add node' })).click();

  // Links.
  await pick(/^A2 .* – B /);
  await prove({
    calls: ['verbs/link.ts history.update'],
    request: /^PUT .*\/links\//,
    ask: () => button('Suspend', details).click(),
    undone: () => button('Suspend', details).waitFor(),
    done: () => button('Resume', details).waitFor(),
  });
  await prove({
    calls: ['verbs/link.ts api.post'],
    request: /^POST .*\/start_capture$/,
    ask: () => button('Start capture', details).first().click(),
    done: () => button('Stop capture', details).waitFor(),
  });
  const dock = page.getByRole('region', { name: 'Consoles' });
  await prove({
    calls: ['capture/capture-view.tsx api.post'],
    request: /^POST .*\/stop_capture$/,
    ask: () => button('Stop capture', dock).click(),
    said: dock,
    done: () => button('Start capture', details).first().click(),
  });
  await prove({
    calls: ['verbs/link.ts api.post'],
    request: /^POST .*\/stop_capture$/,
    ask: () => button('Stop capture', details).click(),
    done: () => until(async () => !(await read(`/links/${link.link_id}`)).capturing, 'the end of the capture'),
  });
  await page.getByRole('tab', { name: 'Line' }).click();
  await prove({
    calls: ['panels/inspector/link-style.tsx history.update'],
    request: /^PUT .*\/links\//,
    typed: [[details.getByLabel('Width'), '7']],
    ask: () => details.getByLabel('Width').press('Enter'),
    done: () => until(async () => (await read(`/links/${link.link_id}`)).link_style.width === 7, 'the width'),
  });
  const dashes = details.getByLabel('Dashes');
  await prove({
    calls: ['panels/inspector/link-style.tsx history.update'],
    request: /^PUT .*\/links\//,
    ask: () => dashes.selectOption('dotted'),
    undone: () => until(async () => (await dashes.inputValue()) === '1', 'what holds'),
    done: () => until(async () => (await read(`/links/${link.link_id}`)).link_style.type === 3, 'the dashes'),
  });
  await page.getByRole('tab', { name: 'Impairments' }).click();
  const loss = details.getByLabel('Loss, both directions', { exact: true });
  await prove({
    calls: ['panels/inspector/link/impairment-form.ts history.update'],
    request: /^PUT .*\/links\//,
    typed: [[loss, '5']],
    ask: () => button('Apply', details).click(),
    said: details,
    done: () =>
      until(async () => (await read(`/links/${link.link_id}`)).impairments?.forward.loss.percent === 5, 'the loss'),
  });
  await prove({
    calls: ['panels/inspector/link/achieved-effect.tsx api.post'],
    request: /^POST .*\/statistics\/reset$/,
    ask: () => button('Reset counters', details).click(),
    done: quiet,
  });
  await details.getByText('Schedule', { exact: true }).click();
  const length = details.getByLabel('for s').first();
  await prove({
    calls: ['panels/inspector/link/schedule.tsx history.schedule'],
    request: /^POST .*\/schedule$/,
    typed: [
      [details.getByLabel('at s').first(), '0'],
      [length, '300'],
    ],
    ask: () => button('Start schedule', details).click(),
    said: details,
    done: () => details.getByText('Running').waitFor(),
  });
  await prove({
    calls: ['panels/inspector/link/schedule.tsx history.schedule'],
    request: /^DELETE .*\/schedule$/,
    ask: () => button('Cancel schedule', details).click(),
    said: details,
    done: () => details.getByText('Cancelled').waitFor(),
  });

  // Drawings, the lab itself, and what was done before.
  const written = '<svg width="60" height="30"><text font-size="12" fill="#000000">Here</text></svg>';
  await server.expect(201, 'POST', `${path}/drawings`, { x: 150, y: 150, svg: written });
  // By the list: the small picture of the lab may lie upon it.
  await pick(/^Here/);
  const text = details.getByRole('textbox', { name: 'Text' });
  await prove({
    calls: ['panels/inspector/drawing.tsx history.update'],
    request: /^PUT .*\/drawings\//,
    typed: [[text, 'Core']],
    ask: async () => {
      await text.focus();
      await page.getByRole('heading', { name: 'Text' }).click();
      await text.evaluate((field: HTMLElement) => field.blur());
    },
    done: () => until(async () => JSON.stringify(await read('/drawings')).includes('Core'), 'the text'),
  });
  for (const [verb, shown] of [
    ['Undo', 'Redo'],
    ['Redo', 'Undo'],
  ] as const) {
    await prove({
      calls: ['verbs/lab.ts history.undo', 'verbs/lab.ts history.redo'],
      request: /^PUT .*\/drawings\//,
      ask: () => press(verb === 'Undo' ? 'Control+z' : 'Control+Shift+Z'),
      done: () => until(() => button(shown).first().isEnabled(), shown),
    });
  }
  await prove({
    calls: ['verbs/nodes-and-drawings.ts history.make'],
    request: /^POST .*\/drawings$/,
    ask: () => button('Duplicate', details).click(),
    done: () => until(async () => (await read('/drawings')).length === 3, 'the copy'),
  });
  await prove({
    calls: ['verbs/nodes-and-drawings.ts history.remove'],
    request: /^DELETE .*\/drawings\//,
    open: () => pick(/^Rectangle/),
    ask: () => button('Delete', details).click(),
    undone: () => page.locator(`#drawing-${drawing.drawing_id}`).waitFor(),
    done: () => until(async () => (await read('/drawings')).length === 2, 'one less'),
  });

  // Snapshots.
  const snapshots = page.getByRole('dialog');
  await prove({
    calls: ['tasks/snapshots-dialog.tsx api.post'],
    request: /^POST .*\/snapshots$/,
    isLong: true,
    open: () => button('Snapshots').first().click(),
    typed: [[snapshots.getByLabel('Name'), 'Before']],
    ask: () => snapshots.locator('button[type=submit]').click(),
    said: snapshots,
    done: () => snapshots.getByRole('row', { name: /^Before/ }).waitFor(),
  });
  await prove({
    calls: ['tasks/snapshots-dialog.tsx api.delete'],
    request: /^DELETE .*\/snapshots\//,
    ask: async () => {
      await button('Delete Before', snapshots).click();
      await button('Delete', snapshots.getByRole('alertdialog')).click();
    },
    said: snapshots,
    undone: () => snapshots.getByRole('row', { name: /^Before/ }).waitFor(),
    done: () => snapshots.getByRole('row', { name: /^Before/ }).waitFor({ state: 'detached' }),
  });

  await button('Close', snapshots).click();

  // Templates and hosts.
  await show('/templates');
  await button('New template').click();
  await page.getByRole('button', { name: /^Hub/ }).click();
  await page.getByLabel('Name', { exact: true }).waitFor();
  await prove({
    calls: ['templates/template-editor.tsx api.post'],
    request: /^POST \/v2\/templates$/,
    typed: [[page.getByLabel('Name', { exact: true }), 'Mine']],
    ask: () => button('New template').click(),
    done: () => row('Mine').waitFor(),
  });
  await button('Edit', row('Mine')).click();
  await prove({
    calls: ['templates/template-editor.tsx api.put'],
    request: /^PUT \/v2\/templates\//,
    typed: [[page.getByLabel('Name', { exact: true }), 'Ours']],
    ask: () => button('Save').click(),
    done: () => row('Ours').waitFor(),
  });
  await prove({
    calls: ['templates/templates-screen.tsx api.post'],
    request: /^POST .*\/duplicate$/,
    ask: () => button('Duplicate', row('Ours')).first().click(),
    done: () => row('Ours').nth(1).waitFor(),
  });
  await prove({
    calls: ['templates/templates-screen.tsx api.delete'],
    request: /^DELETE \/v2\/templates\//,
    ask: () => row('Ours').first().getByRole('button', { name: 'Delete' }).click().then(confirmed),
    undone: () => row('Ours').nth(1).waitFor(),
    done: () => row('Ours').nth(1).waitFor({ state: 'detached' }),
  });
  await show('/hosts');
  await button('Add a host').click();
  const host = page.getByRole('region', { name: 'Add a host' });
  await prove({
    calls: ['hosts/hosts-screen.tsx api.post'],
    request: /^POST \/v2\/computes$/,
    typed: [
      [host.getByLabel('Name', { exact: true }), 'Far'],
      [host.getByLabel('Address', { exact: true }), '127.0.0.9'],
    ],
    ask: () => button('Add a host', host).click(),
    said: host,
    done: () => page.getByRole('region', { name: 'Far' }).waitFor(),
  });
  const far = page.getByRole('listitem').filter({ hasText: 'Far' });
  await button('Edit', far).click();
  const edited = page.locator('section.editor');
  await prove({
    calls: ['hosts/hosts-screen.tsx api.put'],
    request: /^PUT \/v2\/computes\//,
    typed: [[edited.getByLabel('Name', { exact: true }), 'Farther']],
    ask: () => button('Save', edited).click(),
    said: edited,
    done: () =>
      page
        .getByRole('heading', { name: /^Farther/ })
        .first()
        .waitFor(),
  });
  await prove({
    calls: ['hosts/hosts-screen.tsx api.delete'],
    request: /^DELETE \/v2\/computes\//,
    ask: async () => {
      await button('Remove', page.getByRole('listitem').filter({ hasText: 'Farther' })).click();
      await confirmIn(page, 'Remove');
    },
    undone: () =>
      page
        .getByRole('heading', { name: /^Farther/ })
        .first()
        .waitFor(),
    done: () => page.getByRole('heading', { name: /^Farther/ }).waitFor({ state: 'detached' }),
  });

  // A half-built demonstration is taken away.
  await show('/help');
  await prove({
    calls: ['model/lab/demonstration.ts api.post', 'model/lab/demonstration.ts api.delete'],
    request: /^POST .*\/links$/,
    ask: () => button('Create demo lab (2 PCs)').click(),
    undone: () =>
      until(
        async () =>
          !(await server.expect(200, 'GET', '/v2/projects')).some(({ name }: { name: string }) =>
            /^Two PCs on a hub/.test(name),
          ),
        'no half of a lab',
      ),
    done: () => page.waitForURL(/\/labs\//),
  });

  await show('/templates');
  // Of the catalogue as much as is needed.
  type Match = { version: string | null; name: string };
  let matches: Match[] = await server.expect(200, 'GET', '/v2/appliances/matches?all=yes');
  await page.route(/\/appliances\/matches/, (route) => route.fulfill({ json: matches }));
  const container = matches.find(({ version }) => version === null)!;
  matches = [container];
  await button('Appliances').click();
  const made = page.getByText(/^The template .* is there\.$/);
  await prove({
    calls: ['templates/appliances.tsx api.post'],
    request: /^POST .*\/template$/,
    open: async () => {
      await page.getByLabel('Search').fill(container.name);
      const found = page.locator('details').filter({ hasText: container.name }).first();
      if (!(await found.evaluate((one: HTMLDetailsElement) => one.open))) await found.locator('summary').click();
    },
    ask: () => button(`Make the template of ${container.name}`).click(),
    undone: async () => assert.equal(await page.getByLabel('Search').inputValue(), container.name),
    done: () => made.waitFor(),
  });

  // Images: what is sent says it in the list of tasks, and goes on by itself where only the connection broke off.
  await show('/images');
  const tasks = page.getByRole('region', { name: 'Long work' });
  const file = (name: string) => ({ name, mimeType: 'application/octet-stream', buffer: Buffer.from(`QFI ${name}`) });
  const cutOff = 'connection lost, trying again';
  for (const [request, name, calls] of [
    [/^PUT .*\/uploads\//, 'one.img', ['tasks/image-uploads.ts api.put']],
    [/^POST .*\/uploads\//, 'two.img', ['tasks/image-uploads.ts send']],
  ] as const) {
    const again = button(`Try again: Upload ${name}`);
    await prove({
      calls,
      request,
      outcomes: [403, 507, 'reset'],
      words: { reset: cutOff },
      ask: async () => {
        if (await again.isVisible()) await again.click();
        else if ((await tasks.getByText(cutOff).count()) === 0) {
          await page.locator('input[type=file]').setInputFiles(file(name));
          const shown = page.locator('.tasks > button');
          if ((await shown.getAttribute('aria-expanded')) === 'false') await shown.click();
        }
      },
      said: tasks.getByRole('listitem').filter({ hasText: name }),
      done: () => row(name).waitFor(),
    });
  }
  refusing.begin(/^(PUT|DELETE) .*\/uploads\//, 'reset');
  await page.locator('input[type=file]').setInputFiles(file('three.img'));
  await tasks.getByText(cutOff).waitFor();
  // The server forgets what is left of it by itself.
  await button('Cancel: Upload three.img').click();
  await tasks.getByText('cancelled').waitFor();
  refusing.end();
  proved.add('tasks/image-uploads.ts api.delete');
  const [image] = (await server.expect(200, 'GET', '/v2/computes/local/images')) as Record<string, string>[];
  matches = [{ ...container, emulator: image!['emulator'], complete: true, images: [image] } as Match];
  await page.reload();
  await prove({
    calls: ['images-screen.tsx api.post'],
    request: /^POST .*\/template$/,
    ask: () => button(`Make the template ${container.name}`).click(),
    done: () => made.waitFor(),
  });
  await prove({
    calls: ['images-screen.tsx api.delete'],
    request: /^DELETE .*\/images\//,
    ask: () => button('Delete one.img').click().then(confirmed),
    undone: () => row('one.img').waitFor(),
    done: () => row('one.img').waitFor({ state: 'detached' }),
  });

  // A lab with what the first one has not.
  const other = await server.project('Other', { auto_close: false });
  const otherPath = `/v2/projects/${other.project_id}`;
  const makeNode = (name: string, type: string, x: number, properties = {}) =>
    server.expect(201, 'POST', `${otherPath}/nodes`, {
      ...{ name, node_type: type, compute_id: 'local', x, y: 0, properties },
    });
  // It asks whether somebody else has its address, which is how the switch learns its own.
  const sender = await makeNode('PC2', 'vpcs', -150, { startup_script: 'ip 10.0.0.2/24\n' });
  const learner = await makeNode('S', 'ethernet_switch', 150);
  const cable = await server.link(other, [sender, 0], [learner, 0]);
  const cablePath = `${otherPath}/links/${cable.link_id}`;
  await server.expect(200, 'POST', `${otherPath}/nodes/${sender.node_id}/start`);
  // It asks several times, a second apart; what is asked after the table was cleared would be learned again.
  const learned = `${otherPath}/nodes/${learner.node_id}/mac_table`;
  const isQuiet = async () => (await server.expect(200, 'GET', learned))[0]?.age >= 3;
  await until(isQuiet, 'the end of its questions');
  /** What comes in the place of an answer to a Break. */
  let noBreak: string | undefined;
  await page.routeWebSocket(/\/console\/ws/, (near) => {
    const far = near.connectToServer();
    near.onMessage((message) => {
      if (noBreak === undefined || !String(message).includes('"break"')) far.send(message);
      else near.send(JSON.stringify({ type: 'refused', message: noBreak }));
    });
  });
  await refusing.go(`/labs/${other.project_id}`);
  await pick(/^S on/);
  await page.getByRole('tab', { name: 'Ports' }).click();
  await prove({
    calls: ['panels/inspector/node/mac-table.tsx api.delete'],
    request: /^DELETE .*\/mac_table$/,
    ask: () => button('Clear', details).click(),
    undone: () => details.locator('td.code').waitFor(),
    done: () => details.locator('td.code').waitFor({ state: 'detached' }),
  });
  await pick(/^PC2 on/);
  await button('Console', details).click();
  await page
    .locator('.xterm-rows')
    .getByText(/10\.0\.0\.2/)
    .first()
    .waitFor();
  noBreak = 'sentence of a Break';
  await page.locator('.opens-menu').click();
  await page.getByRole('menuitem', { name: 'Send Break' }).click();
  await page.getByRole('alert').getByText(noBreak).waitFor();
  await pick(/^PC2 .* – S /);
  await page.getByRole('tab', { name: 'Impairments' }).click();
  await details.getByText('GNS3 filters').click();
  const chance = details.getByRole('group', { name: 'Packet loss' }).getByLabel('Chance');
  await prove({
    calls: ['panels/inspector/link/filters.tsx history.update'],
    request: /^PUT .*\/links\//,
    typed: [[chance, '20']],
    ask: () => chance.press('Enter'),
    said: details,
    done: () =>
      until(async () => (await server.expect(200, 'GET', cablePath)).filters.packet_loss?.[0] === 20, 'the filter'),
  });
  await refusing.go(`/labs/${other.project_id}/links/${cable.link_id}/capture`);
  await prove({
    calls: ['capture/capture-screen.tsx api.post'],
    request: /^POST .*\/start_capture$/,
    open: async () => {
      await page.getByText('0 frames').waitFor();
      await server.expect(201, 'POST', `${cablePath}/stop_capture`);
      await page.getByText('The capture has ended.').waitFor();
    },
    ask: async () => {
      const again = button('Try again');
      if (await again.isVisible()) await again.click();
      else await page.reload();
    },
    done: () => page.getByText('0 frames').waitFor(),
  });
  await refusing.go(`/labs/${other.project_id}`);
  await prove({
    calls: ['verbs/link.ts history.remove'],
    request: /^DELETE .*\/links\//,
    open: () => pick(/^PC2 .* – S /),
    // It stays selected.
    ask: () => press('Delete'),
    undone: async () => void (await server.expect(200, 'GET', cablePath)),
    done: () => until(async () => (await server.expect(200, 'GET', `${otherPath}/links`)).length === 0, 'no link'),
  });
  await server.expect(204, 'POST', `${otherPath}/close`);
  await page.reload();
  await prove({
    calls: ['panels/open-button.tsx api.post'],
    request: /^POST .*\/open$/,
    ask: () => button('Open').click(),
    undone: () => page.getByText('This lab is closed').waitFor(),
    done: () => page.locator('[data-node]').first().waitFor(),
  });
  await server.expect(200, 'PUT', otherPath, { auto_close: true });
  await until(async () => (await page.evaluate(() => document.title)) !== '', 'the lab');
  await page.getByRole('link', { name: 'Labs' }).first().click();
  await prove({
    calls: ['model/lab/leave-lab.ts api.put'],
    request: /^PUT \/v2\/projects\//,
    ask: () => button('Keep it running').click(),
    done: () => until(async () => !(await server.expect(200, 'GET', otherPath)).auto_close, 'that it stays'),
  });

  // An archive, and the end of long work.
  const archive = await fetch(`${address}${otherPath}/export`, {
    headers: { Authorization: basicHeader(CREDENTIALS) },
  });
  const packed = {
    name: 'Archive.gns3project',
    mimeType: 'application/zip',
    buffer: Buffer.from(await archive.bytes()),
  };
  await prove({
    calls: ['tasks/page-tasks.ts send'],
    request: /^POST .*\/import$/,
    outcomes: [409, 507, 'reset'],
    words: { reset: 'The connection broke off.' },
    ask: () => page.locator('input[type=file]').setInputFiles(packed),
    done: () => row('Archive').waitFor(),
  });
  await page.route(/\/duplicate$/, () => {});
  await button('Duplicate', row('Archive')).click();
  await button('Duplicate', dialog).click();
  await dialog.waitFor({ state: 'detached' });
  await page.locator('.tasks > button').click();
  await prove({
    calls: ['tasks/page-tasks.ts api.delete'],
    request: /^DELETE .*\/operations\//,
    ask: () => tasks.getByRole('button', { name: /^Cancel: Duplicate/ }).click(),
    // To stop waiting closes the list.
    outcomes: [500, 'reset'],
    said: tasks,
    // The server knows nothing of it: it was not let through.
    done: () => tasks.getByText(/no operation|not exist|not found|unknown/i).waitFor(),
  });

  // People.
  await show('/people');
  await prove({
    calls: ['people/account-dialogs.tsx api.post'],
    request: /^POST \/v2\/accounts$/,
    open: () => button('New account').click(),
    typed: [
      [dialog.getByLabel('Name'), BOB.user],
      [dialog.getByLabel('Password'), 'the first one'],
    ],
    ask: () => button('Add', dialog).click(),
    said: dialog,
    done: () => row(BOB.user).waitFor(),
  });
  await prove({
    calls: ['people/account-dialogs.tsx api.put'],
    request: /^PUT \/v2\/accounts\//,
    open: () => button('New password for bob').click(),
    typed: [[dialog.getByLabel('Password'), BOB.password]],
    ask: () => button('Save', dialog).click(),
    said: dialog,
    done: () => dialog.waitFor({ state: 'detached' }),
  });
  // Another account is another page.
  await page.goto(address);
  const everybody = dialog.getByRole('radio', { name: 'Everybody may watch' });
  await prove({
    calls: ['labs/share-labs.tsx api.put'],
    request: /^PUT .*\/sharing$/,
    open: async () => {
      await button('Share', row('Other')).click();
      await everybody.check();
    },
    ask: () => button('Save', dialog).click(),
    said: dialog,
    undone: async () => assert.equal(await everybody.isChecked(), true),
    done: () => dialog.waitFor({ state: 'detached' }),
  });
  await page.setExtraHTTPHeaders({ Authorization: basicHeader(BOB) });
  await page.goto(`${address}/account`);
  await prove({
    calls: ['people/tokens.tsx api.post'],
    request: /^POST \/v2\/account\/tokens$/,
    open: () => button('New token').click(),
    typed: [[dialog.getByLabel('What it is for'), 'backup']],
    ask: () => button('Make it', dialog).click(),
    said: dialog,
    done: () => row('backup').waitFor(),
  });
  await prove({
    calls: ['people/tokens.tsx api.delete'],
    request: /^DELETE \/v2\/account\/tokens\//,
    open: () => button('Revoke backup').click(),
    ask: () => button('Revoke', dialog).click(),
    said: dialog,
    undone: () => row('backup').waitFor(),
    done: () => row('backup').waitFor({ state: 'detached' }),
  });
  await prove({
    calls: ['people/account-screen.tsx api.put'],
    request: /^PUT \/v2\/account\/password$/,
    open: () => button('Change the password').click(),
    typed: [
      [dialog.getByLabel('New password'), 'another one'],
      [dialog.getByLabel('Repeat the password'), 'another one'],
    ],
    ask: () => button('Change the password', dialog).click(),
    said: dialog,
    done: () => dialog.waitFor({ state: 'detached' }),
  });
  await page.setExtraHTTPHeaders({ Authorization: basicHeader(CREDENTIALS) });
  await page.goto(`${address}/people`);
  await prove({
    calls: ['people/account-dialogs.tsx api.delete'],
    request: /^DELETE \/v2\/accounts\//,
    open: () => button('Remove bob').click(),
    ask: () => button('Remove', dialog).click(),
    said: dialog,
    undone: () => row(BOB.user).waitFor(),
    done: () => row(BOB.user).waitFor({ state: 'detached' }),
  });

  const known = new Set([...proved, ...Object.keys(ELSEWHERE)]);
  assert.deepEqual(
    [...callsOf().difference(known)],
    [],
    'calls of the API whose refusal nothing proves: add a verb above',
  );
  assert.deepEqual([...known.difference(callsOf())], [], 'calls that are not in the sources any more');
});
