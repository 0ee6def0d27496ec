// Says what changes to people who do not see the map, gathered so that nobody is talked over.
import { effect } from '@preact/signals';
import type { LabContext } from './lab-context.ts';
import type { Lab } from './model/lab/lab.ts';
import { linkName, linkStates } from './model/lab/link-name.ts';
import { STATUS, stateOf, WORDS } from './words.ts';

const GATHERED_MS = 1_000;
/** More than these are counted only. */
const MOST = 4;

/** Begins to write into `context.said`; call what it gives to end that. */
export function announce({ lab, linking, said }: LabContext): () => void {
  const names = new Map<string, string>();
  /** What was said of each thing last. */
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
    // What is only moved, or read for the first time, is no news.
    if (before === text || (before === undefined && lab.state.value !== 'open')) return;
    news.set(id, text);
    timer ??= setTimeout(flush, GATHERED_MS);
  });
  // What the next node is for is asked for at once, as the keys are.
  const unasked = effect(() => {
    const { first } = linking.value ?? {};
    if (linking.value) said.value = first ? WORDS.linking.second : WORDS.linking.first;
  });
  return () => {
    unlisten();
    unasked();
    clearTimeout(timer);
  };
}

/** Its name, and what is said with it; undefined if it is gone. */
type Words = [name: string, state: string] | undefined;

function ofNode(lab: Lab, id: string): Words {
  const node = lab.nodes.get(id);
  return node && [node.name, STATUS[stateOf(node)] ?? node.status];
}

function ofLink(lab: Lab, id: string): Words {
  const link = lab.links.get(id);
  return link && [linkName(lab, link), linkStates(link).join(', ') || WORDS.links.joined];
}
