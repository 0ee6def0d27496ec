// What lasts: WebSockets, streams, and requests whose bodies or work take their time. It ends when the client loses the right to it.
import { Failure } from '../../failures.ts';
import { log } from '../../host/log.ts';
import type { Authentication } from './authentication.ts';
import type { Identity } from './identity.ts';

/** How often the rights of what lasts are checked again. */
const CHECK_MS = 2_000;

export interface Lasting {
  /** Of who was let in; undefined where nobody was asked. */
  tag: string | undefined;
  /** Throws a Failure when it would not be allowed any more. */
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

  /** @throws Failure `forbidden`, `not-found` if it is not allowed any more */
  async confirm({ tag, check }: Pick<Lasting, 'tag' | 'check'>): Promise<void> {
    const there = await this.#authentication.stillThere(tag);
    if (there === undefined)
      throw new Failure('forbidden', 'The password was changed, or the account or token is gone.');
    if (there.identity) check?.(there.identity);
  }

  /** Ends now what is not allowed any more. Accounts that cannot be read let nobody in; those who are in may stay. */
  async check(): Promise<void> {
    for (const lasting of [...this.#lasting]) {
      try {
        await this.confirm(lasting);
      } catch (error) {
        if (error instanceof Failure && ['forbidden', 'not-found'].includes(error.code)) lasting.end(error);
        else log.debug('accounts cannot be read', { error: String(error) });
      }
    }
  }
}
