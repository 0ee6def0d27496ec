// What a page follows of links over WebSockets: the counters of all, and captures from near their end; and the list of capture files.
import assert from 'node:assert/strict';
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { WebSocket as WebSocketClient } from 'ws';
import { FrameReader } from '../../src/web/capture/frames.ts';
import type { Body } from '../body.ts';
import { frameSender } from './frame-sender.ts';
import { LabServer, until } from './lab-server.ts';

/** A socket of the real server, over the network. */
class Heard {
  readonly texts: Body[] = [];
  readonly bytes: Buffer[] = [];
  end: { code: number; reason: string } | undefined;
  readonly socket: WebSocket;

  constructor(server: LabServer, path: string) {
    this.socket = new WebSocket(`ws://127.0.0.1:${server.port}${path}`);
    this.socket.binaryType = 'arraybuffer';
    this.socket.onmessage = ({ data }) => {
      if (typeof data === 'string') this.texts.push(JSON.parse(data));
      else this.bytes.push(Buffer.from(data as ArrayBuffer));
    };
    this.socket.onclose = ({ code, reason }) => {
      this.end = { code, reason };
    };
  }

  get all(): Buffer {
    return Buffer.concat(this.bytes);
  }
}

interface Wired {
  server: LabServer;
  project: Body;
  path: string;
  link: Body;
  other: Body;
  url: string;
  send(frames: number, bytes?: number): Promise<void>;
}

/** Three hubs in a row, and a way to send frames into the first. */
async function wired(t: TestContext): Promise<Wired> {
  const { server, project } = await LabServer.withLab(t, { auto_close: false });
  const [a, b, c] = [await server.hub(project, 'A'), await server.hub(project, 'B'), await server.hub(project, 'C')];
  const link = await server.link(project, [a, 0], [b, 0]);
  const other = await server.link(project, [b, 1], [c, 0]);
  const path = `/v2/projects/${project.project_id}`;
  const sender = await frameSender(t, server, { project, hub: a });
  const send = (frames: number, bytes = 60): Promise<void> =>
    sender(Array.from({ length: frames }, (_, sent) => Buffer.alloc(bytes, sent + 1)));
  return { server, project, path, link, other, url: `${path}/links/${link.link_id}`, send };
}

const recorded = async ({ server, url }: Wired): Promise<Body> => {
  const { ends } = await server.expect(200, 'GET', `${url}/statistics`);
  return ends.map(({ statistics }: Body) => statistics.capture).find((capture: Body) => capture !== null);
};

test('one socket reports the counters of all links, then those that changed, and nothing while nothing does', async (t) => {
  const it = await wired(t);
  const heard = new Heard(it.server, `${it.path}/links/statistics/ws?interval=200`);
  await until(() => heard.texts.length > 0, 'the first message');
  const ids = heard.texts[0].links.map(({ link_id }: Body) => link_id).sort();
  assert.deepEqual(ids, [it.link.link_id, it.other.link_id].sort());
  assert.deepEqual(
    heard.texts[0].links.map(({ capture }: Body) => capture),
    [null, null],
  );
  // The link beyond the second hub is impaired: nothing passes it.
  const loss = { both: { loss: { percent: 100 } } };
  await it.server.expect(201, 'PUT', `${it.path}/links/${it.other.link_id}`, { impairments: loss });
  await it.send(5);
  const last = (id: string): Body =>
    heard.texts.flatMap(({ links }) => links).findLast((each: Body) => each.link_id === id);
  await until(() => last(it.other.link_id)?.forward.dropped.loss === 5, 'the frames that were lost');
  assert.deepEqual(
    [last(it.link.link_id).forward.delivered.frames, last(it.other.link_id).forward.delivered.frames],
    [5, 0],
  );
  // The rates of the last second pass by, which is a change; then there is none any more.
  let length = -1;
  await until(async () => {
    length = heard.texts.length;
    await new Promise((resolve) => setTimeout(resolve, 2000));
    return heard.texts.length === length;
  }, 'silence');
  // One link changes: it alone is told.
  await it.server.expect(204, 'POST', `${it.url}/statistics/reset`);
  await until(() => last(it.link.link_id).forward.offered.frames === 0, 'the link that was reset');
  const since = heard.texts.slice(length).flatMap(({ links }) => links);
  assert.deepEqual(new Set(since.map(({ link_id }: Body) => link_id)), new Set([it.link.link_id]));
  await it.server.expect(204, 'POST', `${it.path}/close`);
  await until(() => heard.end !== undefined, 'the end of the socket');
  assert.deepEqual(heard.end, { code: 1001, reason: 'The project was closed.' });
});

