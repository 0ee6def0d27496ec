// Hosts of a cluster that run NATS and take turns at being the controller, each a process beside its NATS, so that both can die.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Cleanup } from '../cleanup.ts';
import { freeTcpPort } from '../free-tcp-port.ts';
import { eventually } from '../system/daemon.ts';
import { Host } from './joined-host.ts';
import { Nats } from './nats.ts';

export interface Told {
  /** By the clock of this machine (ms). */
  at: number;
  what: string;
  id?: string;
  ids?: string[];
  host?: string;
  standby?: string;
  reason?: string;
}

const CONTROLS = 'this host is the controller now';

export class KillableHost {
  readonly host: Host;
  readonly told: Told[] = [];
  nats!: Nats;
  #child: ChildProcess | undefined;

  constructor(t: Cleanup, name: string) {
    this.host = new Host(t, name);
    t.after(() => this.kill());
  }

  get name(): string {
    return this.host.name;
  }

  get pid(): number {
    return this.#child!.pid!;
  }

  /** How often it has become the controller. */
  get turns(): number {
    return this.told.filter(({ what }) => what === CONTROLS).length;
  }

  /** Its changes that the log has for certain. */
  get wrote(): string[] {
    return this.told.flatMap(({ what, id }) => (what === 'wrote' && id !== undefined ? [id] : []));
  }

  start(): void {
    const child = spawn(process.execPath, [join(import.meta.dirname, 'turn-process.ts'), this.host.state, this.name], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#child = child;
    createInterface(child.stdout!).on('line', (line) => void this.told.push(JSON.parse(line)));
  }

  /** The end of its server, and of its NATS with `isWhole`, at the same moment. */
  async kill(isWhole = false): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    const ended: Promise<unknown>[] = [];
    if (child && child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      ended.push(once(child, 'exit'));
    }
    if (isWhole) ended.push(this.nats.stop());
    await Promise.all(ended);
  }

  /** What it has told since a time. */
  since(at: number): Told[] {
    return this.told.filter((one) => one.at >= at);
  }
}

/** Such a cluster, of 3 or 5 hosts; the first one is the controller, and all others could be it. */
export async function killableHosts(t: Cleanup, names: readonly string[]): Promise<KillableHost[]> {
  const hosts = names.map((name) => new KillableHost(t, name));
  const [first, ...others] = hosts as [KillableHost, ...KillableHost[]];
  const init = { name: 'lab', address: `127.0.0.1:${await freeTcpPort()}`, servers: String(names.length) };
  const out = await first.host.run('init', undefined, init);
  let line = /lab:\/\/[^']+/.exec(out)?.[0];
  const serve = async (one: KillableHost): Promise<void> => {
    one.nats = await new Nats(t, one.host.files.path('nats.conf')).start();
    one.start();
  };
  await serve(first);
  for (const one of others) {
    line ??= (await first.host.run('token', undefined, { storage: true })).trim();
    await one.host.run('join', line, { address: `127.0.0.1:${await freeTcpPort()}` });
    line = undefined;
    await serve(one);
  }
  await eventually('a controller with a standby of all', () => {
    const ready = new Set(first.told.flatMap(({ host, standby }) => (standby === 'ready' ? [host] : [])));
    return first.turns > 0 && ready.size === names.length;
  });
  return hosts;
}
