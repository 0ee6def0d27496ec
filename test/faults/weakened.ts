// Preloaded, makes the server worse on purpose: changes of a lab are acknowledged a moment before they are written.
import { weaken } from './weakening.ts';

weaken(
  '/controller/lab/lab-writer.ts',
  'await this.#store.labs.apply(record.project_id, changes);',
  'setTimeout(() => void this.#store.labs.apply(record.project_id, changes), 300);',
);
