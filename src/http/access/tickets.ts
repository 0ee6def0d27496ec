// One-time tickets for WebSockets, for browsers that send no password with them, such as Safari.
import { randomBytes } from 'node:crypto';
import { SERVER_ROUTES } from '../../api/routes/server.ts';
import { invalid, unavailable } from '../../failures.ts';
import { type Route, routesOf } from '../app/route.ts';
import type { Identity } from './identity.ts';

const { route } = routesOf(SERVER_ROUTES);

const TICKET_BYTES = 32;
const LIFE_MS = 30_000;
/** Maximum unused tickets per account; after a network failure a page needs several at once. */
const MOST = 128;
/** Maximum over all accounts. */
const MOST_OF_ALL = 16_384;

interface Ticket {
  path: string;
  address: string;
  /** The client's tag. */
  tag: string;
  /** The account's id. */
  account: string;
  /** On the given clock. */
  end: number;
}

export class Tickets {
  readonly #now: () => number;
  /** By ticket, oldest first. */
  readonly #tickets = new Map<string, Ticket>();
  /** Number of unused tickets, by account. */
  readonly #unused = new Map<string, number>();

  /** @param now milliseconds on a monotonic clock */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /**
   * A ticket for opening this path (without query) once from this address.
   * @param identity undefined without authentication
   * @throws Failure `unavailable` if there are too many
   */
  issue(path: string, address: string, identity: Pick<Identity, 'id' | 'tag'> | undefined): string {
    this.#forget();
    const account = identity?.id ?? '';
    const unused = this.#unused.get(account) ?? 0;
    if (unused >= MOST || this.#tickets.size >= MOST_OF_ALL)
      throw unavailable(`There are ${unused} unused tickets: try again in ${LIFE_MS / 1000} s.`);
    const text = randomBytes(TICKET_BYTES).toString('base64url');
    this.#tickets.set(text, { path, address, account, tag: identity?.tag ?? '', end: this.#now() + LIFE_MS });
    this.#unused.set(account, unused + 1);
    return text;
  }

  /** The tag of the ticket's owner if the ticket is for this path and address. The ticket is used up in any case. */
  take(text: string, path: string, address: string): string | undefined {
    const ticket = this.#tickets.get(text);
    this.#delete(text);
    if (ticket === undefined || ticket.end <= this.#now()) return undefined;
    return ticket.path === path && ticket.address === address ? ticket.tag : undefined;
  }

  #forget(): void {
    for (const [text, { end }] of this.#tickets) {
      if (end > this.#now()) return;
      this.#delete(text);
    }
  }

  #delete(text: string): void {
    const ticket = this.#tickets.get(text);
    if (ticket === undefined) return;
    this.#tickets.delete(text);
    const left = (this.#unused.get(ticket.account) ?? 0) - 1;
    if (left > 0) this.#unused.set(ticket.account, left);
    else this.#unused.delete(ticket.account);
  }
}

/** The ticket in the query of a request target. */
export function ticketOf(target: string): string | undefined {
  const query = target.indexOf('?');
  return query < 0 ? undefined : (new URLSearchParams(target.slice(query)).get('ticket') ?? undefined);
}

/** @param isSocket whether a path is a WebSocket route */
export function ticketRoute(tickets: Tickets, isSocket: (path: string) => boolean): Route {
  const _words = {
    summary:
      'Ticket for one opening of a WebSocket, as its query parameter ticket, within 30 s, from the same address (an extension)',
    errors: [503],
  };
  return route('POST /v2/tickets', ({ body: { path }, client }) => {
    if (!isSocket(path) || /[?#]/.test(path))
      throw invalid('path: name a WebSocket of this server, such as /v2/notifications/ws, without a query.');
    return {
      path,
      ticket: tickets.issue(path, client.address, client.identity),
      expires_in: LIFE_MS / 1000,
    };
  });
}
