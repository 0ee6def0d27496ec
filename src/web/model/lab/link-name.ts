// Names of links in text.
import { STATUS, WORDS } from '../../words.ts';
import type { LinkEnd, LinkObject } from '../server/types.ts';
import type { Lab } from './lab.ts';
import { portName } from './linked-ports.ts';

export function endName(lab: Lab, end: LinkEnd): string {
  return `${lab.nodes.get(end.node_id)?.name ?? '?'} ${portName(lab, end)}`;
}

export function linkName(lab: Lab, { nodes: [one, other] }: LinkObject): string {
  return WORDS.links.described(endName(lab, one), endName(lab, other));
}

/** States of a link, such as suspended or captured. */
export function linkStates({ suspend, filters, capturing }: LinkObject): string[] {
  return [
    suspend ? STATUS['suspended'] : undefined,
    Object.keys(filters).length > 0 ? WORDS.links.filtered : undefined,
    capturing ? WORDS.links.captured : undefined,
  ].filter((state) => state !== undefined);
}
