// Two hosts made of network namespaces, a cable between them, and a cable from the first one to this host.
import { execFileSync } from 'node:child_process';
import type { Cleanup } from '../cleanup.ts';

/** Why such hosts cannot be made here, or false. */
export function noNamespaces(): string | false {
  if (process.getuid?.() !== 0) return 'network namespaces need root';
  const name = `labwire-probe-${process.pid}`;
  try {
    ip('netns', 'add', name);
    ip('netns', 'del', name);
    return false;
  } catch (error) {
    return `network namespaces cannot be made here: ${error instanceof Error ? error.message.split('\n')[1] : error}`;
  }
}

function ip(...words: string[]): string {
  return execFileSync('ip', words, { stdio: ['ignore', 'pipe', 'pipe'] }).toString();
}

export interface Host {
  /** Name of the namespace. */
  name: string;
  /** Words before a program that is to run there. */
  inside: readonly string[];
}

export class TwoHosts {
  readonly controller: Host;
  readonly compute: Host;
  /** Of the controller's host, as this one reaches it. */
  readonly controllerAddress: string;
  /** Of both, on the cable between them. */
  readonly addresses: { controller: string; compute: string };

  private constructor() {
    const host = (role: string): Host => {
      const name = `labwire-${role}-${process.pid}`;
      return { name, inside: ['ip', 'netns', 'exec', name] };
    };
    this.controller = host('controller');
    this.compute = host('compute');
    const third = process.pid % 250;
    this.controllerAddress = `10.231.${third}.2`;
    this.addresses = { controller: `10.232.${third}.1`, compute: `10.232.${third}.2` };
  }

  /** They are gone when the test ends, however it ends. */
  static make(t: Cleanup): TwoHosts {
    const hosts = new TwoHosts();
    t.after(() => hosts.#remove());
    const { controller, compute, controllerAddress, addresses } = hosts;
    const outer = `lw${process.pid}`;
    for (const { name } of [controller, compute]) {
      ip('netns', 'add', name);
      ip('-n', name, 'link', 'set', 'lo', 'up');
    }
    ip('link', 'add', outer, 'type', 'veth', 'peer', 'name', 'outside', 'netns', controller.name);
    ip('-n', controller.name, 'link', 'add', 'cable', 'type', 'veth', 'peer', 'name', 'cable', 'netns', compute.name);
    ip('addr', 'add', `${controllerAddress.replace(/2$/, '1')}/24`, 'dev', outer);
    ip('-n', controller.name, 'addr', 'add', `${controllerAddress}/24`, 'dev', 'outside');
    ip('-n', controller.name, 'addr', 'add', `${addresses.controller}/24`, 'dev', 'cable');
    ip('-n', compute.name, 'addr', 'add', `${addresses.compute}/24`, 'dev', 'cable');
    ip('link', 'set', outer, 'up');
    ip('-n', controller.name, 'link', 'set', 'outside', 'up');
    ip('-n', controller.name, 'link', 'set', 'cable', 'up');
    hosts.plug(true);
    // What is sent to a host that is cut off vanishes, as behind a switch; nobody says that it cannot be reached.
    const address = /ether (\S+)/.exec(ip('-n', compute.name, 'link', 'show', 'cable'))?.[1] as string;
    ip('-n', controller.name, 'neigh', 'replace', addresses.compute, 'lladdr', address, 'dev', 'cable');
    return hosts;
  }

  /** Plugs the cable in at the compute's end, or pulls it out. */
  plug(into: boolean): void {
    ip('-n', this.compute.name, 'link', 'set', 'cable', into ? 'up' : 'down');
  }

  #remove(): void {
    for (const { name } of [this.controller, this.compute]) {
      try {
        ip('netns', 'del', name);
      } catch {
        // It was not made.
      }
    }
    try {
      // The kernel takes it away with its other end, a little later.
      ip('link', 'del', `lw${process.pid}`);
    } catch {
      // It was not made, or it is gone.
    }
  }
}
