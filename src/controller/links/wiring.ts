// The wires of a link: the NIOs at both of its ends, made and taken away on the computes (as in release 2.2.57).
import { Failure } from '../../failures.ts';
import { nodeKind } from '../../store/node-kinds/kinds.ts';
import { ComputeRefusal } from '../computes/answers.ts';
import type { Node } from '../nodes/node.ts';
import { commonAddresses } from './addresses.ts';
import { activeFilters, type Link, type LinkEnd, type LinkSettings } from './link.ts';

/** What computes answer that have no route to change a NIO, as those of the release for Frame Relay and ATM switches. */
const NO_SUCH_METHOD = 405;

/** Milliseconds that an update of the second end may take, as in the release. */
const SECOND_UPDATE_LIMIT_MS = 221_000;

export function nioPath({ node, port }: LinkEnd): string {
  return `${node.path}/adapters/${port.adapter_number}/ports/${port.port_number}/nio`;
}

/** What one end's compute is told: where the other end is, and what to do to frames if this is the filtering end. */
function nio(link: Link, end: LinkEnd, other: LinkEnd, settings: LinkSettings = link.settings): object {
  return {
    lport: end.wire?.port,
    rhost: other.wire?.host,
    rport: other.wire?.port,
    type: 'nio_udp',
    filters: link.filteringEnd === end ? activeFilters(settings) : {},
    // An end that cannot be told otherwise later would stay suspended for good.
    suspend: settings.suspended && !nodeKind(end.node.type).fixedNios,
  };
}

async function reservePort(node: Node): Promise<number> {
  const path = portsPath(node);
  const { udp_port: port } = ((await node.compute.post(path)) ?? {}) as Record<string, unknown>;
  if (typeof port === 'number') return port;
  throw new Failure('conflict', `The compute ${node.compute.name} answered POST ${path} without a UDP port.`);
}

/** Gives back a port that no NIO has got, where the compute knows how to; the others do with the project's end. */
async function releasePort({ node, wire }: LinkEnd): Promise<void> {
  await node.compute.delete(`${portsPath(node)}/${wire?.port}`, { connect: false }).catch(noop);
}

function portsPath(node: Node): string {
  return `/projects/${node.projectId}/ports/udp`;
}

/** Wires the first two ends; what was made before a failure is taken away again. */
export async function wire(link: Link): Promise<void> {
  const [one, other] = link.ends as [LinkEnd, LinkEnd];
  await using undo = new AsyncDisposableStack();
  const [host, otherHost] = await commonAddresses(one.node.compute, other.node.compute);
  /** Ends whose port has no NIO yet: with a NIO that goes, its port does. */
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
    end.wire = { host: address, port: await reservePort(end.node) };
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
      // Unless it was refused it may be there all the same.
      if (!(error instanceof ComputeRefusal)) {
        reserved.delete(end);
        await removeNio(end, { connect: false }).catch(noop);
      }
      throw error;
    }
    undo.defer(() => removeNio(end, { connect: false }).catch(noop));
  }
  undo.move();
}

const noop = (): void => {};

/** Removes NIOs that a former life of this server left at the ends on other hosts; nodes in `lost` have none. */
export async function loosen(link: Link, lost: ReadonlySet<Node> = new Set()): Promise<void> {
  for (const end of link.ends) {
    if (end.wire || end.node.compute.id === 'local' || lost.has(end.node)) continue;
    await removeNio(end, { connect: false }).catch(noop);
  }
}

/** Tells both ends of the filters, or of a suspension, that the link has or is to have. */
export async function rewire(link: Link, settings: LinkSettings): Promise<void> {
  const [one, other] = link.ends;
  if (!one?.wire || !other?.wire) return;
  await changeNio(one, { body: nio(link, one, other, settings) });
  await changeNio(other, { body: nio(link, other, one, settings), limit: SECOND_UPDATE_LIMIT_MS });
}

async function changeNio(end: LinkEnd, options: { body: object; limit?: number }): Promise<void> {
  if (nodeKind(end.node.type).fixedNios) return;
  try {
    await end.node.compute.put(nioPath(end), options);
  } catch (error) {
    if (!(error instanceof ComputeRefusal && error.status === NO_SUCH_METHOD)) throw error;
  }
}

function removeNio(end: LinkEnd, options: { connect?: boolean } = {}): Promise<void> {
  return end.node.compute.remove(nioPath(end), options);
}

/** Takes both NIOs away; one that is not there is not missed. When one stays, the other one is made again if it can be. */
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

/** Takes away both NIOs, as far as the computes let it: the link goes in any case. The nodes in `lost` know nothing of it any more. */
export async function discardWire(link: Link, lost: ReadonlySet<Node> = new Set()): Promise<void> {
  for (const end of link.ends) {
    if (end.wire && !lost.has(end.node)) await removeNio(end).catch(noop);
    end.wire = undefined;
  }
}

/** Wires the link anew, `lost` being nodes that were made anew and know nothing of it. */
export async function renewWire(link: Link, lost: ReadonlySet<Node>): Promise<void> {
  await loosen(link, lost);
  await discardWire(link, lost);
  await wire(link);
}

/** Whether the computes of a wired link reach each other elsewhere by now: one has another address. */
export async function hasMoved({ ends: [one, other] }: Link): Promise<boolean> {
  if (!one?.wire || !other?.wire || one.node.compute === other.node.compute) return false;
  const [host, otherHost] = await commonAddresses(one.node.compute, other.node.compute);
  return host !== one.wire.host || otherHost !== other.wire.host;
}

/** Path of an end's routes for captures and figures on its compute. */
export function capturePath(
  end: LinkEnd,
  action: 'start_capture' | 'stop_capture' | 'pcap' | 'pcap/ws' | 'statistics',
): string {
  return `${end.node.path}/adapters/${end.port.adapter_number}/ports/${end.port.port_number}/${action}`;
}
