// Records when each token was last used and each account last logged in, to the minute.
import { messageOf } from '../../failures.ts';
import { log } from '../../host/log.ts';
import type { Documents } from '../../store/documents.ts';

/** How often (ms) a use is written. */
const PACE_MS = 60_000;

export class LastUses {
  readonly #documents: Documents;
  readonly #kind: 'token-uses' | 'logins';
  /** Milliseconds since 1970, by id of the token or account. */
  readonly #uses = new Map<string, number>();

  constructor(documents: Documents, kind: 'token-uses' | 'logins') {
    this.#documents = documents;
    this.#kind = kind;
  }

  async start(): Promise<void> {
    for (const { id, body } of await this.#documents.list(this.#kind)) {
      if (typeof body['last_used'] === 'string') this.#uses.set(id, Date.parse(body['last_used']));
    }
  }

  /** Never throws: a full disk must not end sessions. */
  used(id: string): void {
    const now = Date.now();
    if (now - (this.#uses.get(id) ?? 0) < PACE_MS) return;
    this.#uses.set(id, now);
    this.#documents.put(this.#kind, id, { last_used: new Date(now).toISOString() }).catch((error: unknown) => {
      log.debug('the last use cannot be noted', { kind: this.#kind, error: messageOf(error) });
    });
  }

  /** ISO 8601; undefined before the first use. */
  of(id: string): string | undefined {
    const at = this.#uses.get(id);
    return at === undefined ? undefined : new Date(at).toISOString();
  }

  async forget(id: string): Promise<void> {
    this.#uses.delete(id);
    await this.#documents.delete(this.#kind, id);
  }
}
