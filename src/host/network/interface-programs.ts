// Programs that decide about what an interface of this host receives or sends: filters of the kernel's traffic control.

import { NETLINK_HEADER_BYTES, SystemError, withTrafficProgram } from '../system-calls.ts';
import { disableIpv6, getLink } from './kernel-interfaces.ts';
import {
  attribute,
  attributesOf,
  change,
  NLM_F_ACK,
  NLM_F_CREATE,
  NLM_F_DUMP,
  NLM_F_EXCL,
  number,
  request,
  stringOf,
  text,
} from './rtnetlink.ts';

// linux/rtnetlink.h, linux/pkt_sched.h, linux/pkt_cls.h
const RTM_NEWQDISC = 36;
const RTM_NEWTFILTER = 44;
const RTM_GETTFILTER = 46;
const TCA_KIND = 1;
const TCA_OPTIONS = 2;
const TC_H_INGRESS = 0xfffffff1;
const INGRESS_HANDLE = 0xffff0000;
/** Where filters are; the queue of kind `ingress` has only the first. */
const HOOKS = { ingress: 0xfffffff2, egress: 0xfffffff3 } as const;
const TCA_BPF_OPS_LEN = 4;
const TCA_BPF_OPS = 5;
const TCA_BPF_FD = 6;
const TCA_BPF_NAME = 7;
const TCA_BPF_FLAGS = 8;
const TCA_BPF_ID = 11;
const TCA_BPF_FLAG_ACT_DIRECT = 1;
/** One instruction of a packet filter, `ret #2` (TC_ACT_SHOT): drop the frame. */
const DROP_ALL = Buffer.from([0x06, 0, 0, 0, 2, 0, 0, 0]);
const TCMSG_BYTES = 20;

/**
 * Delivers what the interface receives to packet sockets only: the host's own network, its filters and its addresses
 * never see it, and the host sends nothing there on its own. Call this before the interface is up.
 * @param program `keep`: one that an earlier server has left may go on forwarding
 * @throws Failure `conflict` when the kernel cannot drop (CONFIG_NET_SCH_INGRESS, CONFIG_NET_CLS_BPF), `forbidden`
 * without CAP_NET_ADMIN
 */
export function keepFromHost(name: string, program: 'keep' | 'replace' = 'keep'): void {
  if (program === 'replace' || programAt(name) === undefined) {
    const count = Buffer.alloc(2);
    count.writeUInt16LE(1);
    decide('ingress', name, `keep ${name} from the host's network`, [
      attribute(TCA_BPF_OPS_LEN, count),
      attribute(TCA_BPF_OPS, DROP_ALL),
    ]);
  }
  disableIpv6(name);
}

/** An eBPF program to attach. */
export interface InterfaceProgram {
  /** What {@link programAt} finds. */
  title: string;
  /** For `bpftool`, at most 15 letters, digits and `_`. */
  label: string;
  instructions: Buffer;
  /** `ingress` unless given; a hook at egress has to be the first at the interface. */
  hook?: keyof typeof HOOKS;
}

/**
 * Lets an eBPF program decide about all that the interface receives, or at `egress` sends. It replaces the one before,
 * between two frames, and lives as long as the interface. The host sends nothing there on its own.
 * @throws Failure `conflict` when the kernel refuses, `forbidden` without CAP_NET_ADMIN; SystemError when it does not load
 * the program
 */
export function attachProgram(name: string, { title, label, instructions, hook = 'ingress' }: InterfaceProgram): void {
  withTrafficProgram(label, instructions, (program) =>
    decide(hook, name, `attach a program to ${name}`, [
      attribute(TCA_BPF_FD, number(program)),
      attribute(TCA_BPF_NAME, text(title)),
    ]),
  );
  disableIpv6(name);
}

/** The eBPF program that decides about what the interface receives, if there is one. */
export function programAt(name: string): { id: number; name: string } | undefined {
  const filters = trafficMessage({ index: getLink(name).index, handle: 0, parent: HOOKS.ingress, info: 0 });
  for (const message of request('RTM_GETTFILTER', RTM_GETTFILTER, NLM_F_DUMP, filters)) {
    const filter = attributesOf(message, NETLINK_HEADER_BYTES + TCMSG_BYTES);
    const options = stringOf(filter.get(TCA_KIND)) === 'bpf' ? filter.get(TCA_OPTIONS) : undefined;
    const found = options && attributesOf(options, 0);
    const id = found?.get(TCA_BPF_ID)?.readUInt32LE();
    if (id !== undefined) return { id, name: stringOf(found?.get(TCA_BPF_NAME)) };
  }
  return undefined;
}

/** Adds or replaces the filter at one side of the interface, which there is one of. */
function decide(hook: keyof typeof HOOKS, name: string, what: string, program: readonly Buffer[]): void {
  const kind = hook === 'ingress' ? 'ingress' : 'clsact';
  const { index } = getLink(name);
  change(what, () => {
    const queue = trafficMessage({ index, handle: INGRESS_HANDLE, parent: TC_H_INGRESS, info: 0 });
    const flags = NLM_F_ACK | NLM_F_CREATE;
    unlessThere(() =>
      request('RTM_NEWQDISC', RTM_NEWQDISC, flags | NLM_F_EXCL, queue, attribute(TCA_KIND, text(kind))),
    );
    // Priority 1, and ETH_P_ALL in network byte order.
    const filter = trafficMessage({ index, handle: 1, parent: HOOKS[hook], info: 0x0001_0300 });
    const options = [...program, attribute(TCA_BPF_FLAGS, number(TCA_BPF_FLAG_ACT_DIRECT))];
    const parts = [attribute(TCA_KIND, text('bpf')), attribute(TCA_OPTIONS, Buffer.concat(options))];
    request('RTM_NEWTFILTER', RTM_NEWTFILTER, flags, filter, ...parts);
  });
}

function unlessThere(make: () => unknown): void {
  try {
    make();
  } catch (error) {
    if (!(error instanceof SystemError) || error.code !== 'EEXIST') throw error;
  }
}

function trafficMessage({ index, ...words }: { index: number; handle: number; parent: number; info: number }): Buffer {
  const message = Buffer.alloc(TCMSG_BYTES);
  message.writeInt32LE(index, 4);
  for (const [place, word] of [words.handle, words.parent, words.info].entries())
    message.writeUInt32LE(word >>> 0, 8 + place * 4);
  return message;
}
