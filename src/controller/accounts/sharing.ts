// The owner of each lab, and the accounts that may view or change it. A lab without a record is open to all.

import * as v from 'valibot';
import type { Role } from '../../api/accounts.ts';
import { ACCESSES, type Access } from '../../api/accounts.ts';
import { conflict, type Failure, forbidden, notFound } from '../../failures.ts';
import { log } from '../../host/log.ts';
import { dropOldest } from '../../host/values/drop-oldest.ts';
import { KeyedLock } from '../../host/values/keyed-lock.ts';
import type { Identity } from '../../http/access/identity.ts';
import type { Documents } from '../../store/documents.ts';
import type { AccessList } from './access-list.ts';

const LabSharing = v.object({
  /** Id of an account; null without an owner. */
  owner: v.nullable(v.string()),
  /** The right of every account. */
  everybody: v.picklist(ACCESSES),
  /** By account id. */
  accounts: v.record(v.string(), v.picklist(['watch', 'change'])),
  /** By group id. */
  groups: v.optional(v.record(v.string(), v.picklist(['watch', 'change']))),
});

export type LabSharing = v.InferOutput<typeof LabSharing>;

const EVERYBODYS: LabSharing = { owner: null, everybody: 'change', accounts: {} };
/** Only admins see it; they may assign an owner. */
const NOBODYS: LabSharing = { owner: null, everybody: 'none', accounts: {} };

/** The number of deleted labs whose sharing is remembered: as many as events are kept. */
const MOST_ENDED = 4_096;

const greater = (one: Access, other: Access): Access => (ACCESSES.indexOf(one) > ACCESSES.indexOf(other) ? one : other);

/** Accounts that may change their labs but nothing that labs share. */
export function usersOf<Account extends { role: Role }>(accounts: readonly Account[]): Account[] {
  return accounts.filter(({ role }) => role === 'user' || role === 'none');
}

/** Entries and groups as far as sharing needs them. */
type Entries = Pick<AccessList, 'reads' | 'changes' | 'groupIdsOf'>;
type Groups = Pick<AccessList, 'groupIdsOf'>;

/** Whether one of these users may change a lab. */
export function isChangedBy(users: readonly { id: string; role: Role }[], lab: LabSharing, groups: Groups): boolean {
  return users.some((user) => sharedWith(user, lab, groups) === 'change');
}

/** The right to a lab by ownership and sharing. What is shared with everybody is not shared with the role `none`. */
function sharedWith({ id, role }: { id: string; role: Role }, lab: LabSharing, list: Groups): Access {
  const { owner, everybody, accounts, groups } = lab;
  if (owner === id) return 'change';
  const byName = greater(role === 'none' ? 'none' : everybody, accounts[id] ?? 'none');
  if (groups === undefined || byName === 'change') return byName;
  return list.groupIdsOf(id).reduce<Access>((access, group) => greater(access, groups[group] ?? 'none'), byName);
}

/** The same error for a missing lab and for one that is not shared. */
export function noProject(id: string): Failure {
  return notFound(`project_id: there is no lab ${id}.`);
}

/** @throws Failure `forbidden` for accounts that may not name paths of this host */
export function requireOwnPaths(identity: Identity | undefined, path: string | null | undefined): void {
  if (path && identity !== undefined && identity.role !== 'admin')
    throw forbidden('path: only admins may say where on the host a lab lies; leave it out.');
}

export class Sharing {
  readonly #documents: Documents;
  readonly #isThere: (projectId: string) => boolean;
  readonly #entries: Entries;
  readonly #labs = new Map<string, LabSharing>();
  /** Sharing of deleted labs, oldest first, for the events of their deletion and of operations on them. */
  readonly #ended = new Map<string, LabSharing>();
  /** Labs that are being deleted, whose sharing is deleted already. */
  readonly #leaving = new Set<string>();
  /** Labs with the same id are created one at a time. */
  readonly #arrivals = new KeyedLock();
  /** Changes of a lab's sharing run one at a time, each based on the previous result. */
  readonly #changes = new KeyedLock();

  /** @param isThere whether there is a lab with this id */
  constructor(documents: Documents, isThere: (projectId: string) => boolean, entries: Entries) {
    this.#documents = documents;
    this.#isThere = isThere;
    this.#entries = entries;
  }

  async start(): Promise<void> {
    for (const { id, body } of await this.#documents.list('sharing')) {
      const parsed = v.safeParse(LabSharing, body);
      // An unreadable record does not open the lab to all: admins see it and share it again.
      this.#labs.set(id, parsed.success ? parsed.output : NOBODYS);
      if (!parsed.success) log.warn('cannot read the sharing of a lab; only admins see it', { project: id });
    }
  }

