// What a compute's answer means to the controller's own client (interface of release 2.2.57, section 15.4).
import { Failure, type FailureCode } from '../../failures.ts';

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

/** A compute's refusal, with what only the controller itself may use of it. */
export class ComputeRefusal extends Failure {
  /** Status that the compute answered with. */
  readonly status: number;
  /** Set when the compute misses an image: the name to look for. */
  readonly missingImage: string | undefined;

  constructor(code: FailureCode, message: string, status: number, missingImage: string | undefined) {
    super(code, message);
    this.status = status;
    this.missingImage = missingImage;
  }
}

function members(text: string): Record<string, unknown> {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** The failure that an answer of 300 and above means. `call` is the method and the path below /v2/compute. */
export function refusalOf(status: number, text: string, call: string): ComputeRefusal {
  const body = members(text);
  const said = typeof body['message'] === 'string' ? body['message'] : text.slice(0, 500) || `status ${status}`;
  const message = status === 404 ? `${call} on the compute: ${said}` : said;
  const missing = body['exception'] === 'ImageMissingError' ? String(body['image']) : undefined;
  return new ComputeRefusal(CODES[status] ?? 'internal', message, status, missing);
}
