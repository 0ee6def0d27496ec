// The files of a cluster below the state directory. They hold no secret but the keys, which only this user may read.
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as v from 'valibot';
import { clusterDirectory, MEMBERSHIP } from '../config/membership.ts';
import { conflict, systemCode, unavailable } from '../failures.ts';
import { writeFileAtomically } from '../host/files/atomic-file.ts';
import { holdDirectory } from '../host/files/directory-lock.ts';

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
  /** HOST:PORT of each NATS. */
  servers: v.array(v.string()),
  /** HOST:PORT of the NATS on this host, if it runs one. */
  server: v.optional(v.string()),
  /** The cluster uses an existing NATS: `servers` are its URLs, and the file `credentials` lets all hosts in. */
  existing: v.optional(v.boolean()),
  /** The key of this host as a user of NATS (an nkey seed), and what the cluster has signed for it; an existing NATS has users of its own. */
  seed: v.string(),
  claim: v.optional(v.string()),
});
export type Membership = v.InferOutput<typeof Membership>;

/** How long (ms) to wait for a program that changes the same files, and how often it is looked for. */
const PATIENCE_MS = 10_000;
const AGAIN_MS = 20;

const isMissing = (error: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '');

const SERVERS = 'servers.json';
const Servers = v.array(v.string());

/** A host that may connect: kept on the hosts that run NATS. */
const HostRecord = v.object({
  name: v.string(),
  id: v.string(),
  user: v.string(),
  joined: v.string(),
  /** HOST:PORT of its NATS, if it runs one. */
  server: v.optional(v.string()),
  /** Whether it may be the controller. */
  standby: v.optional(v.boolean()),
});
export type HostRecord = v.InferOutput<typeof HostRecord>;

/** A token of a line for `join`, by its SHA-256. */
const TokenRecord = v.object({
  expires: v.string(),
  /** Its host is to run NATS. */
  storage: v.optional(v.boolean()),
  usedBy: v.optional(v.string()),
  usedAt: v.optional(v.string()),
});
export type TokenRecord = v.InferOutput<typeof TokenRecord>;

/** What the hosts that run NATS have in common. */
const Storage = v.object({
  /** How many hosts are to run NATS: 1, 3 or 5. */
  servers: v.number(),
  /**
   * Seeds of the nkeys that sign the claims of accounts (`account`: of the controllers; `joined`: of hosts that only connect, which an older
   * release did not have), of joined hosts and of hosts that ask to join, and of the user that manages NATS.
   */
  keys: v.object({
    operator: v.string(),
    account: v.string(),
    joined: v.optional(v.string()),
    member: v.string(),
    join: v.string(),
    system: v.string(),
  }),
  /** The host that admits others: the one of `init`, or one that has replaced it; and how often that has happened. */
  registrar: v.optional(v.string(), ''),
  term: v.optional(v.number(), 0),
  /** The users of hosts that were forgotten. */
  revoked: v.array(v.string()),
});
export type Storage = v.InferOutput<typeof Storage>;

/** All that a controller needs to admit hosts; every host that runs NATS has a copy. */
export const Registry = v.object({
  storage: Storage,
  authorityKey: v.string(),
  hosts: v.array(HostRecord),
  tokens: v.record(v.string(), TokenRecord),
  usedTokens: v.record(v.string(), TokenRecord),
});
export type Registry = v.InferOutput<typeof Registry>;

