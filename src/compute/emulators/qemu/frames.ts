// The transport of frames between a machine and the fabric: a TAP whose descriptor QEMU has, with a packet socket of
// the fabric at the interface, or a pair of UDP sockets on loopback.
import { randomBytes } from 'node:crypto';
import { closeSync, constants } from 'node:fs';
import { access } from 'node:fs/promises';
import type { Sections } from '../../../config/schema.ts';
import type { Device } from '../../../fabric/fabric.ts';
import { messageOf, systemCode } from '../../../failures.ts';
import { keepFromHost } from '../../../host/network/interface-programs.ts';
import { guestTapName } from '../../../host/network/interfaces.ts';
import { changeLink, MOST_MTU_BYTES } from '../../../host/network/kernel-interfaces.ts';
import { holds, lackedBy } from '../../../host/processes/capabilities.ts';
import { inNetworkOfAny, makeProgramTap } from '../../../host/system-calls.ts';
import type { Services } from '../../services.ts';
import type { KeptAdapter } from './kept.ts';
import { refusal } from './refusal.ts';

const TUN = '/dev/net/tun';
const VHOST = '/dev/vhost-net';
const LOOPBACK = '127.0.0.1';

export interface Frames {
  by: 'tap' | 'udp';
  /** The kernel serves virtio adapters (vhost-net). */
  vhost: boolean;
  /** Why TAPs are not used. */
  reason?: string;
}

/** The processes that need rights. */
export interface Makers {
  /** Process id of the server, which opens the packet sockets; `self` for this process. */
  server: number | 'self';
  /** Process id of the supervisor, which creates TAPs and starts programs; undefined if it is not started yet. */
  supervisor?: number | undefined;
  /** Whether the supervisor can create TAPs. */
  makesTaps: boolean;
}

/**
 * The transport for new machines. The first call may briefly create a TAP.
 * @throws Failure `conflict` (`QemuError`) with the reason if the configuration requires TAPs and they are impossible
 */
export async function chooseFrames(wanted: Sections['Qemu']['frames'], makers: Makers): Promise<Frames> {
  if (wanted === 'udp') return { by: 'udp', vhost: false, reason: 'frames = udp in section [Qemu]' };
  const reason = await unavailableReason(makers);
  if (reason === undefined) return { by: 'tap', vhost: (await opens(VHOST)) === undefined };
  if (wanted === 'automatic') return { by: 'udp', vhost: false, reason };
  throw refusal(`Frames cannot go by TAPs: ${reason}; mend that, or set frames = automatic in section [Qemu].`);
}

/** Reserves the transport of a new machine's adapters. */
export async function reserveAdapters(
  { services, project }: { services: Services; project: { id: string } },
  count: number,
  resources: AsyncDisposableStack,
): Promise<{ adapters: KeptAdapter[]; frames: Frames; tapNetwork?: number | undefined }> {
  const { supervisor, ports, config, nodeNetwork } = services;
  const { pid, makesTaps } = supervisor;
  const frames = await chooseFrames(config.Qemu.frames, { server: 'self', supervisor: pid, makesTaps });
  if (frames.by === 'tap') {
    const machine = randomBytes(4).toString('hex');
    const adapters = Array.from({ length: count }, (_none, number) => ({ tap: guestTapName(machine, number) }));
    const entersNetworks = pid === undefined || lackedBy(pid, ['CAP_SYS_ADMIN']).length === 0;
    return { adapters, frames, tapNetwork: entersNetworks ? nodeNetwork.open() : undefined };
  }
  const reserve = async (): Promise<number> => {
    const port = await ports.udp.reserve(project.id);
    resources.defer(() => ports.udp.release(project.id, port));
    return port;
  };
  const adapters = [];
  for (let number = 0; number < count; number += 1) {
    adapters.push({ program_port: await reserve(), cable_port: await reserve() });
  }
  return { adapters, frames };
}

/**
 * A running machine's adapter as a device of the fabric. Prepares its TAP, unless done.
 * @throws Failure if the TAP was removed
 */
export function adapterDevice(adapter: KeptAdapter, { nodeNetwork }: Services): Device {
  if (!('tap' in adapter)) {
    const { cable_port: localPort, program_port: remotePort } = adapter;
    return { kind: 'udp', localPort, remoteHost: LOOPBACK, remotePort };
  }
  const { tap } = adapter;
  const process = nodeNetwork.find(tap);
  inNetworkOfAny(process, () => {
    keepFromHost(tap);
    changeLink(tap, { up: true, mtu: MOST_MTU_BYTES });
  });
  return { kind: 'packet', interface: tap, kernel: true, process };
}

async function unavailableReason({ server, supervisor, makesTaps }: Makers): Promise<string | undefined> {
  const error = await opens(TUN);
  if (error !== undefined) return `${TUN} cannot be opened (${error})`;
  const lacking = lackedBy(server, ['CAP_NET_ADMIN', 'CAP_NET_RAW']);
  if (lacking.length > 0) return `the server has no ${lacking.join(' and no ')}`;
  const old = 'until all programs have ended, the process that keeps them';
  if (!makesTaps) return `${old} is of an older release`;
  if (supervisor !== undefined && lackedBy(supervisor, ['CAP_NET_ADMIN']).length > 0)
    return `${old} has no CAP_NET_ADMIN`;
  return kernelLacks();
}

/** The reason why this user may not open a device, if any. */
async function opens(device: string): Promise<string | undefined> {
  return access(device, constants.R_OK | constants.W_OK).then(
    () => undefined,
    (thrown: unknown) => systemCode(thrown) ?? messageOf(thrown),
  );
}

let tried: { reason: string | undefined } | undefined;

/**
 * Why this kernel cannot keep guests' frames from the host's own network. Tested once, if permitted, with a temporary
 * TAP.
 */
function kernelLacks(): string | undefined {
  if (tried || !holds('CAP_NET_ADMIN')) return tried?.reason;
  const name = guestTapName(randomBytes(4).toString('hex'), 0);
  try {
    const tap = makeProgramTap(name);
    try {
      keepFromHost(name);
      tried = { reason: undefined };
    } finally {
      closeSync(tap);
    }
  } catch (error) {
    tried = { reason: messageOf(error) };
  }
  return tried.reason;
}
