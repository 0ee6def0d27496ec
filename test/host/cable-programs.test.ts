import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { BpfAssembler } from '../../src/host/network/bpf-assembler.ts';
import { DROP, REDIRECT, SKB } from '../../src/host/network/bpf-frames.ts';
import {
  encodeStation,
  encodeStationKey,
  encodeWay,
  heardOf,
  nodeProgram,
  relayProgram,
} from '../../src/host/network/cable-programs.ts';
import { KernelMaps } from '../../src/host/network/kernel-maps.ts';
import { loadTrafficProgram, runTrafficProgram, SystemError } from '../../src/host/system-calls.ts';

/** Why programs cannot be loaded here; false when they can. */
function cannotLoad(): string | false {
  try {
    closeSync(loadTrafficProgram('probe', relayProgram(1)));
    return false;
  } catch (error) {
    if (error instanceof SystemError) return `eBPF programs are not permitted here: ${error.message}`;
    throw error;
  }
}
const skip = cannotLoad();

/** The way to the port that is there. */
const CABLE = { index: 1, port: 4, isPair: false };

const ETHERNET = Buffer.from('0200000000020200000000010800', 'hex');

function loaded(t: TestContext, number = 3) {
  const maps = new KernelMaps(8);
  const program = loadTrafficProgram('node', nodeProgram({ number, relayIndex: 1, lab: 7 }, maps.descriptors));
  maps.setOwner(4, 1, 7);
  t.after(() => {
    closeSync(program);
    maps.close();
  });
  const count = (port = number) => maps.count(port).sent;
  const countBack = (port: number) => maps.count(port).received;
  return { maps, ways: maps.ways, stations: maps.stations, program, count, countBack };
}

function ipFrame(version: 4 | 6, protocol: 'tcp' | 'udp', headerWords: number, length: number): Buffer {
  const frame = Buffer.alloc(length);
  ETHERNET.copy(frame);
  const number = protocol === 'tcp' ? 6 : 17;
  if (version === 4) {
    frame[14] = 0x45;
    frame[23] = number;
    frame[34 + 12] = headerWords << 4;
  } else {
    frame.writeUInt16BE(0x86dd, 12);
    frame[14] = 0x60;
    frame[20] = number;
    frame[54 + 12] = headerWords << 4;
  }
  return frame;
}

test('a port without a way drops its frames', { skip }, (t) => {
  const { program, count } = loaded(t);
  assert.equal(runTrafficProgram(program, Buffer.alloc(64)).answer, DROP);
  assert.deepEqual(count(), [0, 0]);
});

test('frames are redirected, and counted only on their way to another node', { skip }, (t) => {
  const { ways, program, count } = loaded(t);
  ways.set(3, encodeWay('fabric'));
  assert.equal(runTrafficProgram(program, Buffer.alloc(64)).answer, REDIRECT);
  assert.deepEqual(count(), [0, 0]);
  ways.set(3, encodeWay(CABLE));
  assert.equal(runTrafficProgram(program, Buffer.alloc(64)).answer, REDIRECT);
  assert.equal(runTrafficProgram(program, Buffer.alloc(1514)).answer, REDIRECT);
  ways.set(3, encodeWay({ ...CABLE, isPair: true }));
  assert.equal(runTrafficProgram(program, Buffer.alloc(100)).answer, REDIRECT);
  assert.deepEqual(count(), [3, 64 + 1514 + 100]);
  assert.deepEqual(count(2), [0, 0]);
  ways.set(3, encodeWay('nowhere'));
  assert.equal(runTrafficProgram(program, Buffer.alloc(64)).answer, DROP);
});

test('frames go to the fabric if the port that they are for is unknown, of another lab, or has another interface', {
  skip,
}, (t) => {
  const { maps, ways, stations, program, count } = loaded(t);
  const expectFabric = () => {
    assert.equal(runTrafficProgram(program, Buffer.concat([ETHERNET, Buffer.alloc(50)])).answer, REDIRECT);
    assert.deepEqual(count(), [0, 0]);
  };
  maps.setOwner(5, 1, 8);
  for (const wrong of [{ index: 2 }, { port: 3 }, { port: 5 }, { port: 0x0fff_ffff }, { port: 5, isPair: true }]) {
    ways.set(3, encodeWay({ ...CABLE, ...wrong }));
    expectFabric();
  }
  ways.set(3, Buffer.alloc(8, 0xff));
  expectFabric();
  ways.set(3, encodeWay({ switch: 5, vlan: 7, isTrunk: false }));
  for (const [address, index, port] of [
    [1, 1, 3],
    [2, 1, 5],
  ] as const) {
    const key = encodeStationKey(5, 7, 0x0200, address);
    stations.set(key, encodeStation(key, { index, port, isPair: false, isTagged: false, heard: 0n }));
  }
  expectFabric();
  maps.setOwner(5, 1, 7);
  runTrafficProgram(program, Buffer.concat([ETHERNET, Buffer.alloc(50)]));
  assert.deepEqual(count(), [1, 64]);
});

