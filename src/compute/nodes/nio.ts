// NIO bodies: what is plugged into a port (interface of release 2.2.57, section 16.5).
import { lookup } from 'node:dns/promises';
import * as v from 'valibot';
import type { Cable } from '../../fabric/model.ts';
import { Failure, messageOf } from '../../failures.ts';
import { AnyObject, Integer, Text } from '../../store/vocabulary.ts';

const UdpPort = v.pipe(Integer, v.minValue(1), v.maxValue(65535));

const NioUdp = v.strictObject({
  type: v.literal('nio_udp'),
  lport: UdpPort,
  rhost: Text,
  rport: UdpPort,
  suspend: v.optional(v.boolean()),
  filters: v.optional(AnyObject),
});

export const Nio = v.variant('type', [
  NioUdp,
  v.strictObject({ type: v.literal('nio_generic_ethernet'), ethernet_device: Text }),
  v.strictObject({ type: v.literal('nio_ethernet'), ethernet_device: Text }),
  v.strictObject({ type: v.literal('nio_linux_ethernet'), ethernet_device: Text }),
  v.strictObject({ type: v.literal('nio_nat') }),
  v.strictObject({ type: v.literal('nio_tap'), tap_device: Text }),
  v.strictObject({ type: v.literal('nio_unix'), local_file: Text, remote_file: Text }),
  v.strictObject({ type: v.literal('nio_vde'), control_file: Text, local_file: Text }),
  v.strictObject({ type: v.literal('nio_vmnet'), vmnet: Text }),
  v.strictObject({ type: v.literal('nio_null') }),
]);

export type Nio = v.InferOutput<typeof Nio>;
export type NioType = Nio['type'];

/** What creation answers: the NIO without what is done to its frames. */
export function nioAnswer(nio: Nio): object {
  if (nio.type !== 'nio_udp') return nio;
  const { type, lport, rhost, rport } = nio;
  return { type, lport, rhost, rport };
}

/** What a port of this program can be given. */
export type PluggableNio = Extract<Nio, { type: 'nio_udp' | 'nio_null' }>;

/** @throws Failure `conflict` (which in the release carries no exception) */
export function mustBePluggable(nio: Nio, types: ReadonlySet<PluggableNio['type']>): PluggableNio {
  if ((nio.type === 'nio_udp' || nio.type === 'nio_null') && types.has(nio.type)) return nio;
  throw new Failure('conflict', `type: ${nio.type} is not supported here; use ${[...types].join(' or ')}.`);
}

/**
 * The NIO as the fabric's cable; a host name is resolved here, once.
 * @throws Failure `conflict`
 */
export async function cableOf(nio: PluggableNio): Promise<Cable> {
  if (nio.type === 'nio_null') return { kind: 'null' };
  const { lport: localPort, rport: remotePort } = nio;
  return { kind: 'udp', localPort, remoteHost: await resolved(nio.rhost), remotePort };
}

/**
 * The address of a peer, given by its name or by itself.
 * @throws Failure `conflict`
 */
export async function resolved(host: string): Promise<string> {
  try {
    return (await lookup(host, { order: 'ipv4first' })).address;
  } catch (thrown) {
    const fix = 'use an address, or a name that this host can resolve';
    throw new Failure('conflict', `rhost: "${host}" cannot be resolved (${messageOf(thrown)}); ${fix}.`, {
      cause: thrown,
    });
  }
}
