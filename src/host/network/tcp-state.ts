// TCP connection state that Node does not expose: whether the other end acknowledges data.

import { loadKoffi } from '../system-calls/koffi.ts';

// Values and offsets of <netinet/tcp.h>, struct tcp_info: the same on x86-64 and arm64.
const SOL_TCP = 6;
const TCP_INFO = 11;
const INFO_BYTES = 104;
const PROBES = 3;
const UNACKED = 24;
const LAST_ACK_RECEIVED = 56;

export interface TcpState {
  /** Segments and window probes in flight. */
  unacknowledged: number;
  /** Milliseconds since the last acknowledgement of any kind. */
  silence: number;
}

function declare() {
  return loadKoffi().load('libc.so.6').func('int getsockopt(int, int, int, void *, void *)');
}

let getsockopt: ReturnType<typeof declare> | undefined;

/** The state of a connection; undefined if the descriptor is not a TCP socket. */
export function lookAtTcp(descriptor: number): TcpState | undefined {
  getsockopt ??= declare();
  const info = Buffer.alloc(INFO_BYTES);
  const length = new Uint32Array([info.length]);
  if (getsockopt(descriptor, SOL_TCP, TCP_INFO, info, length) < 0) return undefined;
  return {
    unacknowledged: info.readUInt32LE(UNACKED) + info.readUInt8(PROBES),
    silence: info.readUInt32LE(LAST_ACK_RECEIVED),
  };
}
