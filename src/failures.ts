// What the domain may answer instead of success. The closed union below becomes status codes in one place (http/app/errors.ts).

/** Every way in which a domain verb can fail in a foreseen manner. */
export type FailureCode =
  | 'invalid' // the request makes no sense as it stands: 400
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
  /** Class name that release 2.2.57 gives in the member `exception`, such as `VPCSError`. */
  exception?: string;
  /** Name of an image that is missing; the answer then has the release's `exception` for that. */
  image?: string;
  cause?: unknown;
}

/** A foreseen failure of a domain verb; its message goes to the client, so it names the field and the fix. */
export class Failure extends Error {
  readonly code: FailureCode;
  readonly exception: string | undefined;
  readonly image: string | undefined;

  constructor(code: FailureCode, message: string, details: FailureDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'Failure';
    this.code = code;
    this.exception = details.exception;
    this.image = details.image;
  }
}

/** The text of anything thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** The `code` of a system error (`ENOENT`, `EADDRINUSE` ...), if it has one. */
export function systemCode(thrown: unknown): string | undefined {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : undefined;
}
