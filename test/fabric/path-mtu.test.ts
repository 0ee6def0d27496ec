// A cable to another host, behind a router whose next network carries shorter packets.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import type { TunnelNotice } from '../../src/fabric/fabric.ts';
import { cablePair, cannotMakeInterfaces, ip, Namespace } from './namespaces.ts';
import { emulatorPort, freePort, Peer, peerWithCable, settled, startFabric } from './peers.ts';

const MTU = 1400;
/** Without the headers of IPv4 and UDP. */
const LONGEST_WHOLE = MTU - 28;
const FRAMES = 200;

/** Receives so many packets, and prints the length and number of each. */
const RECEIVE = `
  const socket = require('node:dgram').createSocket('udp4');
  let left = ${FRAMES};
  socket.on('message', (frame) => {
    console.log(frame.length, frame.readUInt32BE(14));
    if (--left === 0) socket.close();
  });
  socket.bind(Number(process.argv[1]), () => console.log('ready'));
`;

test('frames that are longer than the path MTU arrive in fragments, are counted and reported once', {
  skip: cannotMakeInterfaces,
}, async (t) => {
  const [router, host] = [await Namespace.create(t), await Namespace.create(t)];
  const [here, there] = await cablePair(t);
  await ip('address', 'add', '10.71.1.1/24', 'dev', here);
  await router.adopt(there, '10.71.1.2/24');
  const [near, far] = await cablePair(t);
  await router.adopt(near, '10.71.2.1/24');
  await host.adopt(far, '10.71.2.2/24');
  for (const [namespace, link] of [
    [router, near],
    [host, far],
  ] as const)
    await namespace.ip('link', 'set', link, 'mtu', String(MTU));
  await router.run('sysctl', '-qw', 'net.ipv4.ip_forward=1');
  await ip('route', 'add', '10.71.2.0/24', 'via', '10.71.1.2');
  await host.ip('route', 'add', 'default', 'via', '10.71.2.1');

  const remotePort = 20_001;
  const receiver = spawn('ip', ['netns', 'exec', host.name, process.execPath, '-e', RECEIVE, String(remotePort)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => receiver.kill('SIGKILL'));
  const lines = createInterface({ input: receiver.stdout })[Symbol.asyncIterator]();
  assert.equal((await lines.next()).value, 'ready');

  const fabric = await startFabric(t);
  const notices: TunnelNotice[] = [];
  const emulator = await Peer.open(t);
  const localPort = await freePort();
  const device = { kind: 'udp', localPort, remoteHost: '127.0.0.1', remotePort: emulator.port } as const;
  const port = await fabric.createPort(device, undefined, undefined, (notice) => notices.push(notice));
  await port.connect({ kind: 'udp', localPort: await freePort(), remoteHost: '10.71.2.2', remotePort });
  // The router's own interface to this host takes 1500 bytes: only the probe finds the shorter one behind it.
  const { tunnel } = await settled(port, (statistics) => statistics.tunnel?.pathMtu === MTU);
  assert.deepEqual(tunnel, { pathMtu: MTU, longestWhole: LONGEST_WHOLE, fragmented: 0, tooLong: 0 });

  const lengths = [LONGEST_WHOLE, LONGEST_WHOLE + 1, 60, 9000];
  const expected: string[] = [];
  for (let number = 0; number < FRAMES; number++) {
    const frame = Buffer.alloc(lengths[number % lengths.length]!);
    frame.writeUInt32BE(number, 14);
    await emulator.send(localPort, frame);
    expected.push(`${frame.length} ${number}`);
    assert.equal((await lines.next()).value, expected[number]);
  }
  const { tunnel: after } = await settled(port, (statistics) => statistics.tunnel?.fragmented === FRAMES / 2);
  assert.equal(after?.tooLong, 0);
  await settled(port, () => notices.length > 0);
  assert.deepEqual(notices, [{ unfit: 'fragmented', host: '10.71.2.2', pathMtu: MTU, longestWhole: LONGEST_WHOLE }]);

  await port.resetStatistics();
  assert.equal((await port.statistics()).tunnel?.fragmented, 0);
  if (receiver.exitCode === null) await once(receiver, 'exit');
});

test('a cable that stays on this host has no path to another one', async (t) => {
  const fabric = await startFabric(t);
  const { port } = await emulatorPort(t, fabric);
  const { cable } = await peerWithCable(t);
  await port.connect(cable);
  assert.equal((await port.statistics()).tunnel, undefined);
});
