// Every host that runs NATS has a copy of the registry, by which its NATS knows the hosts that may connect.
import { createHash } from 'node:crypto';
import { type NatsConnection, RequestError } from '@nats-io/transport-node';
import * as v from 'valibot';
import { conflict, messageOf } from '../failures.ts';
import type { ClusterLog } from './cluster-log.ts';
import { type ClusterFiles, type Membership, Registry } from './layout.ts';
import { reloadNats, writeConfiguration } from './registry.ts';
import { inboxPrefix, respond, senderOf, subjects } from './subjects.ts';

/** Time limit (ms) for the controller's answer. */
const ANSWER_MS = 5_000;

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** As the controller: answers with the registry, or with nothing if the copy is equal. */
export function serveRegistry(
  nats: NatsConnection,
  { files, host, log }: { files: ClusterFiles; host: string; log: ClusterLog },
): void {
  let problem = '';
  nats.subscribe(subjects('*').registry, {
    callback: (_error, message) => {
      // Its own question is for a host that has replaced it.
      if (senderOf(message) === host) return;
      const answered = files.registry().then((registry) => {
        problem = '';
        const text = JSON.stringify(registry);
        respond(message, inboxPrefix(senderOf(message)), message.string() === digestOf(text) ? '' : text);
      });
      // Who asks tries again.
      void answered.catch((error: unknown) => {
        // This host may be leaving the cluster.
        if (nats.isClosed() || messageOf(error) === problem) return;
        problem = messageOf(error);
        log.warn('other hosts get no copy of the list of hosts', { reason: problem });
      });
    },
  });
}

/** Undefined if the copy with this digest is equal. */
export async function fetchRegistry(nats: NatsConnection, host: string, digest = ''): Promise<Registry | undefined> {
  const answer = await nats.request(subjects(host).registry, digest, { timeout: ANSWER_MS });
  return answer.data.length > 0 ? v.parse(Registry, answer.json()) : undefined;
}

/** Makes the copy of this host equal to the controller's, and lets its NATS read it. */
export async function updateCopy(nats: NatsConnection, files: ClusterFiles, membership: Membership): Promise<void> {
  const own = await files.registry().then(JSON.stringify, () => '');
  const registry = await fetchRegistry(nats, membership.host, digestOf(own));
  if (registry) await files.setRegistry(registry);
  if (await writeConfiguration(files, membership)) await reloadNats(files);
}

/**
 * The host that admits hosts in the place of this one, if there is one. Of two that replaced the same one it is the first to begin.
 * @throws Error if a host that admits others is there, and does not answer
 */
export async function replacedBy(nats: NatsConnection, files: ClusterFiles, host: string): Promise<string | undefined> {
  const own = await files.storage();
  if (!own || own.servers === 1) return undefined;
  const found = await fetchRegistry(nats, host).catch((error: unknown) => {
    if (error instanceof RequestError && error.isNoResponders()) return undefined;
    throw error;
  });
  return found && found.storage.term >= own.term && found.storage.registrar !== host
    ? found.storage.registrar
    : undefined;
}

/** @throws Failure `conflict` if another host admits hosts in the place of this one, or that cannot be known */
export async function requireRegistrar(nats: NatsConnection, files: ClusterFiles, host: string): Promise<void> {
  const other = await replacedBy(nats, files, host).catch((error: unknown) => {
    throw conflict(
      `another host that admits hosts to the cluster does not answer, and may have replaced this one (${messageOf(error)})`,
    );
  });
  if (other === undefined) return;
  throw conflict(`${other} has replaced this host in the cluster: run "labwired cluster leave" here, and join again.`);
}
