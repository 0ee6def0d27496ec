// Decompresses bzip2 and LZMA entries of archives in a separate thread.
import { TaskThread } from '../../host/processes/task-thread.ts';
import type { EncodedContent } from './decoders.ts';

export type DecodingRequest =
  | { id: number; content: EncodedContent }
  /** Requests the next piece; undefined at the end. */
  | { id: number }
  /** No more pieces are needed. */
  | { id: number; close: true };

const thread = new TaskThread<DecodingRequest, Uint8Array<ArrayBuffer> | undefined>({
  name: 'decoding',
  source: new URL('./decoding-worker.ts', import.meta.url),
  resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 8 },
  // A piece takes a fraction of a second. A malicious stream must not hold up all imports for ever.
  longestTaskMs: 20_000,
});

let lastId = 0;

/**
 * The content in pieces. Its descriptor must stay open until the end. @throws Error with the reason, Failure `conflict`
 * for content that is too large
 */
export async function* decoded(content: EncodedContent): AsyncGenerator<Buffer> {
  using _hold = thread.hold();
  const id = ++lastId;
  try {
    await thread.run({ id, content });
    for (let piece = await thread.run({ id }); piece !== undefined; piece = await thread.run({ id }))
      yield Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
  } finally {
    await thread.run({ id, close: true }).catch(() => {});
  }
}
