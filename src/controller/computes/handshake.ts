// Getting to know a compute: what it can do, whether it is of our release, and its notifications (as in release 2.2.57).
import { Failure } from '../../failures.ts';
import type { MessageSocket } from '../../http/sockets.ts';
import { answerJson, ComputeRefusal } from './answers.ts';
import { within } from './limits.ts';
import type { ComputeTransport } from './transport.ts';

/** What a compute says that it can do. */
export interface Capabilities {
  version: string | null;
  node_types: string[];
  platform?: string;
}

/** Milliseconds for each of the two steps. */
const TIMEOUT_MS = 10_000;

export interface Introduction {
  capabilities: Capabilities;
  /** Its notifications. */
  socket: MessageSocket;
}

/**
 * Asks a compute what it can do and opens its notifications. `name` is the compute's, `version` this server's.
 * @throws ComputeUnreachable, which may pass by itself; Failure `conflict` for what somebody has to put right
 */
export async function introduce(
  transport: ComputeTransport,
  { name, version }: { name: string; version: string },
): Promise<Introduction> {
  try {
    const call = 'GET /capabilities';
    const told = await within(TIMEOUT_MS, call, async (signal) =>
      answerJson(
        await transport.request('/v2/compute/capabilities', {
          headers: { 'Content-Type': 'application/json' },
          ...(signal ? { signal } : {}),
        }),
        call,
      ),
    );
    const capabilities = understood(told, name);
    mustBeOfRelease(capabilities.version, { name, version });
    const socket = await within(TIMEOUT_MS, 'WebSocket /notifications/ws', () =>
      // As a header: computes of other makes may look closely at the address.
      transport.openSocket('/v2/compute/notifications/ws', { 'X-Operations': 'yes' }),
    );
    return { capabilities, socket };
  } catch (error) {
    throw error instanceof ComputeRefusal ? notAServer(name, error) : error;
  }
}

/** Answers of whoever is not let in: for a wrong password, and for a while after several. */
const NOT_LET_IN: readonly number[] = [401, 429];

/** Why a compute that answers with this status does not let this server in; undefined of any other. */
export function whyNotLetIn(status: number, name: string): string | undefined {
  if (!NOT_LET_IN.includes(status)) return undefined;
  const wait = status === 429 ? ' After several wrong ones it lets nobody in for a while.' : '';
  return `The compute ${name} does not accept this user and password: correct them.${wait}`;
}

/** The compute does not accept what this server logs in with: asking the same again would only be one more wrong guess. */
export class NotLetIn extends Failure {
  constructor(message: string) {
    super('conflict', message);
  }
}

function notAServer(name: string, { status, message }: ComputeRefusal): Failure {
  const notLetIn = whyNotLetIn(status, name);
  if (notLetIn !== undefined) return new NotLetIn(notLetIn);
  if (status === 403) {
    return new Failure(
      'conflict',
      `The user of the compute ${name} is no admin there: give it the role, or name another. ${message}`,
    );
  }
  if (status === 503) return new Failure('conflict', `The compute ${name} is not ready to serve: ${message}`);
  return new Failure('conflict', `At the address of the compute ${name} is no such server: ${message}`);
}

/** Only the members that clients may see; anything else would break their list of computes. */
function understood(told: unknown, name: string): Capabilities {
  const { version, node_types: types, platform } = (told ?? {}) as Record<string, unknown>;
  if (typeof version !== 'string' || version === '') {
    throw new Failure('conflict', `At the address of the compute ${name} is no such server: it tells no version.`);
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
  throw new Failure(
    'conflict',
    `The compute ${name} has version ${theirs}, this server ${ours}: both must be the same release.`,
  );
}
