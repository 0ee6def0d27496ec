// Writes the text of large labs' files in a thread, to keep the main thread free for clients.
import type { Topology } from '../../api/topology.ts';
import { log } from '../../host/log.ts';
import { TaskThread, ThreadEnded } from '../../host/processes/task-thread.ts';
import { recordsOf } from './document.ts';
import { type LabTextRequest, labText, type TopologyTextRequest, topologyText } from './lab-text.ts';

/** Characters of records up to which a lab is so small that a thread would not pay off. */
const SMALL_CHARACTERS = 64 * 1024;
/** The same for a topology, in nodes, links and drawings. */
const FEW_RECORDS = 100;

const thread = new TaskThread<LabTextRequest | TopologyTextRequest, Uint8Array<ArrayBuffer> | undefined>({
  name: 'lab-text',
  source: new URL('./lab-text-worker.ts', import.meta.url),
  resourceLimits: { maxOldGenerationSizeMb: 1024, maxYoungGenerationSizeMb: 16 },
  idleMs: 2_000,
});

/** As `labText`. */
export async function labTextBeside(request: LabTextRequest): Promise<Uint8Array<ArrayBuffer> | undefined> {
  if (request.records.length <= SMALL_CHARACTERS) return labText(request);
  return beside(request, () => labText(request));
}

/** As `serializeTopology`, encoded. Passing a topology to the thread takes a tenth of the time of writing it. */
export async function topologyTextBeside(topology: Topology): Promise<Uint8Array<ArrayBuffer>> {
  const here = (): Uint8Array<ArrayBuffer> => topologyText({ topology });
  if (recordsOf(topology) <= FEW_RECORDS) return here();
  return (await beside({ topology }, here)) ?? here();
}

async function beside<Text>(
  request: LabTextRequest | TopologyTextRequest,
  here: () => Text,
): Promise<Uint8Array<ArrayBuffer> | Text | undefined> {
  try {
    return await thread.run(request);
  } catch (error) {
    if (!(error instanceof ThreadEnded)) throw error;
    log.warn('the thread that writes labs has ended; this one is written without', { reason: error.message });
    return here();
  }
}
