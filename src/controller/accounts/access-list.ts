// Groups of accounts, roles of privileges, pools of labs, and the access list, whose entries grant a role at a path to an account or group.
import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import type { Privilege } from '../../api/privileges.ts';
import { conflict, type Failure, forbidden, notFound } from '../../failures.ts';
import { log } from '../../host/log.ts';
import { KeyedLock } from '../../host/values/keyed-lock.ts';
import type { Identity } from '../../http/access/identity.ts';
import type { DocumentChange, Documents } from '../../store/documents.ts';
import {
  type AccessRole,
  type Bodies,
  BUILT_IN,
  type Entry,
  type EntryWords,
  type Group,
  Index,
  isBuiltIn,
  type Kind,
  MOST,
  missing,
  NOUNS,
  type Pool,
  type Records,
  SCHEMAS,
} from './access-records.ts';
import { isGranted, isWithin, isWithinRole } from './entries.ts';

export interface AccessListParts {
  documents: Documents;
  /** Labs with a running node that writes to an image which all labs share, with the node's name. */
  writers: () => Iterable<{ lab: string; node: string }>;
  /** Ids of the groups with which a lab is shared for changes. */
  changingGroups: (lab: string) => readonly string[];
  /** Called after each change, as open connections may have lost their right. */
  changed: () => Promise<void>;
}

/** Why others may not be let change a lab now. */
export function writesImages(node: string): Failure {
  return conflict(
    `The node "${node}" runs and writes to a disk image that all labs share: stop it before others may change its lab.`,
  );
}

