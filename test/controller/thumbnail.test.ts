// Pictures of labs' maps, drawn from their files.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { SaxesParser } from 'saxes';
import { parseOutline } from '../../src/store/topology/outline.ts';
import { LabServer } from './lab-server.ts';

interface Picture {
  status: number;
  text: string;
  headers: Headers;
}

function ask(server: LabServer, id: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`http://127.0.0.1:${server.port}/v2/projects/${id}/thumbnail`, { headers });
}

async function thumbnail(server: LabServer, id: string, headers: Record<string, string> = {}): Promise<Picture> {
  const response = await ask(server, id, headers);
  const text = await response.text();
  if (response.status === 200) new SaxesParser({ xmlns: true }).write(text).close();
  return { status: response.status, text, headers: response.headers };
}

/** A closed lab whose file has this content. */
async function closedLab(t: TestContext, content: object): Promise<{ server: LabServer; id: string; file: string }> {
  const { server, project } = await LabServer.withLab(t, { name: 'Lab', auto_close: false });
  await server.expect(204, 'POST', `/v2/projects/${project.project_id}/close`);
  const file = join(project.path, project.filename);
  const topology = { computes: [], drawings: [], links: [], nodes: [], ...content };
  const document = { ...JSON.parse(await readFile(file, 'utf8')), topology };
  await writeFile(file, JSON.stringify(document));
  return { server, id: project.project_id, file };
}

const node = (x: number, y: number, more: object = {}) => ({
  compute_id: 'local',
  node_id: randomUUID(),
  node_type: 'vpcs',
  name: 'PC',
  symbol: ':/symbols/vpcs_guest.svg',
  width: 60,
  height: 60,
  x,
  y,
  ...more,
});

const link = (...ends: { node_id: string }[]) => ({
  link_id: randomUUID(),
  nodes: ends.map(({ node_id }) => ({ node_id, adapter_number: 0, port_number: 0 })),
});

const drawing = (svg: string, more: object = {}) => ({ drawing_id: randomUUID(), x: 0, y: 0, svg, ...more });

