// The first contact with a compute: checks capabilities and release, and opens its notifications (as in release 2.2.57).
import type { ComputeObject } from '../../api/objects.ts';
import type { ComputeFeed } from '../../events/feed.ts';
import { conflict, Failure } from '../../failures.ts';
import { CONSOLE_HOST, VXLAN_PORT } from '../../http/app/compute-headers.ts';
import { answerJson, ComputeRefusal } from './answers.ts';
import { within } from './limits.ts';
import { socketFeed } from './socket-feed.ts';
import type { ComputeTransport } from './transport.ts';

export type Capabilities = ComputeObject['capabilities'];

/** Time limit (ms) for each of the two steps. */
const TIMEOUT_MS = 10_000;

export interface Introduction {
  capabilities: Capabilities;
  /** The address that its consoles listen on, if reported. */
  consoleHost: string | null;
  /** The UDP port of its links to other hosts by VXLAN, if any. */
  vxlanPort: number | undefined;
  feed: ComputeFeed;
}

/**
 * Reads a compute's capabilities and opens its notifications. `name` is the compute's, `version` this server's.
 * @throws ComputeUnreachable, which may be temporary; Failure `conflict` if a person must fix something
 */
export async function introduce(
  transport: ComputeTransport,
  { name, version }: { name: string; version: string },
): Promise<Introduction> {
  try {
    const call = 'GET /capabilities';
    const { told, headers } = await within(TIMEOUT_MS, call, async (signal) => {
      const answer = await transport.request('/v2/compute/capabilities', {
        headers: { 'Content-Type': 'application/json' },
        ...(signal ? { signal } : {}),
      });
      return { told: await answerJson(answer, call), headers: answer.headers };
    });
    const capabilities = understood(told, name);
    mustBeOfRelease(capabilities.version, { name, version });
    const feed =
      transport.follow?.() ??
      (await within(TIMEOUT_MS, 'WebSocket /notifications/ws', async () =>
        // As a header: other computes may be strict about the query.
        socketFeed(await transport.openSocket('/v2/compute/notifications/ws', { 'X-Operations': 'yes' })),
      ));
    const vxlanPort = Number(headers.get(VXLAN_PORT) ?? 0);
    return {
      capabilities,
      consoleHost: headers.get(CONSOLE_HOST),
      vxlanPort: Number.isInteger(vxlanPort) && vxlanPort > 0 ? vxlanPort : undefined,
      feed,
    };
  } catch (error) {
    throw error instanceof ComputeRefusal ? notAServer(name, error) : error;
  }
}

/** How long (ms) until the next attempt if the compute names no time, and the longest time that it may name. */
const REJECTED_AGAIN_MS = 30_000;
const LONGEST_WAIT_MS = 3_600_000;

/**
 * The compute rejects the user and password of this server, or every login for a while after several wrong ones. Reported as a
 * conflict: a 401 would make the client doubt its own password.
 */
export class Unauthorized extends Failure {
  /** How long (ms) no request is sent, because each could count there as a wrong guess. */
  readonly retryMs: number;

  constructor(message: string, retryMs: number) {
    super('conflict', message);
    this.retryMs = retryMs;
  }
}

/** What this answer says about the login of this server; undefined if it is accepted. `retryAfter` is the header `Retry-After`. */
export function rejectionOf(
  { status, retryAfter }: { status: number; retryAfter: string | null },
  name: string,
): Unauthorized | undefined {
  if (status !== 401 && status !== 429) return undefined;
  const retryMs = waitOf(retryAfter);
  const message =
    status === 401
      ? `The compute ${name} does not accept this user and password: correct them.`
      : `The compute ${name} accepts no login for ${Math.ceil(retryMs / 1000)} s after several wrong passwords; this server tries again then.`;
  return new Unauthorized(message, retryMs);
}

/** The wait (ms) in a `Retry-After` header (seconds or a date, RFC 9110). */
function waitOf(header: string | null): number {
  const text = header?.trim() ?? '';
  const asked = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isNaN(asked) ? REJECTED_AGAIN_MS : Math.min(Math.max(asked, 1_000), LONGEST_WAIT_MS);
}

function notAServer(name: string, refusal: ComputeRefusal): Failure {
  const rejection = rejectionOf(refusal, name);
  if (rejection) return rejection;
  const { status, message } = refusal;
  if (status === 403) {
    return conflict(`The user of the compute ${name} is no admin there: give it the role, or name another. ${message}`);
  }
  if (status === 503) return conflict(`The compute ${name} is not ready to serve: ${message}`);
  return conflict(`No compatible server answers at the address of compute ${name}: ${message}`);
}

/** Keeps only the members that clients may see; others would break their list of computes. */
function understood(told: unknown, name: string): Capabilities {
  const { version, node_types: types, platform } = (told ?? {}) as Record<string, unknown>;
  if (typeof version !== 'string' || version === '') {
    throw conflict(`No compatible server answers at the address of compute ${name}: the answer has no version.`);
  }
  return {
    version,
    node_types: Array.isArray(types) ? types.filter((type) => typeof type === 'string') : [],
    ...(typeof platform === 'string' ? { platform } : {}),
  };
}

function mustBeOfRelease(theirs: string | null, { name, version: ours }: { name: string; version: string }): void {
  const release = (text: string | null): string => (text ?? '').split('-')[0] as string;
  if (release(theirs) === release(ours)) return;
  throw conflict(`The compute ${name} has version ${theirs}, this server ${ours}: both must be the same release.`);
}
