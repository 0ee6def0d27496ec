// Plans changes of a lab's links, which are matched by their ends.

import type { Port } from '../../api/kinds/port.ts';
import { normalizedFilters } from '../../controller/links/filters.ts';
import { linkImpairments } from '../../controller/links/impairments.ts';
import { Failure } from '../../failures.ts';
import { type End, linkText, portNamed, portsToJoin } from '../server/link-ends.ts';
import type { ServerNode } from '../server/nodes.ts';
import type { Change } from './changes.ts';
import { type Difference, differences } from './compare.ts';
import { LabFileMistakes, type Mistake } from './file-mistakes.ts';
import { nodeKey, type WantedEnd, type WantedLab, type WantedLink } from './model.ts';
import type { ServerLab, ServerLink } from './state.ts';

type Found = ReadonlyMap<string, ServerNode | undefined>;
type ServerEnd = ServerLink['nodes'][number];

const portKey = (nodeId: string, { adapter_number, port_number }: Pick<Port, 'adapter_number' | 'port_number'>) =>
  JSON.stringify([nodeId, adapter_number, port_number]);

/** The ports that the file names: no link that names none is at one of them. */
function namedPorts({ links }: WantedLab, found: Found): Set<string> {
  return new Set(
    links.flatMap(({ ends }) =>
      ends.flatMap(({ node: name, port: wanted }) => {
        const node = wanted === undefined ? undefined : found.get(nodeKey(name));
        const port = node && portNamed(node, wanted!);
        return port ? [portKey(node.node_id, port)] : [];
      }),
    ),
  );
}

function isAt(end: ServerEnd, node: ServerNode, port: Port | undefined, named: ReadonlySet<string>): boolean {
  if (end.node_id !== node.node_id) return false;
  const key = portKey(end.node_id, end);
  return port === undefined ? !named.has(key) : key === portKey(node.node_id, port);
}

/** The ends on the server; undefined where a node or its port does not exist yet. */
function endsOn(link: WantedLink, found: Found): [End, End] | undefined {
  const end = ({ node: name, port: wanted }: WantedEnd): { node: ServerNode; port: Port | undefined } | undefined => {
    const node = found.get(nodeKey(name));
    if (!node || wanted === undefined) return node && { node, port: undefined };
    const port = portNamed(node, wanted);
    return port && { node, port };
  };
  const [one, other] = [end(link.ends[0]), end(link.ends[1])];
  return one && other ? [one, other] : undefined;
}

/** Whether the link is at both ends, and whether the other way round. */
function fits(
  link: ServerLink,
  ends: readonly [End, End],
  named: ReadonlySet<string>,
): 'straight' | 'turned' | undefined {
  const [first, second] = link.nodes;
  if (!first || !second) return undefined;
  const [one, other] = ends as [End & { node: ServerNode }, End & { node: ServerNode }];
  const at = (end: ServerEnd, { node, port }: typeof one): boolean => isAt(end, node, port, named);
  if (at(first, one) && at(second, other)) return 'straight';
  return at(first, other) && at(second, one) ? 'turned' : undefined;
}

/** The link's settings for the request, with the ends in the server's order. */
function settingsOf(link: WantedLink, isTurned: boolean): Record<string, unknown> {
  const { filters, impairments, suspended, style } = link;
  const lists = filters && Object.fromEntries(Object.entries(filters).map(([type, given]) => [type, [given].flat()]));
  let wanted = impairments && linkImpairments(impairments);
  if (wanted && isTurned) wanted = { forward: wanted.backward, backward: wanted.forward };
  return {
    ...(lists && { filters: normalizedFilters(lists) }),
    ...(wanted && { impairments: wanted }),
    ...(suspended !== undefined && { suspend: suspended }),
    ...(style && { link_style: style }),
  };
}

/** Whether the link has impairments, which only Labwire supports. */
export function impairsLink({ impairments }: WantedLink): boolean {
  if (!impairments) return false;
  return Object.values(linkImpairments(impairments)).some((direction) => Object.keys(direction ?? {}).length > 0);
}

const NAMES: Readonly<Record<string, string>> = { suspend: 'suspended', link_style: 'style' };

