// Preloaded, makes the server worse on purpose: changes of a lab are acknowledged a moment before they are written. The rigs must notice.
import { registerHooks } from 'node:module';

const STRONG = 'await this.#store.labs.apply(record.project_id, changes);';
const WEAK = 'setTimeout(() => void this.#store.labs.apply(record.project_id, changes), 300);';

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (!url.endsWith('/controller/lab/lab-writer.ts')) return loaded;
    const source = String(loaded.source);
    if (!source.includes(STRONG)) throw new Error('lab-writer.ts has changed: name the line to weaken again');
    return { ...loaded, source: source.replace(STRONG, WEAK) };
  },
});
