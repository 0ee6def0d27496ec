// Makes the text of a lab's file beside the main thread, which has clients to serve meanwhile.
import { log } from '../../host/log.ts';
import { TaskThread, ThreadEnded } from '../../host/task-thread.ts';
import { type LabTextRequest, labText } from './lab-text.ts';

/** Characters of records up to which a lab is so small that handing it over costs as much. */
const SMALL_CHARACTERS = 64 * 1024;

const thread = new TaskThread<LabTextRequest, Uint8Array<ArrayBuffer> | undefined>({
  name: 'lab-text',
  source: new URL('./lab-text-worker.ts', import.meta.url),
  resourceLimits: { maxOldGenerationSizeMb: 1024, maxYoungGenerationSizeMb: 16 },
  idleMs: 2_000,
});

/** As `labText`. */
export async function labTextBeside(request: LabTextRequest): Promise<Uint8Array<ArrayBuffer> | undefined> {
  if (request.records.length <= SMALL_CHARACTERS) return labText(request);
  try {
    return await thread.run(request);
  } catch (error) {
    if (!(error instanceof ThreadEnded)) throw error;
    log.warn('the thread that writes labs has ended; this one is written without', { reason: error.message });
    return labText(request);
  }
}
