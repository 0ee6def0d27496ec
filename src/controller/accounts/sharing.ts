// Which account owns each lab, and who else may watch or change it. A lab without a record is everybody's.
import * as v from 'valibot';
import { Failure } from '../../failures.ts';
import { log } from '../../host/log.ts';
import { KeyedLock } from '../../host/values/keyed-lock.ts';
import type { Identity } from '../../http/access/identity.ts';
import type { Documents } from '../../store/documents.ts';
import type { Role } from '../../store/roles.ts';

/** What somebody may do with a lab, the least first. */
export const ACCESSES = ['none', 'watch', 'change'] as const;
export type Access = (typeof ACCESSES)[number];

const LabSharing = v.object({
  /** Id of an account; null: nobody's. */
  owner: v.nullable(v.string()),
  /** What everybody may who has logged in. */
  everybody: v.picklist(ACCESSES),
  /** By id of an account. */
  accounts: v.record(v.string(), v.picklist(['watch', 'change'])),
});

export type LabSharing = v.InferOutput<typeof LabSharing>;

const EVERYBODYS: LabSharing = { owner: null, everybody: 'change', accounts: {} };
/** Admins see it, and may give it to somebody. */
const NOBODYS: LabSharing = { owner: null, everybody: 'none', accounts: {} };

/** Labs that are gone, of which it is known who had them: as many as events are kept. */
const MOST_ENDED = 4_096;

const greater = (one: Access, other: Access): Access => (ACCESSES.indexOf(one) > ACCESSES.indexOf(other) ? one : other);

/** Ids of the accounts that are users: they change their labs, and nothing that all labs share. */
export function usersOf(accounts: readonly { id: string; role: Role }[]): string[] {
  return accounts.filter(({ role }) => role === 'user').map(({ id }) => id);
}

/** Whether one of these accounts of users may change a lab. */
export function isChangedBy(users: readonly string[], { owner, everybody, accounts }: LabSharing): boolean {
  return users.some((id) => everybody === 'change' || owner === id || accounts[id] === 'change');
}

/** What is said of a lab that is not there, and of one that is not shared. */
export function noProject(id: string): Failure {
  return new Failure('not-found', `project_id: there is no lab ${id}.`);
}

/** @throws Failure `forbidden` for whoever may not name paths of this host */
export function requireOwnPaths(identity: Identity | undefined, path: string | null | undefined): void {
  if (path && identity !== undefined && identity.role !== 'admin')
    throw new Failure('forbidden', 'path: only admins may say where on the host a lab lies; leave it out.');
}

export class Sharing {
  readonly #documents: Documents;
  readonly #isThere: (projectId: string) => boolean;
  readonly #labs = new Map<string, LabSharing>();
  /** Of labs that are gone, the oldest first: who had them is told of their end, and of operations on them. */
  readonly #ended = new Map<string, LabSharing>();
  /** Labs of one identifier come one after the other. */
  readonly #arrivals = new KeyedLock();
  /** Changes of one lab's sharing begin with what the one before has left. */
  readonly #changes = new KeyedLock();

  /** @param isThere whether there is a lab of this identifier */
  constructor(documents: Documents, isThere: (projectId: string) => boolean) {
    this.#documents = documents;
    this.#isThere = isThere;
  }

  async start(): Promise<void> {
    for (const { id, body } of await this.#documents.list('sharing')) {
      const parsed = v.safeParse(LabSharing, body);
      // What cannot be read is not everybody's: admins see it and share it again.
      this.#labs.set(id, parsed.success ? parsed.output : NOBODYS);
      if (!parsed.success)
        log.warn('it cannot be read with whom a lab is shared; admins alone see it', { project: id });
    }
  }

  /** Of an unknown lab: nobody's. */
  get(projectId: string): LabSharing {
    const known = this.#labs.get(projectId);
    if (known !== undefined) return known;
    return this.#isThere(projectId) ? EVERYBODYS : (this.#ended.get(projectId) ?? NOBODYS);
  }

  /** What somebody may do with a lab; everything where nobody logs in. */
  accessOf(identity: Identity | undefined, projectId: string): Access {
    if (identity === undefined || identity.role === 'admin') return 'change';
    const { owner, everybody, accounts } = this.get(projectId);
    const access = owner === identity.id ? 'change' : greater(everybody, accounts[identity.id] ?? 'none');
    return identity.role === 'observer' && access === 'change' ? 'watch' : access;
  }

  sees(identity: Identity | undefined, projectId: string): boolean {
    return this.accessOf(identity, projectId) !== 'none';
  }

  /** Whether somebody is told an event that bears the identifier of a lab, or none. */
  tells(identity: Identity | undefined, { project_id: id }: { project_id?: unknown }): boolean {
    return typeof id !== 'string' || this.sees(identity, id);
  }

  /**
   * Makes a lab, which is its maker's from its first moment on. Where a host has one account labs are everybody's, so that they are still
   * there for those who get an account later. A lab that is away, as on a disk that is not mounted, keeps its identifier and its owner.
   * @param make gives the lab of this identifier if there is one
   * @throws Failure `conflict` for the identifier of a lab that this account may not change
   */
  async making<T>(projectId: string, identity: Identity | undefined, make: () => Promise<T>): Promise<T> {
    if (identity === undefined) return make();
    return this.#arrivals.run(projectId, async () => {
      const before = this.#labs.get(projectId);
      const mayHave = this.#isThere(projectId)
        ? this.accessOf(identity, projectId) === 'change'
        : before === undefined || before.owner === identity.id || identity.role === 'admin';
      if (!mayHave)
        throw new Failure('conflict', 'project_id: this identifier is taken; leave it out, or choose another.');
      if (before !== undefined || this.#isThere(projectId) || identity.alone) return make();
      await using undo = new AsyncDisposableStack();
      await this.change(projectId, () => ({ owner: identity.id, everybody: 'none', accounts: {} }));
      undo.defer(() => this.forget(projectId));
      const made = await make();
      undo.move();
      return made;
    });
  }

  /** A lab that somebody has put on the disk of a host with several accounts: whose it is only admins can know. */
  async found(projectId: string): Promise<void> {
    if (!this.#labs.has(projectId)) await this.change(projectId, () => NOBODYS);
  }

  /** A lab that is not on the disk any more: should it come back it is whose it was, and everybody's if it was that. */
  async lost(projectId: string): Promise<void> {
    if (!this.#labs.has(projectId)) await this.change(projectId, () => EVERYBODYS);
  }

  /** @param work makes what is to be out of what is; what it throws changes nothing */
  async change(projectId: string, work: (before: LabSharing) => LabSharing): Promise<void> {
    await this.#changes.run(projectId, async () => {
      const sharing = work(this.get(projectId));
      await this.#documents.put('sharing', projectId, sharing);
      this.#labs.set(projectId, sharing);
    });
  }

  /** A lab is about to be gone. */
  ended(projectId: string): void {
    const last = this.get(projectId);
    this.#ended.delete(projectId);
    this.#ended.set(projectId, last);
    const [oldest] = this.#ended.keys();
    if (this.#ended.size > MOST_ENDED) this.#ended.delete(oldest!);
  }

  /** After the end of a lab. */
  async forget(projectId: string): Promise<void> {
    await this.#changes.run(projectId, async () => {
      if (!this.#labs.has(projectId)) return;
      this.ended(projectId);
      await this.#documents.delete('sharing', projectId);
      this.#labs.delete(projectId);
    });
  }
}
