// All verbs of the page, shared by keys, menus, buttons and the command field.
import type { LabContext } from './lab-context.ts';
import { LAB_VERBS } from './verbs/lab.ts';
import { LINK_VERBS } from './verbs/link.ts';
import { NODE_VERBS } from './verbs/nodes.ts';
import { DRAWING_VERBS, THING_VERBS } from './verbs/nodes-and-drawings.ts';
import { PAGE_VERBS } from './verbs/page.ts';
import type { LabVerb, Verb } from './verbs/verb.ts';

export const VERBS: readonly Verb[] = [
  ...NODE_VERBS,
  ...LINK_VERBS,
  ...DRAWING_VERBS,
  ...THING_VERBS,
  ...LAB_VERBS,
  ...PAGE_VERBS,
];

/** Whether the selection suits a verb. */
export function fits(verb: Verb, context: LabContext): boolean {
  const { nodes, link, drawings } = context.selection.value;
  const { scope } = verb;
  if (scope === 'nodes' && nodes.length === 0) return false;
  if (scope === 'link' && link === undefined) return false;
  if (scope === 'drawing' && drawings.length === 0) return false;
  return verb.suits?.(context) ?? true;
}

/** Why the logged-in account may not use a verb; empty if it may. */
export function whyNotUse(verb: Verb, context: LabContext): string {
  if (verb.scope === 'everywhere' || verb.isLocal || verb.isReading?.(context)) return '';
  return context.lab.whyNotChange;
}

/** Whether a verb can be used now. */
export function isUsable(verb: Verb, context: LabContext): boolean {
  const isPossible = verb.scope === 'everywhere' || verb.isLocal || context.lab.canAsk;
  return isPossible && whyNotUse(verb, context) === '' && fits(verb, context) && (verb.enabled?.(context) ?? true);
}

/** Whether it deletes something for good; it is then shown in the danger style. */
export function isDangerous({ id }: Verb): boolean {
  return id.endsWith('.delete');
}

export function wordsOf(verb: Verb, context: LabContext): string {
  return typeof verb.words === 'string' ? verb.words : verb.words(context);
}

/** Returns a lab verb by id. @throws Error for an unknown id */
export function labVerb(id: string): LabVerb {
  const verb = VERBS.find((candidate) => candidate.id === id);
  if (!verb || verb.scope === 'everywhere') throw new Error(`${id} is no verb of a lab`);
  return verb;
}

/** Why a key does nothing: the logged-in account may not use its verb. Empty for all other keys. */
export function whyNotKey(key: string, context: LabContext): string {
  const verb = VERBS.find((each) => each.keys?.includes(key) && fits(each, context) && whyNotUse(each, context) !== '');
  return verb ? whyNotUse(verb, context) : '';
}

/** The verb of a key. */
export function verbOfKey(key: string, context: LabContext): Verb | undefined {
  return VERBS.find((verb) => verb.keys?.includes(key) && isUsable(verb, context));
}
