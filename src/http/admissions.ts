// What lasts: WebSockets and streams of those who were let in. It ends when they would not be let in any more.
import { Failure } from '../failures.ts';
import { log } from '../host/log.ts';
import type { Authentication } from './authentication.ts';
import type { Identity } from './identity.ts';

/** How often it is looked at who is still allowed what he was. */
const CHECK_MS = 2_000;

export interface Lasting {
  /** Of who was let in; undefined where nobody was asked. */
  tag: string | undefined;
  /** Throws a Failure when it would not be allowed any more. */
  check?: ((identity: Identity) => void) | undefined;
  end: (reason: string) => void;
}

export class Admissions {
  readonly #authentication: Authentication;
  readonly #lasting = new Set<Lasting>();
  #timer: NodeJS.Timeout | undefined;

  constructor(authentication: Authentication) {
    this.#authentication = authentication;
  }

  /** Looks after something that lasts. @returns what is to be called when it is over */
  watch(lasting: Lasting): () => void {
    this.#lasting.add(lasting);
    this.#timer ??= setInterval(() => void this.check(), CHECK_MS).unref();
    return () => {
      this.#lasting.delete(lasting);
      if (this.#lasting.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  /** Ends now what is not allowed any more. Accounts that cannot be read let nobody in; those who are in may stay. */
  async check(): Promise<void> {
    for (const lasting of [...this.#lasting]) {
      try {
        const there = await this.#authentication.stillThere(lasting.tag);
        if (there === undefined) lasting.end('The password was changed, or the account or token is gone.');
        else if (there.identity) lasting.check?.(there.identity);
      } catch (error) {
        if (error instanceof Failure && ['forbidden', 'not-found'].includes(error.code)) lasting.end(error.message);
        else log.debug('accounts cannot be read', { error: String(error) });
      }
    }
  }
}
