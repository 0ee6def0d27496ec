// Uploads of images as the page does them, against a server that is cut, refuses and forgets; without a browser.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { UploadObject } from '../../src/api/routes/compute-images.ts';
import { Refusal } from '../../src/web/model/server/api.ts';
import { ImageUpload } from '../../src/web/model/transfer/image-upload.ts';
import { type Task, Tasks } from '../../src/web/model/transfer/tasks.ts';
import { inTurn } from '../../src/web/tasks/page-tasks.ts';

const SIZE = 1_000;
const CUT = new Refusal(0, 'The connection broke off.');

/** A server that takes pieces; each entry of `ways` says how one sending goes: bytes until the cut, or a refusal. */
class Server {
  offset = 0;
  failed: string | undefined;
  removed = false;
  isFileGone = false;
  readonly pieces: number[] = [];
  readonly ways: (number | Refusal | 'hangs')[];

  constructor(ways: (number | Refusal | 'hangs')[]) {
    this.ways = ways;
  }

  object(): UploadObject {
    return {
      upload_id: 'u',
      filename: 'disk.img',
      offset: this.offset,
      filesize: SIZE,
      md5sum: this.offset === SIZE ? 'sum' : null,
    };
  }

  announce = async (): Promise<UploadObject> => this.object();
  readable = async (): Promise<void> => {
    if (this.isFileGone) throw new DOMException('', 'NotReadableError');
  };
  reason = async (): Promise<string | undefined> => this.failed;
  remove = async (): Promise<void> => {
    this.removed = true;
  };

  send = async (offset: number, sent: (bytes: number) => void, signal: AbortSignal): Promise<UploadObject> => {
    this.pieces.push(offset);
    const way = this.ways.shift() ?? SIZE;
    if (way instanceof Refusal) throw way;
    if (way === 'hangs') {
      this.offset += 100;
      sent(100);
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(CUT)));
    }
    const taken = Math.min(way as number, SIZE - offset);
    this.offset = offset + taken;
    sent(taken);
    if (this.offset < SIZE) throw CUT;
    return this.object();
  };
}

function started(server: Server): { task: Task; end: Promise<string | undefined>; waits: number[] } {
  const tasks = new Tasks({ cancel: async () => {} });
  const task = tasks.add({ id: 'u', kind: 'upload', name: 'disk.qcow2' });
  const waits: number[] = [];
  const words = {
    queued: 'queued',
    paused: 'paused',
    cut: 'cut',
    unreadable: 'unreadable',
    done: (md5sum: string) => `MD5 ${md5sum}`,
  };
  const wait = async (milliseconds: number): Promise<void> => void waits.push(milliseconds);
  const upload = new ImageUpload({ task, wire: server, changed: () => {}, words, wait, turn: inTurn });
  return { task, waits, end: upload.run() };
}

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

test('an upload goes on behind each cut, and waits longer while nothing comes through', async () => {
  const server = new Server([300, 0, 0, 200]);
  const { task, end, waits } = started(server);
  assert.equal(await end, 'sum');
  assert.deepEqual(server.pieces, [0, 300, 300, 300, 500]);
  assert.deepEqual([task.state, task.message, task.isSending], ['done', 'MD5 sum', false]);
  assert.ok(waits[2]! > waits[1]!);
});

test('an upload whose earlier piece came further than was known goes on from there', async () => {
  const server = new Server([new Refusal(409, 'offset: 300 bytes are here; go on with the byte 300.')]);
  const { task, end } = started(server);
  assert.equal(await end, 'sum');
  assert.equal(task.state, 'done');
});

test('a pause ends the piece, and going on sends the rest; a cancel removes what was sent', async () => {
  const server = new Server(['hangs', 'hangs']);
  const { task, end } = started(server);
  await turn();
  task.actions.pause?.();
  await turn();
  assert.equal(task.state, 'paused');
  assert.equal(task.actions.pause, undefined);
  task.actions.resume?.();
  await turn();
  assert.deepEqual(server.pieces, [0, 100]);
  task.actions.cancel?.();
  assert.equal(await end, undefined);
  assert.deepEqual([task.state, server.removed], ['cancelled', true]);
});

test('paused uploads let others send, which wait for their turn until then, and end at once when they are cancelled', async () => {
  const servers = [2, 1, 1, 1, 0].map((times) => new Server(Array.from({ length: times }, () => 'hangs' as const)));
  const uploads = servers.map((server) => started(server));
  const states = (): string[] => uploads.map(({ task }) => task.state);
  await turn();
  assert.deepEqual(states(), ['running', 'running', 'waiting', 'waiting', 'waiting']);
  // Without a turn of its own.
  uploads[3]!.task.actions.cancel?.();
  assert.equal(await uploads[3]!.end, undefined);
  for (const { task } of uploads.slice(0, 2)) task.actions.pause?.();
  await uploads[4]!.end;
  assert.deepEqual(states(), ['paused', 'paused', 'running', 'cancelled', 'done']);
  // A pause while it waits for its turn, too.
  uploads[0]!.task.actions.resume?.();
  await turn();
  uploads[1]!.task.actions.resume?.();
  await turn();
  assert.deepEqual(states().slice(0, 3), ['running', 'waiting', 'running']);
  uploads[1]!.task.actions.pause?.();
  await turn();
  assert.equal(states()[1], 'paused');
  for (const { task } of uploads) task.actions.cancel?.();
  await Promise.all(uploads.map(({ end }) => end));
  assert.deepEqual(
    servers.map(({ pieces }) => pieces),
    [[0, 100], [0], [0], [], [0]],
  );
});

test('a file that can no longer be read ends the upload instead of being tried for ever', async () => {
  const server = new Server([300, 0, 0, 0]);
  const { task, end } = started(server);
  server.isFileGone = true;
  assert.equal(await end, undefined);
  assert.deepEqual([task.state, task.message, server.pieces], ['failed', 'unreadable', [0]]);
});

test('a refusal ends it with the reason, also one whose answer was lost', async () => {
  const full = new Server([new Refusal(507, 'no space is left')]);
  const refused = started(full);
  assert.equal(await refused.end, undefined);
  assert.deepEqual([refused.task.state, refused.task.message], ['failed', 'no space is left']);

  const lost = new Server([400]);
  lost.failed = 'the disk is full';
  const { task, end } = started(lost);
  assert.equal(await end, undefined);
  assert.deepEqual([task.state, task.message], ['failed', 'the disk is full']);
});
