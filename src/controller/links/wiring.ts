// Wires a link: creates, updates and removes the NIOs at both ends on the computes (as in release 2.2.57).
import { randomInt } from 'node:crypto';
import { isIP } from 'node:net';
import { nodeKind } from '../../api/kinds/kinds.ts';
import { MOST_VNI } from '../../api/routes/compute-nodes.ts';
import { conflict, ignore } from '../../failures.ts';
import { ComputeRefusal, lacksRoute } from '../computes/answers.ts';
import type { Node } from '../nodes/node.ts';
import { commonAddresses } from './addresses.ts';
import { activeFilters, type Link, type LinkEnd, type LinkSettings } from './link.ts';

/** The status of computes without a route to change a NIO, as the release's for Frame Relay and ATM switches. */
const NO_SUCH_METHOD = 405;

/** Time limit (ms) for an update of the second end, as in the release. */
const SECOND_UPDATE_LIMIT_MS = 221_000;

/** Path of a route of an end's port on its compute. */
export function portPath({ node, port }: LinkEnd, route: string): string {
  return `${node.path}/adapters/${port.adapter_number}/ports/${port.port_number}/${route}`;
}

export function nioPath(end: LinkEnd): string {
  return portPath(end, 'nio');
}

/** The NIO for one end's compute: the other end's address and, at the filtering end, the filters. */
function nio(link: Link, end: LinkEnd, other: LinkEnd, settings: LinkSettings = link.settings): object {
  return {
    lport: end.wire?.port,
    rhost: other.wire?.host,
    rport: other.wire?.port,
    type: 'nio_udp',
    ...(end.wire?.vni !== undefined && { vni: end.wire.vni }),
    filters: link.filteringEnd === end ? activeFilters(settings) : {},
    // An end whose NIO cannot be updated would stay suspended for good.
    suspend: settings.suspended && !nodeKind(end.node.type).fixedNios,
  };
}

async function reservePort(node: Node): Promise<number> {
  const path = portsPath(node);
  const { udp_port: port } = ((await node.compute.post(path)) ?? {}) as Record<string, unknown>;
  if (typeof port === 'number') return port;
  throw conflict(`The compute ${node.compute.name} answered POST ${path} without a UDP port.`);
}

/** Releases a port that got no NIO, if the compute has a route for that; other computes release it with the project. */
async function releasePort({ node, wire }: LinkEnd): Promise<void> {
  await node.compute.delete(`${portsPath(node)}/${wire?.port}`, { connect: false }).catch(ignore);
}

function portsPath(node: Node): string {
  return `/projects/${node.projectId}/ports/udp`;
}

/** Whether two hosts make links by VXLAN, and the kernel of each may forward frames of the node. */
function maySendByVxlan(one: Node, other: Node): boolean {
  const port = one.compute.vxlanPort;
  if (one.compute === other.compute || port === undefined || other.compute.vxlanPort !== port) return false;
  return [one, other].every(({ type }) => nodeKind(type).kernelForwards === true);
}

/** Odd, so that the identifiers of all links differ, and random: one of them does not reveal another, though two do. */
const VNI_STEP = 2 * randomInt(MOST_VNI >> 1) + 1;
let lastVni = randomInt(MOST_VNI);

export function nextVni(): number {
  do lastVni = (lastVni + VNI_STEP) & MOST_VNI;
  while (lastVni === 0);
  return lastVni;
}

/** Wires the first two ends; a failure rolls back. */
export async function wire(link: Link): Promise<void> {
  const [one, other] = link.ends as [LinkEnd, LinkEnd];
  await using undo = new AsyncDisposableStack();
  const [host, otherHost] = await commonAddresses(one.node.compute, other.node.compute);
  const areAddresses = isIP(host) !== 0 && isIP(host) === isIP(otherHost);
  const vni = areAddresses && maySendByVxlan(one.node, other.node) ? nextVni() : undefined;
  /** Ends whose port has no NIO yet: removing a NIO releases its port. */
  const reserved = new Set<LinkEnd>();
  undo.defer(async () => {
    for (const end of reserved) await releasePort(end);
    one.wire = undefined;
    other.wire = undefined;
  });
  for (const [end, address] of [
    [one, host],
    [other, otherHost],
  ] as const) {
    end.wire = { host: address, port: await reservePort(end.node), vni };
    reserved.add(end);
  }
  for (const [end, far] of [
    [one, other],
    [other, one],
  ] as const) {
    try {
      await end.node.compute.post(nioPath(end), { body: nio(link, end, far) });
      reserved.delete(end);
    } catch (error) {
      // Unless the compute rejected it, the NIO may exist all the same.
      if (!(error instanceof ComputeRefusal)) {
        reserved.delete(end);
        await removeNio(end, { connect: false }).catch(ignore);
      }
      throw error;
    }
    undo.defer(() => removeNio(end, { connect: false }).catch(ignore));
  }
  if (link.settings.suspended) await suspendFixed(link, true);
  undo.move();
}

