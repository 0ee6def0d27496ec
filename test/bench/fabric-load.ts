// Child process of the fabric benchmark: peers that send and receive frames with the fabric's own batched system calls.
// One peer sends at the wanted rate, all others count what they hear.

import { FrameCalls } from '../../src/host/system-calls.ts';

export interface LoadOrder {
  /** UDP ports of the peers; the first one is the sender. */
  peers: number[];
  /** The UDP port that each peer speaks to, in the same order. */
  targets: number[];
  frameBytes: number;
  /** Frames a second; Infinity does not come through JSON, so 0 means as fast as possible. */
  rate: number;
  milliseconds: number;
}

export interface LoadResult {
  sent: number;
  received: number;
  seconds: number;
}

const BATCH = 32;
const BUFFER_BYTES = 4 << 20;

function run({ peers, targets, frameBytes, rate, milliseconds }: LoadOrder): LoadResult {
  const calls = new FrameCalls();
  const host = '127.0.0.1';
  const sockets = peers.map((port, index) =>
    calls.openUdpSocket({ host, port }, { host, port: targets[index]! }, BUFFER_BYTES),
  );
  const poller = calls.openPoller();
  for (const socket of sockets) calls.watch(poller, socket);
  for (let slot = 0; slot < BATCH; slot++) calls.setLength(slot, frameBytes);
  let sent = 0;
  let received = 0;
  const drain = (timeout: number): boolean => {
    const ready = calls.wait(poller, timeout);
    for (let index = 0; index < ready; index++)
      received += Math.max(0, calls.receive(calls.readyDescriptor(index), BATCH, BATCH));
    return ready > 0;
  };
  const start = performance.now();
  for (;;) {
    const elapsed = performance.now() - start;
    if (elapsed >= milliseconds) break;
    // Never ahead of the subject by more than its socket holds, or the kernel would do nothing but drop.
    const due = rate === 0 ? BATCH : Math.min(BATCH, Math.floor((elapsed / 1000) * rate) - sent);
    if (due > 0) sent += Math.max(0, calls.send(sockets[0]!, 0, due));
    drain(due > 0 ? 0 : 1);
  }
  const seconds = (performance.now() - start) / 1000;
  while (drain(100));
  for (const descriptor of [...sockets, poller]) calls.close(descriptor);
  return { sent, received, seconds };
}

process.on('message', (order: LoadOrder) => process.send!(run(order)));
