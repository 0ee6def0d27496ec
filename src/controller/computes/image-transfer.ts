// Sends an image from one host to another in one upload, which goes on where it was cut.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import * as v from 'valibot';
import type { UploadAnnounced } from '../../api/routes/compute-images.ts';
import type { NodeType } from '../../api/vocabulary.ts';
import { conflict, Failure, ignore, messageOf } from '../../failures.ts';
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
  /** Another host that has the same image; none of those that cannot send the rest of it. */
  another: (unable: ReadonlySet<Compute>) => Promise<Compute | undefined>;
}

/** @throws ComputeRefusal of the target, ComputeUnreachable, Failure `conflict` */
export async function transferImage({ from, to, type, image, another }: ImageTransfer): Promise<void> {
  const upload = `/${type}/uploads/${randomUUID()}`;
  const source = `/${type}/images/${encodeURIComponent(image.filename)}`;
  const begin = async (): Promise<number> => v.parse(Upload, await to.put(upload, { body: image })).offset;
  let offset: number;
  try {
    offset = await begin();
  } catch (error) {
    // A compute of the release takes images in one piece only.
    if (!lacksRoute(error)) throw error;
    return void (await sendPiece({ from, to, source, offset: 0 }, source));
  }
  try {
    await sendAll({ from, to, source, upload, begin, image, another }, offset);
  } catch (error) {
    // Its part would take the target's space for an hour.
    await to.delete(upload, { connect: false }).catch(ignore);
    throw error;
  }
}

interface Sending extends Pick<ImageTransfer, 'from' | 'to' | 'image' | 'another'> {
  /** Paths of the image on `from`, and of the upload on `to`. */
  source: string;
  upload: string;
  /** Begins the upload, or resumes it; resolves to the next byte. */
  begin(): Promise<number>;
}

async function sendAll(sending: Sending, first: number): Promise<void> {
  const { to, source, upload, begin, image, another } = sending;
  let { from } = sending;
  const unable = new Set<Compute>();
  let offset = first;
  let progressed = performance.now();
  do {
    try {
      const reached = v.parse(Upload, await sendPiece({ from, to, source, offset }, `${upload}/${offset}`)).offset;
      if (reached <= offset) throw conflict(`${from.name} sent nothing of the image.`);
      offset = reached;
      progressed = performance.now();
    } catch (error) {
      if (isFinal(error)) throw error;
      await sleep(AGAIN_MS);
      if (from.connected && error instanceof Failure && error.code === 'conflict') unable.add(from);
      if (!from.connected || unable.has(from)) from = (await another(unable)) ?? from;
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

interface Piece extends Pick<ImageTransfer, 'from' | 'to'> {
  /** Path of the image on `from`. */
  source: string;
  offset: number;
}

async function sendPiece({ from, to, source, offset }: Piece, path: string): Promise<unknown> {
  const body = await contentFrom(from, source, offset);
  try {
    return await answerJson(await to.pass('POST', path, { body, limit: PASSED_ON_LIMIT_MS }), `POST ${path}`);
  } catch (error) {
    // Nothing has read it if the target cannot be reached; the source would keep it open. One that is being read ends by itself.
    await body.cancel(error).catch(ignore);
    throw error;
  }
}

async function contentFrom(from: Compute, path: string, offset: number): Promise<ReadableStream<Uint8Array>> {
  const headers = offset > 0 ? { Range: `bytes=${offset}-` } : {};
  const answer = await from.pass('GET', path, { headers, limit: PASSED_ON_LIMIT_MS });
  if (answer.status >= 300) throw refusalOf(answer.status, await answer.text(), `GET ${path}`);
  if (offset > 0 && answer.status !== 206) {
    await answer.body?.cancel();
    throw conflict(`${from.name} runs an older release, which cannot send the rest of an image.`);
  }
  return answer.body ?? new Blob([]).stream();
}