/** Removes NIOs that a previous controller left at the ends; nodes in `lost` have none. */
export async function removeStaleNios(link: Link, lost: ReadonlySet<Node> = new Set()): Promise<void> {
  for (const end of link.ends) {
    if (end.wire || !end.node.compute.mayBeWired || lost.has(end.node)) continue;
    await removeNio(end, { connect: false }).catch(ignore);
  }
}

/** Updates both ends with the link's present or new filters or suspension. */
export async function rewire(link: Link, settings: LinkSettings): Promise<void> {
  const [one, other] = link.ends;
  if (!one?.wire || !other?.wire) return;
  await changeNio(one, { body: nio(link, one, other, settings) });
  await changeNio(other, { body: nio(link, other, one, settings), limit: SECOND_UPDATE_LIMIT_MS });
  await suspendFixed(link, settings.suspended);
}

/**
 * Suspends or resumes a link between hubs and switches, whose NIOs have no update. Computes of the release do not have the route,
 * and go on passing frames.
 */
async function suspendFixed({ ends }: Link, suspend: boolean): Promise<void> {
  if (!ends.every(({ node }) => nodeKind(node.type).fixedNios)) return;
  for (const end of ends) {
    try {
      await end.node.compute.put(portPath(end, 'suspension'), { body: { suspend } });
    } catch (error) {
      if (!lacksRoute(error)) throw error;
    }
  }
}

async function changeNio(end: LinkEnd, options: { body: object; limit?: number }): Promise<void> {
  if (nodeKind(end.node.type).fixedNios) return;
  try {
    await end.node.compute.put(nioPath(end), options);
  } catch (error) {
    if (!(error instanceof ComputeRefusal && error.status === NO_SUCH_METHOD)) throw error;
  }
}

async function removeNio(end: LinkEnd, options: { connect?: boolean } = {}): Promise<void> {
  end.mayRemain = true;
  await end.node.compute.remove(nioPath(end), options);
  end.mayRemain = false;
}

/** Removes both NIOs; a missing one is ignored. If one cannot be removed, the other is recreated if possible. */
export async function unwire(link: Link): Promise<void> {
  const removed: [end: LinkEnd, wire: LinkEnd['wire']][] = [];
  let failure: { error: unknown } | undefined;
  for (const end of link.ends) {
    if (!end.wire) continue;
    const { wire } = end;
    try {
      await removeNio(end);
      end.wire = undefined;
      removed.push([end, wire]);
    } catch (error) {
      failure ??= { error };
    }
  }
  if (failure === undefined) return;
  for (const [end, wire] of removed) {
    const far = link.ends.find((other) => other !== end && other.wire);
    if (!far) continue;
    end.wire = wire;
    await end.node.compute.post(nioPath(end), { body: nio(link, end, far), connect: false }).catch(() => {
      end.wire = undefined;
    });
  }
  throw failure.error;
}

/** Removes both NIOs where possible; the link goes in any case. Nodes in `lost` have none any more. */
export async function discardWire(link: Link, lost: ReadonlySet<Node> = new Set()): Promise<void> {
  for (const end of link.ends) {
    if (end.wire && !lost.has(end.node)) await removeNio(end).catch(ignore);
    end.wire = undefined;
  }
}

/** Rewires the link; nodes in `lost` were recreated and have no NIOs. */
export async function renewWire(link: Link, lost: ReadonlySet<Node>): Promise<void> {
  await removeStaleNios(link, lost);
  await discardWire(link, lost);
  await wire(link);
}

/** Whether a host of a wired link has a new address. */
export async function hasMoved({ ends: [one, other] }: Link): Promise<boolean> {
  if (!one?.wire || !other?.wire || one.node.compute === other.node.compute) return false;
  const [host, otherHost] = await commonAddresses(one.node.compute, other.node.compute);
  return host !== one.wire.host || otherHost !== other.wire.host;
}
