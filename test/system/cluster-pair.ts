// A cluster of two hosts that take turns at being the controller.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { amidChanges } from '../amid-changes.ts';
import type { Nats } from '../cluster/nats.ts';
import { begun, run } from './cluster-hosts.ts';
import { type Daemon, eventually } from './daemon.ts';
import { executable } from './executable.ts';
import { TwoHosts } from './two-daemons-network.ts';

const SETTINGS = '[Cluster]\nfailover_seconds = 2\ncheckpoint_seconds = 1\n';
const CONTROLS = /this host is the controller now/g;

export interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: objects of the API
  body: any;
}

export type Ask = (method: string, path: string, body?: object) => Promise<Answer>;

export interface Pair {
  hosts: TwoHosts;
  a: Daemon;
  b: Daemon;
  nats: Nats;
  idOfB: string;
  onA: Ask;
  onB: Ask;
}

/** The cluster of `a`, the controller, and `b`, which may be it. */
export async function pair(t: TestContext): Promise<Pair> {
  const hosts = TwoHosts.make(t);
  const { inside } = hosts.compute;
  const { a, b, nats, line } = await begun(t, hosts, inside, { settings: SETTINGS });
  run(...inside, ...executable(), 'cluster', 'join', line, '--host-name', 'b', '--standby', '--state', b.state);
  // Nodes go on, and the host begins to keep the log.
  await a.end('SIGUSR2');
  await a.start();
  await controls(a, 1);
  await b.start();
  // A request may lose its connection while the controller changes: that is no answer.
  const onA: Ask = async (method, path, body) => {
    const { status, json } = await a
      .ask(method, path, { ...(body && { body }) })
      .catch(() => ({ status: 0, json: undefined }));
    return { status, body: json };
  };
  /** Only its own host reaches the server of b. */
  const onB: Ask = async (method, path, body) => {
    const words = body ? ['--data', JSON.stringify(body), '-H', 'Content-Type: application/json'] : [];
    const asked = ['curl', '--silent', '-X', method, ...words, '-w', '\n%{http_code}', `${b.url}${path}`];
    const text = run(...inside, 'sh', '-c', '"$@" || true', 'sh', ...asked);
    const at = text.lastIndexOf('\n');
    const content = text.slice(0, at);
    return { status: Number(text.slice(at + 1)), body: content === '' ? undefined : JSON.parse(content) };
  };
  const computes = await eventually(
    'b',
    async () => (await onA('GET', '/v2/computes')).body as { compute_id: string; name: string; connected: boolean }[],
    (found) => found?.some(({ name, connected }) => name === 'b' && connected) === true,
  );
  return { hosts, a, b, nats, idOfB: computes.find(({ name }) => name === 'b')?.compute_id as string, onA, onB };
}

/** Waits until a host has become the controller so many times. */
export async function controls(host: Daemon, times: number): Promise<void> {
  await eventually(
    'the controller',
    () => host.log.match(CONTROLS)?.length ?? 0,
    (count) => count >= times,
  );
}

/** Waits until a host that may be the next controller has what the nodes of a lab have saved. */
export async function copied({ state }: Daemon, projectId: string, saved: readonly string[]): Promise<void> {
  const copies = join(state, 'checkpoints', projectId);
  const texts = (): string[] =>
    readdirSync(copies, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1'));
  await eventually(
    'copies of what the nodes have saved',
    () => (existsSync(copies) ? amidChanges(texts).join() : ''),
    (all) => saved.every((one) => all.includes(one)),
    60_000,
  );
}

export type Placed = Record<string, [compute: string, status: string]>;

export async function placed(ask: Ask, path: string): Promise<Placed> {
  const nodes = (await ask('GET', `${path}/nodes`)).body as { name: string; compute_id: string; status: string }[];
  return Object.fromEntries((nodes ?? []).map((node) => [node.name, [node.compute_id, node.status]]));
}