export const CREDENTIALS = 'credentials';
const TOKEN_FOLDERS = ['tokens', 'used-tokens'] as const;
type TokenFolder = (typeof TOKEN_FOLDERS)[number];

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
    for (const name of ['.', 'hosts', ...TOKEN_FOLDERS]) await mkdir(this.path(name), { recursive: true, mode: 0o700 });
  }

  async write(name: string, content: string): Promise<void> {
    await writeFileAtomically(this.path(name), content, { mode: 0o600 });
  }

  /** Undefined if this host is in no cluster. */
  async membership(): Promise<Membership | undefined> {
    const membership = await this.#read(MEMBERSHIP, Membership);
    const servers = membership && (await this.#read(SERVERS, Servers));
    return servers ? { ...membership, servers } : membership;
  }

  /** The NATS servers that the server of this host has learned of. In a file of their own: commands change the membership meanwhile. */
  async setServers(servers: readonly string[]): Promise<void> {
    await this.write(SERVERS, JSON.stringify(servers));
  }

  /** @throws Failure `conflict` if this host is in no cluster */
  async member(): Promise<Membership> {
    const membership = await this.membership();
    if (membership) return membership;
    throw conflict(
      'This host is in no cluster: begin one with "labwired cluster init", or join one with "labwired cluster join".',
    );
  }

  /** @throws Failure `conflict` if this host is in a cluster */
  async requireNone(): Promise<void> {
    const existing = await this.membership();
    if (existing === undefined) return;
    throw conflict(
      `This host is already in the cluster "${existing.cluster}": leave that one first with "labwired cluster leave".`,
    );
  }

  async setMembership(membership: Membership): Promise<void> {
    await this.write(MEMBERSHIP, JSON.stringify(membership, undefined, 2));
  }

  authorityCertificate(): Promise<string> {
    return readFile(this.path('ca.pem'), 'utf8');
  }

  /** Of an existing NATS. */
  credentials(): Promise<string> {
    return readFile(this.path(CREDENTIALS), 'utf8');
  }

  /** Names of the hosts that may connect; empty on a host that runs no NATS. */
  hostNames(): Promise<string[]> {
    return this.#names('hosts');
  }

  async #names(folder: string): Promise<string[]> {
    // Any other error is no empty list: hosts that are not in it are forgotten, and their labs closed.
    const files = await readdir(this.path(folder)).catch((error: unknown): string[] => {
      if (isMissing(error)) return [];
      throw error;
    });
    // Others are being written, or are left of a crash.
    const whole = files.filter((file) => file.endsWith('.json'));
    return whole.sort().map((file) => basename(file, '.json'));
  }

  async hosts(): Promise<HostRecord[]> {
    const names = await this.hostNames();
    const found = await Promise.all(names.map((name) => this.#read(`hosts/${name}.json`, HostRecord)));
    return found.filter((host) => host !== undefined);
  }

  /** Whether hosts take turns at being the controller, and this one may be it. */
  async takesTurns({ controller, standby }: Membership): Promise<boolean> {
    if (!controller) return standby === true;
    // Without the others, too, its labs are in the database of the cluster. Those that are to run NATS will follow.
    if (existsSync(this.path('replica')) || ((await this.storage())?.servers ?? 1) > 1) return true;
    return (await this.hosts()).some((host) => host.standby);
  }

  async addHost(host: HostRecord): Promise<void> {
    await this.write(`hosts/${host.name}.json`, JSON.stringify(host));
  }

  async removeHost(name: string): Promise<void> {
    await rm(this.path(`hosts/${name}.json`), { force: true });
  }

  /** Undefined on a host that runs no NATS. */
  async storage(): Promise<Storage | undefined> {
    return this.#read('storage.json', Storage);
  }

  /** Call before others know of the directory, or within `#exclusively`. */
  async setStorage(storage: Storage): Promise<void> {
    await this.write('storage.json', JSON.stringify(storage));
  }

  /** Commands and the server change it one at a time, each based on the previous result. Without the file nothing happens. */
  changeStorage(change: (storage: Storage) => Storage): Promise<void> {
    return this.#exclusively(async () => {
      const storage = await this.storage();
      if (storage) await this.setStorage(change(storage));
    });
  }

  /** @throws Failure `unavailable` */
  async #exclusively(work: () => Promise<void>): Promise<void> {
    const deadline = performance.now() + PATIENCE_MS;
    for (;;) {
      await using lock = await holdDirectory(this.directory);
      if (lock) {
        await work();
        return;
      }
      if (performance.now() > deadline) throw unavailable(`Another program is changing ${this.directory}: try again.`);
      await sleep(AGAIN_MS);
    }
  }

  async registry(): Promise<Registry> {
    const tokens = async (folder: TokenFolder): Promise<Record<string, TokenRecord>> => {
      const found = (await this.#names(folder)).map(async (hash) => [hash, await this.token(hash, folder)] as const);
      return Object.fromEntries((await Promise.all(found)).flatMap(([hash, token]) => (token ? [[hash, token]] : [])));
    };
    const storage = await this.storage();
    if (!storage) throw conflict('This host has no registry of the cluster: run the command on one that runs NATS.');
    return {
      storage,
      authorityKey: await readFile(this.authority.key, 'utf8'),
      hosts: await this.hosts(),
      tokens: await tokens('tokens'),
      usedTokens: await tokens('used-tokens'),
    };
  }

  /** Replaces this host's copy, unless that is of a later registrar: one that was replaced may have come back. */
  async setRegistry(registry: Registry): Promise<void> {
    await this.create();
    await this.#exclusively(async () => {
      if (registry.storage.term >= ((await this.storage())?.term ?? 0)) await this.#setRegistry(registry);
    });
  }

  async #setRegistry({ storage, authorityKey, hosts, tokens, usedTokens }: Registry): Promise<void> {
    await this.write('ca-key.pem', authorityKey);
    await this.setStorage(storage);
    for (const host of hosts) await this.addHost(host);
    for (const [folder, records] of [
      ['tokens', tokens],
      ['used-tokens', usedTokens],
    ] as const) {
      for (const [hash, token] of Object.entries(records))
        await this.write(`${folder}/${hash}.json`, JSON.stringify(token));
      for (const hash of await this.#names(folder))
        if (!(hash in records)) await rm(this.path(`${folder}/${hash}.json`), { force: true });
    }
    for (const name of await this.hostNames())
      if (!hosts.some((host) => host.name === name)) await this.removeHost(name);
  }

  token(hash: string, folder: TokenFolder): Promise<TokenRecord | undefined> {
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
      if (isMissing(error)) return undefined;
      throw error;
    });
    if (text === undefined) return undefined;
    try {
      return v.parse(schema, JSON.parse(text));
    } catch {
      throw conflict(
        `${this.path(name)} is damaged: restore it from a backup, or leave the cluster and join it again.`,
      );
    }
  }
}
