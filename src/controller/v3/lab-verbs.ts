// What clients of release 3.0.6 can do with a lab beyond 2.2.57: lock it, isolate a node, wire a link again, ask for a cloud's interface.
import { Failure } from '../../failures.ts';
import type { Drawings } from '../lab/drawings.ts';
import { changeLink } from '../lab/link-changes.ts';
import type { Links } from '../lab/links.ts';
import type { Nodes } from '../lab/nodes.ts';
import type { Project } from '../lab/project.ts';
import type { Link } from '../links/link.ts';
import { renewWire } from '../links/wiring.ts';

export interface LabVerbParts {
  nodes: Nodes;
  links: Links;
  drawings: Drawings;
}

/** Whether everything in the lab is locked; an empty lab is. */
export function isLocked(project: Project): boolean {
  return [...project.nodes.values(), ...project.drawings.values()].every(({ record }) => record.locked === true);
}

export async function setLocked(project: Project, locked: boolean, { nodes, drawings }: LabVerbParts): Promise<void> {
  for (const { id, record } of [...project.drawings.values()])
    if (record.locked !== locked) await drawings.update(project, id, { locked });
  for (const { id, record } of [...project.nodes.values()])
    if (record.locked !== locked) await nodes.update(project, id, { locked });
}

/** Suspends all links of a node, or ends that. */
export async function isolate(project: Project, nodeId: string, suspend: boolean, links: Links): Promise<void> {
  const node = project.node(nodeId);
  for (const link of [...project.links.values()])
    if (link.ends.some((end) => end.node === node)) await links.update(project, link.id, { suspend });
}

/** Takes the ends of a link out of its nodes, and puts them back. */
export function resetLink(project: Project, linkId: string): Promise<Link> {
  return changeLink(project, linkId, async (link) => {
    if (link.unwirable) throw new Failure('conflict', 'link_id: a node of the link is missing, so it cannot be wired.');
    await renewWire(link, new Set());
    return link;
  });
}

/** Where a cloud's or NAT's end of a link leads. @throws Failure `conflict` for other links */
export function linkInterface(link: Link): object {
  const end = link.ends.find(({ node }) => node.type === 'cloud' || node.type === 'nat');
  const ports = end?.node.record.properties?.['ports_mapping'];
  const port: Record<string, unknown> | undefined = Array.isArray(ports)
    ? ports.find((one: Record<string, unknown>) => one['port_number'] === end?.port.port_number)
    : undefined;
  if (end === undefined || port === undefined)
    throw new Failure('conflict', 'link_id: no end of the link is at a cloud or NAT.');
  const { type, lport, rhost, rport } = port;
  const place = type === 'udp' ? { lport, rhost, rport } : { interface: port['interface'] };
  return { node_id: end.node.id, type, ...place };
}
