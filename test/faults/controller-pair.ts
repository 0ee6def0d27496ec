// Two hosts that take turns at being the controller, on this machine: the server of the one that is it can be killed, and the other one takes
// over. One NATS server, which is not killed.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { Nats } from '../cluster/nats.ts';
import { freeTcpPort } from '../free-tcp-port.ts';
import { type Daemon, eventually, ownDaemon } from '../system/daemon.ts';

/** How long (ms) a host that was killed may be away: then others run its nodes, which is not what this is about. */
const CONFIG = '[Cluster]\nfailover_seconds = 0\n[VPCS]\nengine = built-in\n';
/** An admin of the cluster. */
const ADMIN = { name: 'boss', password: 'of-this-test-alone' };

export const basic = (name: string, password: string): string =>
  `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;

/** How often a host has joined its cluster. */
const lives = ({ log }: Daemon): number => log.match(/this host takes part in the cluster/g)?.length ?? 0;

async function takesPart(host: Daemon, times: number): Promise<void> {
  await eventually(
    'the host in the cluster',
    () => lives(host),
    (count) => count >= times,
  );
}

export class Pair {
  readonly #hosts: Daemon[];
  #controller = 0;
  /** Milliseconds from a kill to the next controller's first answer. */
  readonly gaps: number[] = [];

  private constructor(hosts: Daemon[]) {
    this.#hosts = hosts;
  }

  static async make(t: TestContext, program: readonly string[]): Promise<Pair> {
    const hosts = ['a', 'b'].map(() =>
      ownDaemon(t, { program, config: CONFIG, headers: { Authorization: basic(ADMIN.name, ADMIN.password) } }),
    );
    const [a, b] = hosts as [Daemon, Daemon];
    const cluster = (host: Daemon, ...words: string[]): string =>
      execFileSync(program[0] as string, [...program.slice(1), 'cluster', ...words, '--state', host.state]).toString();
    writeFileSync(join(a.state, '../password'), ADMIN.password);
    const command = ['user', 'add', ADMIN.name, '--role', 'admin', '--password-file', join(a.state, '../password')];
    execFileSync(program[0] as string, [...program.slice(1), ...command, '--state', a.state]);
    const address = `127.0.0.1:${await freeTcpPort()}`;
    const said = cluster(a, 'init', '--name', 'lab', '--host-name', 'a', '--address', address);
    await new Nats(t, join(a.state, 'cluster/nats.conf')).start();
    await a.start();
    await takesPart(a, 1);
    const line = /lab:\/\/[^']+/.exec(said)?.[0] as string;
    cluster(b, 'join', line, '--host-name', 'b', '--standby');
    await a.end('SIGUSR2');
    const pair = new Pair(hosts);
    await a.start();
    await pair.#controls();
    await b.start();
    await takesPart(b, 1);
    return pair;
  }

  /** The host of the controller, and the one that is the next. */
  get next(): Daemon {
    return this.#hosts[1 - this.#controller] as Daemon;
  }

  get nextName(): string {
    return this.#controller === 0 ? 'b' : 'a';
  }

  get current(): Daemon {
    return this.#hosts[this.#controller] as Daemon;
  }

  async #controls(): Promise<void> {
    await eventually(
      'the controller',
      () => this.current.ask('GET', '/v2/projects').catch(() => undefined),
      (answer) => answer?.status === 200,
    );
  }

  readonly ask: Daemon['ask'] = (...words) => this.current.ask(...words);

  /** Kills the controller's server; resolves when the other one answers. The killed one is started again. */
  async kill(): Promise<void> {
    const killed = this.current;
    const begin = performance.now();
    await killed.kill();
    this.#controller = 1 - this.#controller;
    await this.#controls();
    this.gaps.push(performance.now() - begin);
    const before = lives(killed);
    await killed.start();
    // Without it there would be no other host.
    await takesPart(killed, before + 1);
  }
}
