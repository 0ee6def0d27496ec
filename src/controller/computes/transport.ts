// How the controller reaches a compute: requests and sockets below /v2/compute. The compute of this process is called
// without a network (an App is such a transport), a remote one over HTTP (remote.ts); all layers above are the same for
// both.
import type { ComputeFeed } from '../../events/feed.ts';
import { Failure } from '../../failures.ts';
import type { Called, CallOptions, RequestOptions } from '../../http/app/app.ts';
import type { MessageSocket } from '../../http/sockets/message-socket.ts';

export interface ComputeTransport {
  /** `target` is path and query, used exactly as written. @throws ComputeUnreachable */
  request(target: string, options?: RequestOptions): Promise<Response>;
  /** The same with objects for a JSON body and answer; others are as with `request`, which is used where this is absent. */
  call?(target: string, options: CallOptions): Promise<Called | Response>;
  /** The compute's notifications; where this is absent, they come over a socket. */
  follow?(): ComputeFeed;
  /** @throws Failure with the compute's rejection, ComputeUnreachable */
  openSocket(target: string, headers?: Record<string, string>): Promise<MessageSocket>;
  /** Ends pending requests and closes connections. */
  close?(): void;
}

/** The compute gave no usable answer; clients get 409, as from the release. */
export class ComputeUnreachable extends Failure {
  /** It did not answer in time; a few requests report that to their clients. */
  readonly late: boolean;

  constructor(message: string, details: { late?: boolean; cause?: unknown } = {}) {
    super('conflict', message, { cause: details.cause });
    this.late = details.late ?? false;
  }
}
