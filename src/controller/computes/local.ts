// The compute of this process: its routes are called with objects and answer objects, and its events come as they were emitted. Files,
// captures and consoles go through the same requests and sockets as with a remote compute (remote.ts).
import type { ComputeFeed } from '../../events/feed.ts';
import type { App } from '../../http/app/app.ts';
import type { ComputeTransport } from './transport.ts';

/** @param follow subscribes to the compute's events */
export function localTransport(app: App, follow: () => ComputeFeed): ComputeTransport {
  return {
    call: (target, options) => app.call(target, options),
    request: (target, options) => app.request(target, options),
    openSocket: (target, headers) => app.openSocket(target, headers),
    follow,
  };
}
