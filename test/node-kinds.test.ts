// What is special about a kind of node is said in two places, and nowhere else is one asked for by its name.
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { IMAGE_KINDS, NODE_KINDS, nodeKind, portsOf } from '../src/api/kinds/kinds.ts';
import { NODE_TYPES } from '../src/api/vocabulary.ts';
import { KINDS } from '../src/compute/emulators/registry.ts';
import { LabServer } from './controller/lab-server.ts';

const source = join(import.meta.dirname, '../src');

/** Where the names of types stand for a reason. */
const EXCEPTIONS: readonly [place: RegExp, reason: string][] = [
  [/^api\/kinds\//, 'the facts themselves'],
  [/^compute\/emulators\//, 'the kinds themselves'],
  [/^api\/vocabulary\.ts$/, 'the list of the types'],
  [
    /^store\/topology\/(upgrade[^/]*|dynamips-files)\.ts$/,
    'what earlier releases wrote, which does not change any more',
  ],
  [
    /^(api\/routes|controller\/appliances)\/(appliances|document|matching|template)\.ts$/,
    'members of the files that describe appliances',
  ],
  [/^layout\/demonstration\.ts$/, 'what clients of the API ask for: the nodes of the demonstration'],
  [/^client\/containerlab\/convert\.ts$/, 'what the kinds of containerlab become'],
  [/^client\/checks\/ping-answer\.ts$/, 'how pings are typed at the consoles of each type'],
  [/^web\//, 'the page, which has no facts of kinds: its texts and what it shows of a node'],
  [
    /^(api\/routes\/v3|controller\/(accounts\/entry-paths|projects\/idle-pc|server\/settings(-routes)?))\.ts$/,
    'routes of the API about one kind',
  ],
  [/^controller\/v3\//, 'what release 3.0.6 says of each type, in a dialect of its own'],
  [/^(config\/schema|host\/network\/interfaces)\.ts$/, 'names of programs and of interfaces, not of types'],
  [
    /^(fabric|compute\/nat-network|controller\/symbols)\//,
    'a device of the fabric and pictures that are called so as well',
  ],
];

/** A type as a word of its own in quotes, as a part of an address, or as the key of an object. */
const TYPES = NODE_TYPES.join('|');
const NAMED = new RegExp(`['"\`](${TYPES})['"\`]|/(${TYPES})/|(^|[{,])\\s*(${TYPES})\\??:`);

/** Lines, by number, that name a type outside of comments. */
function naming(text: string): string[] {
  const isCode = (line: string): boolean => !/^\s*(\/\/|\/?\*)/.test(line);
  return text.split('\n').flatMap((line, index) => {
    const code = line.replace(/^\s*(import|export)\b.*\bfrom '.*$/, '').replace(/\bimport\('.*?'\)/, '');
    return isCode(code) && NAMED.test(code) ? [`${index + 1}: ${line.trim()}`] : [];
  });
}

test('no file asks for a type of node by its name, but those that are to', async () => {
  const paths = (await readdir(source, { recursive: true })).filter((path) => /\.tsx?$/.test(path));
  const used = new Set<RegExp>();
  const found: string[] = [];
  for (const path of paths) {
    const lines = naming(await readFile(join(source, path), 'utf8'));
    if (lines.length === 0) continue;
    const exception = EXCEPTIONS.find(([place]) => place.test(path));
    if (exception) used.add(exception[0]);
    else found.push(...lines.map((line) => `src/${path}:${line}`));
  }
  assert.deepEqual(found, [], 'say it in src/api/kinds or in the NodeKind of src/compute/emulators');
  const idle = EXCEPTIONS.filter(([place]) => !used.has(place)).map(([place]) => String(place));
  assert.deepEqual(idle, [], 'exceptions that nobody needs any more');
});

test('the search for names finds what it looks for, and nothing else', () => {
  assert.equal(naming("if (type === 'docker') return 0;").length, 1);
  assert.equal(naming('const path = `/v2/compute/qemu/binaries`;').length, 1);
  assert.equal(naming('const CONSOLES = { vpcs: 1 };\n  qemu: 2,\n  cloudy: 3,').length, 2);
  assert.deepEqual(naming("import { qemu } from './qemu/index.ts';\n// 'qemu'\nconst word = 'cloudy';"), []);
});

test('every type of the API has its facts, once', () => {
  assert.deepEqual(NODE_KINDS.map(({ type }) => type).sort(), [...NODE_TYPES].sort());
  const plain = { port_name_format: 'Ethernet{0}', port_segment_size: 0, first_port_name: null, custom_adapters: [] };
  for (const node_type of NODE_TYPES)
    assert.ok(Array.isArray(portsOf({ node_type, properties: {}, ...plain })), node_type);
  assert.deepEqual(IMAGE_KINDS.map(({ type, folder }) => [type, folder]).sort(), [
    ['dynamips', 'IOS'],
    ['iou', 'IOU'],
    ['qemu', 'QEMU'],
  ]);
});

test('the capabilities are the kinds that this build registers', async (t) => {
  const server = await LabServer.start(t);
  const answer = await fetch(`http://127.0.0.1:${server.port}/v2/compute/capabilities`);
  const { node_types: types } = (await answer.json()) as { node_types: string[] };
  assert.deepEqual(
    types,
    KINDS.map(({ type }) => type),
  );
});

test('both halves of a kind say the same of it', () => {
  for (const { type, runningState } of KINDS) {
    const facts = nodeKind(type);
    assert.equal(runningState !== undefined, facts.whileRunning === 'state', `${type}: what snapshots keep of it`);
  }
});
