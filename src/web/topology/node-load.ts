// Keeps the load of the nodes on the map up to date while it is shown.
import { effect } from '@preact/signals';
import type { LabContext } from '../lab-context.ts';
import { loadInWords } from '../model/lab/node-load.ts';

/** Returns the function that stops it. */
export function followLoad({ lab, hasLoad, load }: LabContext): () => void {
  let drawn: ReadonlyMap<string, string> = new Map();
  const stop = effect(() => {
    if (hasLoad.value) load.watch();
    else load.stop();
    const now = new Map([...load.figures.value].map(([id, figures]) => [id, loadInWords(figures).join(' ')]));
    for (const id of new Set([...drawn.keys(), ...now.keys()])) {
      if (drawn.get(id) !== now.get(id)) lab.touch('node', id);
    }
    drawn = now;
  });
  return () => {
    stop();
    load.stop();
  };
}
