// Sends an image from one host to another in one upload, which goes on where it was cut.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import * as v from 'valibot';
import type { UploadAnnounced } from '../../api/routes/compute-images.ts';
import type { NodeType } from '../../api/vocabulary.ts';
import { Failure, messageOf } from '../../failures.ts';
import { log } from '../../host/log.ts';
import { answerJson, ComputeRefusal, lacksRoute, refusalOf } from './answers.ts';
import type { Compute } from './compute.ts';
import { PASSED_ON_LIMIT_MS } from './limits.ts';

/** How long (ms) a transfer without progress is tried again. */
const PATIENCE_MS = 120_000;
const AGAIN_MS = 1_000;

/** Statuses after which a transfer goes on: it broke off, or the target was started again and knows nothing of it. */
const PASSING = [404, 408, 503, 504];
const isFinal = (error: unknown): boolean => error instanceof ComputeRefusal && !PASSING.includes(error.status);

const Upload = v.object({ offset: v.number() });

export interface ImageTransfer {
  from: Compute;
  to: Compute;
  type: NodeType;
  image: UploadAnnounced;
}

/** @throws ComputeRefusal of the target, ComputeUnreachable, Failure `conflict` */
export async function transferImage({ from, to, type, image }: ImageTransfer): Promise<void> {
  const upload = `/${type}/uploads/${randomUUID()}`;
  const source = `/${type}/images/${encodeURIComponent(image.filename)}`;
  const begin = async (): Promise<number> => v.parse(Upload, await to.put(upload, { body: image })).offset;
  let offset: number;
  try {
    offset = await begin();
  } catch (error) {
    // A compute of the release takes images in one piece only.
    if (!lacksRoute(error)) throw error;
    const body = await contentFrom(from, source, 0);
    return void (await answerJson(await to.pass('POST', source, { body }), `POST ${source}`));
  }
  let progressed = performance.now();
  do {
    try {
      const body = await contentFrom(from, source, offset);
      const piece = `${upload}/${offset}`;
      const answer = await to.pass('POST', piece, { body, limit: PASSED_ON_LIMIT_MS });
      offset = v.parse(Upload, await answerJson(answer, `POST ${piece}`)).offset;
      progressed = performance.now();
    } catch (error) {
      if (isFinal(error)) throw error;
      await sleep(AGAIN_MS);
      // A target that was started again has dropped what it had.
      const reached = await begin().catch((failure: unknown) => {
        if (isFinal(failure)) throw failure;
        return undefined;
      });
      if (reached !== undefined && reached > offset) progressed = performance.now();
      if (performance.now() - progressed > PATIENCE_MS) throw error;
      if (reached === undefined) continue;
      if (reached !== offset)
        log.info('an image goes on where it was cut', {
          ...{ image: image.filename, from: from.name, to: to.name, offset: reached, reason: messageOf(error) },
        });
      offset = reached;
    }
  } while (offset < image.filesize);
}

async function contentFrom(from: Compute, path: string, offset: number): Promise<ReadableStream<Uint8Array>> {
  const headers = offset > 0 ? { Range: `bytes=${offset}-` } : {};
  const answer = await from.pass('GET', path, { headers, limit: PASSED_ON_LIMIT_MS });
  if (answer.status >= 300) throw refusalOf(answer.status, await answer.text(), `GET ${path}`);
  if (offset > 0 && answer.status !== 206) {
    await answer.body?.cancel();
    throw new Failure('conflict', `${from.name} runs an older release, which cannot send the rest of an image.`);
  }
  return answer.body ?? new Blob([]).stream();
}
