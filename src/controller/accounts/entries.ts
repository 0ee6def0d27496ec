// Judges entries of the access list, as release 3.0.6 does. Pure: no state, no I/O.
import type { Role } from '../../api/accounts.ts';
import { areaOf, isAudit, LAB_AREAS, type Privilege } from '../../api/privileges.ts';

/** An entry with the privileges of its role. */
export interface Rule {
  path: string;
  /** Whether it reaches what is below its path. */
  propagate: boolean;
  /** False: it takes these privileges from what other entries grant. It never touches roles, ownership and sharing. */
  allowed: boolean;
  privileges: ReadonlySet<Privilege>;
}

/** The entries for an account itself, and for all its groups. */
export interface Rules {
  own: readonly Rule[];
  groups: readonly Rule[];
}

/** The path and its parents up to `/`. */
function withParents(path: string): string[] {
  const parents = path
    .split('/')
    .slice(1, -1)
    .map((_part, index, parts) => `/${parts.slice(0, index + 1).join('/')}`);
  return path === '/' ? ['/'] : [path, ...parents.reverse(), '/'];
}

/** Whether a path is another one or below it. */
export function isWithin(path: string, parent: string): boolean {
  return withParents(path).includes(parent);
}

/** The decision of a list of entries; undefined if none of them matters. The deepest path decides, and refusals go first. */
function judge(rules: readonly Rule[], path: string): boolean | undefined {
  for (const place of withParents(path)) {
    const here = rules.filter((rule) => rule.path === place);
    if (here.some(({ allowed }) => !allowed)) return false;
    if (here.some(({ propagate }) => propagate || place === path)) return true;
  }
  return undefined;
}

/**
 * The decision for a lab in pools: only entries at these pools count, or at the lab's place in them.
 * @param pools their ids
 */
function judgePooled(rules: readonly Rule[], pools: readonly string[], lab: string): boolean | undefined {
  const decisions = pools.map((pool) =>
    judge(
      rules.filter(({ path }) => isWithin(path, `/pools/${pool}`)),
      `/pools/${pool}/resources/${lab}`,
    ),
  );
  return decisions.includes(true) ? true : decisions.find((one) => one !== undefined);
}

/** The id of the lab that a path lies in. */
export function labOf(path: string): string | undefined {
  return /^\/projects\/([^/]+)/.exec(path)?.[1];
}

/**
 * Whether entries grant a privilege at a path. Entries for the account itself go before those for its groups.
 * @param path of the request, without `/v3`
 * @param poolsOf ids of the pools that a lab is in
 */
export function isGranted(
  { own, groups }: Rules,
  privilege: Privilege,
  path: string,
  poolsOf: (projectId: string) => readonly string[] = () => [],
): boolean {
  const lab = labOf(path);
  const pools = lab === undefined ? [] : poolsOf(lab);
  for (const rules of [own, groups]) {
    const matching = rules.filter(({ privileges }) => privileges.has(privilege));
    const decision = pools.length > 0 ? judgePooled(matching, pools, lab!) : judge(matching, path);
    if (decision !== undefined) return decision;
  }
  return false;
}

/** Whether a token that was made for at most this role may use what entries grant to its account. */
export function isWithinRole(privilege: Privilege, role: Role | null): boolean {
  if (role === null || role === 'admin') return true;
  if (isAudit(privilege)) return role !== 'none';
  return role === 'user' && LAB_AREAS.includes(areaOf(privilege));
}

/** Whether a rule may let its account change something in a lab. Errs on the side of yes. */
export function mayChangeLab({ path, allowed, privileges }: Rule, lab: string, pools: readonly string[]): boolean {
  if (!allowed || ![...privileges].some((one) => LAB_AREAS.includes(areaOf(one)) && !isAudit(one))) return false;
  if (pools.length > 0) return pools.some((pool) => isWithin(path, `/pools/${pool}`));
  return path === '/' || path === '/projects' || isWithin(path, `/projects/${lab}`);
}
