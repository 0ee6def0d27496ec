// Parses long topology files in a thread, to keep the main thread free for clients.
import { log } from '../../host/log.ts';
import { TaskThread, ThreadEnded } from '../../host/processes/task-thread.ts';
import { type ParsedTopology, type ParseOptions, parseTopologyBytes } from './document.ts';

/** Bytes up to which parsing is so fast that a thread would not pay off: a lab of some 100 nodes. */
const SMALL_BYTES = 256 * 1024;

export interface ParsingRequest {
  bytes: Uint8Array;
  options: ParseOptions;
}

const thread = new TaskThread<ParsingRequest, ParsedTopology>({
  name: 'topology-parsing',
  source: new URL('./parsing-worker.ts', import.meta.url),
  resourceLimits: { maxOldGenerationSizeMb: 1024, maxYoungGenerationSizeMb: 16 },
  idleMs: 2_000,
});

/** As `parseTopologyBytes`. */
export async function parseBeside(bytes: Uint8Array, options: ParseOptions): Promise<ParsedTopology> {
  if (bytes.length <= SMALL_BYTES) return parseTopologyBytes(bytes, options);
  try {
    return await thread.run({ bytes, options });
  } catch (error) {
    if (!(error instanceof ThreadEnded)) throw error;
    log.warn('the thread that reads labs has ended; this one is read without', { reason: error.message });
    return parseTopologyBytes(bytes, options);
  }
}