test('a capture is followed over a socket, header first, whole or from near its end, and ends in words', async (t) => {
  const it = await wired(t);
  await it.server.expect(201, 'POST', `${it.url}/start_capture`, { capture_file_name: 'c.pcap' });
  const whole = new Heard(it.server, `${it.url}/pcap/ws`);
  await it.send(400, 1400);
  await until(async () => (await recorded(it))?.frames === 400, 'the frames of the capture');
  await until(() => whole.all.length === 24 + 400 * 1416, 'all of it');
  assert.equal(whole.all.readUInt32LE(0), 0xa1b2c3d4);

  const near = new Heard(it.server, `${it.url}/pcap/ws?last=100000`);
  const now = new Heard(it.server, `${it.url}/pcap/ws?last=0`);
  await until(() => near.all.length > 100_000 && now.all.length === 24, 'the readers from near the end');
  assert.ok(near.all.length < whole.all.length, `${near.all.length} bytes are the whole file`);
  await it.send(1, 200);
  await until(() => now.all.length === 24 + 216, 'the frame that came now');
  // What each got behind the header is the end of the file, frame by frame.
  await until(() => whole.all.length === 24 + 400 * 1416 + 216, 'the last frame');
  await until(() => near.all.subarray(-216).equals(whole.all.subarray(-216)), 'the last frame near the end');
  for (const { all } of [near, now]) {
    assert.deepEqual(all.subarray(0, 24), whole.all.subarray(0, 24));
    assert.deepEqual(all.subarray(24), whole.all.subarray(whole.all.length - all.length + 24));
  }
  assert.equal((near.all.length - 24 - 216) % 1416, 0, 'it begins with a whole record');
  await until(() => whole.texts.at(-1)?.frames === 401, 'the figures');
  assert.deepEqual(whole.texts.at(-1), {
    frames: 401,
    bytes: 400 * 1400 + 200,
    drops: 0,
    filtered: 0,
    skipped_bytes: 0,
  });

  const stream = (await it.server.stream(`${it.url}/pcap?last=0`)).body!.getReader();
  assert.deepEqual(Buffer.from((await stream.read()).value!), whole.all.subarray(0, 24));
  await stream.cancel();
  await it.server.expect(201, 'POST', `${it.url}/stop_capture`);
  await until(() => [whole, near, now].every(({ end }) => end !== undefined), 'the ends of the sockets');
  assert.deepEqual(whole.end, { code: 1000, reason: 'The capture has ended.' });
  assert.deepEqual(await readFile(join(it.project.path, 'project-files/captures/c.pcap')), whole.all);
});

test('a client that does not read for a while gets every byte, and what a ring gave up meanwhile is reported', async (t) => {
  const it = await wired(t);
  const ring = { capture_file_name: 'r.pcap', ring_size: 131_072, ring_files: 2 };
  await it.server.expect(201, 'POST', `${it.url}/start_capture`, ring);
  await it.send(20, 1400);
  await until(async () => (await recorded(it))?.frames === 20, 'the first frames');
  // In this process the reader's pace is the test's own.
  const { port } = it.server;
  // Not compressed: these frames would fit into the kernel's buffers.
  const slow = new WebSocketClient(`ws://127.0.0.1:${port}${it.url}/pcap/ws`, { perMessageDeflate: false });
  const got: Buffer[] = [];
  const told: Body[] = [];
  slow.on('message', (data: Buffer, isBinary: boolean) =>
    isBinary ? got.push(data) : told.push(JSON.parse(data.toString())),
  );
  await until(() => Buffer.concat(got).length === 24 + 20 * 1416, 'what there was');
  slow.pause();
  // More than the kernel's buffers and the server's for this client hold, at the disk's pace.
  const files = async (): Promise<number> =>
    Math.max(
      0,
      ...(await it.server.expect(200, 'GET', `${it.path}/captures`)).map(({ name }: Body) =>
        Number(/\d{5}/.exec(name)),
      ),
    );
  for (let full = 0; full < 80; full = await files()) {
    await it.send(100, 8000);
    await until(async () => (await files()) >= full + 4, 'the disk');
  }
  slow.resume();
  await it.send(1, 300);
  const { frames } = await recorded(it);
  await until(() => told.at(-1)?.frames >= frames, 'the newest figures');
  const all = (): Buffer => Buffer.concat(got);
  await until(
    () => all().length + told.at(-1).skipped_bytes === 24 + told.at(-1).bytes + told.at(-1).frames * 16,
    'the rest',
  );
  assert.ok(told.at(-1).skipped_bytes > 0, 'nothing was skipped: the client was not slow');
  // What came is whole records, so that a reader of the format is never lost.
  let at = 24;
  for (const bytes = all(); at < bytes.length; ) {
    const length = bytes.readUInt32LE(at + 8);
    assert.ok([1400, 8000, 300].includes(length), `a record of ${length} bytes at ${at}`);
    at += 16 + length;
  }
  assert.equal(at, all().length);
  slow.close();
});

