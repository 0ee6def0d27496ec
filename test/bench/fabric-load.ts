// Child process of the fabric benchmark: peers that send and receive frames with the fabric's own batched system calls.
// One peer sends at the wanted rate, all others count what they hear; or two peers play ping-pong.

import { closeSync, openSync } from 'node:fs';
import { loadKoffi } from '../../src/host/system-calls/koffi.ts';
import { FrameCalls } from '../../src/host/system-calls.ts';
import { quantile } from './measure.ts';

/** Where a peer's UDP socket is. */
export interface PeerAddress {
  host: string;
  port: number;
  /** Name of the network namespace that the socket belongs to; of the process's own without. */
  namespace?: string | undefined;
}

export interface LoadOrder {
  /** The first one is the sender. */
  peers: PeerAddress[];
  /** What each peer speaks to, in the same order. */
  targets: { host: string; port: number }[];
  frameBytes: number;
  /** Frames a second; Infinity does not come through JSON, so 0 means as fast as possible; `trips` measures round trips. */
  rate: number | 'trips';
  milliseconds: number;
  /** Has each frame carry the time at which it was sent: 8 bytes at least. */
  stamped?: boolean;
}

export interface LoadResult {
  sent: number;
  received: number;
  seconds: number;
  /** Microseconds of CPU time, in user and kernel, that this process has used meanwhile. */
  used: number;
  /** Median round trip in microseconds, when these were measured. */
  trip: number;
  /** The 99th percentile of them. */
  trip99: number;
  /** Milliseconds that stamped frames were on their way: the median and the 99th percentile. */
  way: number;
  way99: number;
}

const BATCH = 32;
const BUFFER_BYTES = 4 << 20;
/** Milliseconds without a frame after which no more is expected: longer than any delay that is measured. */
const SILENCE_MS = 200;
const CLONE_NEWNET = 0x40000000;

type SetNamespace = (descriptor: number, type: number) => number;
let setNamespace: SetNamespace | undefined;

/** Does `task` in a network namespace; what it opens stays there. */
function within<Result>(namespace: string | undefined, task: () => Result): Result {
  if (namespace === undefined) return task();
  setNamespace ??= loadKoffi().load('libc.so.6').func('int setns(int, int)') as unknown as SetNamespace;
  const [own, other] = [openSync('/proc/thread-self/ns/net', 'r'), openSync(`/run/netns/${namespace}`, 'r')];
  try {
    if (setNamespace(other, CLONE_NEWNET) !== 0) throw new Error(`namespace ${namespace} cannot be entered`);
    return task();
  } finally {
    setNamespace(own, CLONE_NEWNET);
    closeSync(own);
    closeSync(other);
  }
}

const calls = new FrameCalls();

/** Writes the Ethernet addresses of two peers, by their index, into a slot's frame. */
function address(slot: number, from: number, to: number): void {
  calls.slots[slot]!.fill(0, 0, 14);
  for (const [offset, peer] of [
    [0, to],
    [6, from],
  ] as const) {
    calls.slots[slot]![offset] = 2; // locally administered
    calls.slots[slot]![offset + 5] = peer;
  }
}

/** Sends at a rate, and counts what arrives. */
function stream(
  sockets: number[],
  poller: number,
  { rate, milliseconds, stamped = false }: { rate: number; milliseconds: number; stamped?: boolean | undefined },
) {
  let [sent, received] = [0, 0];
  const ways: number[] = [];
  const drain = (timeout: number): boolean => {
    const ready = calls.wait(poller, timeout);
    for (let index = 0; index < ready; index++) {
      const count = Math.max(0, calls.receive(calls.readyDescriptor(index), BATCH, BATCH));
      received += count;
      if (!stamped) continue;
      const now = performance.now();
      for (let slot = BATCH; slot < BATCH + count; slot++) ways.push(now - calls.slots[slot]!.readDoubleLE(0));
    }
    return ready > 0;
  };
  // The second peer makes itself known to switches.
  address(0, 1, 0);
  calls.send(sockets[1]!, 0, 1);
  while (drain(20));
  received = 0;
  for (let slot = 0; slot < BATCH; slot++) address(slot, 0, 1);
  const start = performance.now();
  for (;;) {
    const elapsed = performance.now() - start;
    if (elapsed >= milliseconds) break;
    // Never ahead of the subject by more than its socket holds, or the kernel would do nothing but drop.
    const due = rate === 0 ? BATCH : Math.min(BATCH, Math.floor((elapsed / 1000) * rate) - sent);
    if (stamped) {
      const now = performance.now();
      for (let slot = 0; slot < due; slot++) calls.slots[slot]!.writeDoubleLE(now, 0);
    }
    if (due > 0) sent += Math.max(0, calls.send(sockets[0]!, 0, due));
    drain(due > 0 ? 0 : 1);
  }
  const seconds = (performance.now() - start) / 1000;
  while (drain(SILENCE_MS));
  return { sent, received, seconds, trip: 0, trip99: 0, way: quantile(ways, 0.5), way99: quantile(ways, 0.99) };
}

/** One frame there and one back, again and again. A frame that is lost is given up after 100 ms. */
function pingPong([near, far]: number[], poller: number, milliseconds: number) {
  const trips: number[] = [];
  const last = BATCH - 1;
  address(0, 0, 1);
  address(last, 1, 0);
  const pass = (from: number, slot: number, to: number): boolean => {
    calls.send(from, slot, 1);
    for (;;) {
      const ready = calls.wait(poller, 100);
      if (ready === 0) return false;
      let arrived = false;
      for (let index = 0; index < ready; index++) {
        const descriptor = calls.readyDescriptor(index);
        if (calls.receive(descriptor, BATCH, BATCH) > 0 && descriptor === to) arrived = true;
      }
      if (arrived) return true;
    }
  };
  const start = performance.now();
  let now = start;
  while (now - start < milliseconds) {
    const complete = pass(near!, 0, far!) && pass(far!, last, near!);
    const end = performance.now();
    if (complete) trips.push((end - now) * 1000);
    now = end;
  }
  const seconds = (now - start) / 1000;
  return {
    sent: trips.length,
    received: trips.length,
    seconds,
    trip: quantile(trips, 0.5),
    trip99: quantile(trips, 0.99),
    way: 0,
    way99: 0,
  };
}

function run({ peers, targets, frameBytes, rate, milliseconds, stamped }: LoadOrder): LoadResult {
  const before = process.cpuUsage();
  // Packet by packet, as emulators do.
  const sockets = peers.map((peer, index) =>
    within(peer.namespace, () => calls.openUdpSocket(peer, targets[index]!, BUFFER_BYTES, false)),
  );
  const poller = calls.openPoller();
  for (const socket of sockets) calls.watch(poller, socket);
  for (let slot = 0; slot < BATCH; slot++) calls.setLength(slot, frameBytes);
  const result =
    rate === 'trips'
      ? pingPong(sockets, poller, milliseconds)
      : stream(sockets, poller, { rate, milliseconds, stamped });
  for (const descriptor of [...sockets, poller]) calls.close(descriptor);
  const { user, system } = process.cpuUsage(before);
  return { ...result, used: user + system };
}

process.on('message', (order: LoadOrder) => process.send!(run(order)));
