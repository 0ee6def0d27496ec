// What guests, colleagues and foreign pages may try: texts that are code, escape sequences, frames, requests of other sites, tickets.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import type { Page, Request } from 'playwright-core';
import { eventually } from '../system/daemon.ts';
import { missing } from '../system/lab.ts';
import { startBrowser, visit, WITHOUT_BROWSER } from './browser.ts';
import { serve } from './served.ts';
import { Way } from './way.ts';

/** Each would set `broken`, or ask another host, if it were taken for more than text. */
const TEXTS = [
  '<img src=x onerror=window.broken=1>',
  '<svg onload=window.broken=1>',
  '"><script>window.broken=1</script>',
  "';window.broken=1;//",
  'javascript:window.broken=1',
  '{{constructor.constructor("window.broken=1")()}}',
  '<link rel=stylesheet href=http://192.0.2.1/s.css>',
  '<base href=http://192.0.2.1/>',
  '\u202egnp.exe\u2066',
] as const;

const EVIL_SVG = `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="60" height="60" onload="window.broken=1">
<script>window.broken=1</script><style>@import url(http://192.0.2.1/s.css);</style><rect width="60" height="60" fill="red" onclick="window.broken=1"/>
<image xlink:href="http://192.0.2.1/p.png" width="9" height="9"/><use href="http://192.0.2.1/u.svg#a"/><a href="javascript:window.broken=1"><text y="20">a</text></a>
<foreignObject width="60" height="60"><body xmlns="http://www.w3.org/1999/xhtml" onload="window.broken=1"><iframe src="javascript:window.broken=1"/></body></foreignObject></svg>`;

const isBroken = (page: Page) => page.evaluate(() => (globalThis as { broken?: number }).broken ?? 0);

test('texts and pictures that are code are shown, wherever they stand, and do nothing', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const { daemon, address } = await serve(t);
  await daemon.ask('POST', '/v2/symbols/evil.svg/raw', { body: EVIL_SVG });
  // A slash cannot be in the name of a lab, nor can characters that turn the direction of writing.
  const names = TEXTS.map((text) => text.replaceAll('/', '|').replaceAll(/[\u202a-\u202e\u2066-\u2069]/gu, ''));
  for (const name of names) await daemon.post('/v2/projects', { name, auto_close: false });
  const { project_id } = await daemon.post('/v2/projects', { name: `lab ${names[0]}`, auto_close: false });
  const path = `/v2/projects/${project_id}`;
  for (const [index, text] of TEXTS.entries()) {
    await daemon.post(`${path}/nodes`, {
      ...{
        name: index === 0 ? 'Hub0' : names[index],
        node_type: 'ethernet_hub',
        compute_id: 'local',
        symbol: 'evil.svg',
        x: index * 90,
        y: 0,
      },
      label: {
        text,
        x: 0,
        y: -30,
        rotation: 0,
        style: `fill:url(http://192.0.2.1/#a);background:url("http://192.0.2.1/b")`,
      },
    });
    await daemon.post('/v2/templates', { template_type: 'vpcs', name: text, compute_id: 'local', symbol: 'evil.svg' });
  }
  await daemon.post(`${path}/drawings`, { svg: EVIL_SVG, x: 0, y: 150 });
  // As the name of a node and of a file.
  const pc = await daemon.post(`${path}/nodes`, {
    name: names[0],
    node_type: 'vpcs',
    compute_id: 'local',
    x: 0,
    y: 90,
  });
  const file = `${TEXTS[0]}.txt`;
  const written = await daemon.ask('POST', `${path}/nodes/${pc.node_id}/files/${encodeURIComponent(file)}`, {
    body: '<script>window.broken=1</script>',
  });
  assert.equal(written.status, 201, written.text);
  const browser = await startBrowser(t);
  const { page, complaints } = await visit(browser, address);
  for (const name of names) await page.getByRole('link', { name, exact: true }).waitFor();
  await page.goto(`${address}labs/${project_id}`);
  await page.locator('.drawing image').waitFor({ state: 'attached' });
  await page
    .locator('.node')
    .nth(TEXTS.length - 1)
    .waitFor({ state: 'attached' });
  await page.getByRole('main', { name: 'Topology' }).press('n');
  await page.getByRole('dialog').getByText(TEXTS[0]).first().waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('navigation').getByRole('button', { name: 'Hub0 on', exact: true }).click();
  await page.getByRole('complementary').getByText('Hub0').first().waitFor();
  await page
    .getByRole('navigation')
    .getByRole('button', { name: `${pc.name} off`, exact: true })
    .click();
  await page.getByRole('complementary').getByRole('heading', { name: pc.name }).waitFor();
  await page.getByRole('tab', { name: 'Files' }).click();
  await page.getByRole('tabpanel').getByText(file).first().waitFor();
  assert.equal(await isBroken(page), 0);
  assert.deepEqual(complaints, []);
  // Opened by itself, a picture is no page of this server either: it runs nothing, and asks nobody.
  const asked: string[] = [];
  page.on('requestfinished', (request) => asked.push(new URL(request.url()).host));
  await page.goto(`${address}v2/symbols/evil.svg/raw`);
  assert.equal(await isBroken(page), 0);
  assert.deepEqual([...new Set(asked)], [new URL(address).host]);
});