const decoded = (text: string): string[] =>
  [...text.matchAll(/base64,([^"]+)"/g)].map(([, data]) => Buffer.from(data!, 'base64').toString());

test('a closed lab is drawn with its links, symbols and drawings, to scale and within the picture', async (t) => {
  const [west, east, own] = [node(-600, 0), node(600, 300), node(0, 0, { symbol: 'own.svg' })];
  const { server, id } = await closedLab(t, {
    nodes: [west, east, own],
    links: [link(west, east), link(own, east), { link_id: randomUUID(), nodes: [] }],
    drawings: [
      drawing('<svg width="100" height="50"><rect width="100" height="50" fill="#ff0000"/></svg>', { z: 2 }),
      drawing('<svg width="10" height="10"><text>First</text></svg>', { z: 1 }),
      drawing(`<svg width="10" height="10"><text>${'long'.repeat(2_000)}</text></svg>`),
      drawing('picture.png'),
    ],
  });
  const { status, text, headers } = await thumbnail(server, id);
  assert.equal(status, 200);
  assert.equal(headers.get('content-type'), 'image/svg+xml');
  assert.match(headers.get('content-security-policy')!, /^sandbox; default-src 'none'/);
  // The outermost nodes end at the margins: 1,260 pixels of the scene are 292 of the picture.
  const scale = 292 / 1260;
  const [, x, y] = /M([\d.]+) ([\d.]+)L/.exec(text)!.map(Number) as [number, number, number];
  assert.ok(Math.abs(x - (14 + 30 * scale)) < 0.1, `x ${x}`);
  assert.ok(Math.abs(y - (90 - 150 * scale)) < 0.1, `y ${y}`);
  assert.equal(text.match(/L[\d.]+ [\d.]+/g)!.length, 2);
  assert.equal(text.match(/<use /g)!.length, 3);
  const [first, second, symbol] = decoded(text);
  assert.match(first!, /^<svg xmlns="http:\/\/www.w3.org\/2000\/svg" width="10".*First/);
  assert.match(second!, /#ff0000/);
  assert.match(symbol!, /<svg/);
  assert.doesNotMatch(text, /picture\.png/);
});

test('custom symbols are drawn, those for which there is no room as squares', async (t) => {
  const [small, large, gone] = ['own.svg', 'large.svg', 'gone.png'].map((symbol, at) => node(at * 100, 0, { symbol }));
  const { server, id } = await closedLab(t, { nodes: [small, large, gone] });
  const own = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><title>Own</title></svg>';
  for (const [name, content] of [
    ['own.svg', own],
    ['large.svg', own.replace('Own', 'x'.repeat(300_000))],
  ] as const) {
    const response = await fetch(`http://127.0.0.1:${server.port}/v2/symbols/${name}/raw`, {
      method: 'POST',
      body: content,
    });
    assert.equal(response.status, 200);
  }
  const { text } = await thumbnail(server, id);
  assert.deepEqual(
    decoded(text).filter((each) => each.includes('Own')),
    [own],
  );
  // The unknown symbol is the computer.
  assert.equal(text.match(/<rect /g)!.length, 1);
  assert.equal(text.match(/<use /g)!.length, 3);
});

test('the picture of a lab without nodes and drawings says so, any other does not', async (t) => {
  const { server, id } = await closedLab(t, {});
  assert.match((await thumbnail(server, id)).text, />empty<\/text>/);
  const drawn = await closedLab(t, { drawings: [drawing('<svg width="10" height="10"></svg>')] });
  assert.doesNotMatch((await thumbnail(drawn.server, drawn.id)).text, />empty</);
});

test('the picture of an open lab follows its file, and is not sent again while that is the same', async (t) => {
  const { server, project } = await LabServer.withLab(t, { name: 'Lab', auto_close: false });
  const { project_id: id } = project;
  await server.hub(project, 'Hub');
  await server.expect(200, 'GET', `/v2/projects/${id}/files/${project.filename}`); // writes the file
  const { text, headers } = await thumbnail(server, id);
  assert.equal(text.match(/<use /g)!.length, 1);
  const again = await thumbnail(server, id, { 'If-None-Match': headers.get('etag')! });
  assert.deepEqual([again.status, again.text], [304, '']);
  await server.hub(project, 'Another', { x: 200 });
  await server.expect(200, 'GET', `/v2/projects/${id}/files/${project.filename}`);
  const changed = await thumbnail(server, id, { 'If-None-Match': headers.get('etag')! });
  assert.equal(changed.text.match(/<use /g)!.length, 2);
});

test('an empty lab is an empty picture, a damaged one a reason, an unknown one not found; an older file stays', async (t) => {
  const { server, id, file } = await closedLab(t, {});
  assert.doesNotMatch((await thumbnail(server, id)).text, /<image|<use/);
  const older = JSON.stringify({ ...JSON.parse(await readFile(file, 'utf8')), revision: 8 });
  await writeFile(file, older);
  assert.equal((await thumbnail(server, id)).status, 200);
  assert.equal(await readFile(file, 'utf8'), older);
  await writeFile(file, '{"name": ');
  const damaged = await thumbnail(server, id);
  assert.equal(damaged.status, 409);
  assert.match(JSON.parse(damaged.text).message, /cannot be loaded: .* \(correct the file/);
  assert.equal((await thumbnail(server, randomUUID())).status, 404);
});

test('a lab of 5,000 nodes is small, and is read beside the main thread', async (t) => {
  const nodes = Array.from({ length: 5_000 }, (_, at) => node((at % 100) * 120, Math.floor(at / 100) * 120));
  const links = nodes.slice(1).map((one, at) => link(nodes[at]!, one));
  const { server, id, file } = await closedLab(t, { nodes, links });
  const bytes = await readFile(file);
  /** Processor time (ms) that the main thread needs. */
  const costOf = async (task: () => unknown): Promise<number> => {
    const before = process.threadCpuUsage();
    await task();
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1_000;
  };
  const parsing = await costOf(() => parseOutline(bytes));
  const { text } = await thumbnail(server, id);
  // The second time, when its functions are compiled.
  const cost = await costOf(async () => (await ask(server, id)).arrayBuffer());
  assert.ok(text.length < 200_000, `${text.length} characters`);
  t.diagnostic(`${cost} ms of the main thread; parsing takes ${parsing} ms`);
  assert.ok(cost < 0.8 * parsing, `${cost} ms of ${parsing} ms`);
});
