// Saved labs of older releases, those of test/old-projects that this host can open, are the same after they were text.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Client, client } from './client.ts';
import { missing } from './lab.ts';
import { TOGETHER, thereAndBack } from './there-and-back.ts';

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
