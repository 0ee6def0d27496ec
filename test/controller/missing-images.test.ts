// Where an image comes from that a host of the cluster needs.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Compute } from '../../src/controller/computes/compute.ts';
import type { Computes } from '../../src/controller/computes/computes.ts';
import { MissingImages } from '../../src/controller/computes/missing-images.ts';
import { createAnnouncer } from '../../src/controller/events.ts';
import { type Answering, type StandIn, sendJson } from './computes-stand-in.ts';
import { until } from './lab-server.ts';
import { memberHost } from './member-host.ts';

const CONTENT = 'the image that is wanted';

/** A host with an image of this checksum. */
function having(t: TestContext, name: string, md5sum: string): Promise<Compute> {
  return memberHost(t, name, {
    'GET /qemu/images': [{ filename: 'x.img', filesize: CONTENT.length, md5sum }],
    'GET /qemu/images/x.img': (_, response) => void response.end(CONTENT),
  });
}

test('a host that hangs, and one with another image of the name, keep no host from sending the wanted one', async (t) => {
  const arrived: string[] = [];
  const to = await memberHost(t, 'target', {
    'POST /qemu/nodes': (request, response) => {
      request.resume();
      if (arrived.length > 0) return sendJson(response, 201, {});
      sendJson(response, 409, { message: 'missing', exception: 'ImageMissingError', image: 'x.img', status: 409 });
    },
    'POST /qemu/images/x.img': (request, response) => {
      request.setEncoding('utf8').on('data', (text) => arrived.push(text));
      request.on('end', () => response.writeHead(204).end());
    },
  });
  const hosts = [
    to,
    await memberHost(t, 'hangs', { 'GET /qemu/images': () => {} }),
    await having(t, 'other', 'b'),
    await having(t, 'wanted', 'a'),
  ];
  const computes = { list: () => hosts } as unknown as Computes;
  const images = new MissingImages({ computes, announcer: createAnnouncer() });
  await images.supply({ compute: to, type: 'qemu', projectId: 'p', checksums: ['a'] }, () => to.post('/qemu/nodes'));
  assert.deepEqual(arrived, [CONTENT]);
});

test('another host with the same image goes on when the one that sends it dies', async (t) => {
  let arrived = '';
  const takes: Answering = (request, response) => {
    request.setEncoding('utf8').on('data', (text) => {
      arrived += text;
    });
    const answer = (): void => sendJson(response, 201, { offset: arrived.length });
    request.once('end', answer).once('error', answer);
  };
  const to = await memberHost(t, 'target', {
    'POST /qemu/nodes': (request, response) => {
      request.resume();
      if (arrived === CONTENT) return sendJson(response, 201, {});
      sendJson(response, 409, { message: 'missing', exception: 'ImageMissingError', image: 'x.img', status: 409 });
    },
    'PUT /qemu/uploads/[^/]+': (request, response) => {
      request.resume();
      sendJson(response, 201, { offset: arrived.length });
    },
    'POST /qemu/uploads/.+': takes,
  });
  let sender: StandIn | undefined;
  const half = CONTENT.length / 2;
  const image = [{ filename: 'x.img', filesize: CONTENT.length, md5sum: 'a' }];
  const dies = await memberHost(
    t,
    'dies',
    {
      'GET /qemu/images': image,
      'GET /qemu/images/x.img': (_, response) => {
        response.writeHead(200, { 'Content-Length': CONTENT.length });
        response.write(CONTENT.slice(0, half));
      },
    },
    (host) => {
      sender = host;
    },
  );
  const hosts = [to, dies];
  const computes = { list: () => hosts } as unknown as Computes;
  const images = new MissingImages({ computes, announcer: createAnnouncer() });
  const need = { compute: to, type: 'qemu', projectId: 'p', checksums: ['a'] } as const;
  const supplied = images.supply(need, () => to.post('/qemu/nodes'));
  await until(() => arrived.length > 0, 'a part');
  const ranges: unknown[] = [];
  const heir = await memberHost(t, 'heir', {
    'GET /qemu/images': image,
    'GET /qemu/images/x.img': ({ headers: { range } }, response) => {
      ranges.push(range);
      const from = Number(/bytes=(\d+)-/.exec(range ?? '')?.[1] ?? 0);
      response.writeHead(from > 0 ? 206 : 200).end(CONTENT.slice(from));
    },
  });
  hosts.push(await having(t, 'other', 'b'), heir);
  void sender!.close();
  await supplied;
  assert.equal(arrived, CONTENT);
  assert.deepEqual(ranges, [`bytes=${half}-`]);
});