export class AccessList {
  readonly #parts: AccessListParts;
  #records: Records = {
    groups: BUILT_IN.groups,
    'access-roles': BUILT_IN['access-roles'],
    'access-entries': new Map(),
    pools: new Map(),
  };
  #index = new Index(this.#records);
  /** Changes run one at a time, each based on the previous result. */
  readonly #turn = new KeyedLock();

  constructor(parts: AccessListParts) {
    this.#parts = parts;
  }

  async start(): Promise<void> {
    const loaded = {
      groups: await this.#loaded('groups', BUILT_IN.groups),
      'access-roles': await this.#loaded('access-roles', BUILT_IN['access-roles']),
      'access-entries': await this.#loaded('access-entries', new Map()),
      pools: await this.#loaded('pools', new Map()),
    };
    this.#set(loaded);
  }

  /** Whether entries grant a privilege to a client at a path (of the request, without `/v3`). */
  grants(identity: Identity, privilege: Privilege, path: string): boolean {
    if (this.#index.isEmpty) return false;
    const { token } = identity;
    if (token !== undefined && !isWithinRole(privilege, token.most)) return false;
    return isGranted(this.#index.rulesOf(identity.id), privilege, path, this.#index.poolsOf);
  }

  /** Whether entries let a client read a lab. */
  reads(identity: Identity, projectId: string): boolean {
    return this.grants(identity, 'Project.Audit', `/projects/${projectId}`);
  }

  /** Whether entries let a client change a lab as a whole: its settings, nodes, links and drawings. */
  changes(identity: Identity, projectId: string): boolean {
    return CHANGES.every(([privilege, part]) => this.grants(identity, privilege, `/projects/${projectId}${part}`));
  }

  /** Whether entries put a lab on a client's list in release 3.0.6: those for one lab alone do not. */
  lists(identity: Identity, projectId: string): boolean {
    const isPooled = this.poolsOf(projectId).length > 0;
    return isPooled ? this.reads(identity, projectId) : this.grants(identity, 'Project.Audit', '/projects');
  }

  /**
   * Whether entries let a client create labs, or copy a given one.
   * @returns the pools that the copy has to be in; undefined if it may not be made
   */
  makes(identity: Identity, original?: string): { pools: readonly string[] } | undefined {
    if (this.grants(identity, 'Project.Allocate', '/projects')) return { pools: [] };
    const pools = original === undefined ? [] : this.poolsOf(original);
    if (pools.length === 0) return undefined;
    return this.grants(identity, 'Project.Allocate', `/projects/${original}`) ? { pools } : undefined;
  }

  /** Whether entries may let an account change something in this lab. */
  mayChange(projectId: string): boolean {
    return this.#index.mayChange(projectId);
  }

  poolsOf(projectId: string): readonly string[] {
    return this.#index.poolsOf(projectId);
  }

  list<K extends Kind>(kind: K): (Bodies[K] & { id: string })[] {
    return [...(this.#records[kind] as ReadonlyMap<string, Bodies[K]>)].map(([id, body]) => ({ ...body, id }));
  }

  find<K extends Kind>(kind: K, id: string): (Bodies[K] & { id: string }) | undefined {
    const found = (this.#records[kind] as ReadonlyMap<string, Bodies[K]>).get(id);
    return found && { ...found, id };
  }

  /** @throws Failure `not-found` */
  get<K extends Kind>(kind: K, id: string): Bodies[K] & { id: string } {
    const found = this.find(kind, id);
    if (found) return found;
    throw missing(kind, id);
  }

  groupIdsOf(account: string): readonly string[] {
    return this.#index.groupsOf(account);
  }

  groupsOf(account: string): (Group & { id: string })[] {
    return this.list('groups').filter(({ members }) => members.includes(account));
  }

  /** @throws Failure `conflict` for a name that is taken */
  addGroup(name: string, members: readonly string[] = []): Promise<Group & { id: string }> {
    return this.#add('groups', (times) => ({ name, members: [...new Set(members)], ...times }));
  }

  /** @throws Failure `conflict`, `not-found`, `forbidden` for a built-in group */
  renameGroup(id: string, name: string | undefined): Promise<Group & { id: string }> {
    return this.#update('groups', id, (group) => {
      requireOwn('groups', id, group.name);
      return { ...group, name: name ?? group.name };
    });
  }

  /** @throws Failure `conflict` for a member already, `not-found` */
  addMember(id: string, account: string): Promise<unknown> {
    return this.#update('groups', id, (group) => {
      if (group.members.includes(account))
        throw conflict(`user_id: the account is a member of "${group.name}" already.`);
      return { ...group, members: [...group.members, account] };
    });
  }

  /** @throws Failure `not-found` for an unknown group or no member */
  removeMember(id: string, account: string): Promise<unknown> {
    return this.#update('groups', id, (group) => {
      if (!group.members.includes(account)) throw notFound(`user_id: the account is not a member of "${group.name}".`);
      return { ...group, members: group.members.filter((one) => one !== account) };
    });
  }

  /**
   * Renames a group, and adds and removes members. Members to add that are in it, and members to remove that are not, are ignored.
   * @throws Failure `not-found`, `conflict` for a name that is taken, `forbidden` for the name of a built-in group
   */
  changeGroup(
    id: string,
    { name, added, removed }: { name: string | undefined; added: readonly string[]; removed: readonly string[] },
  ): Promise<unknown> {
    return this.#update('groups', id, (group) => {
      if (name !== undefined) requireOwn('groups', id, group.name);
      const members = [...new Set([...group.members, ...added])].filter((one) => !removed.includes(one));
      return { ...group, name: name ?? group.name, members };
    });
  }

  addRole(name: string, description: string | null): Promise<AccessRole & { id: string }> {
    return this.#add('access-roles', (times) => ({ name, description, privileges: [], ...times }));
  }

  updateRole(id: string, given: { name?: string | undefined; description?: string | null | undefined }) {
    return this.#update('access-roles', id, (role) => {
      requireOwn('access-roles', id, role.name);
      const { name = role.name, description = role.description } = given;
      return { ...role, name, description };
    });
  }

  /** Adding a privilege that the role has changes nothing. @throws Failure `not-found` */
  addPrivilege(id: string, privilege: Privilege): Promise<unknown> {
    return this.#update('access-roles', id, (role) => ({
      ...role,
      privileges: [...new Set([...role.privileges, privilege])],
    }));
  }

  /** @throws Failure `not-found` for an unknown role, or one without this privilege */
  removePrivilege(id: string, privilege: Privilege): Promise<unknown> {
    return this.#update('access-roles', id, (role) => {
      if (!role.privileges.includes(privilege))
        throw notFound(`privilege_id: the role "${role.name}" does not have ${privilege}.`);
      return { ...role, privileges: role.privileges.filter((one) => one !== privilege) };
    });
  }

  /** The caller has checked the path and the account. @throws Failure `not-found` for an unknown group or role */
  addEntry(words: EntryWords): Promise<Entry & { id: string }> {
    return this.#add('access-entries', (times) => ({ ...this.#checked(words), ...times }));
  }

  updateEntry(id: string, words: EntryWords): Promise<Entry & { id: string }> {
    return this.#update('access-entries', id, (entry) => ({ ...entry, ...this.#checked(words) }));
  }

  addPool(name: string): Promise<Pool & { id: string }> {
    return this.#add('pools', (times) => ({ name, labs: {}, ...times }));
  }

  renamePool(id: string, name: string): Promise<Pool & { id: string }> {
    return this.#update('pools', id, (pool) => ({ ...pool, name }));
  }

  /** @throws Failure `conflict` for a lab that is in the pool already, `not-found` */
  addLab(id: string, lab: { id: string; name: string }): Promise<unknown> {
    return this.#update('pools', id, (pool, times) => {
      if (Object.hasOwn(pool.labs, lab.id))
        throw conflict(`resource_id: the lab "${lab.name}" is in the pool "${pool.name}" already.`);
      return { ...pool, labs: { ...pool.labs, [lab.id]: { name: lab.name, ...times } } };
    });
  }

  /** @throws Failure `not-found` for an unknown pool, or a lab that is not in it */
  removeLab(id: string, lab: string): Promise<unknown> {
    return this.#update('pools', id, (pool) => {
      const { [lab]: found, ...labs } = pool.labs;
      if (found === undefined) throw notFound(`resource_id: there is no lab ${lab} in the pool "${pool.name}".`);
      return { ...pool, labs };
    });
  }

  /** Removes a record with the entries that name it. @throws Failure `not-found`, `forbidden` for a built-in one */
  remove(kind: Kind, id: string): Promise<void> {
    return this.#exclusively(async (records) => {
      const found = (records[kind] as ReadonlyMap<string, Bodies[Kind]>).get(id);
      if (found === undefined) throw missing(kind, id);
      if ('name' in found) requireOwn(kind, id, found.name);
      const names = ({ type, subject, role }: Entry): boolean =>
        kind === 'access-roles' ? role === id : kind === 'groups' && type === 'group' && subject === id;
      const isAt = ({ path }: Entry): boolean => isWithin(path, `${PLACES[kind]}/${id}`);
      return [...entriesWhere(records, (entry) => names(entry) || isAt(entry)), { kind, id, body: undefined }];
    });
  }

  /** Removes what names accounts that there are no more. */
  async forgetAccounts(known: ReadonlySet<string>): Promise<void> {
    const isGone = ({ type, subject }: Entry): boolean => type === 'user' && !known.has(subject);
    const isOld = [...this.#records['access-entries'].values()].some(isGone);
    if (!isOld && !this.list('groups').some(({ members }) => members.some((one) => !known.has(one)))) return;
    await this.#exclusively(async (records) => [
      ...entriesWhere(records, isGone),
      ...[...records.groups].flatMap(([id, group]): Step[] => {
        const members = group.members.filter((one) => known.has(one));
        return members.length === group.members.length ? [] : [{ kind: 'groups', id, body: { ...group, members } }];
      }),
    ]);
  }

  /**
   * Removes a deleted lab from pools, and the entries for it.
   * @param write makes these changes durable, together with the deletion
   */
  async forgetLab(projectId: string, write: (changes: readonly DocumentChange[]) => Promise<void>): Promise<void> {
    const isAt = ({ path }: Entry): boolean =>
      isWithin(path, `/projects/${projectId}`) || path.endsWith(`/resources/${projectId}`);
    const steps = async (records: Records): Promise<readonly Step[]> => [
      ...entriesWhere(records, isAt),
      ...[...records.pools].flatMap(([id, pool]): Step[] => {
        const { [projectId]: found, ...labs } = pool.labs;
        return found === undefined ? [] : [{ kind: 'pools', id, body: { ...pool, labs } }];
      }),
    ];
    await this.#inTurn(steps, write);
  }

  #checked(words: EntryWords): EntryWords {
    this.get('access-roles', words.role);
    if (words.type === 'group') this.get('groups', words.subject);
    return words;
  }

  async #add<K extends Kind>(
    kind: K,
    make: (times: { created: string; updated: string }) => Bodies[K],
  ): Promise<Bodies[K] & { id: string }> {
    const id = randomUUID();
    await this.#exclusively(async (records) => {
      if (records[kind].size >= MOST[kind])
        throw conflict(`There are ${MOST[kind]} ${kind} already; remove one first.`);
      const now = new Date().toISOString();
      const body = make({ created: now, updated: now });
      requireFree(records, kind, id, body);
      return [{ kind, id, body: body as Bodies[Kind] }];
    });
    return this.get(kind, id);
  }

  async #update<K extends Kind>(
    kind: K,
    id: string,
    work: (body: Bodies[K], times: { created: string; updated: string }) => Bodies[K],
  ): Promise<Bodies[K] & { id: string }> {
    await this.#exclusively(async (records) => {
      const before = (records[kind] as ReadonlyMap<string, Bodies[K]>).get(id);
      if (before === undefined) throw missing(kind, id);
      const now = new Date().toISOString();
      const body = { ...work(before, { created: now, updated: now }), updated: now };
      requireFree(records, kind, id, body);
      return [{ kind, id, body: body as Bodies[Kind] }];
    });
    return this.get(kind, id);
  }

  /** Works out steps from the present records, checks the result, and writes it: first in the database, then in memory. */
  async #exclusively(work: (records: Records) => Promise<readonly Step[]>): Promise<void> {
    await this.#inTurn(work, (steps) => this.#parts.documents.change(steps));
    await this.#parts.changed();
  }

  async #inTurn(
    work: (records: Records) => Promise<readonly Step[]>,
    write: (steps: readonly Step[]) => Promise<void>,
  ): Promise<void> {
    await this.#turn.run('', async () => {
      const steps = await work(this.#records);
      const after = applied(this.#records, steps);
      this.#requireNoWriters(after);
      await write(steps);
      this.#set(after);
    });
  }

  /** @throws Failure `conflict` if a lab becomes open to changes while one of its nodes writes to an image of all labs */
  #requireNoWriters(records: Records): void {
    const after = new Index(records);
    for (const { lab, node } of this.#parts.writers()) {
      const isOpened = !this.mayChange(lab) && after.mayChange(lab);
      const isJoined = this.#parts.changingGroups(lab).some((group) => {
        const before = this.#records.groups.get(group)?.members ?? [];
        return records.groups.get(group)?.members.some((member) => !before.includes(member));
      });
      if (!isOpened && !isJoined) continue;
      throw writesImages(node);
    }
  }

  #set(records: Records): void {
    this.#records = records;
    this.#index = new Index(records);
  }

  async #loaded<K extends Kind>(kind: K, builtIn: ReadonlyMap<string, Bodies[K]>): Promise<Map<string, Bodies[K]>> {
    const all = new Map(builtIn);
    for (const { id, body } of await this.#parts.documents.list(kind)) {
      const parsed = v.safeParse(SCHEMAS[kind], body);
      if (parsed.success) all.set(id, parsed.output as Bodies[K]);
      else log.warn('a record of the access list cannot be read and is left out', { kind, id });
    }
    return all;
  }
}

