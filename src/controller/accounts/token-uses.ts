// Records when each token was last used, to the minute.
import { messageOf } from '../../failures.ts';
import { log } from '../../host/log.ts';
import type { Documents } from '../../store/documents.ts';

/** How often (ms) the use of a token is written. */
const PACE_MS = 60_000;

export class TokenUses {
  readonly #documents: Documents;
  /** Milliseconds since 1970, by token id. */
  readonly #uses = new Map<string, number>();

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  async start(): Promise<void> {
    for (const { id, body } of await this.#documents.list('token-uses')) {
      if (typeof body['last_used'] === 'string') this.#uses.set(id, Date.parse(body['last_used']));
    }
  }

  /** Never throws: a full disk must not end sessions. */
  used(id: string): void {
    const now = Date.now();
    if (now - (this.#uses.get(id) ?? 0) < PACE_MS) return;
    this.#uses.set(id, now);
    this.#documents.put('token-uses', id, { last_used: new Date(now).toISOString() }).catch((error: unknown) => {
      log.debug('the use of a token cannot be noted', { error: messageOf(error) });
    });
  }

  /** ISO 8601; undefined for an unused token. */
  of(id: string): string | undefined {
    const at = this.#uses.get(id);
    return at === undefined ? undefined : new Date(at).toISOString();
  }

  async forget(id: string): Promise<void> {
    this.#uses.delete(id);
    await this.#documents.delete('token-uses', id);
  }
}
