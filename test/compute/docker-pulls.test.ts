// Images that are pulled, by a real Docker Engine from a registry of the test's own (distribution specification, image manifest schema 2).
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fullImageName } from '../../src/compute/emulators/docker/settings.ts';
import { eventually } from '../eventually.ts';
import { containers, engine, noEngine as skip } from './docker-support.ts';

const digest = (bytes: Buffer): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

interface Peculiar {
  /** Milliseconds between two pieces of the layer. */
  pause?: () => number;
  architecture?: string;
  /** The layer ends before it is whole. */
  isCut?: boolean;
}

/** A registry on loopback with one image of one layer, which it gives in pieces; answers the name of the image. */
async function registry(
  t: TestContext,
  { pause = () => 0, architecture = 'amd64', isCut = false }: Peculiar,
): Promise<string> {
  const tree = join(engine().directory, 'tree');
  // Something that cannot be made smaller, so that it comes in pieces.
  execFileSync('/bin/sh', ['-c', 'head -c 8000000 /dev/urandom >"$1/filler"', 'sh', tree]);
  const tar = execFileSync('tar', ['-C', tree, '-c', '.'], { maxBuffer: 1 << 28 });
  const layer = execFileSync('gzip', ['-1'], { input: tar, maxBuffer: 1 << 28 });
  const config = Buffer.from(
    JSON.stringify({
      ...{
        architecture,
        os: 'linux',
        config: { Cmd: ['/bin/sh'], Labels: { nonce: randomBytes(4).toString('hex') } },
      },
      rootfs: { type: 'layers', diff_ids: [digest(tar)] },
    }),
  );
  const media = 'application/vnd.docker';
  const manifest = Buffer.from(
    JSON.stringify({
      ...{ schemaVersion: 2, mediaType: `${media}.distribution.manifest.v2+json` },
      config: { mediaType: `${media}.container.image.v1+json`, size: config.length, digest: digest(config) },
      layers: [{ mediaType: `${media}.image.rootfs.diff.tar.gzip`, size: layer.length, digest: digest(layer) }],
    }),
  );
  const server = createServer(async (asked, answer) => {
    const url = asked.url ?? '';
    const blob = isCut ? layer.subarray(0, layer.length / 2) : layer;
    const bytes = url.includes('/manifests/') ? manifest : url.endsWith(digest(config)) ? config : blob;
    if (url === '/v2/') return void answer.end('{}');
    if (!/\/(manifests|blobs)\//.test(url)) return void answer.writeHead(404).end();
    const type = bytes === manifest ? `${media}.distribution.manifest.v2+json` : 'application/octet-stream';
    answer.writeHead(200, {
      'content-type': type,
      'content-length': bytes.length,
      'docker-content-digest': bytes === blob ? digest(layer) : digest(bytes),
    });
    if (asked.method === 'HEAD') return void answer.end();
    for (let at = 0; at < bytes.length && !answer.destroyed; at += 100_000) {
      answer.write(bytes.subarray(at, at + 100_000));
      if (bytes === blob) await sleep(pause());
    }
    answer.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}/some/image:1.0`;
}

test('an image without a tag is the latest one, also of a registry with a port', () => {
  const names = [
    'alpine',
    'alpine:3',
    'host:5000/lab/alpine',
    'host:5000/alpine:3',
    'host:5000/alpine@sha256:0a',
    'a@sha256:0a',
  ];
  assert.deepEqual(names.map(fullImageName), [
    ...['alpine:latest', 'alpine:3', 'host:5000/lab/alpine:latest'],
    ...names.slice(3),
  ]);
});

test('a missing image is pulled, with progress, unless a client cancels', { skip }, async (t) => {
  const { lab, project } = await containers(t);
  let pause = 200;
  const image = await registry(t, { pause: () => pause });
  const make = () => lab.request('POST', `${project}/docker/nodes`, { name: 'P1', image, console_type: 'telnet' });
  const making = make();
  await lab.told('log.info', ({ message }) => message.includes(`Pulling image ${image}: `));
  const running = await eventually(
    'the progress',
    () => lab.expect(200, 'GET', '/docker/pulls'),
    (pulls) => /\[=*>/.test(pulls[0]?.progress),
  );
  assert.equal(running[0].image, image);
  await lab.expect(204, 'POST', '/docker/pulls/cancel', { image });
  const cancelled = await making;
  assert.equal(cancelled.status, 409);
  assert.match(cancelled.body.message, /was cancelled/);
  assert.deepEqual(await lab.expect(200, 'GET', '/docker/pulls'), []);
  assert.equal((await lab.request('POST', '/docker/pulls/cancel', { image })).status, 404);

  pause = 0;
  // Two at once are one pull.
  const made = await Promise.all([make(), make()]);
  assert.deepEqual(
    made.map(({ status }) => status),
    [201, 201],
  );
  await lab.told('log.info', ({ message }) => message === `Pulled image ${image}`);
  assert.ok((await lab.expect(200, 'GET', '/docker/images')).some((one: { image: string }) => one.image === image));
  await lab.expect(204, 'POST', `${project}/close`);
});

test('an image that comes cut is refused with the reason, and one for other processors with a warning', {
  skip,
}, async (t) => {
  const { lab, project } = await containers(t);
  const make = (image: string) =>
    lab.request('POST', `${project}/docker/nodes`, {
      name: 'P1',
      image,
      console_type: 'telnet',
      start_command: '/bin/alien',
    });
  const cut = await make(await registry(t, { isCut: true }));
  assert.deepEqual([cut.status, cut.body.exception], [409, 'DockerError']);
  assert.match(cut.body.message, /cannot be pulled: .*(verification failed|unexpected EOF|size)/);
  assert.deepEqual([await lab.expect(200, 'GET', '/docker/pulls'), engine().containers()], [[], []]);

  // A program of 64-bit ARM, as far as its header goes (elf(5)).
  const header = Buffer.alloc(64);
  Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]).copy(header);
  header.writeUInt16LE(2, 16);
  header.writeUInt16LE(183, 18);
  await writeFile(join(engine().directory, 'tree/bin/alien'), header, { mode: 0o755 });
  const image = await registry(t, { architecture: 'arm64' });
  const alien = await make(image);
  assert.equal(alien.status, 201);
  await lab.told('log.warning', ({ message }) => message.includes(`${image} is made for arm64, this host is `));
  const started = await lab.request('POST', `${project}/docker/nodes/${alien.body.node_id}/start`);
  const { message } = started.status === 409 ? started.body : await lab.told('log.error');
  assert.match(message, /alien: .*(not found|Exec format error)/i);
});
