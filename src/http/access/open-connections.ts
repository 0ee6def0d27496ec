// Long-lived requests: WebSockets, streams, slow bodies and long work. They end when the client loses its right.
import { Failure, forbidden } from '../../failures.ts';
import { log } from '../../host/log.ts';
import type { Authentication } from './authentication.ts';
import type { Identity } from './identity.ts';

/** How often (ms) rights are checked again. */
const CHECK_MS = 2_000;

export interface Lasting {
  /** The client's tag; undefined without authentication. */
  tag: string | undefined;
  /** Throws a Failure if the client is no longer allowed. */
  check?: ((identity: Identity) => void) | undefined;
  end: (reason: Failure) => void;
}

export class Admissions {
  readonly #authentication: Authentication;
  readonly #lasting = new Set<Lasting>();
  #timer: NodeJS.Timeout | undefined;

  constructor(authentication: Authentication) {
    this.#authentication = authentication;
  }

  /**
   * Registers a long-lived request.
   * @returns a function to call when it has ended
   */
  watch(lasting: Lasting): () => void {
    this.#lasting.add(lasting);
    this.#timer ??= setInterval(() => void this.check(), CHECK_MS).unref();
    return () => this.#forget(lasting);
  }

  #forget(lasting: Lasting): void {
    this.#lasting.delete(lasting);
    if (this.#lasting.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** @throws Failure `forbidden`, `not-found` if it is no longer allowed */
  async confirm({ tag, check }: Pick<Lasting, 'tag' | 'check'>): Promise<void> {
    const there = await this.#authentication.stillThere(tag);
    if (there === undefined) throw forbidden('The password was changed, or the account or token is gone.');
    if (there.identity) check?.(there.identity);
  }

  /** Ends everything that is no longer allowed. If the accounts cannot be read, open connections stay. */
  async check(): Promise<void> {
    for (const lasting of [...this.#lasting]) {
      try {
        await this.confirm(lasting);
      } catch (error) {
        if (error instanceof Failure && ['forbidden', 'not-found'].includes(error.code)) {
          this.#forget(lasting);
          lasting.end(error);
        } else log.debug('accounts cannot be read', { error: String(error) });
      }
    }
  }
}