/** Points at a text of the console, and clicks. */
async function click(page: Page, text: string): Promise<void> {
  const box = (await page.locator('.console .xterm-rows').getByText(text, { exact: true }).last().boundingBox())!;
  await page.mouse.move(box.x + 5, box.y + 25);
  await page.mouse.move(box.x + 10, box.y + box.height / 2, { steps: 4 });
  await page.waitForTimeout(200);
  await page.mouse.click(box.x + 10, box.y + box.height / 2);
}

test('what a console prints opens nothing, copies nothing, and renames nothing; a link is asked for with its whole address', {
  skip: WITHOUT_BROWSER || missing('vpcs'),
}, async (t) => {
  const { daemon, address } = await serve(t, { config: 'engine = vpcs' });
  const { project_id } = await daemon.post('/v2/projects', { name: 'Escapes', auto_close: false });
  const path = `/v2/projects/${project_id}`;
  const { node_id } = await daemon.post(`${path}/nodes`, { name: 'PC1', node_type: 'vpcs', compute_id: 'local' });
  const link = (to: string, text: string) => `\x1b]8;;${to}\x1b\\${text}\x1b]8;;\x1b\\\r\n`;
  const output = [
    `\x1b]52;c;${Buffer.from('rm -rf /').toString('base64')}\x07\x1b]0;hacked\x07\x1b]2;hacked\x1b\\\x1b]1337;File=inline=1:AAAA\x07`,
    '\x1b[21t\x1b[5n\x1bP$q"p\x1b\\<img src=x onerror=window.broken=1>\r\n',
    link('javascript:window.broken=1', 'click here'),
    link('http://192.0.2.1/steal?a=b', 'http://harmless.example/'),
    'the end\r\n',
  ];
  await daemon.post(`${path}/nodes/${node_id}/start`, {});
  const written = await daemon.ask('POST', `${path}/nodes/${node_id}/files/output`, { body: output.join('') });
  assert.equal(written.status, 201, written.text);
  const browser = await startBrowser(t);
  const { page, complaints } = await visit(browser, `${address}labs/${project_id}/nodes/${node_id}/console`);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const screen = page.locator('.console .xterm-rows');
  await screen
    .getByText(/VPCS>|PC1>/)
    .first()
    .waitFor();
  await page.evaluate(() => navigator.clipboard.writeText('mine'));
  await page.keyboard.type('! cat output\r');
  await screen.getByText('the end', { exact: true }).waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), 'mine');
  assert.equal(await page.title(), 'PC1 - Labwire');
  await click(page, 'click here');
  assert.equal(await page.getByRole('dialog').count(), 0, 'an address that is no web page is text');
  const windows = page.context().pages().length;
  await click(page, 'http://harmless.example/');
  await page.getByRole('dialog').getByText('http://192.0.2.1/steal?a=b').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  assert.equal(page.context().pages().length, windows);
  assert.equal(await isBroken(page), 0);
  assert.deepEqual(complaints, []);
});

