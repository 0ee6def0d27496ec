// Where an image comes from that a host of the cluster needs.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Compute } from '../../src/controller/computes/compute.ts';
import type { Computes } from '../../src/controller/computes/computes.ts';
import { MissingImages } from '../../src/controller/computes/missing-images.ts';
import { RemoteTransport } from '../../src/controller/computes/remote.ts';
import { createAnnouncer } from '../../src/controller/events.ts';
import { StandIn, sendJson } from './computes-stand-in.ts';

const listener = { changed: () => {}, announced: () => {}, joined: async () => {}, lost: () => {} };
const CONTENT = 'the image that is wanted';

/** A host of the cluster that answers so. */
async function host(t: TestContext, name: string, answers: StandIn['answers']): Promise<Compute> {
  const { port } = await StandIn.start(t, answers);
  const description = { compute_id: name, name, protocol: 'http', host: '127.0.0.1', port, user: null } as const;
  const transport = new RemoteTransport(description, undefined);
  const compute = new Compute(description, { transport, listener, version: '2.2.57', consoleHost: name });
  t.after(() => compute.stop());
  compute.place = { name, address: '127.0.0.1', outsideAddress: '127.0.0.1' };
  await compute.connect();
  return compute;
}

/** A host with an image of this checksum. */
function having(t: TestContext, name: string, md5sum: string): Promise<Compute> {
  return host(t, name, {
    'GET /qemu/images': [{ filename: 'x.img', filesize: CONTENT.length, md5sum }],
    'GET /qemu/images/x.img': (_, response) => void response.end(CONTENT),
  });
}

test('a host that hangs, and one with another image of the name, keep no host from sending the wanted one', async (t) => {
  const arrived: string[] = [];
  const to = await host(t, 'target', {
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
    await host(t, 'hangs', { 'GET /qemu/images': () => {} }),
    await having(t, 'other', 'b'),
    await having(t, 'wanted', 'a'),
  ];
  const computes = { list: () => hosts } as unknown as Computes;
  const images = new MissingImages({ computes, announcer: createAnnouncer() });
  await images.supply({ compute: to, type: 'qemu', projectId: 'p', checksums: ['a'] }, () => to.post('/qemu/nodes'));
  assert.deepEqual(arrived, [CONTENT]);
});
