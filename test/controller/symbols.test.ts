import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pictureSize, roundHalfToEven } from '../../src/controller/symbols/picture-size.ts';
import { symbolRoutes } from '../../src/controller/symbols/routes.ts';
import { Symbols } from '../../src/controller/symbols/symbols.ts';
import { App } from '../../src/http/app/app.ts';
import { scratchDirectory } from '../store/scratch.ts';

const SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="48" height="36"><rect width="4" height="4"/></svg>';

interface Started {
  app: App;
  symbols: Symbols;
  /** The custom folder. */
  directory: string;
}

async function started(t: TestContext): Promise<Started> {
  const directory = join(await scratchDirectory(t), 'symbols');
  const symbols = new Symbols({ directory });
  await symbols.start();
  return { app: new App(symbolRoutes(symbols)), symbols, directory };
}

async function raw(app: App, id: string): Promise<string> {
  const response = await app.request(`/v2/symbols/${id}/raw`);
  assert.equal(response.status, 200, id);
  return await response.text();
}

async function dimensions(app: App, id: string): Promise<unknown> {
  const response = await app.request(`/v2/symbols/${id}/dimensions`);
  return response.status === 200 ? await response.json() : response.status;
}

function upload(app: App, id: string, body: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>) {
  return app.request(`/v2/symbols/${id}/raw`, { method: 'POST', body });
}