/** Filters and impairments are compared as a whole: what the file omits counts as a difference. */
function exactDifferences(wanted: Record<string, unknown>, is: ServerLink): Difference[] {
  const known: Record<string, unknown> = {
    filters: is.filters,
    suspend: is.suspend,
    link_style: is.link_style,
    impairments: is.impairments ?? { forward: {}, backward: {} },
  };
  return Object.entries(wanted).flatMap(([name, value]) => {
    const isExact = name === 'filters' || name === 'impairments';
    const there = differences('', { [name]: value }, known).length > 0;
    const back = isExact && differences('', { [name]: known[name] }, wanted).length > 0;
    return there || back ? [{ member: NAMES[name] ?? name, is: known[name], wanted: value }] : [];
  });
}

function changeOf(link: WantedLink, is: ServerLink, isTurned: boolean, name: string): Change | undefined {
  const body: Record<string, unknown> = settingsOf(link, isTurned);
  const found = exactDifferences(body, is);
  const labels = isTurned ? link.labels?.toReversed() : link.labels;
  const ends = is.nodes.map(({ label, ...end }, index) => ({ ...end, label: { ...label, ...labels?.[index] } }));
  const isLabelled = labels?.every((label, index) => differences('', label, is.nodes[index]?.label ?? {}).length === 0);
  if (isLabelled === false) found.push({ member: 'labels', is: is.nodes.map(({ label }) => label), wanted: labels });
  if (found.length === 0) return undefined;
  const members = new Set(found.map(({ member }) => member));
  const changed = Object.fromEntries(Object.entries(body).filter(([member]) => members.has(NAMES[member] ?? member)));
  return {
    action: 'change',
    kind: 'link',
    name,
    place: link.place,
    id: is.link_id,
    differences: found,
    body: { ...changed, ...(members.has('labels') && { nodes: ends }) },
  };
}

/** A link with a missing end, while it is drawn or left by a program, connects nothing and is in no file. */
export const isWhole = ({ nodes }: ServerLink): boolean => nodes.length === 2;

/** @throws LabFileMistakes for links without a free port */
export function planLinks(lab: WantedLab, state: ServerLab, found: Found): Change[] {
  const namedInFile = namedPorts(lab, found);
  const wanted = lab.links.map((link) => ({ link, ends: endsOn(link, found) }));
  const known = new Map<WantedLink, ServerLink>();
  const left = new Set(state.links.filter(isWhole));
  // Links with named ports come first; the others take the remaining ports.
  const named = ({ link }: (typeof wanted)[number]): number =>
    link.ends.filter(({ port }) => port !== undefined).length;
  const ordered = wanted.toSorted((first, second) => named(second) - named(first));
  for (const { link, ends } of ordered) {
    const is = ends && [...left].find((candidate) => fits(candidate, ends, namedInFile));
    if (!is) continue;
    known.set(link, is);
    left.delete(is);
  }
  const changes: Change[] = [...left].map((is) => ({
    action: 'delete',
    kind: 'link',
    name: linkText(state.nodes, is),
    id: is.link_id,
  }));
  const kept = state.links.filter((is) => !left.has(is));
  const mistakes: Mistake[] = [];
  for (const { link, ends } of ordered) {
    const is = known.get(link);
    const change =
      is && ends ? changeOf(link, is, fits(is, ends, namedInFile) === 'turned', linkText(state.nodes, is)) : undefined;
    if (change) changes.push(change);
    if (is) continue;
    const { text: name, place } = link;
    if (!ends) {
      changes.push({ action: 'create', kind: 'link', name, place, waits: true });
      continue;
    }
    const mayTake = (node: { node_id: string }, port: Port): boolean => !namedInFile.has(portKey(node.node_id, port));
    let ports: [Port, Port];
    try {
      ports = portsToJoin({ nodes: state.nodes, links: kept }, ends, mayTake);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      mistakes.push({ ...place, message: `links "${name}": ${error.message}` });
      continue;
    }
    const nodes = ends.map(({ node }, index) => {
      const { adapter_number, port_number } = ports[index]!;
      return { node_id: node.node_id, adapter_number, port_number, ...(link.labels && { label: link.labels[index] }) };
    });
    kept.push({ link_id: '', capturing: false, suspend: false, filters: {}, nodes } as ServerLink);
    const { impairments, ...settings } = settingsOf(link, false);
    const body = { nodes, ...settings, ...(impairsLink(link) && { impairments }) };
    changes.push({ action: 'create', kind: 'link', name, place, body });
  }
  if (mistakes.length > 0) throw new LabFileMistakes(lab.file, mistakes);
  return changes;
}