for (const [what, frame, headers] of [
  ['TCP over IPv4', ipFrame(4, 'tcp', 8, 3000), 14 + 20 + 32],
  ['UDP over IPv4', ipFrame(4, 'udp', 0, 3000), 14 + 20 + 8],
  ['TCP over IPv6', ipFrame(6, 'tcp', 5, 3000), 14 + 40 + 20],
  ['UDP over IPv6', ipFrame(6, 'udp', 0, 3000), 14 + 40 + 8],
] as const) {
  test(`a super-frame of ${what} counts as the frames it is cut into`, { skip }, (t) => {
    const { ways, program, count } = loaded(t);
    ways.set(3, encodeWay(CABLE));
    runTrafficProgram(program, frame, { [SKB.gsoSize]: 1000 });
    const segments = Math.ceil((3000 - headers) / 1000);
    assert.deepEqual(count(), [segments, 3000 + (segments - 1) * headers]);
  });
}

test('a super-frame of an unknown kind counts as one frame', { skip }, (t) => {
  const { ways, program, count } = loaded(t);
  ways.set(3, encodeWay(CABLE));
  const frame = ipFrame(4, 'tcp', 5, 200);
  frame[23] = 132;
  runTrafficProgram(program, frame, { [SKB.gsoSize]: 100 });
  assert.deepEqual(count(), [1, 200]);
});

test('frames of a switch are counted at both ports if it knows both addresses', { skip }, (t) => {
  const { ways, stations, program, count, countBack } = loaded(t);
  ways.set(3, encodeWay({ switch: 5, vlan: 7, isTrunk: false }));
  const frame = Buffer.concat([ETHERNET, Buffer.alloc(50)]);
  const expectCounts = (frames: number) => {
    assert.equal(runTrafficProgram(program, frame).answer, REDIRECT);
    assert.deepEqual(
      [count(), countBack(4)],
      [
        [frames, 64 * frames],
        [frames, 64 * frames],
      ],
    );
  };
  const know = (address: number, port: number, vlan = 7) => {
    const key = encodeStationKey(5, vlan, 0x0200, address);
    stations.set(key, encodeStation(key, { index: 1, port, isPair: false, isTagged: false, heard: 0n }));
    return key;
  };
  expectCounts(0);
  const sender = know(1, 3);
  expectCounts(0);
  know(2, 4, 8);
  expectCounts(0);
  assert.ok(heardOf(stations.get(sender)!) > 0n);
  know(2, 4);
  expectCounts(1);
  know(1, 2);
  expectCounts(1);
});

test('the program of the fabric’s own interface redirects every frame', { skip }, (t) => {
  const program = loadTrafficProgram('relay', relayProgram(1));
  t.after(() => closeSync(program));
  assert.equal(runTrafficProgram(program, Buffer.alloc(64)).answer, REDIRECT);
});

test('a program that the verifier rejects fails with its log', { skip }, () => {
  const faulty = new BpfAssembler().load('word', 0, 5, 0).exit().assemble();
  assert.throws(() => loadTrafficProgram('faulty', faulty), /BPF_PROG_LOAD.*R5 !read_ok/s);
});

test('a program is loaded although signals arrive meanwhile', { skip }, async (t) => {
  // Not SIGUSR2: Node may write a report at each.
  process.on('SIGWINCH', () => {});
  const maps = new KernelMaps(8);
  t.after(() => maps.close());
  const script = `setInterval(() => process.kill(${process.pid}, 'SIGWINCH'), 1)`;
  const flood = spawn(process.execPath, ['-e', script], { stdio: 'ignore' });
  t.after(async () => {
    flood.kill('SIGKILL');
    await once(flood, 'exit');
  });
  await once(process, 'SIGWINCH');
  for (let round = 0; round < 300; round++)
    closeSync(loadTrafficProgram('node', nodeProgram({ number: 3, relayIndex: 1, lab: 7 }, maps.descriptors)));
});

test('a jump to a place that does not exist is an error', () => {
  assert.throws(() => new BpfAssembler().jump('nowhere').exit().assemble(), /no label nowhere/);
});
