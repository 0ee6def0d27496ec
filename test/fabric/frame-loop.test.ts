// The native frame loop: what it moves without TypeScript, what it leaves to it, and that nobody can tell the difference.
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { FramePlane } from '../../src/fabric/plane/frame-plane.ts';
import { Port } from '../../src/fabric/plane/port.ts';
import { Timer } from '../../src/fabric/plane/timers.ts';
import { FabricVerbs } from '../../src/fabric/plane/verbs.ts';
import { OpenDescriptors } from '../../src/host/files/open-descriptors.ts';
import { FrameCalls } from '../../src/host/system-calls.ts';
import { seededIntegers } from '../seeded.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { BROADCAST, frame, mac } from './frames.ts';
import { ends, freePort, hubPort, startFabric } from './peers.ts';

const remoteHost = '127.0.0.1';
const root = join(import.meta.dirname, '../..');
/** Milliseconds for which the loop goes on at a time, and at the most. */
const [REST, PATIENCE] = [1, 20_000];

/** A fabric in this very thread, between programs that are sockets of this thread as well. */
class Rig {
  readonly verbs: FabricVerbs;
  readonly #plane: FramePlane;
  readonly #calls = new FrameCalls();
  readonly #open = new OpenDescriptors();
  readonly #sockets: number[] = [];
  readonly #ports: number[] = [];
  /** By program: its port, the frames that it has heard in all, and those that nobody has asked for yet. */
  readonly #programs: { port: number; taken: number; heard: string[] }[] = [];
  readonly #plugged = new Set<number>();
  #lastId = 0;

