// The files of a cluster below the state directory. They hold no secret but the keys, which only this user may read.
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import * as v from 'valibot';
import { clusterDirectory, MEMBERSHIP } from '../config/membership.ts';
import { Failure, systemCode } from '../failures.ts';
import { writeFileAtomically } from '../host/files/atomic-file.ts';

/** This host's membership, as `init` or `join` wrote it. */
const Membership = v.object({
  cluster: v.string(),
  host: v.string(),
  /** Stays with the host; its compute has it, too. */
  id: v.string(),
  /** Whether this host runs `init`'s NATS and lets others join. */
  controller: v.boolean(),
  /** Whether it may be the controller when the host of `init` is not. */
  standby: v.optional(v.boolean()),
  /** HOST:PORT of NATS. */
  servers: v.array(v.string()),
  /** The key of this host as a user of NATS (an nkey seed). */
  seed: v.string(),
});
export type Membership = v.InferOutput<typeof Membership>;

/** A host that may connect: kept on the host of `init`. */
const HostRecord = v.object({
  ...{ name: v.string(), id: v.string(), user: v.string(), joined: v.string() },
  /** Whether it may be the controller. */
  standby: v.optional(v.boolean()),
});
export type HostRecord = v.InferOutput<typeof HostRecord>;

/** A token of a line for `join`, by its SHA-256. */
const TokenRecord = v.object({ expires: v.string(), usedBy: v.optional(v.string()), usedAt: v.optional(v.string()) });
export type TokenRecord = v.InferOutput<typeof TokenRecord>;

export class ClusterFiles {
  readonly directory: string;

  constructor(state: string) {
    this.directory = clusterDirectory(state);
  }

  path(name: string): string {
    return join(this.directory, name);
  }

  get authority(): { certificate: string; key: string } {
    return { certificate: this.path('ca.pem'), key: this.path('ca-key.pem') };
  }

  async create(): Promise<void> {
    for (const name of ['.', 'hosts', 'tokens', 'used-tokens'])
      await mkdir(this.path(name), { recursive: true, mode: 0o700 });
  }

  async write(name: string, content: string): Promise<void> {
    await writeFileAtomically(this.path(name), content, { mode: 0o600 });
  }

  /** Undefined if this host is in no cluster. */
  membership(): Promise<Membership | undefined> {
    return this.#read(MEMBERSHIP, Membership);
  }

  /** @throws Failure `conflict` if this host is in no cluster */
  async member(): Promise<Membership> {
    const membership = await this.membership();
    if (membership) return membership;
    throw new Failure(
      'conflict',
      'This host is in no cluster: begin one with "labwired cluster init", or join one with "labwired cluster join".',
    );
  }

  /** @throws Failure `conflict` if this host is in a cluster */
  async requireNone(): Promise<void> {
    const existing = await this.membership();
    if (existing === undefined) return;
    throw new Failure(
      'conflict',
      `This host is already in the cluster "${existing.cluster}": leave that one first with "labwired cluster leave".`,
    );
  }

  async setMembership(membership: Membership): Promise<void> {
    await this.write(MEMBERSHIP, JSON.stringify(membership, undefined, 2));
  }

  authorityCertificate(): Promise<string> {
    return readFile(this.path('ca.pem'), 'utf8');
  }

  /** Names of the hosts that may connect; empty on a host that is not the controller. */
  async hostNames(): Promise<string[]> {
    const files = await readdir(this.path('hosts')).catch(() => []);
    return files.sort().map((file) => basename(file, '.json'));
  }

  async hosts(): Promise<HostRecord[]> {
    const names = await this.hostNames();
    const found = await Promise.all(names.map((name) => this.#read(`hosts/${name}.json`, HostRecord)));
    return found.filter((host) => host !== undefined);
  }

  /** Whether hosts take turns at being the controller, and this one may be it. */
  async takesTurns({ controller, standby }: Membership): Promise<boolean> {
    if (!controller) return standby === true;
    // Without the others, too, its labs are in the database of the cluster.
    if (existsSync(this.path('replica'))) return true;
    return (await this.hosts()).some((host) => host.standby);
  }

  async addHost(host: HostRecord): Promise<void> {
    await this.write(`hosts/${host.name}.json`, JSON.stringify(host));
  }

  async removeHost(name: string): Promise<void> {
    await rm(this.path(`hosts/${name}.json`), { force: true });
  }

  token(hash: string, folder: 'tokens' | 'used-tokens'): Promise<TokenRecord | undefined> {
    return this.#read(join(folder, `${hash}.json`), TokenRecord);
  }

  async addToken(hash: string, token: TokenRecord): Promise<void> {
    await this.write(`tokens/${hash}.json`, JSON.stringify(token));
  }

  /** The used one is written first: after a crash in between the token counts as used. */
  async useToken(hash: string, token: TokenRecord): Promise<void> {
    await this.write(`used-tokens/${hash}.json`, JSON.stringify(token));
    await rm(this.path(`tokens/${hash}.json`), { force: true });
  }

  async #read<Schema extends v.GenericSchema>(
    name: string,
    schema: Schema,
  ): Promise<v.InferOutput<Schema> | undefined> {
    const text = await readFile(this.path(name), 'utf8').catch((error: unknown) => {
      if (['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) return undefined;
      throw error;
    });
    if (text === undefined) return undefined;
    try {
      return v.parse(schema, JSON.parse(text));
    } catch {
      throw new Failure(
        'conflict',
        `${this.path(name)} is damaged: restore it from a backup, or leave the cluster and join it again.`,
      );
    }
  }
}
