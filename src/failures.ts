// The expected errors of the domain. http/app/errors.ts is the only place that maps them to status codes.

/** All kinds of expected errors. */
export type FailureCode =
  | 'invalid' // the request is invalid: 400
  | 'unauthorized' // 401
  | 'forbidden' // 403
  | 'not-found' // 404
  | 'time-out' // 408
  | 'conflict' // 409
  | 'image-missing' // 409, with the image's name
  | 'too-large' // 413
  | 'internal' // 500
  | 'unavailable' // 503
  | 'out-of-space'; // 507

export interface FailureDetails {
  /** Class name for the member `exception` in release 2.2.57, such as `VPCSError`. */
  exception?: string;
  /** Name of a missing image; the response then has the release's `exception` for it. */
  image?: string;
  /** Seconds after which the same request may succeed: the header `Retry-After`. */
  retrySeconds?: number;
  cause?: unknown;
}

/** An expected error. Its message is shown to the client, so it names the member and the fix. */
export class Failure extends Error {
  readonly code: FailureCode;
  readonly exception: string | undefined;
  readonly image: string | undefined;
  readonly retrySeconds: number | undefined;

  constructor(code: FailureCode, message: string, details: FailureDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'Failure';
    this.code = code;
    this.exception = details.exception;
    this.image = details.image;
    this.retrySeconds = details.retrySeconds;
  }
}

const failing =
  (code: FailureCode) =>
  (message: string, details?: FailureDetails): Failure =>
    new Failure(code, message, details);

export const invalid = failing('invalid');
export const unauthorized = failing('unauthorized');
export const forbidden = failing('forbidden');
export const notFound = failing('not-found');
export const timedOut = failing('time-out');
export const conflict = failing('conflict');
export const tooLarge = failing('too-large');
export const internal = failing('internal');
export const unavailable = failing('unavailable');
export const outOfSpace = failing('out-of-space');

/** One that passes within seconds, such as a change of the cluster's controller. */
export const temporary = (message: string, cause?: unknown): Failure =>
  unavailable(message, { retrySeconds: 2, cause });

/** The message of any thrown value. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** The `code` of a system error (`ENOENT`, `EADDRINUSE` ...), if any. */
export function systemCode(thrown: unknown): string | undefined {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : undefined;
}

/** `.catch(ignore)`: the following code does not depend on success. */
export const ignore = (): void => {};

/** For `catch`: undefined for a file that does not exist. */
export function ignoreMissing(error: unknown): undefined {
  if (systemCode(error) !== 'ENOENT') throw error;
}

/** For `catch`: undefined for a Failure `not-found`. */
export function ignoreNotFound(error: unknown): undefined {
  if (!(error instanceof Failure && error.code === 'not-found')) throw error;
}