  constructor(t: TestContext, withLoop: boolean) {
    this.#plane = new FramePlane(new FrameCalls(this.#open), () => {}, { withLoop });
    this.verbs = new FabricVerbs(this.#plane, () => {});
    t.after(() => {
      for (const port of this.#ports) this.verbs.closePort({ port });
      for (const socket of this.#sockets) this.#calls.close(socket);
      this.#open.close();
    });
  }

  /** A program at a port's device side; answers the port's number. */
  async program(): Promise<number> {
    const [localPort, remotePort] = [await freePort(), await freePort()];
    const here = { host: remoteHost, port: remotePort };
    this.#sockets.push(this.#calls.openUdpSocket(here, { host: remoteHost, port: localPort }, 1 << 20, false));
    const port = ++this.#lastId;
    this.verbs.createPort({ port, device: { kind: 'udp', localPort, remoteHost, remotePort }, group: '' });
    this.#ports.push(port);
    this.#programs.push({ port, taken: 0, heard: [] });
    return port;
  }

  device(kind: 'hub' | 'ethernet-switch', ports: { type: 'access' | 'dot1q'; vlan: number }[] = []): number {
    const device = ++this.#lastId;
    const settings = { ports: ports.map((port, number) => ({ ...port, number, etherType: 0x8100 })), ageing: 300_000 };
    if (kind === 'hub') this.verbs.createDevice({ device, kind, settings: {} });
    else this.verbs.createDevice({ device, kind, settings });
    return device;
  }

  /** A port of a device in memory. */
  seat(device: number, number: number): number {
    const port = ++this.#lastId;
    this.verbs.createPort({ port, device: { kind: 'memory', device, number }, group: '' });
    this.#ports.unshift(port);
    return port;
  }

  async join(one: number, other: number): Promise<void> {
    const cables = await ends();
    for (const [index, port] of [one, other].entries())
      this.verbs.connect({ port, cable: cables[index]!, impairments: {} });
    this.#plugged.add(one).add(other);
  }

  /** Leaves no number in the loop's table for the ports that come. */
  exhaust(): void {
    while (this.#plane.routes!.legs.take() !== -1);
  }

  unplug(port: number): void {
    this.verbs.disconnect({ port });
    this.#plugged.delete(port);
  }

  /** Has the program send frames, those of one length in a row as one packet for the kernel if wanted. */
  send(program: number, frames: readonly Buffer[], inRuns = false): void {
    const { port } = this.#programs[program]!;
    const before = this.#offered(port);
    for (const [slot, bytes] of frames.entries()) {
      bytes.copy(this.#calls.slots[slot]!);
      this.#calls.setLength(slot, bytes.length);
    }
    const socket = this.#sockets[program]!;
    for (let sent = 0; sent < frames.length; ) {
      const count = this.#calls.send(socket, sent, frames.length - sent, inRuns ? 65_535 : 0);
      assert.ok(count > 0);
      sent += count;
    }
    this.#settle(() => this.#offered(port) === before + frames.length);
  }

  /** Lets the fabric do all that there is to do: the kernel may take its time to hand packets on. */
  #settle(done: () => boolean): void {
    const end = performance.now() + PATIENCE;
    do {
      assert.ok(performance.now() < end, 'the fabric does not come to rest');
      let over = false;
      new Timer(this.#plane.timers, () => {
        over = true;
      }).start(REST);
      while (!over) this.#plane.step();
      for (const program of this.#programs.keys()) this.#listen(program);
    } while (!done() || !this.#programs.every((program) => this.#hasHeardAll(program)));
  }

  /** Frames of the program that its port has seen since its cable was plugged in. */
  #offered(port: number): number {
    const { drops } = this.verbs.statistics({ port });
    const offered = this.#plugged.has(port) ? this.verbs.cableStatistics({ port }).outgoing.offered.frames : 0;
    return offered + drops.empty + drops.noCable;
  }

  #hasHeardAll({ port, taken }: { port: number; taken: number }): boolean {
    const { delayed, toDevice } = this.verbs.statistics({ port });
    return delayed === 0 && toDevice.frames === taken;
  }

  #listen(index: number): void {
    const program = this.#programs[index]!;
    for (;;) {
      const count = this.#calls.receive(this.#sockets[index]!, 0, 64);
      if (count <= 0) return;
      program.taken += count;
      for (let slot = 0; slot < count; slot++)
        program.heard.push(this.#calls.slots[slot]!.subarray(0, this.#calls.receivedLength(slot)).toString('latin1'));
    }
  }

  /** What the program has heard since the last time. */
  heard(program: number): string[] {
    return this.#programs[program]!.heard.splice(0);
  }
}

/** Counts the frames that TypeScript sees at ports from now on. */
function watchTypeScript(t: TestContext): () => number {
  const seen = [t.mock.method(Port.prototype, 'fromDevice'), t.mock.method(Port.prototype, 'toDevice')];
  return () => {
    const calls = seen.reduce((sum, { mock }) => sum + mock.callCount(), 0);
    for (const { mock } of seen) mock.resetCalls();
    return calls;
  };
}

/** Sends one frame and answers what arrives at the others, and how often TypeScript saw it. */
function crossing(rig: Rig, seen: () => number, from: number, to: number[], bytes: Buffer): [string[][], number] {
  seen();
  rig.send(from, [bytes]);
  return [to.map((program) => rig.heard(program)), seen()];
}

const hello = Buffer.from('hello');

test('plain frames of a cable pass without TypeScript as soon as it has seen one; any change brings it back for one frame', async (t) => {
  const seen = watchTypeScript(t);
  const rig = new Rig(t, true);
  const [a, b] = [await rig.program(), await rig.program()];
  await rig.join(a, b);
  const cross = () => crossing(rig, seen, 0, [1], hello);
  assert.deepEqual(cross(), [[['hello']], 2]);
  assert.deepEqual(cross(), [[['hello']], 0]);
  assert.deepEqual(rig.verbs.statistics({ port: a }).toCable, { frames: 2, bytes: 10 });
  assert.deepEqual(rig.verbs.cableStatistics({ port: b }).incoming.delivered, { frames: 2, bytes: 10 });

  rig.verbs.resetStatistics({ port: b });
  assert.deepEqual(cross(), [[['hello']], 0]);
  assert.deepEqual(rig.verbs.cableStatistics({ port: b }).incoming.delivered, { frames: 1, bytes: 5 });

  const changes: [string, () => void, () => void][] = [
    [
      'a capture',
      () => rig.verbs.startCapture({ port: b, capture: 99, settings: { linkType: 'DLT_EN10MB' } }),
      () => rig.verbs.stopCapture({ port: b }),
    ],
    [
      'filters',
      () => rig.verbs.impair({ port: a, impairments: { delay: { latency: 1, jitter: 0 } } }),
      () => rig.verbs.impair({ port: a, impairments: {} }),
    ],
    [
      'an impairment of one direction',
      () => rig.verbs.impairDirections({ port: b, impairments: { incoming: { delay: { ms: 1 } }, outgoing: {} } }),
      () => rig.verbs.impairDirections({ port: b, impairments: { incoming: {}, outgoing: {} } }),
    ],
    [
      'a schedule',
      () => {
        const change = { at: 0, impairments: { incoming: {}, outgoing: { delay: { ms: 1 } } } };
        const base = { incoming: {}, outgoing: {} };
        rig.verbs.schedule({ port: a, plan: { changes: [change], period: 60_000, rounds: 0, base } });
      },
      () => rig.verbs.cancelSchedule({ port: a }),
    ],
  ];
  for (const [what, begin, end] of changes) {
    begin();
    for (let round = 0; round < 3; round++) assert.deepEqual(cross(), [[['hello']], 2], `${what} is looked at`);
    end();
    assert.deepEqual(cross(), [[['hello']], 2], `after ${what} one frame is looked at`);
    assert.deepEqual(cross(), [[['hello']], 0], `then ${what} is over`);
  }
  rig.unplug(b);
  assert.deepEqual(cross(), [[[]], 1]);
  rig.unplug(a);
  assert.deepEqual(cross(), [[[]], 1]);
  assert.deepEqual(cross(), [[[]], 0]);
  assert.equal(rig.verbs.statistics({ port: a }).drops.noCable, 2);
  await rig.join(a, b);
  cross();
  rig.verbs.setDevice({ port: b, device: null });
  assert.deepEqual(cross(), [[[]], 2]);
  assert.deepEqual(cross(), [[[]], 2]);
  assert.equal(rig.verbs.statistics({ port: b }).drops.noDevice, 2);
});

test('a hub is passed without TypeScript, and a switch once it knows both addresses', async (t) => {
  const seen = watchTypeScript(t);
  const rig = new Rig(t, true);
  const hub = rig.device('hub');
  const [one, two] = [rig.device('ethernet-switch'), rig.device('ethernet-switch')];
  for (let number = 0; number < 3; number++) await rig.join(await rig.program(), rig.seat(hub, number));
  for (let number = 0; number < 2; number++) await rig.join(await rig.program(), rig.seat(one, number));
  await rig.join(await rig.program(), rig.seat(two, 0));
  await rig.join(rig.seat(one, 7), rig.seat(two, 7));
  rig.seat(hub, 9); // has no cable

  const flooded = crossing(rig, seen, 0, [0, 1, 2], hello);
  assert.deepEqual(flooded[0], [[], ['hello'], ['hello']]);
  assert.notEqual(flooded[1], 0);
  assert.deepEqual(crossing(rig, seen, 0, [0, 1, 2], hello), [[[], ['hello'], ['hello']], 0]);

  const question = frame(mac(5), mac(3), 'where');
  const answer = frame(mac(3), mac(5), 'here');
  const text = (bytes: Buffer): string => bytes.toString('latin1');
  assert.deepEqual(crossing(rig, seen, 3, [4, 5], question)[0], [[text(question)], [text(question)]]);
  assert.deepEqual(crossing(rig, seen, 5, [3, 4], answer)[0], [[text(answer)], []]);
  // Both switches know both by now.
  assert.deepEqual(crossing(rig, seen, 3, [4, 5], question), [[[], [text(question)]], 0]);
  assert.deepEqual(crossing(rig, seen, 5, [3, 4], answer), [[[text(answer)], []], 0]);
  for (const unusual of [
    frame(BROADCAST, mac(3), 'to all'),
    frame(mac(6), mac(3), 'to nobody known'),
    frame(mac(5), mac(9), 'from somebody new'),
    frame(mac(5), mac(3), 'with a priority', { vlan: 0, priority: 5 }),
    Buffer.from('a runt'),
  ])
    assert.notEqual(crossing(rig, seen, 3, [4, 5], unusual)[1], 0, text(unusual));
  // A host that has moved is learned anew, and its frames go where it is.
  crossing(rig, seen, 4, [3, 5], frame(mac(5), mac(3), 'moved'));
  assert.deepEqual(crossing(rig, seen, 5, [3, 4], answer), [[[], [text(answer)]], 0]);
  // A switch that is told to forget floods again.
  rig.verbs.tellDevice({ device: two, message: undefined });
  assert.notEqual(crossing(rig, seen, 5, [3, 4], answer)[1], 0);
});

test('a port for which the native loop has no number left hears a hub all the same', async (t) => {
  const rig = new Rig(t, true);
  const hub = rig.device('hub');
  for (let number = 0; number < 2; number++) await rig.join(await rig.program(), rig.seat(hub, number));
  rig.exhaust();
  await rig.join(await rig.program(), rig.seat(hub, 2));
  for (let round = 0; round < 3; round++) {
    rig.send(0, [hello]);
    assert.deepEqual([rig.heard(1), rig.heard(2)], [['hello'], ['hello']]);
  }
});

test('frames, drops and counters are the same with the native loop and without it, whatever comes and whatever changes', async (t) => {
  const rigs = [new Rig(t, true), new Rig(t, false)];
  const built = await Promise.all(
    rigs.map(async (rig) => {
      const ports: number[] = [];
      const program = async (): Promise<number> => {
        ports.push(await rig.program());
        return ports.at(-1)!;
      };
      const lan = rig.device('ethernet-switch', [
        { type: 'access', vlan: 1 },
        { type: 'access', vlan: 1 },
        { type: 'dot1q', vlan: 1 },
        { type: 'access', vlan: 2 },
        { type: 'access', vlan: 1 },
      ]);
      const hub = rig.device('hub');
      await rig.join(await program(), await program());
      for (const number of [0, 1, 2, 3]) await rig.join(await program(), rig.seat(lan, number));
      for (const number of [0, 1]) await rig.join(await program(), rig.seat(hub, number));
      await rig.join(rig.seat(lan, 4), rig.seat(hub, 2));
      return ports;
    }),
  );
  const programs = built[0]!.length;
  const seed = Number(process.env['SEED'] ?? 20_260);
  t.diagnostic(`SEED=${seed}`);
  const next = seededIntegers(seed);
  const captured = new Set<number>();
  for (let round = 0; round < 150; round++) {
    const from = next(programs);
    const port = next(programs);
    const action = next(20);
    for (const [index, rig] of rigs.entries()) {
      const at = built[index]![port]!;
      if (action === 0) rig.verbs.impair({ port: at, impairments: { frequencyDrop: 2 } });
      if (action === 1) rig.verbs.impair({ port: at, impairments: {} });
      if (action === 2 && !captured.has(port))
        rig.verbs.startCapture({ port: at, capture: 100 + port, settings: { linkType: 'DLT_EN10MB' } });
      if (action === 3) rig.verbs.stopCapture({ port: at });
    }
    if (action === 2) captured.add(port);
    if (action === 3) captured.delete(port);
    const to = next(8) === 0 ? BROADCAST : mac(next(programs));
    const source = mac(next(6) === 0 ? next(programs) : from);
    const tags = next(6) === 0 ? [{ vlan: next(3) }] : [];
    const count = next(4) === 0 ? 1 + next(40) : 1;
    const length = next(3) === 0 ? 1400 : 20;
    const frames = Array.from({ length: count }, (_, nth) =>
      next(30) === 0 ? Buffer.alloc(next(14), nth) : frame(to, source, String(nth).padEnd(length, '.'), ...tags),
    );
    const inRuns = next(2) === 0 && frames.every((bytes) => bytes.length > 0);
    for (const rig of rigs) rig.send(from, frames, inRuns);
    for (let program = 0; program < programs; program++)
      assert.deepEqual(rigs[0]!.heard(program), rigs[1]!.heard(program), `round ${round}: program ${program}`);
  }
  for (const [index, port] of built[0]!.entries()) {
    const other = built[1]![index]!;
    assert.deepEqual(rigs[0]!.verbs.statistics({ port }), rigs[1]!.verbs.statistics({ port: other }));
    const [ours, theirs] = [port, other].map((id, nth) => rigs[nth]!.verbs.cableStatistics({ port: id }));
    for (const side of ['outgoing', 'incoming'] as const)
      assert.deepEqual(
        { ...ours![side], milliseconds: 0, kbit: 0, delay: undefined },
        { ...theirs![side], milliseconds: 0, kbit: 0, delay: undefined },
      );
  }
  const { milliseconds: _, ...totals } = { milliseconds: 0, ...rigs[0]!.verbs.totals() };
  assert.deepEqual(totals, rigs[1]!.verbs.totals());
});

test('the fabric starts with the native loop, and without it where that is turned off', async (t) => {
  const fabric = await startFabric(t);
  if (process.env['LABWIRE_TEST_FRAME_LOOP'] !== 'off') assert.equal(fabric.withoutLoop, undefined);
});

test('where the native loop is missing, damaged or another one, frames are moved all the same, and the reason is known', async (t) => {
  const copy = await scratchDirectory(t);
  cpSync(join(root, 'src'), join(copy, 'src'), { recursive: true });
  cpSync(join(root, 'package.json'), join(copy, 'package.json'));
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  const native = join(copy, 'native', process.arch);
  mkdirSync(native, { recursive: true });
  const { Fabric } = (await import(
    pathToFileURL(join(copy, 'src/fabric/fabric.ts')).href
  )) as typeof import('../../src/fabric/fabric.ts');
  for (const [prepare, reason] of [
    [() => {}, /Cannot find module/],
    [() => writeFileSync(join(native, 'frame_loop.node'), 'no addon'), /frame_loop\.node/],
    [() => cpSync(join(root, 'native', process.arch, 'pty.node'), join(native, 'frame_loop.node')), /another version/],
  ] as const) {
    prepare();
    const fabric = new Fabric();
    await fabric.start();
    assert.match(fabric.withoutLoop!, reason);
    const hub = await fabric.createDevice('hub', {});
    const [a, b] = [await hubPort(t, fabric, hub), await hubPort(t, fabric, hub)];
    await a.peer.send(a.localPort, 'hello');
    assert.deepEqual(await b.peer.takeText(), ['hello']);
    await fabric.stop();
  }
});
