// Trusted proxies: their headers name the real client and say whether it uses TLS.
import { isAddress, Networks } from '../../host/network/address-lists.ts';

export interface SeenClient {
  address: string;
  /** Whether the client uses TLS. */
  secure: boolean;
}

/** Reads a request header by its lower-case name. */
type ReadHeader = (name: string) => string | undefined;

export class TrustedProxies {
  readonly #proxies: Networks;

  /** @param names addresses and networks */
  constructor(names: readonly string[]) {
    this.#proxies = new Networks(names);
  }

  /** The client of a request. `X-Forwarded-For` and `X-Forwarded-Proto` are used only on connections from trusted proxies. */
  client(connection: SeenClient, header: ReadHeader): SeenClient {
    if (!this.#proxies.includes(connection.address)) return connection;
    const scheme = listOf(header('x-forwarded-proto')).at(-1)?.toLowerCase();
    const secure = scheme === 'https' || (scheme !== 'http' && connection.secure);
    // Each proxy appends its client. The last item that is not a trusted proxy is the client, even if it is no address: earlier ones may
    // be forged.
    const client = listOf(header('x-forwarded-for'))
      .map(withoutPort)
      .findLast((item) => !this.#proxies.includes(item));
    return { address: client !== undefined && isAddress(client) ? client : connection.address, secure };
  }
}

/** Some proxies append `192.0.2.1:50000` or `[2001:db8::1]:50000`. */
function withoutPort(item: string): string {
  return item.replace(/^\[([^\]]*)\](?::\d+)?$|^([^:]+):\d+$/, '$1$2');
}

function listOf(header: string | undefined): string[] {
  return (header ?? '').split(',').map((item) => item.trim());
}
