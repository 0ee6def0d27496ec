// Decides whether an account may use a route, and writes the audit line of the request.
import type { RouteAccess } from '../../api/routes/definition.ts';
import { Failure, forbidden } from '../../failures.ts';
import type { AccessControl, Answered } from '../../http/access/access-control.ts';
import type { Admission, Identity } from '../../http/access/identity.ts';
import { isV3 } from '../../http/app/errors.ts';
import { JsonText, type Route, type RouteRequest } from '../../http/app/route.ts';
import { recognizedParams } from '../../http/v3/form.ts';
import type { AuditFile } from '../../store/audit.ts';
import type { AccessList } from './access-list.ts';
import { entryPath } from './entry-paths.ts';
import { noProject, type Sharing } from './sharing.ts';

export interface AccessParts {
  sharing: Sharing;
  entries: AccessList;
  audit: AuditFile;
  /** The name of a lab; undefined if there is no lab with this id. */
  nameOf: (projectId: string) => string | undefined;
}

/** Emulator queries whose answers are the same for all clients. */
const HARMLESS_QUESTIONS = /^(images|binaries|img-binaries|capabilities|vms)$/;
/** Which types of nodes cannot run there, and why: open to every account. */
const UNAVAILABLE_KINDS = 'node_types/hindrances';
const EMULATORS = /^(qemu|docker|dynamips|iou|vpcs|virtualbox|vmware)$/;

/** Consoles and displays, of labs and of computes. */
const CONSOLE = /\/(?:console|aux)\/(?:ws|vnc)$/;

/** Members of an answer that identify what was created. */
const NAMED = [
  ...['project_id', 'node_id', 'link_id', 'drawing_id', 'snapshot_id', 'template_id', 'token_id'],
  ...['user_id', 'group_id', 'user_group_id', 'role_id', 'ace_id', 'resource_pool_id'],
  ...['name', 'username', 'filename'],
];
/** Of entries of the access list, the path, too: it is what is granted. */
const NAMED_OF_ENTRIES = [...NAMED, 'path'];
const ENTRIES = /^\/v3\/access\/acl/;
/** The longest name (bytes) in an audit line. */
const LONGEST = 200;

/** What no account without a role may do by itself. */
const HAVING_A_ROLE: ReadonlySet<RouteAccess> = new Set(['use', 'pass']);
const DUPLICATE = /^\/v[23]\/projects\/\{project_id\}\/duplicate$/;

type Params = Readonly<Record<string, string | undefined>>;

export class Access implements AccessControl {
  readonly #parts: AccessParts;

  constructor(parts: AccessParts) {
    this.#parts = parts;
  }

  admit(route: Route, request: Pick<RouteRequest, 'params' | 'query'>, identity: Identity): Admission {
    const params = paramsOf(route, request);
    const lab = this.#labOf(params);
    if (identity.role === 'admin') return { watches: false, lab };
    try {
      const own = this.#byRole(route, params, identity);
      return { watches: own.watches && !this.#byEntry(route, params, identity), lab };
    } catch (refused) {
      if (!this.#byEntry(route, params, identity)) throw refused instanceof Failure ? inForm(route, refused) : refused;
      return { watches: false, lab };
    }
  }

  #labOf({ project_id: id }: Params): string | undefined {
    return id === undefined ? undefined : this.#parts.nameOf(id);
  }

  /** What the role, ownership and sharing allow. @throws Failure */
  #byRole(route: Route, params: Params, identity: Identity): Admission {
    const { role } = identity;
    const { access: need = 'admin', privilege } = route.definition;
    // What entries can grant, this role has from them alone.
    if (role === 'none' && ((need === 'read' && privilege !== undefined) || HAVING_A_ROLE.has(need)))
      throw refusal(identity, 'role');
    if (need === 'pass' && `${params['emulator']}/${params['action']}` === UNAVAILABLE_KINDS) return { watches: false };
    if (need === 'admin' || (need === 'figures' && identity.token?.ofRole !== 'admin'))
      throw refusal(identity, 'admin');
    if (
      need === 'pass' &&
      !(EMULATORS.test(params['emulator'] ?? '') && HARMLESS_QUESTIONS.test(params['action'] ?? ''))
    )
      throw refusal(identity, 'admin');
    const { project_id: projectId } = params;
    const ofLab = need === 'watch' || need === 'type' || need === 'change';
    const watches = ofLab && projectId !== undefined && this.#ofLab(identity, projectId, need);
    const makes = need === 'use' || need === 'pass' || (need === 'watch' && route.method !== 'GET');
    if (makes && role !== 'user') throw refusal(identity, 'user');
    return { watches };
  }

