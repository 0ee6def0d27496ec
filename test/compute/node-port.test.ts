// What changes a port at the same moment waits for each other: the port is never left with what an earlier change had found.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PortOwner } from '../../src/compute/nodes/owner.ts';
import { NodePort } from '../../src/compute/nodes/ports/port.ts';
import type { Services } from '../../src/compute/services.ts';
import type { Device, FabricPort } from '../../src/fabric/fabric.ts';

const RULES = { exception: 'TestError', nios: new Set(['nio_udp'] as const) };
const NIO = { type: 'nio_udp', lport: 20_001, rhost: '127.0.0.1', rport: 20_002 } as const;
const DEVICES = [1, 2, 3].map((n) => ({ type: 'hub', hub: n, port: 0 }) as unknown as Device);

/** A port above a fabric whose answers come late and in the order of their lengths of time, not in that of the questions. */
function slowPort() {
  const made: { device: Device | null; closed: boolean }[] = [];
  let delays = [30, 1, 15, 2, 8];
  const late = () => {
    const [first = 1, ...others] = delays;
    delays = [...others, first];
    return new Promise((resolve) => setTimeout(resolve, first));
  };
  const createPort = async (device: Device | null) => {
    const port = { device, closed: false };
    await late();
    made.push(port);
    return {
      setDevice: async (next: Device | null) => {
        await late();
        port.device = next;
      },
      connect: late,
      close: async () => {
        await late();
        port.closed = true;
      },
      stopCapture: late,
    } as unknown as FabricPort;
  };
  const released: number[] = [];
  const services = {
    fabric: { createPort },
    config: { Server: { allowed_interfaces: [] } },
    captures: { end: late },
    ports: { udp: { release: (_: string, port: number) => released.push(port) } },
  } as unknown as Services;
  const owner = { project: { id: 'p' }, name: 'N' } as unknown as PortOwner;
  return { port: new NodePort(owner, '0/0', RULES, services), made, released };
}

test('a port that is plugged in while its device changes gets the device that was set last', async () => {
  for (const order of [
    [0, 1],
    [1, 0],
  ]) {
    const { port, made } = slowPort();
    await port.setDevice(DEVICES[0]!);
    const changes = [() => port.attach(NIO), () => port.setDevice(DEVICES[1]!)];
    await Promise.all(order.map((n) => changes[n]!()));
    assert.deepEqual(made, [{ device: DEVICES[1]!, closed: false }]);
  }
});

test('of devices that are set at once the last one holds', async () => {
  const { port, made } = slowPort();
  await port.attach(NIO);
  await Promise.all(DEVICES.map((device) => port.setDevice(device)));
  assert.equal(made[0]!.device, DEVICES[2]);
});

test('of two NIOs that are plugged in at once one is refused, and leaves no port of the fabric behind', async () => {
  const { port, made } = slowPort();
  const outcomes = await Promise.allSettled([port.attach(NIO), port.attach({ ...NIO, lport: 20_003 })]);
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'rejected'],
  );
  assert.equal(made.filter(({ closed }) => !closed).length, 1);
});

test('a port that is closed while a NIO is plugged in ends without one', async () => {
  const { port, made } = slowPort();
  const [, closed] = await Promise.allSettled([port.attach(NIO), port.close()]);
  assert.equal(closed.status, 'fulfilled');
  assert.equal(port.hasNio, false);
  assert.ok(made.every((one) => one.closed));
  await assert.rejects(port.attach(NIO), /removed meanwhile/);
});

test('a NIO that is unplugged twice at once is given back once', async () => {
  const { port, released } = slowPort();
  await port.attach(NIO);
  const outcomes = await Promise.allSettled([port.detach(), port.detach()]);
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'rejected'],
  );
  assert.deepEqual(released, [NIO.lport]);
});
