// System calls that Node does not offer: the public interface of the only folder in the project that handles raw
// pointers.

export {
  BpfMap,
  loadTrafficProgram,
  openMapsOf,
  runTrafficProgram,
  type TrafficRun,
  withTrafficProgram,
} from './system-calls/bpf.ts';
export { lockDirectory, lockFile, lockHolder } from './system-calls/file-lock.ts';
export { FrameCalls } from './system-calls/frame-calls.ts';
export { OFFLOAD_WORDS, SEGMENT_SLOTS, SLOT_BYTES, SLOTS } from './system-calls/frame-memory.ts';
export { disableOffload, hasOffload } from './system-calls/interface-request.ts';
export { EBADFD, SystemError, trimAllocator } from './system-calls/libc.ts';
export { inNetworkOf, inNetworkOfAny, inNewNetwork, networkNamespace } from './system-calls/namespaces.ts';
export { NETLINK_HEADER_BYTES, netlinkRequest, netlinkRequestsElsewhere } from './system-calls/netlink.ts';
export { connectInNetworkOf } from './system-calls/network-socket.ts';
export { pathMtu, probePath } from './system-calls/path-mtu.ts';
export { familyOf, type SocketAddress } from './system-calls/socket-address.ts';
export { makeProgramTap, makeTap, type TapOptions } from './system-calls/tap.ts';
export { makeTerminalRaw } from './system-calls/terminal-mode.ts';
export { sendUnixDatagram } from './system-calls/unix-datagram.ts';
