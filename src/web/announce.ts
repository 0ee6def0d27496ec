// Announces changes of the lab to screen readers, gathered so that messages do not interrupt each other.
import { effect } from '@preact/signals';
import type { LabContext } from './lab-context.ts';
import type { Lab } from './model/lab/lab.ts';
import { linkName, linkStates } from './model/lab/link-name.ts';
import { STATUS, stateOf, WORDS } from './words.ts';

const GATHERED_MS = 1_000;
/** More changes than this are only counted. */
const MOST = 4;

/** Starts writing to `context.said`. Returns the function that stops it. */
export function announce({ lab, linking, said }: LabContext): () => void {
  const names = new Map<string, string>();
  /** The last announced text for each object. */
  const former = new Map<string, string>();
  const news = new Map<string, string>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = (): void => {
    timer = undefined;
    said.value = news.size > MOST ? WORDS.lab.changes(news.size) : [...news.values()].join(', ');
    news.clear();
  };
  const unlisten = lab.listen((kind, id) => {
    const words = kind === 'node' ? ofNode(lab, id) : kind === 'link' ? ofLink(lab, id) : undefined;
    if (!words && !names.has(id)) return;
    const text = words?.join(' ') ?? WORDS.lab.deleted(names.get(id)!);
    const before = former.get(id);
    if (words) names.set(id, words[0]);
    former.set(id, text);
    // Moves and the first reading of an object are not announced.
    if (before === text || (before === undefined && lab.state.value !== 'open')) return;
    news.set(id, text);
    timer ??= setTimeout(flush, GATHERED_MS);
  });
  // The prompt for choosing the next node is announced at once, like the keys.
  const unasked = effect(() => {
    const { from, to } = linking.value ?? {};
    if (linking.value && to === undefined) said.value = from ? WORDS.linking.second : WORDS.linking.first;
  });
  return () => {
    unlisten();
    unasked();
    clearTimeout(timer);
  };
}

/** Name and announced state; undefined once the object is deleted. */
type Words = [name: string, state: string] | undefined;

function ofNode(lab: Lab, id: string): Words {
  const node = lab.nodes.get(id);
  return node && [node.name, STATUS[stateOf(node)] ?? node.status];
}

function ofLink(lab: Lab, id: string): Words {
  const link = lab.links.get(id);
  return link && [linkName(lab, link), linkStates(link).join(', ') || WORDS.links.joined];
}
