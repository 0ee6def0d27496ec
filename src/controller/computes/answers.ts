// Interprets a compute's answers (as in release 2.2.57). Computes may be of any make, faulty or hostile: an answer may
// be endless, not JSON, or of the wrong form.
import { conflict, Failure, type FailureCode } from '../../failures.ts';
import { isObject } from '../../store/json.ts';
import { parseJsonInTurns } from '../../store/json-turns.ts';
import { ComputeUnreachable } from './transport.ts';

const CODES: Record<number, FailureCode> = {
  400: 'invalid',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not-found',
  408: 'time-out',
  409: 'conflict',
  413: 'too-large',
  503: 'unavailable',
  504: 'time-out',
  507: 'out-of-space',
};

/** The largest JSON answer in bytes: about a list of a million files. */
const ANSWER_LIMIT_BYTES = 64 * 1024 * 1024;
/** Bytes that are read of a rejection. */
const REFUSAL_LIMIT_BYTES = 64 * 1024;
/** Characters shown to the client of a rejection without a message. */
const EXCERPT_CHARACTERS = 500;

/** A compute's rejection, with details for the controller only. */
export class ComputeRefusal extends Failure {
  readonly status: number;
  /** The image that is missing on the compute, if that is the reason. */
  readonly missingImage: string | undefined;
  readonly retryAfter: string | null;

  constructor(
    code: FailureCode,
    message: string,
    { status, missingImage, retryAfter }: Pick<ComputeRefusal, 'status' | 'missingImage' | 'retryAfter'>,
  ) {
    super(code, message);
    this.status = status;
    this.missingImage = missingImage;
    this.retryAfter = retryAfter;
  }
}

/** The statuses for an unknown route. */
const NO_ROUTE: readonly number[] = [404, 405];

/** Whether the compute does not have the route; computes of the release do not have our extensions. */
export function lacksRoute(error: unknown): boolean {
  return error instanceof ComputeRefusal && NO_ROUTE.includes(error.status);
}

function members(text: string): Record<string, unknown> {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/**
 * The failure for an answer of 300 and above. `call` is the method and the path below /v2/compute, `retryAfter` the
 * header of that name.
 */
export function refusalOf(
  status: number,
  text: string,
  call: string,
  retryAfter: string | null = null,
): ComputeRefusal {
  if (status < 400) {
    const referred = `${call}: at the address of the compute is something that refers elsewhere (status ${status}), which is not followed; correct the address of the compute.`;
    return new ComputeRefusal('conflict', referred, { status, missingImage: undefined, retryAfter });
  }
  const body = members(text);
  const said =
    typeof body['message'] === 'string' ? body['message'] : text.slice(0, EXCERPT_CHARACTERS) || `status ${status}`;
  const message = status === 404 ? `${call} on the compute: ${said}` : said;
  const missingImage = body['exception'] === 'ImageMissingError' ? String(body['image']) : undefined;
  return new ComputeRefusal(CODES[status] ?? 'internal', message, { status, missingImage, retryAfter });
}

/**
 * The text of an answer. A rejection is cut off at 64 KiB; other answers above 64 MiB are a failure.
 * @throws Failure `conflict`, ComputeUnreachable when it breaks off
 */
export async function answerText(answer: Response, call: string): Promise<string> {
  const refused = answer.status >= 300;
  const limit = refused ? REFUSAL_LIMIT_BYTES : ANSWER_LIMIT_BYTES;
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    // Leaving the loop early cancels the stream and thereby the connection.
    for await (const chunk of answer.body ?? []) {
      chunks.push(chunk);
      size += chunk.byteLength;
      if (size > limit) break;
    }
  } catch (error) {
    throw new ComputeUnreachable(`The compute's answer to ${call} broke off.`, { cause: error });
  }
  if (size > limit && !refused) {
    throw conflict(`The compute answered ${call} with more than ${ANSWER_LIMIT_BYTES / 1024 / 1024} MiB.`);
  }
  return Buffer.concat(chunks).toString('utf8', 0, Math.min(size, limit));
}

/**
 * The JSON of an answer; undefined if it is empty.
 * @throws ComputeRefusal for a rejection, Failure `conflict` for anything but JSON
 */
export async function answerJson(answer: Response, call: string): Promise<unknown> {
  const text = await answerText(answer, call);
  if (answer.status >= 300) throw refusalOf(answer.status, text, call, answer.headers.get('retry-after'));
  if (text === '') return undefined;
  try {
    return await parseJsonInTurns(text);
  } catch (error) {
    throw conflict(`The compute answered ${call} with something that is not JSON.`, { cause: error });
  }
}

/** @throws Failure `conflict` unless the answer is an object */
export function mustBeObject(value: unknown, call: string): Record<string, unknown> {
  if (isObject(value)) return value;
  throw conflict(`The compute answered ${call} with something that is not an object.`);
}

export const isListOfObjects = (value: unknown): value is Record<string, unknown>[] =>
  Array.isArray(value) && value.every(isObject);

/** @throws Failure `conflict` unless the answer is a list of objects */
export function mustBeList(value: unknown, call: string): Record<string, unknown>[] {
  if (isListOfObjects(value)) return value;
  throw conflict(`The compute answered ${call} with something that is not a list.`);
}
