// Labs that were drawn become text and labs again: nothing is lost on the way. All saved labs of test/old-projects that this host can open,
// and what the scenarios of test/conformance leave when nobody tidies up behind them.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Client, client } from './client.ts';
import { missing } from './lab.ts';

const tests = join(import.meta.dirname, '..');

/** Stands in for an image, by its first bytes. */
const IMAGES: Readonly<Record<string, Buffer>> = {
  dynamips: Buffer.concat([Buffer.from('7f454c46010201', 'hex'), Buffer.alloc(4096, 1)]),
  iou: Buffer.concat([Buffer.from('7f454c46010101', 'hex'), Buffer.alloc(4096, 2)]),
};

interface Refusal {
  status: number;
  json: { message?: string; project_id: string };
}

/** Uploads what the server misses, until it opens the lab; undefined where it cannot. */
async function load({ daemon }: Client, path: string): Promise<string | undefined> {
  for (let turn = 0; turn < 10; turn++) {
    const answer = (await daemon.ask('POST', '/v2/projects/load', { body: { path } })) as Refusal;
    if (answer.status === 201) return answer.json.project_id;
    const [, emulator = '', name = ''] =
      /upload it with POST \/v2\/compute\/(\w+)\/images\/([^\s;]+)\./.exec(answer.json.message ?? '') ?? [];
    if (emulator === '') return undefined;
    const image = IMAGES[emulator] ?? disk(daemon.directory);
    await daemon.ask('POST', `/v2/compute/${emulator}/images/${name}`, { body: image });
  }
  return undefined;
}

function disk(directory: string): Buffer {
  const file = join(directory, 'disk.qcow2');
  if (!existsSync(file)) execFileSync('qemu-img', ['create', '-q', '-f', 'qcow2', file, '64M']);
  return readFileSync(file);
}

type Members = Record<string, unknown>;

/** What a server gives anew, or tells of its own host: identifiers, console ports, numbers, paths; and texts that became files. */
const GIVEN =
  /^(node_id|project_id|link_id|drawing_id|path|filename|console|console_host|node_directory|command_line|status|dynamips_id|application_id|aux|interfaces|container_id|capture_\w+|capturing|startup_script|(startup|private)_config_content)$/;

const plain = (value: unknown, names: ReadonlyMap<string, string>): unknown => {
  if (Array.isArray(value)) return value.map((one) => plain(one, names));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).flatMap(([name, one]) => {
    if (name === 'node_id' && names.has(one as string)) return [['node', names.get(one as string)]];
    return GIVEN.test(name) ? [] : [[name, plain(one, names)]];
  });
  return Object.fromEntries(members) as Members;
};

/** All that the API says of a lab but what servers give anew. */
async function objects({ daemon }: Client, id: string): Promise<Members> {
  const path = `/v2/projects/${id}`;
  const nodes = (await daemon.get(`${path}/nodes`)) as { node_id: string; name: string; node_type: string }[];
  const names = new Map(nodes.map((node) => [node.node_id, node.name.replaceAll(' ', '')]));
  const cleaned = nodes.map(({ node_id: _id, ...node }) =>
    plain({ ...node, name: node.name.replaceAll(' ', '') }, names),
  );
  return {
    lab: plain(await daemon.get(path), names),
    nodes: cleaned,
    // What has less than two ends is no link yet.
    links: plain(
      ((await daemon.get(`${path}/links`)) as { nodes: unknown[] }[]).filter((link) => link.nodes.length === 2),
      names,
    ),
    drawings: plain(await daemon.get(`${path}/drawings`), names),
  };
}

