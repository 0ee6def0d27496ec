// Cables and captures of routers, with the real Dynamips. The images of the tests send nothing: frames are put into a router's own end of its
// cable by the emulator's means, and seen at the other router's.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { findOurs } from '../../src/host/processes/child-processes.ts';

import { eventually } from '../eventually.ts';
import { emulatorOf, noDynamips, router, routers, sender } from './router-support.ts';

const skip = noDynamips;

/** Process id of a router's emulator. */
function pidOf(instance: string, path: string): number {
  return findOurs(instance).find(({ nodeId }) => nodeId === path.split('/').at(-1))!.pid;
}

const FRAME = Buffer.concat([
  Buffer.from('ffffffffffff00aabbccdd0188b5', 'hex'),
  Buffer.alloc(60, 'from router to router'),
]);

test('a frame that leaves one router by its cable comes to the other, as what is done to the cable allows', {
  skip,
}, async (t) => {
  const instance = randomUUID();
  const made = await routers(t, ['c3600'], { instance });
  const { lab, directory } = made;
  const cards = { slot0: 'NM-1FE-TX', slot1: 'NM-4T' };
  const [one, other] = [
    await router(made, 'c3600', 'c3600', cards),
    await router(made, 'c3600', 'c3600', { ...cards, name: 'R2' }),
  ];
  const ends = [
    { type: 'nio_udp', lport: 15_600, rhost: '127.0.0.1', rport: 15_601 },
    { type: 'nio_udp', lport: 15_601, rhost: '127.0.0.1', rport: 15_600 },
  ];
  await lab.expect(201, 'POST', `${one}/adapters/0/ports/0/nio`, ends[0]);
  for (const path of [one, other]) await lab.expect(204, 'POST', `${path}/start`);
  // One end is plugged in before its router is started, the other one while it runs.
  await lab.expect(201, 'POST', `${other}/adapters/0/ports/0/nio`, ends[1]);

  const peer = await emulatorOf(t, pidOf(instance, other));
  const seen = join(directory, 'seen.pcap');
  await peer.run('nio bind_filter', ['cable_0_0', 0, 'capture']);
  await peer.run('nio setup_filter', ['cable_0_0', 0, 'en10mb', seen]);
  const { pcap_file_path: captured } = await lab.expect(200, 'POST', `${other}/adapters/0/ports/0/start_capture`, {
    ...{ capture_file_name: 'fast.pcap', data_link_type: 'DLT_EN10MB' },
  });
  const send = await sender(t, await emulatorOf(t, pidOf(instance, one)), [0, 0]);
  const has = (file: string, text: string): boolean => existsSync(file) && readFileSync(file).includes(text);
  await eventually('the frame at the other router', () => {
    send(FRAME);
    return has(seen, 'from router to router');
  });
  await eventually('the frame in the capture', () => has(captured, 'from router to router'));

  // A filter of the link holds at a router's end as everywhere.
  const lossy = { ...ends[1], filters: { packet_loss: [100] } };
  await lab.expect(201, 'PUT', `${other}/adapters/0/ports/0/nio`, lossy);
  const lost = Buffer.concat([FRAME.subarray(0, 14), Buffer.alloc(60, 'lost on the way')]);
  const dropped = async (): Promise<number> => {
    const { incoming, outgoing } = await lab.expect(200, 'GET', `${other}/adapters/0/ports/0/statistics`);
    return incoming.dropped.packet_loss + outgoing.dropped.packet_loss;
  };
  for (let n = 0; n < 20; n += 1) send(lost);
  await eventually('the loss of all', dropped, (count) => count >= 20);
  await lab.expect(201, 'PUT', `${other}/adapters/0/ports/0/nio`, ends[1]);
  const late = Buffer.concat([FRAME.subarray(0, 14), Buffer.alloc(60, 'after the filter')]);
  await eventually('a frame after that', () => {
    send(late);
    return has(seen, 'after the filter');
  });
  assert.equal(has(seen, 'lost on the way'), false);
  await lab.expect(204, 'POST', `${other}/adapters/0/ports/0/stop_capture`);

  await lab.expect(204, 'DELETE', `${other}/adapters/0/ports/0/nio`);
  assert.equal((await peer.run('nio list')).lines.length, 0);
});

test('captures on serial links say what their frames are', { skip }, async (t) => {
  const instance = randomUUID();
  const made = await routers(t, ['c3600'], { instance });
  const { lab } = made;
  const path = await router(made, 'c3600', 'c3600', { slot1: 'NM-4T' });
  await lab.expect(204, 'POST', `${path}/start`);
  const far = createSocket('udp4').bind(0, '127.0.0.1');
  await once(far, 'listening');
  t.after(() => far.close());
  for (const [number, type, magic, frame] of [
    [0, 'DLT_C_HDLC', 104, '8f008035000000020000000000000000ffff'],
    [1, 'DLT_PPP_SERIAL', 50, 'ff03c0210901000c00000000'],
    [2, 'DLT_FRELAY', 107, '00010308007501010003'],
  ] as const) {
    const port = `${path}/adapters/1/ports/${number}`;
    const lport = 15_700 + number;
    await lab.expect(201, 'POST', `${port}/nio`, {
      ...{ type: 'nio_udp', lport, rhost: '127.0.0.1', rport: far.address().port },
    });
    const { pcap_file_path: file } = await lab.expect(200, 'POST', `${port}/start_capture`, {
      ...{ capture_file_name: `${type}.pcap`, data_link_type: type },
    });
    await eventually(`the ${type} frame`, () => {
      far.send(Buffer.from(frame, 'hex'), lport, '127.0.0.1');
      return readFileSync(file).includes(Buffer.from(frame, 'hex'));
    });
    assert.equal(readFileSync(file).readUInt32LE(20), magic, type);
    await lab.expect(204, 'POST', `${port}/stop_capture`);
  }
});
