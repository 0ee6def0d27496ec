// Parses long topology files in a thread, to keep the main thread free for clients.
import { TaskThread } from '../../host/processes/task-thread.ts';
import { type ParsedTopology, type ParseOptions, parseTopologyBytes } from './document.ts';
import { type Outline, parseOutline } from './outline.ts';

/** Bytes up to which parsing is so fast that a thread would not pay off: a lab of some 100 nodes. */
const SMALL_BYTES = 256 * 1024;

export interface ParsingRequest {
  bytes: Uint8Array;
  /** `outline`: only the outline is returned, which is passed between threads faster than the topology. */
  options: ParseOptions | 'outline';
}

const thread = new TaskThread<ParsingRequest, ParsedTopology | Outline>({
  name: 'topology-parsing',
  source: new URL('./parsing-worker.ts', import.meta.url),
  resourceLimits: { maxOldGenerationSizeMb: 1024, maxYoungGenerationSizeMb: 16 },
});

/** As `parseTopologyBytes`. */
export function parseBeside(bytes: Uint8Array, options: ParseOptions): Promise<ParsedTopology> {
  return beside({ bytes, options }, () => parseTopologyBytes(bytes, options));
}

/** As `parseOutline`. */
export function outlineBeside(bytes: Uint8Array): Promise<Outline> {
  return beside({ bytes, options: 'outline' }, () => parseOutline(bytes));
}

async function beside<Parsed extends ParsedTopology | Outline>(
  request: ParsingRequest,
  here: () => Parsed,
): Promise<Parsed> {
  if (request.bytes.length <= SMALL_BYTES) return here();
  const warning = 'the thread that reads labs has ended; this one is read without';
  return (await thread.runOr(request, here, warning)) as Parsed;
}