  /** The sharing of a lab; an unknown lab has no owner. */
  get(projectId: string): LabSharing {
    const known = this.#labs.get(projectId);
    if (known !== undefined) return known;
    return this.#isThere(projectId) ? EVERYBODYS : (this.#ended.get(projectId) ?? NOBODYS);
  }

  /** The right of a client to a lab; everything without authentication. */
  accessOf(identity: Identity | undefined, projectId: string): Access {
    if (identity === undefined || identity.role === 'admin') return 'change';
    const access = sharedWith(identity, this.get(projectId), this.#entries);
    const isWatching = identity.role === 'observer' || identity.token?.most === 'observer';
    return isWatching && access === 'change' ? 'watch' : access;
  }

  /** Whether a client may read a lab, by sharing or by an entry of the access list. */
  sees(identity: Identity | undefined, projectId: string): boolean {
    if (this.accessOf(identity, projectId) !== 'none') return true;
    return identity !== undefined && this.#entries.reads(identity, projectId);
  }

  /** Whether a client may change a lab as a whole, by sharing or by entries of the access list. */
  changes(identity: Identity, projectId: string): boolean {
    return this.accessOf(identity, projectId) === 'change' || this.#entries.changes(identity, projectId);
  }

  /** The right to a lab as far as one word says it: entries may grant less than `change`, and more than `watch`. */
  summaryOf(identity: Identity | undefined, projectId: string): Access {
    if (identity === undefined || this.changes(identity, projectId)) return 'change';
    return this.sees(identity, projectId) ? 'watch' : 'none';
  }

  /** Whether a client gets an event, by the lab id in it, if any. */
  tells(identity: Identity | undefined, { project_id: id }: { project_id?: unknown }): boolean {
    return typeof id !== 'string' || this.sees(identity, id);
  }

  /**
   * Creates a lab that its creator owns from the first moment. On a host with a single account labs are open to all, so
   * that accounts added later find them. A lab that is missing, for example on an unmounted disk, keeps its id and
   * owner.
   * @param make returns the existing lab with this id if there is one
   * @throws Failure `conflict` for the id of a lab that this account may not change
   */
  async making<T>(projectId: string, identity: Identity | undefined, make: () => Promise<T>): Promise<T> {
    if (identity === undefined) return make();
    return this.#arrivals.run(projectId, async () => {
      const before = this.#labs.get(projectId);
      const mayHave = this.#isThere(projectId)
        ? this.accessOf(identity, projectId) === 'change'
        : before === undefined || before.owner === identity.id || identity.role === 'admin';
      if (!mayHave) throw conflict('project_id: this identifier is taken; leave it out, or choose another.');
      if (before !== undefined || this.#isThere(projectId) || identity.alone) return make();
      await using undo = new AsyncDisposableStack();
      await this.change(projectId, () => ({ owner: identity.id, everybody: 'none', accounts: {} }));
      undo.defer(() => this.#forget(projectId));
      const made = await make();
      undo.move();
      return made;
    });
  }

  /** Sets a lab found on the disk of a host with several accounts: only admins can know its owner. */
  async found(projectId: string): Promise<void> {
    if (!this.#labs.has(projectId)) await this.change(projectId, () => NOBODYS);
  }

  /** Sets a lab that is missing from the disk: if it returns it has the same owner, or is open to all as before. */
  async lost(projectId: string): Promise<void> {
    if (!this.#labs.has(projectId)) await this.change(projectId, () => EVERYBODYS);
  }

  /** @param work returns the new sharing; if it throws nothing changes */
  async change(projectId: string, work: (before: LabSharing) => LabSharing): Promise<void> {
    await this.#changes.run(projectId, async () => {
      if (this.#leaving.has(projectId)) throw noProject(projectId);
      const sharing = work(this.get(projectId));
      await this.#documents.put('sharing', projectId, sharing);
      this.#labs.set(projectId, sharing);
    });
  }

  /** Remembers the sharing of a lab that is about to be deleted. */
  ended(projectId: string): void {
    const last = this.get(projectId);
    this.#ended.delete(projectId);
    this.#ended.set(projectId, last);
    dropOldest(this.#ended, MOST_ENDED);
  }

  /** Deletes the sharing of a lab that is not made. */
  async #forget(projectId: string): Promise<void> {
    await this.#documents.delete('sharing', projectId);
    await this.gone(projectId);
  }

  /** Deletes a lab and its sharing, which cannot change any more then. */
  async leaving(projectId: string, remove: () => Promise<unknown>): Promise<void> {
    await this.#changes.run(projectId, async () => {
      await remove();
      this.#leaving.add(projectId);
    });
  }

  /** A lab was deleted, and its sharing with it, which only the memory still has. */
  async gone(projectId: string): Promise<void> {
    await this.#changes.run(projectId, () => {
      this.#leaving.delete(projectId);
      if (!this.#labs.has(projectId)) return;
      this.ended(projectId);
      this.#labs.delete(projectId);
    });
  }
}