/** A page of another program of this host, on a port of its own. */
async function foreignPage(t: TestContext, body: string): Promise<string> {
  const server = createServer((_request, response) => {
    response.setHeader('Content-Type', 'text/html');
    response.end(`<!doctype html><title>Foreign</title><body>${body}`);
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

test('a page on another port of the host reaches nothing but the pictures of symbols, and cannot frame the page', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const { daemon, address } = await serve(t);
  const symbol = `${address}v2/symbols/${encodeURIComponent(':/symbols/classic/router.svg')}/raw`;
  const foreign = await foreignPage(
    t,
    `<iframe name="framed" src="${address}"></iframe><img id="symbol" src="${symbol}"><img id="other" src="${address}v2/projects"><form method="post" enctype="text/plain" action="${address}v2/projects" target="framed"><input name='{"name":"forged","x":"' value='"}'></form>`,
  );
  const browser = await startBrowser(t);
  const { page } = await visit(browser, address);
  await page.locator('.live[data-connection="live"]').waitFor();
  await page.goto(foreign);
  await eventually('the picture of the symbol', () =>
    page.evaluate(() => document.querySelector<HTMLImageElement>('#symbol')!.naturalWidth > 0),
  );
  assert.equal(await page.evaluate(() => document.querySelector<HTMLImageElement>('#other')!.naturalWidth), 0);
  const frame = page.frame({ name: 'framed' })!;
  assert.equal(await frame.locator('#app').count(), 0, 'the page is in no frame');
  const tried = await page.evaluate(async (target) => {
    const answer = async (init: RequestInit): Promise<string> =>
      fetch(`${target}v2/projects`, { credentials: 'include', ...init }).then(
        (response) => `${response.type} ${response.status}`,
        () => 'refused',
      );
    const body = JSON.stringify({ name: 'forged' });
    const socket = await new Promise((resolve) => {
      const opening = new WebSocket(`${target.replace('http', 'ws')}v2/notifications/ws`);
      opening.onopen = () => resolve('open');
      opening.onerror = () => resolve('refused');
    });
    const posted = await answer({ method: 'POST', mode: 'no-cors', body });
    return [await answer({}), await answer({ method: 'POST', body }), posted, socket];
  }, address);
  assert.deepEqual(tried, ['refused', 'refused', 'opaque 0', 'refused']);
  // The answer may not be shown in the frame: then the request counts as failed.
  const isPosted = (request: Request): boolean => request.method() === 'POST';
  const ended = [page.waitForEvent('requestfinished', isPosted), page.waitForEvent('requestfailed', isPosted)];
  await page.evaluate(() => document.querySelector('form')!.submit());
  await Promise.any(ended);
  assert.deepEqual(await daemon.get('/v2/projects'), [], 'nothing was made');
});

test('a wrong password leads to a page that says so, and then to waiting', { skip: WITHOUT_BROWSER }, async (t) => {
  const { address } = await serve(t);
  const browser = await startBrowser(t);
  const stranger = { user: 'ada', password: 'guessed' };
  const { page } = await visit(browser, address, { credentials: stranger, isAsked: true });
  await page.getByRole('heading', { name: 'User and password, please' }).waitFor();
  await eventually(
    'being told to wait',
    () => page.goto(address).then((answer) => answer!.status()),
    (status) => status === 429,
  );
  await page.getByText(/Too many wrong passwords.*Try again in \d+ s/).waitFor();
});

test('where a browser sends no password with WebSockets the page asks for tickets', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const { daemon } = await serve(t);
  const { project_id } = await daemon.post('/v2/projects', { name: 'Tickets', auto_close: false });
  const path = `/v2/projects/${project_id}`;
  const { node_id } = await daemon.post(`${path}/nodes`, { name: 'PC1', node_type: 'vpcs', compute_id: 'local' });
  await daemon.post(`${path}/nodes/${node_id}/start`, {});
  const hub = await daemon.post(`${path}/nodes`, { name: 'Hub', node_type: 'ethernet_hub', compute_id: 'local' });
  const nodes = [node_id, hub.node_id].map((id) => ({ node_id: id, adapter_number: 0, port_number: 0 }));
  const { link_id } = await daemon.post(`${path}/links`, { nodes });
  const browser = await startBrowser(t);
  const way = new Way(() => daemon.port);
  const address = `http://127.0.0.1:${await way.open(t)}/labs/${project_id}`;
  // As Safari does it, for the page and for its workers.
  way.first = (piece) => {
    const text = piece.toString('latin1');
    const isOpening = /^upgrade: websocket/im.test(text);
    return isOpening ? Buffer.from(text.replace(/^authorization: .*\r\n/im, ''), 'latin1') : piece;
  };
  const { page } = await visit(browser, `${address}/nodes/${node_id}/console`);
  await page.getByText('live', { exact: true }).waitFor();
  await page
    .locator('.console .xterm-rows')
    .getByText(/^(VPCS|PC1)>/)
    .first()
    .waitFor();
  await page.goto(`${address}/links/${link_id}/capture`);
  // What the server tells beside the frames.
  await page.getByText(/0 dropped/).waitFor();
  await page.goto(address);
  await page
    .getByRole('navigation', { name: 'Nodes and links' })
    .getByRole('button', { name: /^PC1 .* – Hub/ })
    .click();
  await page.getByRole('tab', { name: 'Impairments' }).click();
  await page.getByRole('region', { name: 'Asked / achieved' }).waitFor();

  // A ticket is good for one opening of the one address that it was made for.
  const outcomes = await page.evaluate(
    async ([own, other]) => {
      const make = async (): Promise<string> => {
        const headers = { 'Content-Type': 'application/json' };
        const answer = await fetch('/v2/tickets', { method: 'POST', headers, body: JSON.stringify({ path: own }) });
        return ((await answer.json()) as { ticket: string }).ticket;
      };
      const open = (at: string | undefined, ticket: string): Promise<string> =>
        new Promise((resolve) => {
          const socket = new WebSocket(`${location.origin.replace('http', 'ws')}${at}?ticket=${ticket}`);
          socket.onerror = () => resolve('refused');
          socket.onopen = () => {
            socket.close();
            resolve('open');
          };
        });
      const ticket = await make();
      return [await open(own, ticket), await open(own, ticket), await open(other, await make())];
    },
    [`${path}/notifications/ws`, '/v2/notifications/ws'],
  );
  assert.deepEqual(outcomes, ['open', 'refused', 'refused']);
});