/** Text -> no lab -> the lab again -> the same text, and the same objects. */
async function thereAndBack(labwired: Client, id: string): Promise<void> {
  const { daemon } = labwired;
  const before = await objects(labwired, id);
  const text = await labwired.say('export', id, '--yaml');
  const file = `${id}.yaml`;
  writeFileSync(join(daemon.directory, file), `${text}\n`);
  assert.match(await labwired.say('plan', file), /nothing to do/, 'the lab is what its own text says');
  await daemon.delete(`/v2/projects/${id}`);
  const { lab, left } = JSON.parse(await labwired.say('apply', file, '--json')) as {
    lab: { project_id: string };
    left: unknown[];
  };
  assert.deepEqual(left, []);
  assert.equal(await labwired.say('export', lab.project_id, '--yaml'), text);
  assert.deepEqual(await objects(labwired, lab.project_id), before);
  await daemon.delete(`/v2/projects/${lab.project_id}`);
}

/** So many labs at once: most of the time goes into starts of the client. */
const TOGETHER = 3;

const OLD = join(tests, 'old-projects');

test('saved labs of older releases are the same after text', {
  skip: missing('qemu-img'),
  concurrency: TOGETHER,
}, async (t) => {
  const labwired = await client(t, { flags: ['--local'] });
  const left: string[] = [];
  const running: Promise<void>[] = [];
  for (const name of readdirSync(OLD).filter((each) => /^[12]\./.test(each))) {
    const directory = join(labwired.daemon.state, 'projects', name);
    cpSync(join(OLD, name), directory, { recursive: true });
    const id = await load(labwired, join(directory, 'project.gns3'));
    if (id === undefined) left.push(name);
    else running.push(t.test(name, () => thereAndBack(labwired, id)));
  }
  await Promise.all(running);
  t.diagnostic(`not opened here: ${left.join(', ')}`);
  assert.ok(left.length < 20, left.join(', '));
});

const SCENARIOS = join(tests, 'conformance/scenarios');

interface Step {
  kind?: string;
  request?: { method: string; path: string };
}

/** A step after which there is no lab any more, or a closed one. */
const ends = ({ request }: Step): boolean =>
  request !== undefined &&
  ((request.method === 'DELETE' && /^\/v2\/projects\/[^/]+$/.test(request.path)) || /\/close$/.test(request.path));

/** Scenarios as they are played, but for their end: the lab stays. */
function unfinished(directory: string): string[] {
  const files = readdirSync(SCENARIOS, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.json'));
  return files.flatMap((name) => {
    const scenario = JSON.parse(readFileSync(join(SCENARIOS, name), 'utf8')) as { steps: Step[] };
    const last = scenario.steps.findIndex(ends);
    const steps = last === -1 ? scenario.steps : scenario.steps.slice(0, last);
    if (!steps.some(({ request }) => request?.path.startsWith('/v2/projects/'))) return [];
    const file = join(directory, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, JSON.stringify({ ...scenario, steps, cleanup: [] }));
    return [file];
  });
}

test('the labs of the scenarios are the same after text', { concurrency: TOGETHER }, async (t: TestContext) => {
  const labwired = await client(t, { flags: ['--local'] });
  const { daemon } = labwired;
  const player = spawn(
    process.execPath,
    [join(tests, 'conformance/replay.mjs'), '--url', daemon.url, ...unfinished(join(daemon.directory, 'scenarios'))],
    { stdio: 'ignore' },
  );
  await once(player, 'exit');
  const labs = (await daemon.get('/v2/projects')) as { project_id: string; name: string; status: string }[];
  const running: Promise<void>[] = [];
  for (const { project_id: id, name, status } of labs) {
    const path = `/v2/projects/${id}`;
    if (status !== 'opened') continue;
    const parts = (await Promise.all(
      ['nodes', 'drawings'].map((kind) => daemon.get(`${path}/${kind}`)),
    )) as unknown[][];
    if (parts.flat().length === 0) continue;
    await daemon.post(`${path}/nodes/stop`);
    running.push(t.test(name, () => thereAndBack(labwired, id)));
  }
  await Promise.all(running);
  const compared = running.length;
  t.diagnostic(`${compared} labs`);
  assert.ok(compared > 20, `${compared} labs`);
});
