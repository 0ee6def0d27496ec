// The ends of links as people write them: `PC1:e0`, or `PC1` alone where that says enough.
import { Failure } from '../failures.ts';
import type { Port } from '../store/node-kinds/port.ts';
import { findNamed } from './find.ts';
import type { LinkObject, NodeObject } from './objects.ts';
import { findNode } from './session.ts';

export interface End {
  node: NodeObject;
  /** Undefined where none is named. */
  port: Port | undefined;
}

const isAt = (port: Port, place: { adapter_number: number; port_number: number }): boolean =>
  port.adapter_number === place.adapter_number && port.port_number === place.port_number;

/**
 * Understands `NODE`, or `NODE:PORT` with the port's name, its short name or `ADAPTER/PORT`. A name of a node may have colons.
 * @throws Failure
 */
export function parseEnd(nodes: readonly NodeObject[], text: string): End {
  const whole = nodes.filter(({ node_id, name }) => name === text || node_id === text);
  const colon = text.lastIndexOf(':');
  if (whole.length > 0 || colon < 1) return { node: findNode(nodes, text), port: undefined };
  const node = findNode(nodes, text.slice(0, colon));
  const wanted = text.slice(colon + 1);
  const port = portNamed(node, wanted);
  if (port) return { node, port };
  throw new Failure('not-found', `Node "${node.name}" has no port "${wanted}"; ${portsInWords(node)}.`);
}

/**
 * The port of this name, short name or `ADAPTER/PORT`. A number alone is a port of the first adapter, or else the first one of the adapter
 * with that number.
 */
export function portNamed(node: { ports: readonly Port[] }, wanted: string): Port | undefined {
  const named = (...names: readonly string[]) =>
    node.ports.find((one) =>
      [one.short_name, one.name, `${one.adapter_number}/${one.port_number}`].some((name) => names.includes(name)),
    );
  return named(wanted) ?? (/^\d+$/.test(wanted) ? (named(`0/${wanted}`) ?? named(`${wanted}/0`)) : undefined);
}

/** The ports of a node in a part of a sentence. */
export function portsInWords({ ports }: { ports: readonly Port[] }): string {
  const names = ports.slice(0, 8).map(({ short_name }) => short_name);
  return names.length === 0 ? 'it has none' : `it has ${names.join(', ')}${ports.length > 8 ? ' ...' : ''}`;
}

/** `PC1:e0` */
export function endText(nodes: readonly NodeObject[], end: LinkObject['nodes'][number]): string {
  const node = nodes.find(({ node_id }) => node_id === end.node_id);
  const port = node?.ports.find((one) => isAt(one, end));
  return `${node?.name ?? end.node_id}:${port?.short_name ?? `${end.adapter_number}/${end.port_number}`}`;
}

function linksAt(links: readonly LinkObject[], { node, port }: End): LinkObject[] {
  return links.filter((link) =>
    link.nodes.some((end) => end.node_id === node.node_id && (port === undefined || isAt(port, end))),
  );
}

/**
 * The link of this id, or at this end.
 * @throws Failure; `conflict` when a node has several
 */
export function findLink(nodes: readonly NodeObject[], links: readonly LinkObject[], wanted: string): LinkObject {
  const isEnd = nodes.some(({ name }) => wanted === name || wanted.startsWith(`${name}:`));
  if (!isEnd) return findNamed('link', links, ({ link_id: id }) => ({ id, name: id }), wanted);
  const found = linksAt(links, parseEnd(nodes, wanted));
  if (found.length === 1) return found[0]!;
  if (found.length === 0) throw new Failure('not-found', `No link is at "${wanted}".`);
  const ends = found.flatMap((link) => link.nodes.map((end) => endText(nodes, end)));
  const own = ends.filter((text) => text.startsWith(`${wanted}:`));
  throw new Failure('conflict', `${found.length} links are at "${wanted}"; name one of its ports: ${own.join(', ')}`);
}

/**
 * The ports to join: those that are named, else the first free ones that go together.
 * @throws Failure when a node has no free port
 */
export function portsToJoin(links: readonly LinkObject[], ends: readonly [End, End]): [Port, Port] {
  const [first, second] = ends.map((end) => {
    if (end.port) return [end.port];
    const free = end.node.ports.filter((port) => linksAt(links, { node: end.node, port }).length === 0);
    if (free.length === 0) throw new Failure('conflict', `Node "${end.node.name}" has no free port.`);
    return free;
  }) as [Port[], Port[]];
  for (const one of first) {
    const other = second.find((port) => port.link_type === one.link_type && port !== one);
    if (other) return [one, other];
  }
  // The server says what is wrong with them.
  return [first[0]!, second[0]!];
}