/** What makes up the right to change a lab, and where it is asked for. */
const CHANGES: readonly (readonly [Privilege, string])[] = [
  ['Project.Modify', ''],
  ['Node.Allocate', '/nodes'],
  ['Node.Modify', '/nodes/x'],
  ['Node.PowerMgmt', '/nodes/start'],
  ['Link.Allocate', '/links'],
  ['Link.Modify', '/links/x'],
  ['Drawing.Allocate', '/drawings'],
  ['Drawing.Modify', '/drawings/x'],
];

interface Step {
  kind: Kind;
  id: string;
  /** Undefined: it is removed. */
  body: Bodies[Kind] | undefined;
}

/** Where the API has the records of a kind. */
const PLACES: Readonly<Record<Kind, string>> = {
  groups: '/access/groups',
  'access-roles': '/access/roles',
  'access-entries': '/access/acl',
  pools: '/pools',
};

function entriesWhere(records: Records, matches: (entry: Entry) => boolean): Step[] {
  return [...records['access-entries']]
    .filter(([, entry]) => matches(entry))
    .map(([id]) => ({ kind: 'access-entries', id, body: undefined }));
}

function applied(records: Records, steps: readonly Step[]): Records {
  const after: Record<Kind, Map<string, Bodies[Kind]>> = {
    groups: new Map(records.groups),
    'access-roles': new Map(records['access-roles']),
    'access-entries': new Map(records['access-entries']),
    pools: new Map(records.pools),
  };
  for (const { kind, id, body } of steps) {
    if (body === undefined) after[kind].delete(id);
    else after[kind].set(id, body);
  }
  return after as unknown as Records;
}

/** @throws Failure `forbidden` for a built-in record */
function requireOwn(kind: Kind, id: string, name: string): void {
  if (isBuiltIn(id)) throw forbidden(`The ${NOUNS[kind].one} "${name}" is built in and stays as it is.`);
}

/** @throws Failure `conflict` for a name that is taken */
function requireFree(records: Records, kind: Kind, id: string, body: Bodies[Kind]): void {
  if (!('name' in body)) return;
  for (const [other, record] of records[kind]) {
    if (other !== id && 'name' in record && record.name === body.name)
      throw conflict(`name: there is already a ${NOUNS[kind].one} "${body.name}".`);
  }
}
