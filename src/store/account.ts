// The account of a state directory if the configuration names none: created at the first start that needs one.
import { randomBytes } from 'node:crypto';
import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import { conflict, messageOf, systemCode } from '../failures.ts';
import { writeFileAtomically } from '../host/files/atomic-file.ts';
import { hashPassword, isPasswordHash } from '../host/values/password-hash.ts';

const DEFAULT_USER = 'admin';
/** Bytes of a random password: 120 bits, 20 characters. */
const PASSWORD_BYTES = 15;
/** Read and written by the server's user alone. */
const MODE = 0o600;

const Account = v.strictObject({
  user: v.pipe(v.string(), v.nonEmpty(), v.regex(/^[^:]*$/)),
  password: v.pipe(v.string(), v.check(isPasswordHash)),
});

/** A user, and the hash of the password. */
export type Account = v.InferOutput<typeof Account>;

export interface NewAccount {
  user: string;
  password: string;
  /** The file with the clear password, until it is changed. */
  file: string;
}

export function randomPassword(): string {
  return randomBytes(PASSWORD_BYTES).toString('base64url');
}

export class AccountFile {
  /** `<state>/account.json`: user and hash. */
  readonly path: string;
  /** `<state>/initial-password`: the random password, for the person who sets up the server. */
  readonly initialPassword: string;
  #known: { version: string; account: Account } | undefined;

  constructor(stateDirectory: string) {
    this.path = join(stateDirectory, 'account.json');
    this.initialPassword = join(stateDirectory, 'initial-password');
  }

  /**
   * Creates an account with a random password unless there is one.
   * @throws Failure `conflict` when the file is damaged or cannot be written
   */
  async ensure(): Promise<NewAccount | undefined> {
    if ((await this.read()) !== undefined) return undefined;
    const password = randomPassword();
    // The password is written first, so that an account never has an unknown password.
    await writeFileAtomically(this.initialPassword, `${password}\n`, { mode: MODE });
    await this.#write(DEFAULT_USER, password);
    return { user: DEFAULT_USER, password, file: this.initialPassword };
  }

  /** Changes the account's user or password; a running server uses them from the next login on. */
  async change(user: string | undefined, password: string): Promise<Account> {
    const account = await this.#write(user ?? (await this.read())?.user ?? DEFAULT_USER, password);
    await rm(this.initialPassword, { force: true });
    return account;
  }

  /**
   * The present account; undefined if there is none.
   * @throws Failure `conflict` when the file is damaged or cannot be read
   */
  async read(): Promise<Account | undefined> {
    try {
      const { mtimeNs, ino, size } = await stat(this.path, { bigint: true });
      const version = `${ino} ${size} ${mtimeNs}`;
      if (this.#known?.version !== version) {
        this.#known = { version, account: v.parse(Account, JSON.parse(await readFile(this.path, 'utf8'))) };
      }
      return this.#known.account;
    } catch (thrown) {
      if (systemCode(thrown) === 'ENOENT') return undefined;
      const fix = 'set a new password with "labwired password" after moving the file away';
      throw conflict(`${this.path} cannot be used (${messageOf(thrown)}): ${fix}.`, { cause: thrown });
    }
  }

  async #write(user: string, password: string): Promise<Account> {
    const account = { user, password: await hashPassword(password) };
    await writeFileAtomically(this.path, `${JSON.stringify(account, undefined, 2)}\n`, { mode: MODE });
    return account;
  }
}
