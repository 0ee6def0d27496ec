// Network namespaces and interfaces of the tests: names that nobody else has, gone when the test ends.

import { execFile, execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import { findLink } from '../../src/host/links.ts';

const run = promisify(execFile);

/** Why interfaces cannot be made here; false when they can. */
export const cannotMakeInterfaces: string | false =
  process.getuid?.() !== 0
    ? 'only root may make network namespaces and interfaces'
    : !existsSync('/dev/net/tun')
      ? 'this host has no /dev/net/tun'
      : triedInVain() && 'this host does not let root make network namespaces';

function triedInVain(): boolean {
  try {
    execFileSync('unshare', ['--net', 'true'], { stdio: 'ignore' });
    return false;
  } catch {
    return true;
  }
}

let made = 0;

/** A name for an interface or a namespace, of at most 15 bytes. */
export function uniqueName(): string {
  return `lw${process.pid.toString(36)}x${(made++).toString(36)}`;
}

/** Runs `ip` and gives what it prints. */
export async function ip(...args: string[]): Promise<string> {
  return (await run('ip', args)).stdout;
}

/** Deletes the interface when the test ends, if it is still there. */
export function removeAfter(t: TestContext, name: string): void {
  t.after(async () => {
    if (findLink(name) !== undefined) await ip('link', 'delete', name);
  });
}

/** A network namespace with an interface, like a container's. */
export class Namespace {
  readonly name: string;

  private constructor(name: string) {
    this.name = name;
  }

  static async create(t: TestContext): Promise<Namespace> {
    const namespace = new Namespace(uniqueName());
    await ip('netns', 'add', namespace.name);
    t.after(() => namespace.remove());
    // Nothing but what the test sends.
    await namespace.run('sysctl', '-q', 'net.ipv6.conf.default.disable_ipv6=1', 'net.ipv6.conf.default.accept_dad=0');
    return namespace;
  }

  /** Runs a program within and gives what it prints. */
  async run(...command: string[]): Promise<string> {
    return (await run('ip', ['netns', 'exec', this.name, ...command], { timeout: 60_000 })).stdout;
  }

  async ip(...args: string[]): Promise<string> {
    return await ip('-n', this.name, ...args);
  }

  /** Takes an interface of the host in, gives it an address, and brings it up. */
  async adopt(link: string, address: string): Promise<void> {
    await ip('link', 'set', link, 'netns', this.name);
    await this.ip('address', 'add', address, 'dev', link);
    await this.ip('link', 'set', link, 'up');
  }

  /** Removes it with all that is in it. */
  async remove(): Promise<void> {
    if (existsSync(`/run/netns/${this.name}`)) await ip('netns', 'delete', this.name);
  }
}

/** A pair of interfaces: what is sent into one comes out of the other; `outside` stays with the host and is up. */
export async function cablePair(
  t: TestContext,
  namespace: Namespace,
  address: string,
): Promise<{ outside: string; inside: string }> {
  const [outside, inside] = [uniqueName(), uniqueName()];
  await ip('link', 'add', outside, 'type', 'veth', 'peer', 'name', inside);
  removeAfter(t, outside);
  await namespace.adopt(inside, address);
  await ip('link', 'set', outside, 'up');
  return { outside, inside };
}
