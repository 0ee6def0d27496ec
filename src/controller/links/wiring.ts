// The wires of a link: the NIOs at both of its ends, made and taken away on the computes (interface of release 2.2.57, section 15.7).
import type { ComputeRefusal } from '../computes/answers.ts';
import type { Node } from '../nodes/node.ts';
import { commonAddresses } from './addresses.ts';
import type { Link, LinkEnd } from './link.ts';

/** Types whose computes have no route to change a NIO. */
const FIXED_NIO: readonly string[] = ['ethernet_switch', 'ethernet_hub'];

/** Milliseconds that an update of the second end may take, as in the release. */
const SECOND_UPDATE_LIMIT = 221_000;

function nioPath({ node, port }: LinkEnd): string {
  return `${node.path}/adapters/${port.adapter_number}/ports/${port.port_number}/nio`;
}

function isWired(end: LinkEnd): end is LinkEnd & { udpPort: number; host: string } {
  return end.udpPort !== undefined && end.host !== undefined;
}

/** What one end's compute is told: where the other end is, and what to do to frames if this is the filtering end. */
function nio(link: Link, end: LinkEnd, other: LinkEnd): object {
  return {
    lport: end.udpPort,
    rhost: other.host,
    rport: other.udpPort,
    type: 'nio_udp',
    filters: link.filteringEnd === end ? link.activeFilters : {},
    suspend: link.suspended,
  };
}

async function reservePort(node: Node): Promise<number> {
  const answer = (await node.compute.post(`/projects/${node.projectId}/ports/udp`)) as { udp_port: number };
  return answer.udp_port;
}

/** Wires the first two ends; what was made before a failure is taken away again. */
export async function wire(link: Link): Promise<void> {
  const [one, other] = link.ends as [LinkEnd, LinkEnd];
  await using undo = new AsyncDisposableStack();
  [one.host, other.host] = await commonAddresses(one.node.compute, other.node.compute);
  one.udpPort = await reservePort(one.node);
  other.udpPort = await reservePort(other.node);
  await one.node.compute.post(nioPath(one), { body: nio(link, one, other) });
  undo.defer(() => one.node.compute.delete(nioPath(one)).then(noop, noop));
  await other.node.compute.post(nioPath(other), { body: nio(link, other, one) });
  undo.move();
}

const noop = (): void => {};

/** Tells both ends of changed filters, or of a suspension. */
export async function rewire(link: Link): Promise<void> {
  const [one, other] = link.ends;
  if (!one || !other || !isWired(one) || !isWired(other)) return;
  if (!FIXED_NIO.includes(one.node.type)) await one.node.compute.put(nioPath(one), { body: nio(link, one, other) });
  if (!FIXED_NIO.includes(other.node.type)) {
    await other.node.compute.put(nioPath(other), { body: nio(link, other, one), limit: SECOND_UPDATE_LIMIT });
  }
}

/** Takes both NIOs away; one that is not there is not missed. */
export async function unwire(link: Link): Promise<void> {
  const failures: unknown[] = [];
  for (const end of link.ends.filter(isWired)) {
    try {
      await end.node.compute.delete(nioPath(end));
    } catch (error) {
      if ((error as Partial<ComputeRefusal>).status !== 404) failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}

/** Path of an end's capture routes on its compute. */
export function capturePath(end: LinkEnd, action: 'start_capture' | 'stop_capture' | 'pcap'): string {
  return `${end.node.path}/adapters/${end.port.adapter_number}/ports/${end.port.port_number}/${action}`;
}
