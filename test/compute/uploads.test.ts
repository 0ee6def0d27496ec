// Images that come in pieces, and images that go.
import assert from 'node:assert/strict';
import { hash, randomBytes, randomUUID } from 'node:crypto';
import { readdir, symlink, writeFile } from 'node:fs/promises';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { imageKind } from '../../src/api/kinds/kinds.ts';
import { Images } from '../../src/compute/images/images.ts';
import { Uploads } from '../../src/compute/images/uploads.ts';
import { Operations } from '../../src/events/operations.ts';
import { eventually } from '../eventually.ts';
import { scratchFileSystem } from '../store/scratch.ts';
import { type Answer, type Lab, startLab } from './support.ts';

const MIBIBYTE = 1024 * 1024;
/** Begins like an image of QEMU. */
function image(bytes: number): Buffer {
  const content = randomBytes(bytes);
  content.write('QFI\xfb', 'latin1');
  return content;
}

class Pieces {
  readonly lab: Lab;
  readonly path = `/qemu/uploads/${randomUUID()}`;

  constructor(lab: Lab) {
    this.lab = lab;
  }

  begin(body: object): Promise<Answer> {
    return this.lab.request('PUT', this.path, body);
  }

  async send(offset: number, content: Buffer | ReadableStream<Uint8Array>): Promise<Answer> {
    const body = Buffer.isBuffer(content) ? new Uint8Array(content) : content;
    const response = await this.lab.app.request(`/v2/compute${this.path}/${offset}`, { method: 'POST', body });
    return { status: response.status, body: await response.json(), headers: response.headers };
  }
}

/** What there is of images, hidden or not. */
async function files(lab: Lab): Promise<string[]> {
  return (await readdir(`${lab.config.Server.images_path}/QEMU`).catch(() => [])).sort();
}

/** A piece whose connection breaks off when its content has been taken. */
function cutAfter(content: Buffer): ReadableStream<Uint8Array> {
  const pieces = [content];
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      const piece = pieces.shift();
      if (piece) controller.enqueue(new Uint8Array(piece));
      else controller.error(new Error('the connection is gone'));
    },
  });
}

async function started(t: TestContext): Promise<{ lab: Lab; pieces: Pieces }> {
  const lab = await startLab(t);
  return { lab, pieces: new Pieces(lab) };
}

test('an upload that was cut goes on where it stopped, is no image until it is whole, and has the checksum of the whole', async (t) => {
  const { lab, pieces } = await started(t);
  const content = image(3 * MIBIBYTE + 5);
  const announced = { filename: 'disk.qcow2', filesize: content.length, md5sum: hash('md5', content) };
  assert.deepEqual((await pieces.begin(announced)).body.offset, 0);
  assert.equal((await pieces.send(0, cutAfter(content.subarray(0, MIBIBYTE)))).status, 408);
  assert.deepEqual(await lab.expect(200, 'GET', '/qemu/images'), []);
  const [operation] = await lab.expect(200, 'GET', '/operations');
  assert.deepEqual([operation.kind, operation.done, operation.total], ['upload', MIBIBYTE, content.length]);
  // Both ways to ask how much is here.
  assert.equal((await lab.expect(200, 'GET', pieces.path)).offset, MIBIBYTE);
  assert.equal((await pieces.begin(announced)).body.offset, MIBIBYTE);
  const wrong = await pieces.send(5, content.subarray(5));
  assert.equal(wrong.status, 409);
  assert.match(wrong.body.message, /offset: 1048576 bytes are here/);
  const half = await pieces.send(MIBIBYTE, content.subarray(MIBIBYTE, 2 * MIBIBYTE));
  assert.deepEqual([half.status, half.body.offset, half.body.md5sum], [201, 2 * MIBIBYTE, null]);
  const last = await pieces.send(2 * MIBIBYTE, content.subarray(2 * MIBIBYTE));
  assert.deepEqual([last.status, last.body.md5sum], [201, hash('md5', content)]);
  const [listed] = await lab.expect(200, 'GET', '/qemu/images');
  assert.deepEqual([listed.md5sum, listed.filesize], [hash('md5', content), content.length]);
  // A client whose last answer was lost learns that it is whole.
  assert.equal((await pieces.begin(announced)).body.md5sum, hash('md5', content));
});

