// Writes the text of large labs' files in a thread, to keep the main thread free for clients.
import type { Topology } from '../../api/topology.ts';
import { TaskThread } from '../../host/processes/task-thread.ts';
import { recordsOf } from './document.ts';
import { type LabTextRequest, labText, type TopologyTextRequest, topologyText } from './lab-text.ts';

const ENDED = 'the thread that writes labs has ended; this one is written without';
/** Characters of records up to which a lab is so small that a thread would not pay off. */
const SMALL_CHARACTERS = 64 * 1024;
/** The same for a topology, in nodes, links and drawings. */
const FEW_RECORDS = 100;

const thread = new TaskThread<LabTextRequest | TopologyTextRequest, Uint8Array<ArrayBuffer> | undefined>({
  name: 'lab-text',
  source: new URL('./lab-text-worker.ts', import.meta.url),
  resourceLimits: { maxOldGenerationSizeMb: 1024, maxYoungGenerationSizeMb: 16 },
});

/** As `labText`. */
export async function labTextBeside(request: LabTextRequest): Promise<Uint8Array<ArrayBuffer> | undefined> {
  if (request.records.length <= SMALL_CHARACTERS) return labText(request);
  return thread.runOr(request, () => labText(request), ENDED);
}

/** As `serializeTopology`, encoded. Passing a topology to the thread takes a tenth of the time of writing it. */
export async function topologyTextBeside(topology: Topology): Promise<Uint8Array<ArrayBuffer>> {
  const here = (): Uint8Array<ArrayBuffer> => topologyText({ topology });
  if (recordsOf(topology) <= FEW_RECORDS) return here();
  return (await thread.runOr({ topology }, here, ENDED)) ?? here();
}
