import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  FrameCalls,
  familyOf,
  type SocketAddress,
  SystemError,
  sendUnixDatagram,
} from '../../src/host/system-calls.ts';
import { freePort } from '../fabric/peers.ts';

/** Two addresses that nobody has. */
async function addresses(): Promise<[SocketAddress, SocketAddress]> {
  const host = '127.0.0.1';
  return [
    { host, port: await freePort() },
    { host, port: await freePort() },
  ];
}

test('a datagram to a closed port fails with the name of the error and of the call', () => {
  assert.throws(() => sendUnixDatagram('/nonexistent/socket', Buffer.from('READY=1')), {
    name: 'SystemError',
    code: 'ENOENT',
    call: 'sendto',
    message: 'sendto: no such file or directory (ENOENT)',
  });
  assert.throws(() => sendUnixDatagram(`@labwire-nobody-${process.pid}`, Buffer.from('READY=1')), {
    code: 'ECONNREFUSED',
  });
});

test('addresses and datagrams that cannot be sent are refused and not cut', () => {
  assert.throws(() => sendUnixDatagram(`/${'x'.repeat(107)}`, Buffer.from('x')), { code: 'ENAMETOOLONG' });
  assert.throws(() => sendUnixDatagram('@x', Buffer.alloc(2 << 20)), { code: 'EMSGSIZE' });
});

test('IPv4 in the clothes of IPv6 is IPv4', () => {
  assert.deepEqual(['192.0.2.1', '::ffff:192.0.2.1', '2001:db8::1', 'fe80::1%lo'].map(familyOf), [4, 4, 6, 6]);
});

test('frames pass from socket to socket in one call each, with their lengths', async () => {
  const calls = new FrameCalls();
  const [near, far] = await addresses();
  const sockets = [calls.openUdpSocket(near, far, 1 << 20), calls.openUdpSocket(far, near, 1 << 20)] as const;
  try {
    for (let slot = 0; slot < 3; slot++) {
      calls.slots[slot]!.fill(slot + 1, 0, 100 + slot);
      calls.setLength(slot, 100 + slot);
    }
    assert.equal(calls.send(sockets[0], 0, 3), 3);
    const poller = calls.openPoller();
    calls.watch(poller, sockets[1]);
    assert.equal(calls.wait(poller, 5000), 1);
    assert.equal(calls.readyDescriptor(0), sockets[1]);
    calls.close(poller);
    assert.equal(calls.receive(sockets[1], 10, 32), 3);
    for (let slot = 10; slot < 13; slot++) {
      const length = calls.receivedLength(slot);
      assert.deepEqual(calls.slots[slot]!.subarray(0, length), Buffer.alloc(90 + slot, slot - 9));
    }
    assert.ok(calls.receive(sockets[1], 0, 1) < 0);
    assert.equal(calls.isOwnPeer(sockets[0], '127.0.0.1'), true);
  } finally {
    for (const socket of sockets) calls.close(socket);
  }
});

test('a socket that cannot be had leaves no descriptor and says why', async () => {
  const calls = new FrameCalls();
  const [near, far] = await addresses();
  const socket = calls.openUdpSocket(near, far, 1 << 20);
  assert.throws(
    () => calls.openUdpSocket(near, far, 1 << 20),
    (error) => {
      return error instanceof SystemError && error.code === 'EADDRINUSE' && error.call === 'bind';
    },
  );
  calls.close(socket);
  calls.close(calls.openUdpSocket(near, far, 1 << 20));
});

test('the time of day is that of the system, to the nanosecond', () => {
  const before = Date.now();
  const { seconds, nanoseconds } = new FrameCalls().timeOfDay();
  const time = seconds * 1000 + nanoseconds / 1e6;
  assert.ok(time >= before && time <= Date.now() + 1);
});
