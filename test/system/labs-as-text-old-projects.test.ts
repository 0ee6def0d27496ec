// Saved labs of other releases, those of test/old-projects, open whatever this host lacks, and are the same after they were text.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Client, client } from './client.ts';
import { missing } from './lab.ts';
import { isItsText, TOGETHER, thereAndBack } from './there-and-back.ts';

const tests = join(import.meta.dirname, '..');

/** Stands in for an image, by its first bytes. */
const IMAGES: Readonly<Record<string, Buffer>> = {
  dynamips: Buffer.concat([Buffer.from('7f454c46010201', 'hex'), Buffer.alloc(4096, 1)]),
  iou: Buffer.concat([Buffer.from('7f454c46010101', 'hex'), Buffer.alloc(4096, 2)]),
};

interface Loaded {
  id: string;
  /** Why nodes cannot be started here. */
  absent: string[];
}

/** Opens a lab, and uploads the images that the server misses; undefined where it does not open. */
async function load({ daemon }: Client, path: string): Promise<Loaded | undefined> {
  const { status, json } = await daemon.ask('POST', '/v2/projects/load', { body: { path } });
  if (status !== 201) return undefined;
  const { project_id: id } = json as { project_id: string };
  for (let turn = 0; ; turn++) {
    const said = await whatIsMissing(daemon, id);
    const missing = said.flatMap((message) => {
      const [, emulator = '', name = ''] =
        /upload it with POST \/v2\/compute\/(\w+)\/images\/([^\s;]+)\./.exec(message) ?? [];
      return emulator === '' ? [] : [{ emulator, name }];
    });
    if (missing.length === 0 || turn === 10) return { id, absent: said };
    for (const { emulator, name } of missing) {
      const image = IMAGES[emulator] ?? disk(daemon.directory);
      await daemon.ask('POST', `/v2/compute/${emulator}/images/${name}`, { body: image });
    }
    await daemon.post(`/v2/projects/${id}/close`);
    await daemon.post(`/v2/projects/${id}/open`);
  }
}

/** What its compute has against the start of each node that it does not know. */
async function whatIsMissing(daemon: Client['daemon'], id: string): Promise<string[]> {
  const nodes = (await daemon.get(`/v2/projects/${id}/nodes`)) as { node_id: string; node_type: string }[];
  const said = nodes.map(async ({ node_id: node, node_type: type }) => {
    const { status } = await daemon.ask('GET', `/v2/compute/projects/${id}/${type}/nodes/${node}`);
    if (status === 200) return [];
    const answer = await daemon.ask('POST', `/v2/projects/${id}/nodes/${node}/start`);
    assert.equal(answer.status, 409);
    return [(answer.json as { message: string }).message];
  });
  return (await Promise.all(said)).flat();
}

function disk(directory: string): Buffer {
  const file = join(directory, 'disk.qcow2');
  if (!existsSync(file)) execFileSync('qemu-img', ['create', '-q', '-f', 'qcow2', file, '64M']);
  return readFileSync(file);
}

const OLD = join(tests, 'old-projects');

test('saved labs of other releases are the same after text', {
  skip: missing('qemu-img'),
  concurrency: TOGETHER,
}, async (t) => {
  const labwired = await client(t, { flags: ['--local'] });
  const left: string[] = [];
  const absent: string[] = [];
  const running: Promise<void>[] = [];
  for (const name of readdirSync(OLD).filter((each) => /^\d\./.test(each))) {
    if (!existsSync(join(OLD, name, 'project.gns3'))) continue; // an archive
    const directory = join(labwired.daemon.state, 'projects', name);
    cpSync(join(OLD, name), directory, { recursive: true });
    const lab = await load(labwired, join(directory, 'project.gns3'));
    if (lab === undefined) left.push(name);
    else if (lab.absent.length === 0) running.push(t.test(name, () => thereAndBack(labwired, lab.id)));
    else {
      absent.push(...lab.absent);
      const title = `${name}, of which this host cannot make all nodes`;
      running.push(t.test(title, async () => void (await isItsText(labwired, lab.id))));
    }
  }
  await Promise.all(running);
  assert.deepEqual(left, ['1.5-servers'], 'its nodes are on servers that there are not');
  for (const message of absent) assert.match(message, /VirtualBox|VMware|Docker/);
});
