// Hosts of a cluster in this process, each with a state directory of its own, over a real NATS.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { clusterCommand } from '../../src/cluster/commands.ts';
import { examineCluster } from '../../src/cluster/health.ts';
import { ClusterFiles } from '../../src/cluster/layout.ts';
import { type Cluster, type ClusterParts, startCluster } from '../../src/cluster/service.ts';
import type { Verdict } from '../../src/host/values/check-result.ts';
import type { Cleanup } from '../cleanup.ts';
import { freeTcpPort } from '../free-tcp-port.ts';
import { eventually } from '../system/daemon.ts';
import { Nats } from './nats.ts';

type Command = Partial<Parameters<typeof clusterCommand>[0]>;

export class Host {
  readonly state = mkdtempSync(join(tmpdir(), 'labwire-cluster-'));
  readonly files = new ClusterFiles(this.state);
  readonly said: string[] = [];
  /** Names of the hosts that have held a lease, and of those among them that were forgotten, as the controller sees it. */
  readonly held = new Set<string>();
  /** What their leases said: id and address, by name. */
  readonly leases = new Map<string, string>();
  readonly forgotten: string[] = [];
  /** When (ms) this host has renewed its own. */
  readonly renewals: number[] = [];
  readonly absent: string[] = [];
  /** Names of the hosts that passed clients on, one for each connection. */
  readonly passed: string[] = [];
  cluster: Cluster | undefined;
  readonly name: string;

  constructor(t: Cleanup, name: string) {
    this.name = name;
    t.after(async () => {
      await this.cluster?.stop();
      rmSync(this.state, { recursive: true, force: true });
    });
  }

  run(verb: string, argument?: string, more: Command = {}): Promise<string> {
    return clusterCommand({ verb, argument, state: this.state, hostName: this.name, json: false, ...more });
  }

  async start(accept: (stream: Duplex) => void = () => {}): Promise<void> {
    const say = (message: string, details: object = {}): void =>
      void this.said.push(`${message} ${JSON.stringify(details)}`);
    const parts: ClusterParts = {
      state: this.state,
      cluster: 'lab',
      log: { info: say, warn: say, error: say },
      describe: async () => ({ version: '1', port: 3080, free_memory_bytes: 1, cores: 1, kvm: false, node_types: [] }),
      accept,
      acceptClient: (stream, host) => {
        this.passed.push(host);
        accept(stream);
      },
      renewed: () => void this.renewals.push(performance.now()),
      held: ({ id, name, address }) => {
        this.held.add(name);
        this.leases.set(name, `${id} ${address}`);
      },
      isDraining: () => false,
      failoverMs: 2_000,
      absent: ({ name }) => void this.absent.push(name),
      forgotten: ({ name }) => void this.forgotten.push(name),
    };
    this.cluster = await startCluster(parts);
  }

  /** As the controller: resolves when others can join. */
  async takePart(): Promise<void> {
    await this.start();
    await eventually(
      'the controller',
      () => this.said.join(),
      (said) => said.includes('takes part'),
    );
  }

  doctor(configured = ''): Promise<Verdict> {
    return examineCluster(this.state, configured);
  }

  line(): Promise<string> {
    return this.run('token').then((text) => text.trim());
  }
}

export async function first(t: Cleanup, more: Command = {}): Promise<{ a: Host; nats: Nats; line: string }> {
  const a = new Host(t, 'a');
  const out = await a.run('init', undefined, {
    ...{ name: 'lab', address: `127.0.0.1:${await freeTcpPort()}` },
    ...more,
  });
  const line = /lab:\/\/[^']+/.exec(out)?.[0] as string;
  const nats = await new Nats(t, a.files.path('nats.conf')).start();
  return { a, nats, line };
}

/** A controller, and a host that has joined it. @param accept serves its streams */
export async function two(
  t: Cleanup,
  accept?: (stream: Duplex) => void,
): Promise<{ a: Host; b: Host; nats: Nats; line: string }> {
  const { a, nats, line } = await first(t);
  await a.takePart();
  const b = new Host(t, 'b');
  await b.run('join', line);
  await b.start(accept);
  await eventually('b', () => a.held.has('b'));
  return { a, b, nats, line };
}

export const refused = (work: Promise<unknown>, reason: RegExp): Promise<void> =>
  assert.rejects(
    work,
    (error: Error) => error.name === 'Failure' && reason.test(error.message) && !error.message.includes('\n'),
  );