test('a piece takes the place of an earlier one whose connection hangs', async (t) => {
  const { lab, pieces } = await started(t);
  const content = image(2 * MIBIBYTE);
  await pieces.begin({ filename: 'disk.qcow2', filesize: content.length });
  let first = true;
  const hanging = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (first) controller.enqueue(new Uint8Array(content.subarray(0, MIBIBYTE)));
      first = false;
      return first ? undefined : new Promise(() => {});
    },
  });
  const earlier = pieces.send(0, hanging);
  await eventually('the first piece', async () => (await lab.expect(200, 'GET', pieces.path)).offset === MIBIBYTE);
  // Whoever announces it again is told what stays so, whatever else is on its way.
  const again = await pieces.begin({ filename: 'disk.qcow2', filesize: content.length });
  assert.equal(again.body.offset, MIBIBYTE);
  assert.equal((await earlier).status, 201);
  const { status, body } = await pieces.send(MIBIBYTE, content.subarray(MIBIBYTE));
  assert.deepEqual([status, body.md5sum], [201, hash('md5', content)]);
});

test('of two pieces that wait for the end of a third one, only one writes at a time', async (t) => {
  const { lab, pieces } = await started(t);
  const content = image(400_000);
  await pieces.begin({ filename: 'disk.qcow2', filesize: content.length });
  const hanging = pieces.send(0, new ReadableStream({ pull: () => new Promise<void>(() => {}) }));
  await sleep(50);
  const slowly = (): ReadableStream<Uint8Array> => {
    let at = 0;
    return new ReadableStream({
      async pull(controller) {
        await sleep(2);
        if (at >= content.length) return controller.close();
        controller.enqueue(new Uint8Array(content.subarray(at, at + 10_000)));
        at += 10_000;
      },
    });
  };
  const answers = await Promise.all([pieces.send(0, slowly()), pieces.send(0, slowly()), hanging]);
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 201, 201]);
  assert.equal(answers[1].body.md5sum, hash('md5', content));
  assert.equal((await lab.expect(200, 'GET', '/qemu/images')).length, 1);
});

test('of an upload with another checksum, one that is cancelled, is too long, or rests for too long nothing is left', async (t) => {
  const { lab } = await started(t);
  const content = image(MIBIBYTE);
  const begun = async (more: object = {}): Promise<Pieces> => {
    const pieces = new Pieces(lab);
    const { status } = await pieces.begin({ filename: 'deep/er/disk.qcow2', filesize: content.length, ...more });
    assert.equal(status, 201);
    return pieces;
  };
  const other = await (await begun({ md5sum: '0'.repeat(32) })).send(0, content);
  assert.equal(other.status, 409);
  assert.match(other.body.message, /md5sum: .* not 0{32}; nothing is kept/);
  assert.deepEqual(await files(lab), []);

  const deleted = await begun();
  await deleted.send(0, content.subarray(0, 1000));
  assert.notDeepEqual(await files(lab), []);
  await lab.expect(204, 'DELETE', deleted.path);
  assert.deepEqual(await files(lab), []);
  assert.equal((await lab.request('GET', deleted.path)).status, 404);

  const cancelled = await begun();
  await cancelled.send(0, content.subarray(0, 1000));
  await lab.expect(204, 'DELETE', `/operations/${cancelled.path.split('/').at(-1)}`);
  await eventually(
    'the cancellation',
    async () => (await lab.expect(200, 'GET', '/operations')).at(-1).state === 'cancelled',
  );
  assert.deepEqual(await files(lab), []);

  const long = await begun({ filesize: 1000 });
  assert.equal((await long.send(0, content)).status, 409);
  await eventually('the end of the files', async () => (await files(lab)).length === 0);

  const operations = new Operations({ tell: () => {} });
  const impatient = new Uploads(new Images(lab.config), operations, 50);
  await impatient.announce(imageKind('qemu'), randomUUID(), { filename: 'rests.qcow2', filesize: 1000 });
  await eventually('the failure', () => operations.list()[0]?.state === 'failed');
  assert.match(operations.list()[0]?.message ?? '', /nothing came for a long time/);
  assert.deepEqual(await files(lab), []);
});