test('what fits no route is refused before the upgrade, by name', async (t) => {
  const it = await wired(t);
  for (const [status, path, message] of [
    [409, `${it.url}/pcap/ws`, /not captured/],
    [404, `${it.path}/links/00000000-0000-4000-8000-000000000000/pcap/ws`, /link_id/],
    [
      400,
      `${it.url}/pcap/ws?last=-1`,
      /^last: expected a whole number from 0 to 1099511627776 \(bytes\), received "-1"/,
    ],
    [400, `${it.url}/pcap?last=all`, /^last: /],
    [400, `${it.path}/links/statistics/ws?interval=0`, /^interval: expected a whole number from 200 to 60000/],
    [400, `${it.path}/links/statistics/ws?interval=1e3`, /^interval: /],
    [404, '/v2/projects/00000000-0000-4000-8000-000000000000/links/statistics/ws', /project_id/],
    [404, '/v2/projects/00000000-0000-4000-8000-000000000000/captures', /project_id/],
  ] as const) {
    const upgrade = {
      Connection: 'Upgrade',
      Upgrade: 'websocket',
      'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Key': 'AAAAAAAAAAAAAAAAAAAAAA==',
    };
    const answer = await refusal(it.server, path, path.includes('/ws') ? upgrade : {});
    assert.equal(answer.status, status, path);
    assert.match(answer.message, message, path);
  }
  await it.server.expect(204, 'POST', `${it.path}/close`);
  const closed = await it.server.call('GET', `${it.path}/captures`);
  assert.deepEqual([closed.status, closed.json], [200, []]);
});

/** A plain request, also with headers that `fetch` does not send. */
async function refusal(
  server: LabServer,
  path: string,
  headers: Record<string, string>,
): Promise<{ status: number; message: string }> {
  const { request } = await import('node:http');
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; message: string }>();
  request({ port: server.port, host: '127.0.0.1', path, headers }, async (response) => {
    const text = Buffer.concat(await response.toArray()).toString();
    resolve({ status: response.statusCode ?? 0, message: JSON.parse(text).message });
  })
    .on('error', reject)
    .on('upgrade', () => reject(new Error(`${path} was upgraded`)))
    .end();
  return promise;
}

test('the capture files of a project are listed, with the link that is captured into one', async (t) => {
  const it = await wired(t);
  const list = async (): Promise<Body[]> => it.server.expect(200, 'GET', `${it.path}/captures`);
  assert.deepEqual(await list(), []);
  const directory = join(it.project.path, 'project-files/captures');
  await mkdir(join(directory, 'below'), { recursive: true });
  await writeFile(join(directory, 'old.pcap'), Buffer.alloc(24));
  await writeFile(join(directory, 'below/other.pcap'), 'not listed');
  await symlink('/etc/passwd', join(directory, 'leak.pcap'));
  await it.server.expect(201, 'POST', `${it.url}/start_capture`, { capture_file_name: 'new.pcap' });
  await it.send(3, 100);
  await until(async () => (await list()).some(({ bytes }) => bytes === 24 + 3 * 116), 'the bytes of the capture');
  const found = await list();
  const link_id = it.link.link_id;
  assert.deepEqual(
    found.map(({ modified, ...rest }) => rest),
    [
      { name: 'new.pcap', bytes: 24 + 3 * 116, link_id, running: true, compute_id: 'local' },
      { name: 'old.pcap', bytes: 24, link_id: null, running: false, compute_id: 'local' },
    ],
  );
  assert.ok(found.every(({ modified }) => modified === new Date(modified).toISOString()));
  const file = await fetch(`http://127.0.0.1:${it.server.port}${it.path}/captures/new.pcap`);
  assert.deepEqual(Buffer.from(await file.arrayBuffer()), await readFile(join(directory, 'new.pcap')));
  await it.server.expect(404, 'GET', `${it.path}/captures/other.pcap`);
  await it.server.expect(403, 'GET', `${it.path}/captures/leak.pcap`);
  await it.server.expect(201, 'POST', `${it.url}/stop_capture`);
  assert.equal((await list())[0].running, false);
  // They can be read when the project is closed, too; whose they were is not known then.
  await it.server.expect(204, 'POST', `${it.path}/close`);
  assert.deepEqual(
    (await list()).map(({ name, link_id }) => [name, link_id]),
    [
      ['new.pcap', null],
      ['old.pcap', null],
    ],
  );
});

