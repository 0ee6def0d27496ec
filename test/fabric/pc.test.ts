// Built-in PCs as devices of the fabric: what a fault in one of them costs the others, and what is left of them after a crash.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import type { Cable, Fabric, FabricPort, MemoryDevice } from '../../src/fabric/fabric.ts';
import type { Output } from '../../src/fabric/model.ts';
import { FramePlane } from '../../src/fabric/plane/frame-plane.ts';
import { Timer } from '../../src/fabric/plane/timers.ts';
import { FabricVerbs } from '../../src/fabric/plane/verbs.ts';
import { OpenDescriptors } from '../../src/host/files/open-descriptors.ts';
import { FrameCalls } from '../../src/host/system-calls.ts';
import { pcMac } from '../../src/pc/mac.ts';
import { Pc } from '../../src/pc/pc.ts';
import { terminateLast } from './crashes.ts';
import { ends, startFabric, until } from './peers.ts';

const ANSWERED = /icmp_seq=1 ttl=64/;

const settings = (number: number) => ({
  mac: pcMac(number).toString('hex'),
  script: `ip 10.0.0.${number}/24\n`,
  waits: true,
});

/** A PC of a fabric, what its console shows, and its port with a cable. */
class FabricPc {
  shown = '';
  device!: MemoryDevice<'pc'>;
  port!: FabricPort;

  async start(t: TestContext, fabric: Fabric, number: number, cable: Cable): Promise<this> {
    this.device = await fabric.createDevice('pc', settings(number), (message) => {
      if (message.kind === 'shown') this.shown += message.text;
    });
    this.port = await fabric.createPort({ kind: 'memory', device: this.device, number: 0 });
    t.after(() => this.port.close());
    await this.port.connect(cable);
    return this;
  }

  /** Waits for what the console shows from now on. */
  async sees(pattern: RegExp): Promise<void> {
    await until(async () => pattern.test(this.shown));
    this.shown = '';
  }
}

test('a PC in which something fails ends alone, and is reported; the others and their cables go on', async (t) => {
  const input = Pc.prototype.input;
  t.mock.method(Pc.prototype, 'input', function (this: Pc, text: string) {
    if (text === 'fail') throw new Error('a fault in the PC');
    input.call(this, text);
  });
  const plane = new FramePlane(new FrameCalls(new OpenDescriptors()), () => {});
  const shown = new Map<number, string>();
  const faults = new Map<number, string | undefined>();
  const verbs = new FabricVerbs(plane, (device, told) => {
    const message = told as Output<'pc'>;
    if (message.kind === 'shown') shown.set(device, (shown.get(device) ?? '') + message.text);
    if (message.kind === 'ended') faults.set(device, message.fault);
  });
  verbs.createDevice({ device: 10, kind: 'hub', settings: {} });
  for (const number of [1, 2, 3]) {
    const [near, far] = await ends();
    verbs.createPort({ port: 100 + number, device: { kind: 'memory', device: 10, number }, group: '' });
    verbs.connect({ port: 100 + number, cable: near, impairments: {} });
    verbs.createDevice({ device: number, kind: 'pc', settings: settings(number) });
    verbs.createPort({ port: number, device: null, group: '' });
    verbs.connect({ port: number, cable: far, impairments: {} });
    verbs.setDevice({ port: number, device: { kind: 'memory', device: number, number: 0 } });
    t.after(() => {
      verbs.closePort({ port: number });
      verbs.closePort({ port: 100 + number });
    });
  }
  const has = (device: number, pattern: RegExp): void => {
    const end = performance.now() + 20_000;
    const alarm = new Timer(plane.timers, () => {});
    while (!pattern.test(shown.get(device) ?? '')) {
      assert.ok(performance.now() < end, `PC ${device} shows ${shown.get(device)} and not ${pattern}`);
      // Without it a step waits for ever when there is nothing to do.
      alarm.start(100);
      plane.step();
    }
    alarm.stop();
  };
  for (const number of [1, 2, 3]) has(number, /> $/);
  verbs.tellDevice({ device: 3, message: { kind: 'typed', text: 'ping 10.0.0.1 -t\r' } });
  has(3, ANSWERED);
  verbs.tellDevice({ device: 3, message: { kind: 'typed', text: 'fail' } });
  assert.deepEqual([...faults], [[3, 'a fault in the PC']]);
  shown.delete(1);
  verbs.tellDevice({ device: 1, message: { kind: 'typed', text: 'ping 10.0.0.2 -c 1\rping 10.0.0.3 -c 1\r' } });
  has(1, /icmp_seq=1 ttl=64[\s\S]*10\.0\.0\.3 icmp_seq=1 timeout[\s\S]*> $/);
  shown.delete(3);
  verbs.tellDevice({ device: 3, message: { kind: 'typed', text: '?\r' } });
  assert.equal(shown.has(3), false);
  assert.equal(faults.size, 1);
});

test('PCs are switched on again by the thread that follows a dead one, with what their scripts say, also one whose cable was pulled', async (t) => {
  const fabric = await startFabric(t);
  const [near, far] = await ends();
  const one = await new FabricPc().start(t, fabric, 1, near);
  const two = await new FabricPc().start(t, fabric, 2, far);
  const pulled = await new FabricPc().start(t, fabric, 3, (await ends())[0]);
  for (const pc of [one, two, pulled]) await pc.sees(/Welcome[\s\S]*> $/);
  one.device.tell({ kind: 'typed', text: 'ping 10.0.0.2 -c 1\r' });
  await one.sees(ANSWERED);
  await pulled.port.close();

  const recovered = once(fabric, 'recovered');
  terminateLast(one.port);
  assert.deepEqual((await recovered)[0].failures, []);
  for (const pc of [one, two]) await pc.sees(/Welcome[\s\S]*> $/);
  one.device.tell({ kind: 'typed', text: 'ping 10.0.0.2 -c 1\r' });
  await one.sees(ANSWERED);
  pulled.device.tell({ kind: 'typed', text: 'show ip\r' });
  await pulled.sees(/Welcome[\s\S]*10\.0\.0\.3\/24/);
});
