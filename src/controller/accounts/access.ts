// Decides whether an account may use a route, and writes the audit line of the request.
import { Failure } from '../../failures.ts';
import type { AccessControl, Answered } from '../../http/access/access-control.ts';
import type { Admission, Identity } from '../../http/access/identity.ts';
import type { Route, RouteRequest } from '../../http/app/route.ts';
import type { AuditFile } from '../../store/audit.ts';
import { type Need, needOf } from './rules.ts';
import { noProject, type Sharing } from './sharing.ts';

export interface AccessParts {
  sharing: Sharing;
  audit: AuditFile;
  /** The name of a lab; undefined if there is no lab with this id. */
  nameOf: (projectId: string) => string | undefined;
}

/** Emulator queries whose answers are the same for all clients. */
const HARMLESS_QUESTIONS = /^(images|binaries|img-binaries|capabilities|vms)$/;
/** Which types of nodes cannot run there, and why: open to every account. */
const UNAVAILABLE_KINDS = 'node_types/hindrances';
const EMULATORS = /^(qemu|docker|dynamips|iou|vpcs|virtualbox|vmware)$/;

/** Requests that change nothing stored, whatever their method. */
const CHANGES_NOTHING = new Set(['POST /v2/tickets', 'POST /v2/version']);

/** Consoles and displays, of labs and of computes. */
const CONSOLE = /\/(?:console|aux)\/(?:ws|vnc)$/;

/** Members of an answer that identify what was created. */
const NAMED = [
  ...['project_id', 'node_id', 'link_id', 'drawing_id', 'snapshot_id', 'template_id', 'token_id'],
  ...['name', 'filename'],
];
/** The longest name (bytes) in an audit line. */
const LONGEST = 200;

export class Access implements AccessControl {
  readonly #parts: AccessParts;

  constructor(parts: AccessParts) {
    this.#parts = parts;
  }

  admit(route: Route, request: Pick<RouteRequest, 'params' | 'query'>, identity: Identity): Admission {
    const { role } = identity;
    if (role === 'admin') return { watches: false };
    const need = needOf(route) ?? 'admin';
    const params = request.params as Record<string, string | undefined>;
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
    if (makes && role === 'observer') throw refusal(identity, 'user');
    return { watches };
  }

  answered(route: Route, request: RouteRequest, identity: Identity, answered: Answered): void {
    const action = `${route.method} ${route.pattern}`;
    if ((route.method === 'GET' && !this.#isDeed(route, answered)) || CHANGES_NOTHING.has(action)) return;
    const { status, answer, requestId } = answered;
    this.#parts.audit.note({
      time: new Date().toISOString(),
      account: identity.name,
      ...(identity.token && { token: identity.token.name }),
      address: request.client.address,
      action,
      objects: this.#objects(request.params as Record<string, string>, status < 300 ? answer : undefined),
      status,
      ...(requestId !== undefined && { request: requestId }),
    });
  }

  /** Whether a GET changes something: it controls a router, or opens a console with write access. */
  #isDeed(route: Route, { admission }: Answered): boolean {
    const need = needOf(route);
    return need === 'change' || ((need === 'type' || CONSOLE.test(route.pattern)) && admission?.watches === false);
  }

  /** Returns whether the lab is read-only for the account. @throws Failure */
  #ofLab(identity: Identity, projectId: string, need: Need): boolean {
    const access = this.#parts.sharing.accessOf(identity, projectId);
    if (access === 'none' || this.#parts.nameOf(projectId) === undefined) throw noProject(projectId);
    if (access === 'watch' && need === 'change')
      throw identity.role === 'observer'
        ? refusal(identity, 'user')
        : new Failure('forbidden', 'This lab is shared with you for watching: its owner can let you change it.');
    return access === 'watch';
  }

  #objects(params: Record<string, string>, answer: unknown): Record<string, string> {
    const made = typeof answer === 'object' && answer !== null ? (answer as Record<string, unknown>) : {};
    const named = NAMED.flatMap((member) =>
      typeof made[member] === 'string' ? [[member, made[member]] as const] : [],
    );
    const project = params['project_id'] === undefined ? undefined : this.#parts.nameOf(params['project_id']);
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

function refusal({ name, role, token }: Identity, needed: 'user' | 'admin'): Failure {
  const who = token ? `this token (${role})` : `the account "${name}" (${role})`;
  const may = needed === 'admin' ? 'Only admins may do this' : 'Observers change nothing';
  return new Failure('forbidden', `${may}: ${who} may not.`);
}
