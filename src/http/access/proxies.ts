// Proxies before this server, which know better than the connection who the client is and whether it speaks TLS.
import { isAddress, Networks } from '../../host/network/address-lists.ts';

export interface SeenClient {
  address: string;
  /** Whether the client speaks TLS. */
  secure: boolean;
}

/** Reads a header of a request, by its name in lower case. */
type ReadHeader = (name: string) => string | undefined;

export class TrustedProxies {
  readonly #proxies: Networks;

  /** @param names addresses and networks */
  constructor(names: readonly string[]) {
    this.#proxies = new Networks(names);
  }

  /** The client of a request. `X-Forwarded-For` and `X-Forwarded-Proto` count on connections of trusted proxies alone. */
  client(connection: SeenClient, header: ReadHeader): SeenClient {
    if (!this.#proxies.includes(connection.address)) return connection;
    const scheme = listOf(header('x-forwarded-proto')).at(-1)?.toLowerCase();
    const secure = scheme === 'https' || (scheme !== 'http' && connection.secure);
    // Each proxy adds who has asked it: the last one that is no proxy of ours is the client; what stands before may be invented.
    const address = listOf(header('x-forwarded-for')).findLast(
      (name) => isAddress(name) && !this.#proxies.includes(name),
    );
    return { address: address ?? connection.address, secure };
  }
}

function listOf(header: string | undefined): string[] {
  return (header ?? '').split(',').map((item) => item.trim());
}
