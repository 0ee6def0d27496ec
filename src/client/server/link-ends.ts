// Parses the ends of links: `PC1:e0`, or just `PC1` if that is unambiguous.

import type { Port } from '../../api/kinds/port.ts';
import type { LinkObject, NodeObject } from '../../api/objects.ts';
import { conflict, Failure, notFound } from '../../failures.ts';
import { nearest } from '../../host/values/nearest-name.ts';
import { findNode } from '../frame/session.ts';
import { namesInWords } from '../terminal/counted.ts';
import { findNamed } from './find.ts';

/** Between the ends of a link, as lists show it. */
const BETWEEN_ENDS = ' -- ';

/** Links of a node that a message names. */
const MOST_LINKS = 4;

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
  throw notFound(`Node "${node.name}" has no port "${wanted}"; ${portsInWords(node)}.`);
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

/** `PC1:e0 -- Switch1:e1` */
export function linkText(nodes: readonly NodeObject[], link: LinkObject): string {
  return link.nodes.map((end) => endText(nodes, end)).join(BETWEEN_ENDS);
}

function linksAt(links: readonly LinkObject[], { node, port }: End): LinkObject[] {
  return links.filter((link) =>
    link.nodes.some((end) => end.node_id === node.node_id && (port === undefined || isAt(port, end))),
  );
}

/**
 * The link of this id, at this end, or between these two: `PC1:e0 -- Switch1:e1` as lists show it, `Switch1 -- PC1`.
 * @throws Failure; `conflict` when there are several
 */
export function findLink(nodes: readonly NodeObject[], links: readonly LinkObject[], wanted: string): LinkObject {
  const byText = links.find((link) => linkText(nodes, link) === wanted);
  if (byText) return byText;
  const isEnd = nodes.some(({ name }) => wanted === name || wanted.startsWith(`${name}:`));
  const [one, other, ...more] = wanted.split(BETWEEN_ENDS);
  const isWhole = nodes.some(({ name }) => wanted === name);
  if (one && other && more.length === 0 && !isWhole) {
    const [first, second] = [parseEnd(nodes, one), parseEnd(nodes, other)];
    return onlyLink(nodes, linksAt(linksAt(links, first), second), wanted);
  }
  if (!isEnd) {
    const named = (link: LinkObject) => ({ id: link.link_id, name: linkText(nodes, link) });
    try {
      return findNamed('link', links, named, wanted);
    } catch (error) {
      const names = nodes.map(({ name }) => name);
      const meant = nearest(wanted.replace(/:[^:]*$/, ''), names);
      if (meant === undefined || !(error instanceof Failure) || error.code !== 'not-found') throw error;
      throw notFound(`There is no node or link "${wanted}"; did you mean "${meant}"?`);
    }
  }
  return onlyLink(nodes, linksAt(links, parseEnd(nodes, wanted)), wanted);
}

/** @throws Failure with the links to choose from */
function onlyLink(nodes: readonly NodeObject[], found: readonly LinkObject[], wanted: string): LinkObject {
  if (found.length === 1) return found[0]!;
  if (found.length === 0) throw notFound(`"${wanted}" has no link (labwired link list).`);
  const texts = found.map((link) => linkText(nodes, link));
  throw conflict(`"${wanted}" has ${found.length} links; name a port: ${namesInWords(texts)}`);
}

/** `: e0 is linked to Switch1:e0`, of an end without a free port. */
function linkedTo({ nodes, links }: { nodes: readonly NodeObject[]; links: readonly LinkObject[] }, end: End): string {
  const { node } = end;
  const all = linksAt(links, end).flatMap((link) => {
    const own = link.nodes.find(({ node_id }) => node_id === node.node_id);
    const peer = link.nodes.find(({ node_id }) => node_id !== node.node_id);
    if (!own || !peer) return [];
    return [`${endText(nodes, own).slice(node.name.length + 1)} is linked to ${endText(nodes, peer)}`];
  });
  const shown = all.slice(0, MOST_LINKS);
  return shown.length === 0 ? '' : `: ${shown.join(', ')}${all.length > shown.length ? ' ...' : ''}`;
}

/**
 * The ports to join: those that are named, else the first free ones that go together.
 * @param mayTake whether a port may be taken for an end that names none
 * @throws Failure when a node has no free port
 */
export function portsToJoin(
  { nodes, links }: { nodes: readonly NodeObject[]; links: readonly LinkObject[] },
  ends: readonly [End, End],
  mayTake: (node: NodeObject, port: Port) => boolean = () => true,
): [Port, Port] {
  if (ends[0].node === ends[1].node)
    throw conflict(`Both ends are at node "${ends[0].node.name}": a link joins two nodes.`);
  const [first, second] = ends.map((end) => {
    const { node } = end;
    const wanted = end.port ? [end.port] : node.ports.filter((port) => mayTake(node, port));
    const free = wanted.filter((port) => linksAt(links, { node, port }).length === 0);
    if (free.length > 0) return free;
    const what = end.port ? `${node.name}:${end.port.short_name} is not free` : `Node "${node.name}" has no free port`;
    throw conflict(`${what}${linkedTo({ nodes, links }, end)}.`);
  }) as [Port[], Port[]];
  for (const one of first) {
    const other = second.find((port) => port.link_type === one.link_type && port !== one);
    if (other) return [one, other];
  }
  // The server reports the error.
  return [first[0]!, second[0]!];
}
