// A cluster of two executables over a real NATS, in two network namespaces.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { createWebSocketStream, WebSocket } from 'ws';
import type { Cleanup } from '../cleanup.ts';
import { Nats } from '../cluster/nats.ts';
import { Typist } from '../guest/guest.ts';
import { type Daemon, eventually, ownDaemon } from './daemon.ts';
import { executable } from './executable.ts';
import { type Lab, missing, type NodeObject } from './lab.ts';
import { noNamespaces, type TwoHosts } from './two-daemons-network.ts';

/** Why there can be no such cluster here, or false. */
export const noCluster = (): string | false => missing('ip', 'curl', 'nft', 'nats-server', 'openssl') || noNamespaces();

const CONFIG = '[VPCS]\nengine = built-in\n';

export function run(...words: string[]): string {
  return execFileSync(words[0] as string, words.slice(1), { stdio: ['ignore', 'pipe', 'pipe'] }).toString();
}

/** The first messages of a stream of events; one that is cut off is left out. @param inside words before a program, for another network */
export function firstEvents<Event>(inside: readonly string[], url: string): Event[] {
  const text = run(...inside, 'sh', '-c', `curl --silent --max-time 1 '${url}' || true`);
  return text
    .split('\n')
    .slice(0, -1)
    .flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
}

export interface Listed {
  compute_id: string;
  name: string;
  connected: boolean;
  last_error: string | null;
}

/** The compute `b` as the controller lists it. */
export async function listed(controller: Daemon): Promise<Listed | undefined> {
  return ((await controller.get('/v2/computes')) as Listed[]).find(({ name }) => name === 'b');
}

/** The compute `b`, once it is connected. */
export async function connected(controller: Daemon): Promise<Listed> {
  const compute = await eventually(
    'b',
    () => listed(controller),
    (host) => host?.connected === true,
  );
  return compute as Listed;
}

/** Waits until a round of copies of the nodes of `b` that begins from now on is complete. */
export async function copiedAgain(controller: Daemon): Promise<void> {
  const now = Date.now();
  await eventually(
    'a round of copies',
    async () => {
      const { hosts } = (await controller.get('/v2/cluster')) as {
        hosts: { name: string; checkpoint: string | null }[];
      };
      return Date.parse(hosts.find(({ name }) => name === 'b')?.checkpoint ?? '');
    },
    (begun) => begun >= now,
  );
}

/** A cluster on the host of the controller, and a server on `other` that can join it. */
export async function begun(
  t: Cleanup,
  hosts: TwoHosts,
  other: readonly string[],
  { settings = '', environment = {} }: { settings?: string; environment?: Record<string, string> } = {},
): Promise<{ a: Daemon; b: Daemon; nats: Nats; line: string }> {
  const program = executable();
  const a = ownDaemon(t, {
    program: [...hosts.controller.inside, ...program],
    host: hosts.controllerAddress,
    ...{ config: CONFIG + settings, environment },
    flags: ['--host', '0.0.0.0', '--insecure'],
  });
  const b = ownDaemon(t, {
    program: [...other, ...program],
    ...{ config: CONFIG + settings, environment },
    flags: ['--insecure'],
  });
  const words = ['--name', 'lab', '--host-name', 'a', '--address', hosts.addresses.controller, '--state', a.state];
  const said = run(...program, 'cluster', 'init', ...words);
  const nats = await new Nats(t, join(a.state, 'cluster/nats.conf'), hosts.controller.inside).start();
  await a.start();
  await eventually(
    'the controller',
    () => a.log,
    (log) => /this host takes part in the cluster/.test(log),
  );
  return { a, b, nats, line: /lab:\/\/[^']+/.exec(said)?.[0] as string };
}

/** The cluster of {@link begun}, which `b` on the second host has joined. @returns `compute_id` of b */
export async function joined(t: Cleanup, hosts: TwoHosts, settings: string) {
  const { inside } = hosts.compute;
  const { a, b, nats, line } = await begun(t, hosts, inside, { settings });
  run(...inside, ...executable(), 'cluster', 'join', line, '--host-name', 'b', '--state', b.state);
  await b.start();
  return { a, b, nats, compute_id: (await connected(a)).compute_id };
}

/** Somebody at the console of a node, by the controller, wherever the node is. */
export function typistOf(t: Cleanup, lab: Lab, node: NodeObject): Typist {
  const { url, headers } = lab.daemon;
  const address = `${url.replace('http', 'ws')}${lab.path}/nodes/${node.node_id}/console/ws`;
  return new Typist(t, createWebSocketStream(new WebSocket(address, { headers })));
}
