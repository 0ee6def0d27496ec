// How the controller reaches a compute: requests and sockets below /v2/compute. The compute of this process is reached without a
// network (an App is such a transport), a remote one over HTTP; everything above is the same for both.
import type { RequestOptions } from '../../http/app.ts';
import type { MessageSocket } from '../../http/sockets.ts';

export interface ComputeTransport {
  /** @throws Failure `conflict` when the compute cannot be reached */
  request(target: string, options?: RequestOptions): Promise<Response>;
  /** @throws Failure with the compute's refusal */
  openSocket(target: string): Promise<MessageSocket>;
}