test('what the disk cannot hold is refused before it is sent, or with 507 when it fills up, and leaves nothing', async (t) => {
  const disk = await scratchFileSystem(t, '16m');
  if (disk === undefined) return t.skip('no file system can be mounted here');
  const lab = await startLab(t, { additional_images_path: '' });
  const images = new Images({ ...lab.config, Server: { ...lab.config.Server, images_path: disk } });
  const operations = new Operations({ tell: () => {} });
  const uploads = new Uploads(images, operations);
  const announce = (filesize: number, id: string) =>
    uploads.announce(imageKind('qemu'), id, { filename: 'disk.qcow2', filesize });
  await assert.rejects(announce(64 * MIBIBYTE, randomUUID()), /filesize: 67108864 bytes are needed/);
  const [one, other] = [randomUUID(), randomUUID()];
  // Some space is kept, also from several uploads together.
  await assert.rejects(
    announce(15 * MIBIBYTE, one),
    /150\d{5} are free, as 1677721 are kept for the disks of nodes; free/,
  );
  await announce(10 * MIBIBYTE, one);
  await assert.rejects(announce(10 * MIBIBYTE, other), /and 10485760 for other uploads/);
  const elsewhere = await scratchFileSystem(t, '16m');
  await symlink(elsewhere as string, `${disk}/IOS`);
  const third = randomUUID();
  await uploads.announce(imageKind('dynamips'), third, { filename: 'c7200.bin', filesize: 10 * MIBIBYTE });
  await uploads.remove(third);
  await announce(4 * MIBIBYTE, other);
  await writeFile(`${disk}/ballast`, Buffer.alloc(3 * MIBIBYTE));
  const content = image(10 * MIBIBYTE);
  const send = (id: string, bytes: Buffer) => uploads.get(id).append(0, new Blob([new Uint8Array(bytes)]).stream());
  assert.equal((await send(one, content)).md5sum, hash('md5', content));
  await assert.rejects(send(other, content.subarray(0, 4 * MIBIBYTE)), { code: 'out-of-space' });
  await eventually('two files', async () => (await readdir(`${disk}/QEMU`)).length === 2);
  assert.deepEqual((await readdir(`${disk}/QEMU`)).sort(), ['disk.qcow2', 'disk.qcow2.md5sum']);
});

test('an image is deleted with its checksum; one that a node uses is not, and the refusal names the node', async (t) => {
  const { lab } = await started(t);
  const content = image(MIBIBYTE);
  const sent = { method: 'POST', body: new Uint8Array(content) };
  assert.equal((await lab.app.request('/v2/compute/qemu/images/disk.qcow2', sent)).status, 204);
  const project = await lab.expect(201, 'POST', '/projects', { name: 'exam' });
  const path = `/projects/${project.project_id}/qemu/nodes`;
  const node = await lab.request('POST', path, { name: 'R1', platform: 'x86_64', hda_disk_image: 'disk.qcow2' });
  if (node.status === 201) {
    const refused = await lab.request('DELETE', '/qemu/images/disk.qcow2');
    assert.equal(refused.status, 409);
    assert.match(refused.body.message, /the node "R1" of the project "exam"/);
    await lab.expect(204, 'DELETE', `${path}/${node.body.node_id}`);
  } else t.diagnostic(`no machine can be made here: ${node.body.message}`);
  await lab.expect(204, 'DELETE', '/qemu/images/disk.qcow2');
  assert.deepEqual(await files(lab), []);
  assert.equal((await lab.request('DELETE', '/qemu/images/disk.qcow2')).status, 404);
  assert.equal((await lab.request('DELETE', '/qemu/images/..%2Fx')).status, 403);
});
