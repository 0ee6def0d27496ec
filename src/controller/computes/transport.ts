// How the controller reaches a compute: requests and sockets below /v2/compute. The compute of this process is reached without a
// network (an App is such a transport), a remote one over HTTP (remote.ts); everything above is the same for both.

import type { ComputeFeed } from '../../events/feed.ts';
import { Failure } from '../../failures.ts';
import type { Called, CallOptions, RequestOptions } from '../../http/app/app.ts';
import type { MessageSocket } from '../../http/sockets/message-socket.ts';

export interface ComputeTransport {
  /** `target` is path and query, used exactly as written. @throws ComputeUnreachable */
  request(target: string, options?: RequestOptions): Promise<Response>;
  /** The same with an object for a body, and for an answer if it is one of JSON. Where it is absent, `request` does with text. */
  call?(target: string, options: CallOptions): Promise<Called | Response>;
  /** The compute's notifications. Where it is absent, they come by a socket. */
  follow?(): ComputeFeed;
  /** @throws Failure with the compute's refusal, ComputeUnreachable */
  openSocket(target: string, headers?: Record<string, string>): Promise<MessageSocket>;
  /** Ends what is under way and gives connections back. */
  close?(): void;
}

/** Nothing that could be understood as an answer came from the compute: clients are told 409, as by the release. */
export class ComputeUnreachable extends Failure {
  /** It did not answer in time; a few verbs tell their clients so. */
  readonly late: boolean;

  constructor(message: string, details: { late?: boolean; cause?: unknown } = {}) {
    super('conflict', message, { cause: details.cause });
    this.late = details.late ?? false;
  }
}
