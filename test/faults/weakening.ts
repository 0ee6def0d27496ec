// Replaces one line of the server's sources by a worse one while they are loaded. The rigs must notice.
import { registerHooks } from 'node:module';

/** @param place the end of the file's path */
export function weaken(place: string, strong: string, weak: string): void {
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      if (!url.endsWith(place)) return loaded;
      const source = String(loaded.source);
      if (!source.includes(strong)) throw new Error(`${place} has changed: name the line to weaken again`);
      return { ...loaded, source: source.replace(strong, weak) };
    },
  });
}
