// The start order of nodes: an extension of the release's format. The format allows no unknown members in a node, but
// any text as a label's style: a list of CSS declarations, of which the release's clients ignore unknown ones.
import * as v from 'valibot';
import { Integer, type Label } from '../../api/vocabulary.ts';

/** Generous limits: a day, and more orders than a lab has nodes. */
const LONGEST_DELAY_SECONDS = 86_400;
const LAST_ORDER = 1_000_000;

export const START_MEMBERS = {
  /** Nodes with a lower order start first; default 0. */
  start_order: v.optional(v.pipe(Integer, v.minValue(0), v.maxValue(LAST_ORDER))),
  /** Seconds between the start of the previous nodes and this one; default 0. */
  start_delay: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(LONGEST_DELAY_SECONDS))),
};

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
