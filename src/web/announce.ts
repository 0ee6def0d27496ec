// Says what changes to people who do not see the map, gathered so that nobody is talked over.
import type { LabContext } from './lab-context.ts';
import { STATUS, WORDS } from './words.ts';

const GATHERED_MS = 1_000;
/** More than these are counted only. */
const MOST = 4;

/** Begins to write into `context.said`; call what it gives to end that. */
export function announce({ lab, said }: LabContext): () => void {
  const names = new Map<string, string>();
  const news = new Map<string, string>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = (): void => {
    timer = undefined;
    said.value = news.size > MOST ? WORDS.lab.changes(news.size) : [...news.values()].join(', ');
    news.clear();
  };
  const unlisten = lab.listen((kind, id) => {
    if (kind !== 'node') return;
    const node = lab.nodes.get(id);
    const text = node ? `${node.name} ${STATUS[node.status]}` : WORDS.lab.deleted(names.get(id) ?? '');
    const former = names.get(`${id} said`);
    if (node) names.set(id, node.name);
    names.set(`${id} said`, text);
    // What is only moved, or read for the first time, is no news.
    if (former === text || (former === undefined && lab.state.value !== 'open')) return;
    news.set(id, text);
    timer ??= setTimeout(flush, GATHERED_MS);
  });
  return () => {
    unlisten();
    clearTimeout(timer);
  };
}
