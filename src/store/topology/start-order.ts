// The start order of nodes: an extension of the release's format. The format allows no unknown members in a node, but
// any text as a label's style: a list of CSS declarations, of which the release's clients ignore unknown ones.
import * as v from 'valibot';
import { START_MEMBERS } from '../../api/topology.ts';
import type { Label } from '../../api/vocabulary.ts';

const StartMembers = v.object(START_MEMBERS);
export interface StartMembers {
  start_order?: number;
  start_delay?: number;
}

const DECLARATION = /-labwire-start-(order|delay):\s*([\d.]+)\s*;?/g;

/** The label as in the file. */
export function labelWith<Text extends Label>(label: Text, { start_order, start_delay }: StartMembers): Text {
  const declarations = [
    ...(start_order ? [`-labwire-start-order: ${start_order};`] : []),
    ...(start_delay ? [`-labwire-start-delay: ${start_delay};`] : []),
  ];
  if (declarations.length === 0) return label;
  return { ...label, style: [plainLabel(label).style ?? '', ...declarations].join('') };
}

/** The label as clients see it. */
export function plainLabel<Text extends Label>(label: Text): Text {
  const style = label.style?.replaceAll(DECLARATION, '');
  return style === undefined || style === label.style ? label : { ...label, style: style === '' ? null : style };
}

/** The start from a file's label; invalid values are ignored. */
export function carriedStart(label: Label | undefined): StartMembers {
  const found = [...(label?.style ?? '').matchAll(DECLARATION)];
  const members = Object.fromEntries(found.map(([, name, value]) => [`start_${name}`, Number(value)]));
  const checked = v.safeParse(StartMembers, members);
  return checked.success ? (members as StartMembers) : {};
}