test('every listed symbol is drawn, as a whole, in the size that nodes are given for it', async (t) => {
  const { app, symbols } = await started(t);
  const listed = await symbols.list();
  assert.equal(listed.length, 603);
  const drawings = new Set<string>();
  for (const { symbol_id: id, filename, theme, builtin } of listed) {
    const text = await raw(app, id);
    const size = /^<svg xmlns="http:\/\/www.w3.org\/2000\/svg" width="(\d+)" height="(\d+)" viewBox="0 0 \1 \2">/.exec(
      text,
    );
    assert.ok(size, id);
    const expected = { width: Number(size[1]), height: Number(size[2]) };
    assert.deepEqual(await dimensions(app, id), expected, id);
    assert.deepEqual(symbols.forNode(id), { symbol: id, ...expected });
    assert.deepEqual(pictureSize(Buffer.from(text)), expected, id);
    assert.equal(text.match(/<[a-zA-Z][^>]*(?<!\/)>/g)?.length, text.match(/<\/[a-zA-Z]+>/g)?.length, `${id}: tags`);
    assert.doesNotMatch(text, /undefined|NaN|<script|href|style=|url\((?!#)/, id);
    assert.ok(builtin && id.endsWith(`/${filename}`) && theme !== '');
    drawings.add(text);
  }
  assert.equal(drawings.size, 603, 'no two symbols look the same');
});

test('the sizes of the classic symbols are those that diagrams were laid out with', async (t) => {
  const { symbols } = await started(t);
  for (const [name, width, height] of [
    ['router', 66, 45],
    ['cloud', 159, 71],
    ['nat', 159, 71],
    ['hub', 72, 32],
    ['ethernet_switch', 72, 32],
    ['vpcs_guest', 65, 59],
    ['multilayer_switch', 51, 48],
    ['firewall', 66, 45],
    ['ip_phone', 40, 25],
    ['router.awp', 70, 50],
  ] as const) {
    assert.deepEqual(symbols.size(`:/symbols/classic/${name}.svg`), { width, height }, name);
  }
  assert.deepEqual(symbols.size(':/symbols/affinity/square/green/dna2.svg'), { width: 60, height: 60 });
});

test('all symbols of all themes exist', async (t) => {
  const { app, symbols } = await started(t);
  const ids = new Set((await symbols.list()).map((entry) => entry.symbol_id));
  const themes = (await (await app.request('/v2/default_symbols')).json()) as Record<string, Record<string, string>>;
  assert.deepEqual(Object.keys(themes).sort(), [
    'Affinity-circle-blue',
    'Affinity-circle-gray',
    'Affinity-circle-red',
    'Affinity-square-blue',
    'Affinity-square-gray',
    'Affinity-square-red',
    'Classic',
  ]);
  for (const [theme, roles] of Object.entries(themes)) {
    assert.equal(Object.keys(roles).length, 15, theme);
    for (const [role, id] of Object.entries(roles)) assert.ok(ids.has(id), `${theme} ${role}: ${id}`);
  }
  assert.equal(themes['Classic']?.['ethernet_hub'], ':/symbols/classic/hub.svg');
  assert.equal(themes['Affinity-square-blue']?.['frame_relay_switch'], ':/symbols/affinity/square/blue/isdn.svg');
});

test('a symbol is found in every spelling of its id, and the computer replaces a missing one', async (t) => {
  const { app } = await started(t);
  const router = await raw(app, ':/symbols/classic/router.svg');
  for (const spelling of [
    '%3A%2Fsymbols%2Fclassic%2Frouter.svg',
    '%253A%252Fsymbols%252Fclassic%252Frouter.svg',
    ':/symbols/router.svg',
    'router.svg',
    'elsewhere/router.svg',
    '../../router.svg',
  ]) {
    assert.equal(await raw(app, spelling), router, spelling);
  }
  const computer = await raw(app, ':/symbols/classic/computer.svg');
  for (const unknown of [
    'nothing.svg',
    '%2fetc%2fhostname',
    '../../../etc/hostname',
    'a%00b',
    '%',
    '.',
    'x/',
    '%F0%9F',
  ]) {
    assert.equal(await raw(app, unknown), computer, unknown);
    assert.deepEqual(await dimensions(app, unknown), { width: 65, height: 59 }, unknown);
  }
  assert.equal((await app.request('/v2/symbols/router.svg')).status, 404);
  assert.equal((await app.request('/v2/symbols/router.svg/raw', { method: 'DELETE' })).status, 405);
});

test('an uploaded picture is kept byte by byte, listed, measured, and replaced', async (t) => {
  const { app, symbols, directory } = await started(t);
  const answer = await upload(app, 'some/folder/mine.svg', SVG);
  assert.equal(answer.status, 200);
  assert.equal(await answer.text(), '');
  assert.deepEqual(await readdir(directory), ['mine.svg']);
  const response = await app.request('/v2/symbols/mine.svg/raw');
  assert.equal(response.headers.get('content-type'), 'image/svg+xml');
  assert.equal(response.headers.get('content-length'), String(SVG.length));
  assert.ok(Date.parse(response.headers.get('last-modified') ?? ''));
  assert.equal(await response.text(), SVG);
  const list = (await (await app.request('/v2/symbols')).json()) as { builtin: boolean }[];
  assert.deepEqual(list.at(-1), {
    symbol_id: 'mine.svg',
    filename: 'mine.svg',
    theme: 'Custom symbols',
    builtin: false,
  });
  assert.deepEqual(symbols.forNode('mine.svg'), { symbol: 'mine.svg', width: 48, height: 36 });
  // The same length and, on coarse clocks, the same time: still another picture.
  await upload(app, 'mine.svg', SVG.replace('48', '84'));
  assert.deepEqual(await dimensions(app, 'mine.svg'), { width: 84, height: 36 });
  // However large a picture says it is, a node with it can be drawn.
  await upload(app, 'mine.svg', SVG.replace('48', '4000000000'));
  assert.deepEqual(await dimensions(app, 'mine.svg'), { width: 4_000_000_000, height: 36 });
  assert.deepEqual(symbols.forNode('mine.svg'), { symbol: 'mine.svg', width: 10_000, height: 1 });
  await rm(join(directory, 'mine.svg'));
  assert.deepEqual(await dimensions(app, 'mine.svg'), { width: 65, height: 59 });
});

test('what is put into the folder by hand counts at once, hidden files do not', async (t) => {
  const { app, symbols, directory } = await started(t);
  await mkdir(join(directory, 'vendor/.drafts'), { recursive: true });
  for (const name of ['vendor/box.svg', 'vendor/.drafts/box.svg', '.hidden.svg'])
    await writeFile(join(directory, name), SVG);
  const custom = (await symbols.list()).filter((entry) => !entry.builtin).map((entry) => entry.symbol_id);
  assert.deepEqual(custom, ['vendor/box.svg']);
  assert.equal(await raw(app, 'vendor/box.svg'), SVG);
  assert.notEqual(await raw(app, '.hidden.svg'), SVG);
  await rm(directory, { recursive: true });
  assert.equal((await symbols.list()).length, 603);
});

test('a link that leads out of the custom folder is not followed', async (t) => {
  const { app, symbols, directory } = await started(t);
  const secret = join(directory, '../secret.svg');
  await writeFile(secret, SVG);
  await symlink(secret, join(directory, 'link.svg'));
  await symlink('..', join(directory, 'up'));
  for (const id of ['link.svg', 'up/secret.svg']) {
    assert.notEqual(await raw(app, id), SVG, id);
    assert.deepEqual(symbols.size(id), { width: 65, height: 59 });
  }
  assert.equal((await upload(app, 'link.svg', '<svg/>')).status, 403);
  assert.equal(await readFile(secret, 'utf8'), SVG);
});

test('an upload without a usable name, too large, or broken off is refused and leaves nothing behind', async (t) => {
  const { app, directory } = await started(t);
  for (const id of ['.svg', 'a/..', 'a%00b.svg', 'a%5Cb.svg', `${'x'.repeat(5000)}`]) {
    const refused = await upload(app, id, SVG);
    assert.equal(refused.status, 400, id);
    assert.match(((await refused.json()) as { message: string }).message, /symbol_id/);
  }
  const long = await upload(app, `${'x'.repeat(300)}.svg`, SVG);
  assert.equal(long.status, 403);
  const large = await upload(app, 'large.png', new Uint8Array(10 * 1024 * 1024 + 1));
  assert.equal(large.status, 413);
  const client = new AbortController();
  const broken = await app.request('/v2/symbols/broken.svg/raw', {
    method: 'POST',
    signal: client.signal,
    body: new ReadableStream({
      start: (controller) => controller.enqueue(Buffer.from('<svg')),
      pull: (controller) => {
        client.abort();
        controller.error(new Error('the connection is gone'));
      },
    }),
  });
  assert.equal(broken.status, 408);
  assert.deepEqual(await readdir(directory), []);
});

test('a script in a picture cannot act as a page of this server', async (t) => {
  const { app } = await started(t);
  await upload(app, 'evil.svg', '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');
  await upload(app, 'evil.html', '<script>alert(1)</script>');
  for (const id of ['evil.svg', 'evil.html', ':/symbols/router.svg']) {
    const { headers } = await app.request(`/v2/symbols/${id}/raw`);
    const policy = headers.get('content-security-policy') ?? '';
    assert.match(policy, /(^|; )sandbox(;|$)/);
    assert.match(policy, /default-src 'none'/);
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
  }
});

test('a node gets a symbol that can be shown: none and broken ones become the computer', async (t) => {
  const { app, symbols, directory } = await started(t);
  const computer = { symbol: ':/symbols/computer.svg', width: 65, height: 59 };
  await upload(app, 'broken.svg', SVG.slice(0, 90));
  await upload(app, 'notes.svg', 'just some text, no picture');
  await upload(app, 'mine.svg', SVG);
  for (const [asked, given] of [
    [null, computer],
    [undefined, computer],
    ['broken.svg', computer],
    ['notes.svg', computer],
    ['unknown.svg', { symbol: 'unknown.svg', width: 65, height: 59 }],
    [':/symbols/hub.svg', { symbol: ':/symbols/hub.svg', width: 72, height: 32 }],
    ['/home/somebody/symbols/hub.svg', { symbol: 'hub.svg', width: 72, height: 32 }],
    [join(directory, 'mine.svg'), { symbol: 'mine.svg', width: 48, height: 36 }],
  ] as const) {
    assert.deepEqual(symbols.forNode(asked), given, String(asked));
  }
  assert.equal(await dimensions(app, 'broken.svg'), 404);
  assert.deepEqual(await dimensions(app, 'notes.svg'), { width: 0, height: 0 });
});

test('the size of a picture follows from its first bytes', () => {
  const png = Buffer.from('89504e470d0a1a0a0000000d494844520000002100000016', 'hex');
  for (const [name, data, expected] of [
    ['PNG', png, [33, 22]],
    ['PNG that breaks off', png.subarray(0, 20), [0, 0]],
    ['GIF', Buffer.from('GIF89a\x21\x00\x16\x00\x00', 'latin1'), [33, 22]],
    ['JPEG', Buffer.from('ffd8ffe00004000affc00011080016002103', 'hex'), [33, 22]],
    ['JPEG with fill bytes', Buffer.from('ffd8ffe00004000affffffc20011080016002103', 'hex'), [33, 22]],
    ['JPEG without a frame', Buffer.from('ffd8ffe00004000affd9ffd9ffd9', 'hex'), [0, 0]],
    ['nine bytes', Buffer.from('<svg a="">'.slice(0, 9)), [0, 0]],
    ['text', Buffer.from('no picture at all'), [0, 0]],
    ['a page', Buffer.from('<!DOCTYPE html><html></html>'), [0, 0]],
  ] as const) {
    assert.deepEqual(pictureSize(data), { width: expected[0], height: expected[1] }, name);
  }
});

test('the size of an SVG is understood in every unit, and rounds to even', () => {
  for (const [svg, width, height] of [
    ['<svg width="10" height="20px"/>', 10, 20],
    ['<svg width="10pt" height="2pc"/>', 12, 30],
    ['<svg width="10mm" height="1cm"/>', 35, 35],
    ['<svg width="1in" height="1.5in"/>', 90, 135],
    ['<svg width="2.5" height="3.5"/>', 2, 4],
    ['<svg viewBox="0 0 40 30"></svg>', 40, 30],
    ['<svg viewBox="0,0,40,30" width="50%"></svg>', 20, 30],
    ["<svg width='1e2' height=' 7 '></svg>", 100, 7],
    [
      '<?xml version="1.0"?>\n<!-- <svg width="1"> -->\n<!DOCTYPE svg PUBLIC "x" "y">\n<svg width="5" height="6"></svg>',
      5,
      6,
    ],
    ['<!DOCTYPE svg [ <!ENTITY a "b"> ]><svg width="5" height="6"></svg>', 5, 6],
    ['\uFEFF  <svg width="5" height="6"></svg>', 5, 6],
    ['<svg:svg xmlns:svg="http://www.w3.org/2000/svg" width="5" height="6"></svg:svg>', 5, 6],
  ] as const) {
    assert.deepEqual(pictureSize(Buffer.from(svg)), { width, height }, svg);
  }
  for (const broken of [
    '<svg width="10" height="20">',
    '<svg width="10" height="20"><g></g',
    '<svg width="10" height="20"',
    '<svg width=10 height=20></svg>',
    '<svg width="wide" height="20"></svg>',
    '<svg width="-1" height="20"></svg>',
    '<svg width="50%" height="20"></svg>',
    '<svg width="1em" height="20"></svg>',
    '<?xml version="1.0"?><html></html>',
    '<?xml version="1.0"',
  ]) {
    assert.equal(pictureSize(Buffer.from(broken)), undefined, broken);
  }
  assert.deepEqual([0.5, 1.5, 2.5, -39.5, 2.4, 2.6].map(roundHalfToEven), [0, 2, 2, -40, 2, 3]);
});

test('hostile markup does not hang the server', { timeout: 60_000 }, () => {
  for (const piece of ['<!--', '<!-- -->', '<?x', '<!DOCTYPE svg [', ' ', '<svg a="', '<svg a="b" ', "<svg '"]) {
    const text = `<?xml?>${piece.repeat(1_000_000 / piece.length)}`;
    assert.equal(pictureSize(Buffer.from(text)), undefined, piece);
  }
});
