// A request as it came, with its target as it stood on the wire.
import { IncomingMessage } from 'node:http';

/**
 * A request that keeps its target as it stood on the wire. The adaptor makes a URL of `url`, which folds dot segments and refuses
 * some spellings; routing goes by the target instead, so `url` is the same for all requests.
 */
export class WireMessage extends IncomingMessage {
  target = '/';

  // @ts-expect-error: a plain property of the base class, set by the parser
  override get url(): string {
    return '/';
  }

  override set url(value: string) {
    this.target = originForm(value);
  }
}

/** `GET http://host/path` is the same as `GET /path`. */
function originForm(target: string): string {
  return target.startsWith('/') ? target : target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '') || '/';
}
