// The thread for decompression that Node does not support: it has any number of contents open and returns the next piece of one per request.
import { serveTasks } from '../../host/processes/task-thread.ts';
import { decoder, type Pieces } from './decoders.ts';
import type { DecodingRequest } from './decoding-thread.ts';

// seek-bzip creates its buffers with `new Buffer`.
process.noDeprecation = true;

const open = new Map<number, Pieces>();

serveTasks(
  async ({ id, ...request }: DecodingRequest): Promise<Uint8Array<ArrayBuffer> | undefined> => {
    if ('content' in request) {
      open.set(id, await decoder(request.content));
      return undefined;
    }
    const pieces = open.get(id);
    if ('close' in request) {
      open.delete(id);
      pieces?.return();
      return undefined;
    }
    const next = pieces?.next();
    return next?.done === false ? next.value : undefined;
  },
  (piece) => (piece === undefined ? [] : [piece.buffer]),
);
