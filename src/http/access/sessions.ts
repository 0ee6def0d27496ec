// Sessions of release 3.0.6: a login gives a token for 24 hours. Only its SHA-256 is stored. It ends with its account and with another
// password, and rests while the account is locked.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import * as v from 'valibot';
import type { Documents } from '../../store/documents.ts';
import { hashOfToken } from '../../store/roles.ts';

const HOUR_MS = 3_600_000;
const LIFE_MS = 24 * HOUR_MS;
const TOKEN_BYTES = 32;
/** Sessions of an account; the oldest end first. Scripts that log in each time need many. */
const MOST_OF_ACCOUNT = 100;
/** How often (ms) ended sessions are removed. */
const SWEEP_MS = HOUR_MS;

const Session = v.object({
  /** Id of the account. */
  account: v.string(),
  /** Milliseconds since 1970. */
  ends: v.number(),
  /** Made of the token and the account's password, so that it says nothing about either. */
  proof: v.string(),
});
export type Session = v.InferOutput<typeof Session>;

/** An account as sessions know it. */
interface Owner {
  id: string;
  name: string;
  /** Plain text or a hash. */
  password: string;
}

const encoded = (part: object | Buffer): string =>
  (Buffer.isBuffer(part) ? part : Buffer.from(JSON.stringify(part))).toString('base64url');

function proofOf(token: string, { password }: Pick<Owner, 'password'>): string {
  return createHmac('sha256', token).update(password).digest('hex');
}

function isSame(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}

export class Sessions {
  readonly #documents: Documents;
  /** By the SHA-256 of the token, oldest first. */
  readonly #sessions = new Map<string, Session>();
  #swept = 0;
  #loading: Promise<void> | undefined;

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  /** Read at the first use: most servers have no clients of release 3.0.6. */
  #loaded(): Promise<void> {
    this.#loading ??= this.#load();
    return this.#loading;
  }

  async #load(): Promise<void> {
    for (const { id, body } of await this.#documents.list('sessions')) {
      const parsed = v.safeParse(Session, body);
      if (parsed.success) this.#sessions.set(id, parsed.output);
    }
  }

  /** A token in the form of a JWT, as some clients read when it ends; its last part is random. */
  async begin(owner: Owner): Promise<string> {
    await this.#loaded();
    await this.#sweep();
    const ends = Date.now() + LIFE_MS;
    const claims = { sub: owner.name, exp: Math.floor(ends / 1000) };
    const token = [{ alg: 'none', typ: 'JWT' }, claims, randomBytes(TOKEN_BYTES)].map(encoded).join('.');
    const own = [...this.#sessions].filter(([, { account }]) => account === owner.id);
    for (const [id] of own.slice(0, Math.max(0, own.length - MOST_OF_ACCOUNT + 1))) await this.#end(id);
    await this.#keep(token, { account: owner.id, ends, proof: proofOf(token, owner) });
    return token;
  }

  /** The session of a token, with its id; undefined if there is none or it has ended. */
  async find(token: string): Promise<{ id: string; session: Session } | undefined> {
    await this.#loaded();
    const id = hashOfToken(token);
    const session = this.#sessions.get(id);
    return session === undefined || session.ends <= Date.now() ? undefined : { id, session };
  }

  /** Whether a session is still one of this account with this password. */
  isOf(token: string, { account, proof }: Session, owner: Pick<Owner, 'id' | 'password'>): boolean {
    return account === owner.id && isSame(proof, proofOf(token, owner));
  }

  /** When a session ends; undefined if it has. */
  async endOf(id: string): Promise<number | undefined> {
    await this.#loaded();
    return this.#sessions.get(id)?.ends;
  }

  /** Lets a session go on after its account got another password. */
  async renew(token: string, owner: Pick<Owner, 'id' | 'password'>): Promise<void> {
    const found = await this.find(token);
    if (found?.session.account !== owner.id) return;
    await this.#keep(token, { ...found.session, proof: proofOf(token, owner) });
  }

  async #keep(token: string, session: Session): Promise<void> {
    const id = hashOfToken(token);
    await this.#documents.put('sessions', id, session);
    this.#sessions.set(id, session);
  }

  async #end(id: string): Promise<void> {
    this.#sessions.delete(id);
    await this.#documents.delete('sessions', id);
  }

  async #sweep(): Promise<void> {
    const now = Date.now();
    if (now - this.#swept < SWEEP_MS) return;
    this.#swept = now;
    for (const [id, { ends }] of this.#sessions) if (ends <= now) await this.#end(id);
  }
}
