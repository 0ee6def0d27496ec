// What the server does not let the page read is said where it would be, and can be asked for again.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { until } from '../controller/lab-server.ts';
import { chooseFromMore, PATIENCE_MS, startBrowser, visit, WITHOUT_BROWSER } from './browser.ts';
import { type Outcome, Refusing, sentenceOf } from './refusing.ts';
import { serveInside } from './served.ts';

/** A click whose button goes away meanwhile is tried once more. */
const CLICK_MS = 10_000;
const WEB = join(import.meta.dirname, '../../src/web');

/** What the page reads, by file: `model/lab/labs.ts /projects`. */
function loadsOf(): Set<string> {
  const found = new Set<string>();
  for (const path of readdirSync(WEB, { recursive: true, encoding: 'utf8' })) {
    if (!/\.tsx?$/.test(path)) continue;
    const calls = readFileSync(join(WEB, path), 'utf8').matchAll(
      /\b(?:api|#?requests)\.(?:get|text|mustHave)(?:<[^(]*>)?\(\s*([^,\n]*?)[,)]/g,
    );
    for (const [, what = ''] of calls) found.add(`${path} ${what.replaceAll(/[`']/g, '').replaceAll('${', '{')}`);
  }
  return found;
}

/** What is not missed when it cannot be read: the rest of the screen is there, and nothing is said. */
const QUIET: Readonly<Record<string, string>> = {
  'model/lab/labs.ts /project-changes': 'comes with the next reading',
  'model/lab/labs.ts /project-figures': 'comes with the next reading',
  'model/lab/leave-lab.ts /project-figures': 'asked again after a pause',
  'panels/inspector/node/use-live-addresses.ts path': 'comes with the next reading',
  'model/lab/node-load.ts /statistics?nodes={this.#labId}': 'comes with the next reading',
  'model/account/permissions.ts /project-sharing': 'the server refuses what may not be done',
  'model/server/unavailable-kinds.ts path': 'the server says it when a node is made',
  'tasks/page-tasks.ts /operations': 'the list of tasks is told of each that begins',
  'images-screen.tsx /appliances/matches?compute_id={id}': 'a button less beside an image',
  'forms/images.ts /computes/{encodeURIComponent(host': 'names of images can be typed',
  'lab-context.ts path': 'the usual size of a symbol is taken',
  'hosts/hosts-screen.tsx /statistics': 'read again after five seconds',
  'hosts/hosts-screen.tsx /cluster': 'the rest of each host is there',
  'hosts/hosts-screen.tsx /computes': 'read after a refusal, which is said',
  'panels/inspector/node/ports-table.tsx /computes/{node.compute_id}/network/interfaces':
    'names of interfaces can be typed',
};

/** What is read where other tests have the refusal. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'tasks/image-uploads.ts pathOf(upload': 'uploads-again.test.ts: asked for again by itself',
  'model/lab/undo.ts {this.#project}/links': 'verbs-refused.test.ts: a part of an undo, told as a whole',
  'model/lab/undo.ts {this.#project}/journal': 'test/web-units/undo.test.ts: a part of an undo',
  'model/lab/undo.ts this.#schedulePath(id': 'test/web-units/undo.test.ts: a part of an undo',
  'verbs/addresses.ts pathOfFile(node': 'verbs-refused.test.ts: a part of giving addresses, told as a whole',
  'people/audit-trail.tsx /accounts': 'choices of the trail, which can be read again as a whole',
  'people/audit-trail.tsx /projects': 'the same',
  'capture/download.tsx {path}/merged-captures': 'asked for and told as an export, whose row is here',
};

interface Load {
  /** As `loadsOf` names them. */
  loads: readonly string[];
  request: RegExp;
  /** Shows what reads it. */
  show: () => Promise<unknown>;
  /** In the place of `Try again`. */
  again?: () => Promise<unknown>;
  /** It is asked for again without being told to, as a rule. */
  isByItself?: boolean;
  done: () => Promise<unknown>;
}

test('whatever a screen cannot read: it says why, offers to try again, and goes on when there is an answer', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const server = await serveInside(t, { 'VPCS.engine': 'built-in' });
  const project = await server.project('Lab', { auto_close: false });
  const path = `/v2/projects/${project.project_id}`;
  const add = (name: string, type: string, x: number) =>
    server.expect(201, 'POST', `${path}/nodes`, { name, node_type: type, compute_id: 'local', x, y: 0 });
  const pc = await add('PC', 'vpcs', -150);
  const link = await server.link(project, [pc, 0], [await add('S', 'ethernet_switch', 0), 0]);
  await add('Cloud', 'cloud', 150);
  const svg = '<svg width="60" height="30"><rect width="60" height="30" fill="#ffffff" stroke="#000000" /></svg>';
  const drawing = await server.expect(201, 'POST', `${path}/drawings`, { x: -30, y: 150, svg });
  await server.expect(201, 'POST', '/v2/accounts', { name: 'bob', role: 'user', password: 'password of bob' });
  await server.expect(201, 'POST', `${path}/nodes/${pc.node_id}/files/notes.log`, 'a line');
  const address = `http://127.0.0.1:${server.port}`;
  const browser = await startBrowser(t);
  // Downloads carry no header of the test's.
  const { page } = await visit(browser, `${address}/help`, { isAsked: true });
  const refusing = await Refusing.of(page);
  // The pictures of all symbols would take longer than the rest.
  await page.route(/\/symbols\/[^/]+\/raw$/, (route) => route.fulfill({ contentType: 'image/svg+xml', body: svg }));
  const dialog = page.getByRole('dialog');
  const details = page.getByRole('complementary');
  const button = (name: string, within: Page | Locator = page) => within.getByRole('button', { name, exact: true });
  const row = (name: string) => page.getByRole('row').filter({ hasText: name });
  const tab = (name: string) => page.getByRole('tab', { name }).click();
  const list = page.getByRole('navigation', { name: 'Nodes and links' });
  const pick = (name: RegExp) => list.getByRole('button', { name }).first().click();
  /** From another screen, so that it is made anew. */
  const show = async (where: string): Promise<void> => {
    await refusing.go('/nowhere');
    await page.getByText('There is nothing at this address').waitFor();
    await refusing.go(where);
  };
  const showLab = async (): Promise<void> => {
    await show(`/labs/${project.project_id}`);
    await page.locator('[data-node]').nth(2).waitFor();
  };

  const proved = new Set<string>();
  let turn = 0;
  const tryAgain = async (): Promise<void> => {
    const first = button('Try again').first();
    if (await first.isVisible()) await first.click({ timeout: CLICK_MS });
  };
  /** Tries again, unless the page has done so by itself: its button is gone meanwhile. */
  const asked = (what: string): Promise<void> =>
    until(
      async () => {
        if (refusing.count === 0) await tryAgain().catch(() => {});
        return refusing.count > 0;
      },
      what,
      PATIENCE_MS,
    );
  /** Until nothing is left to be tried again; the page may do so by itself, and its button goes then. */
  const triedAgain = (): Promise<void> =>
    until(
      async () => {
        const gone = { state: 'detached', timeout: CLICK_MS } as const;
        // Another click would make the answer to this one an old one.
        await tryAgain()
          .then(() => button('Try again').first().waitFor(gone))
          .catch(() => {});
        return (await button('Try again').count()) === 0;
      },
      'an answer to what is tried again',
      PATIENCE_MS,
    );
  async function prove(load: Load): Promise<void> {
    turn += 1;
    const again = load.again ?? (() => button('Try again').first().click());
    const outcomes = [([401, 403, 500] as const)[turn % 3]!, ([500, 'reset', 'never', 403] as const)[turn % 4]!];
    for (const [index, outcome] of (outcomes as Outcome[]).entries()) {
      const what = `${load.loads[0]}: ${outcome}`;
      refusing.begin(load.request, outcome);
      await (index === 0 ? load.show() : load.isByItself ? asked(what) : again());
      if (outcome === 'never') await refusing.stopWaiting(what);
      const told = page.getByText(sentenceOf(outcome)).first();
      await until(
        async () => {
          if (await told.isVisible()) return true;
          // What arrives meanwhile, such as a connection that is made again, is a reason to ask once more, without an answer either.
          if (outcome === 'never') await refusing.giveUp().catch(() => {});
          return false;
        },
        what,
        PATIENCE_MS,
      );
    }
    refusing.end();
    await (load.again ?? triedAgain)();
    await load.done();
    await until(
      async () => (await page.getByText(/^sentence \d/).count()) === 0,
      `${load.loads[0]}: nothing is said any more`,
      PATIENCE_MS,
    );
    for (const each of load.loads) proved.add(each);
  }

  await prove({
    loads: ['help-screen.tsx /version'],
    request: /\/version$/,
    show: () => show('/help'),
    done: () => page.getByText(/APIs 2 \(\d/).waitFor(),
  });
  await prove({
    loads: ['model/lab/labs.ts /projects'],
    request: /^GET \/v2\/projects$/,
    show: () => show('/'),
    done: () => row('Lab').waitFor(),
  });
  await prove({
    loads: ['labs/share-labs.tsx path', 'labs/share-labs.tsx /accounts', 'labs/share-labs.tsx /groups'],
    request: /\/sharing$/,
    show: () => button('Share', row('Lab')).click(),
    done: () => dialog.getByRole('radio', { name: 'Everybody hidden' }).waitFor(),
  });
  await button('Cancel', dialog).click();
  await prove({
    loads: ['tasks/export-dialog.tsx {path}&check=yes'],
    request: /\/export$/,
    show: async () => {
      await chooseFromMore(row('Lab'), 'Export');
      await button('Download', dialog).click();
    },
    again: () => button('Download', dialog).click(),
    done: () => dialog.waitFor({ state: 'detached' }),
  });
  await prove({
    loads: ['model/lab/demonstration.ts /projects'],
    request: /^GET \/v2\/projects$/,
    show: async () => {
      await show('/help');
      await button('Create demo lab (2 PCs)').click();
    },
    again: () => button('Create demo lab (2 PCs)').click(),
    done: () => page.waitForURL(/\/labs\//),
  });
  for (const [part, name] of [
    ['', 'this.path'],
    ['/nodes', '{this.path}/nodes'],
    ['/links', '{this.path}/links'],
    ['/drawings', '{this.path}/drawings'],
  ]) {
    await prove({
      loads: [`model/lab/lab.ts ${name}`],
      request: new RegExp(`^GET ${path}${part}$`),
      show: () => show(`/labs/${project.project_id}`),
      isByItself: true,
      done: () => page.locator('[data-node]').nth(2).waitFor(),
    });
  }
  await prove({
    loads: ['notes/notes.tsx path'],
    request: /\/notes$/,
    show: () => show(`/labs/${project.project_id}`),
    done: () => button('Write notes', details).waitFor(),
  });
  await prove({
    loads: ['shell/command-field.tsx /projects', 'shell/command-field.tsx /templates'],
    request: /\/templates$/,
    show: () => page.keyboard.press('Control+k'),
    done: () => dialog.getByRole('option').filter({ hasText: 'lab' }).first().waitFor(),
  });
  await page.keyboard.press('Escape');
  await prove({
    loads: ['panels/palette.tsx /templates'],
    request: /\/templates$/,
    show: () => button('Add node').first().click(),
    done: () => page.locator('.templates button').filter({ hasText: 'VPCS' }).first().waitFor(),
  });
  await page.keyboard.press('Escape');
  await prove({
    loads: ['tasks/snapshots-dialog.tsx path'],
    request: /\/snapshots$/,
    show: () => button('Snapshots').first().click(),
    done: () => page.getByText('There is no snapshot yet.').waitFor(),
  });
  await page.keyboard.press('Escape');

  // The details of a node, whose form is made of the document of the API, which is read once.
  await page.goto(`${address}/labs/${project.project_id}`);
  await prove({
    loads: ['forms/document.ts /openapi.json?{new URLSearchParams({ path }'],
    request: /\/openapi\.json$/,
    show: () => pick(/^PC /),
    done: () => details.getByLabel('Name', { exact: true }).waitFor(),
  });
  await prove({
    loads: ['panels/symbol-chooser.tsx /symbols'],
    request: /\/symbols$/,
    show: async () => {
      await details.getByText('More', { exact: true }).click();
      await button('Choose a symbol', details).click();
    },
    done: () => dialog.getByRole('button').nth(3).waitFor(),
  });
  await page.keyboard.press('Escape');
  await prove({
    loads: ['panels/inspector/node/node-files.ts /projects/{project}/nodes/{node}/disk_use'],
    request: /\/disk_use$/,
    show: () => tab('Files'),
    done: () => button('Edit startup.vpc', details).waitFor(),
  });
  await prove({
    loads: ['panels/inspector/node/node-files.ts pathOfFile(node'],
    request: /^GET .*\/files\//,
    show: () => button('Edit notes.log', details).click(),
    done: () => details.getByLabel('Content of notes.log').waitFor(),
  });
  await prove({
    loads: ['panels/inspector/node/log.tsx {lab.path}/journal?node_id={node.node_id}'],
    request: /\/journal$/,
    show: () => tab('Log'),
    done: () => page.getByText('Nothing has happened').or(page.locator('.log li').first()).first().waitFor(),
  });
  await tab('General');
  await prove({
    loads: ['panels/inspector/node/log.tsx pathOfFile(node'],
    request: /^GET .*\/files\//,
    show: () => tab('Log'),
    done: () => details.getByText('a line').waitFor(),
  });
  await pick(/^S /);
  await prove({
    loads: ['panels/inspector/node/mac-table.tsx path'],
    request: /\/mac_table$/,
    show: () => tab('Ports'),
    done: () => page.getByRole('heading', { name: /^MAC addresses/ }).waitFor(),
  });
  await pick(/^Cloud /);
  await prove({
    loads: ['panels/inspector/node/host-interfaces.tsx /computes/{node.compute_id}/network/interfaces'],
    request: /\/network\/interfaces$/,
    show: async () => {
      await tab('General');
      await tab('Ports');
      await page.locator('summary', { hasText: 'Interfaces of the host' }).click();
    },
    done: () => page.locator('details[open] table').getByRole('rowheader').first().waitFor(),
  });
  // What is read before it is deleted, so that it can come back.
  await page.locator(`#drawing-${drawing.drawing_id}`).click();
  await prove({
    loads: ['model/lab/undo.ts this.#path(kind'],
    request: /^GET .*\/drawings\/[^/]+$/,
    show: () => page.locator('.topology').first().press('Delete'),
    again: () => page.locator('.topology').first().press('Delete'),
    done: () => page.locator(`#drawing-${drawing.drawing_id}`).waitFor({ state: 'detached' }),
  });
  await pick(/ – S /);
  await prove({
    loads: ['panels/inspector/link/impairments.tsx /impairments/presets'],
    request: /\/impairments\/presets$/,
    show: () => tab('Impairments'),
    done: () => details.getByLabel('Preset').waitFor(),
  });
  await tab('Line');
  await prove({
    loads: ['panels/inspector/link/filters.tsx {path}/available_filters'],
    request: /\/available_filters$/,
    show: () => tab('Impairments'),
    done: () => details.getByText('GNS3 filters').waitFor(),
  });
  await prove({
    loads: ['panels/inspector/link/schedule.tsx path'],
    request: /^GET .*\/schedule$/,
    show: () => details.getByText('Schedule', { exact: true }).click(),
    again: () => Promise.resolve(),
    isByItself: true,
    done: () => details.locator('.schedule .empty').waitFor(),
  });

  // Captures, alone in their window.
  await prove({
    loads: ['capture/capture-screen.tsx {lab.path}/links/{linkId}'],
    request: /^GET .*\/links\/[^/]+$/,
    show: () => show(`/labs/${project.project_id}/links/${link.link_id}/capture`),
    done: () => page.getByText('0 frames').waitFor(),
  });
  await prove({
    loads: ['capture/capture-screen.tsx {lab.path}/nodes/{end.node_id}'],
    request: /^GET .*\/nodes\/[^/]+$/,
    show: () => show(`/labs/${project.project_id}/links/${link.link_id}/capture`),
    done: () => page.getByText('0 frames').waitFor(),
  });
  let downloaded: Promise<unknown>;
  await prove({
    loads: ['capture/download.tsx {project}/captures'],
    request: /\/captures$/,
    show: () => button('Download').click(),
    again: () => {
      downloaded = page.waitForEvent('download');
      downloaded.catch(() => {}); // awaited by the last time alone
      return button('Download').click();
    },
    done: () => downloaded,
  });

  // The other screens.
  await prove({
    loads: ['model/server/collection.ts this.#path'],
    request: /\/templates$/,
    show: () => show('/templates'),
    done: () => row('Ethernet hub').first().waitFor(),
  });
  await prove({
    loads: ['templates/templates-screen.tsx /computes'],
    request: /\/computes$/,
    show: () => show('/templates'),
    done: () => row('Ethernet hub').first().waitFor(),
  });
  await prove({
    loads: ['templates/appliances.tsx /appliances/matches?all=yes&compute_id={encodeURIComponent(host.value'],
    request: /\/appliances\/matches$/,
    show: () => button('Appliances').click(),
    done: () => page.locator('.appliances summary').first().waitFor(),
  });
  for (const [what, request] of [
    ['/computes', /\/computes$/],
    ['/computes/{id}/images', /\/local\/images$/],
  ] as const) {
    await prove({
      loads: [`images-screen.tsx ${what}`],
      request,
      show: () => show('/images'),
      done: () => page.getByText('There are no images here yet.').waitFor(),
    });
  }
  for (const load of [
    'people/people-screen.tsx /accounts',
    'model/account/owned-labs.ts /projects',
    'model/account/owned-labs.ts /project-sharing',
  ]) {
    await prove({
      loads: [load],
      request: new RegExp(`^GET /v2${load.split(' ')[1]}$`),
      show: () => show('/people'),
      done: () => row('bob').waitFor(),
    });
  }
  await prove({
    loads: ['people/audit-trail.tsx /audit?{query}'],
    request: /\/audit$/,
    show: () => button('Audit trail').click(),
    done: () => page.locator('.trail tbody tr').first().waitFor(),
  });
  await prove({
    loads: ['people/tokens.tsx /account/tokens'],
    request: /\/account\/tokens$/,
    show: () => show('/account'),
    done: () => page.getByText('You have no token.').waitFor(),
  });
  await prove({
    loads: ['people/account-screen.tsx /accounts'],
    request: /\/accounts$/,
    show: () => show('/account'),
    done: () => page.getByText(/This account is kept by the host/).waitFor(),
  });
  await prove({
    loads: ['model/account/account.ts /account'],
    request: /^GET \/v2\/account$/,
    show: () => page.goto(`${address}/account`),
    done: () => page.getByText('You have no token.').waitFor(),
  });

  await showLab();
  await prove({
    loads: ['panels/inspector/node/host-field.tsx /computes'],
    request: /^GET \/v2\/computes$/,
    show: () => pick(/^PC /),
    done: () => details.getByText(/^Host: sentence/).waitFor({ state: 'detached' }),
  });

  const known = new Set([...proved, ...Object.keys(QUIET), ...Object.keys(ELSEWHERE)]);
  assert.deepEqual([...loadsOf().difference(known)], [], 'what is read without a row above');
  assert.deepEqual([...known.difference(loadsOf())], [], 'what is not in the sources any more');

  refusing.begin(
    /^GET .*\/(project-(changes|figures|sharing)|hindrances|operations|matches|dimensions|statistics|cluster|network\/interfaces|(qemu|docker|iou|dynamips)\/images)$/,
    500,
  );
  for (const [where, there] of [
    ['/', row('Lab')],
    ['/templates', row('Ethernet hub').first()],
    ['/images', page.getByText('There are no images here yet.')],
    ['/hosts', page.getByRole('heading', { name: /reachable/ })],
  ] as const) {
    await page.goto(`${address}${where}`);
    await there.waitFor();
  }
  await showLab();
  await button('Add node').first().click();
  await page.locator('.templates button').filter({ hasText: 'VPCS' }).first().click();
  await page.locator('[data-node]').nth(3).waitFor();
  assert.ok(refusing.count > 0);
  assert.equal(await page.getByText(/^sentence \d/).count(), 0);
});