  /** What entries of the access list allow. */
  #byEntry(route: Route, params: Params, identity: Identity): boolean {
    const { privilege } = route.definition;
    const path = privilege && entryPath(route, params);
    if (privilege === undefined || path === undefined) return false;
    const { entries, sharing } = this.#parts;
    const { project_id: projectId } = params;
    // A copy needs any right to read the original, and any right to make labs.
    if (projectId !== undefined && route.method === 'POST' && DUPLICATE.test(route.pattern))
      return (
        this.#parts.nameOf(projectId) !== undefined &&
        sharing.sees(identity, projectId) &&
        (identity.role === 'user' || entries.makes(identity, projectId) !== undefined)
      );
    return entries.grants(identity, privilege, path);
  }

  answered(route: Route, request: RouteRequest, identity: Identity, answered: Answered): void {
    if ((route.method === 'GET' && !this.#isDeed(route, answered)) || route.definition.unaudited) return;
    const { status, answer, requestId, admission } = answered;
    this.#parts.audit.note({
      time: new Date().toISOString(),
      account: identity.name,
      ...(identity.token && { token: identity.token.name }),
      address: request.client.address,
      action: `${route.method} ${route.pattern}`,
      objects: this.#objects(route, request, status < 300 ? answer : undefined, admission?.lab),
      status,
      ...(requestId !== undefined && { request: requestId }),
    });
  }

  /** Whether a GET changes something: it controls a router, or opens a console with write access. */
  #isDeed(route: Route, { admission }: Answered): boolean {
    const { access: need } = route.definition;
    return need === 'change' || ((need === 'type' || CONSOLE.test(route.pattern)) && admission?.watches === false);
  }

  /** Returns whether the lab is read-only for the account. @throws Failure */
  #ofLab(identity: Identity, projectId: string, need: RouteAccess): boolean {
    const access = this.#parts.sharing.accessOf(identity, projectId);
    if (access === 'none' || this.#parts.nameOf(projectId) === undefined) throw noProject(projectId);
    if (access === 'watch' && need === 'change')
      throw identity.role === 'observer'
        ? refusal(identity, 'user')
        : forbidden('This lab is shared with you for watching: its owner can let you change it.');
    return access === 'watch';
  }

  #objects(
    route: Route,
    request: Pick<RouteRequest, 'params'>,
    answer: unknown,
    lab: string | undefined,
  ): Record<string, string> {
    const params = paramsOf(route, request) as Record<string, string>;
    const given: unknown = answer instanceof JsonText ? JSON.parse(answer.text) : answer;
    const made = typeof given === 'object' && given !== null ? (given as Record<string, unknown>) : {};
    const named = (ENTRIES.test(route.pattern) ? NAMED_OF_ENTRIES : NAMED).flatMap((member) =>
      typeof made[member] === 'string' ? [[member, made[member]] as const] : [],
    );
    // Requests that make a lab name it in their answer only.
    const project = this.#labOf({ ...made, ...params } as Params) ?? lab;
    const all = [
      ...named,
      ...Object.entries(params),
      ...(project === undefined ? [] : [['project', project] as const]),
    ];
    return Object.fromEntries(all.map(([name, text]) => [name, shortened(text)]));
  }
}

/** The beginning of a text, cut between characters. */
function shortened(text: string): string {
  if (Buffer.byteLength(text) <= LONGEST) return text;
  return Buffer.from(text)
    .subarray(0, LONGEST)
    .toString('utf8')
    .replace(/\ufffd+$/, '');
}

/** Rights are judged for the lab that the route will find, however the client of release 3.0.6 spells its identifier. */
function paramsOf({ pattern }: Route, request: Pick<RouteRequest, 'params'>): Params {
  const params = request.params as Record<string, string>;
  return isV3(pattern) ? recognizedParams(params) : params;
}

/** Release 3.0.6 answers 403 for labs that there are not, too. */
function inForm({ pattern }: Route, refused: Failure): Failure {
  return isV3(pattern) ? forbidden(refused.message) : refused;
}

function refusal({ name, role, token }: Identity, needed: 'role' | 'user' | 'admin'): Failure {
  const who = token ? `this token (${role})` : `the account "${name}" (${role})`;
  if (role === 'none') return forbidden(`No entry of the access list lets ${who} do this: an admin can add one.`);
  const may = needed === 'admin' ? 'Only admins may do this' : 'Observers change nothing';
  return forbidden(`${may}: ${who} may not.`);
}