test('captures are merged to one file: all files of a ring once, those that have ended, and what is not whole', async (t) => {
  const it = await wired(t);
  const merged = `${it.path}/merged-captures`;
  const lengths = async (query = ''): Promise<number[]> => {
    const answer = await fetch(`http://127.0.0.1:${it.server.port}${merged}${query}`);
    assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, 'application/x-pcapng']);
    return new FrameReader().push(new Uint8Array(await answer.arrayBuffer())).map(({ length }) => length);
  };
  const [one, other] = [it.link.link_id, it.other.link_id];
  for (const [status, path, message] of [
    [409, merged, /No link of this lab has been captured since it was opened/],
    [409, `${merged}?links=${one}`, new RegExp(`^links: ${one} has not been captured`)],
    [404, `${merged}?links=x`, /^links: the lab has no link x/],
  ] as const) {
    const answer = await refusal(it.server, path, {});
    assert.deepEqual([answer.status, message.test(answer.message)], [status, true], answer.message);
  }
  const ring = { ring_size: 131_072, ring_files: 4, capture_file_name: 'ring.pcap' };
  await it.server.expect(201, 'POST', `${it.url}/start_capture`, ring);
  await it.server.expect(201, 'POST', `${it.path}/links/${other}/start_capture`, { format: 'pcapng' });
  // 250 records of 1,016 bytes: two files of the ring.
  for (let round = 0; round < 5; round++) await it.send(50, 1000);
  await until(async () => (await recorded(it))?.frames === 250, 'the frames');
  await until(async () => (await lengths()).length === 500, 'the frames of both');
  assert.equal((await lengths(`?links=${other},${one},${one}`)).length, 500);
  assert.equal((await lengths(`?links=${one}`)).length, 250, 'each frame of the ring once');
  const names = (await it.server.expect(200, 'GET', `${it.path}/captures`)).map(({ name }: Body) => name);
  assert.ok(names.includes('ring_00001.pcap') && names.includes('ring.pcap'), 'the ring has several files');

  await it.server.expect(201, 'POST', `${it.path}/links/${other}/stop_capture`);
  const directory = join(it.project.path, 'project-files/captures');
  const ended = (await it.server.expect(200, 'GET', `${it.path}/links/${other}`)).capture_file_name;
  const whole = await readFile(join(directory, ended));
  // The figures at the end, and a part of the last record.
  await writeFile(join(directory, ended), whole.subarray(0, whole.length - 400));
  assert.equal((await lengths(`?links=${other}`)).length, 249);
  await rm(join(directory, ended));
  assert.equal((await lengths()).length, 250, 'what somebody has removed holds nothing up');

  // Another capture of the same link: the earlier one still counts, until its file is replaced.
  await it.server.expect(201, 'POST', `${it.url}/stop_capture`);
  await it.server.expect(201, 'POST', `${it.url}/start_capture`, { capture_file_name: 'second.pcap' });
  await it.send(7, 100);
  await until(async () => (await lengths()).length === 257, 'the frames of both captures');
  await it.server.expect(201, 'POST', `${it.url}/stop_capture`);
  const linkOf = async (file: string): Promise<string> =>
    (await it.server.expect(200, 'GET', `${it.path}/captures`)).find(({ name }: Body) => name === file).link_id;
  assert.deepEqual([await linkOf('ring_00001.pcap'), await linkOf('second.pcap')], [one, one]);
  const again = { capture_file_name: 'second.pcap' };
  await it.server.expect(201, 'POST', `${it.path}/links/${other}/start_capture`, again);
  assert.equal(await linkOf('second.pcap'), other);
  assert.equal((await it.server.expect(200, 'GET', it.url)).capture_file_name, 'ring.pcap');
  assert.equal((await lengths()).length, 250);
  await it.server.expect(201, 'POST', `${it.path}/links/${other}/stop_capture`);
  await it.server.expect(204, 'POST', `${it.path}/close`);
  await it.server.expect(409, 'GET', merged);
});
