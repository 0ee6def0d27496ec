// Network namespaces and interfaces of the tests: names that nobody else has, gone when the test ends.

import assert from 'node:assert/strict';
import { execFile, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findLink, getLink } from '../../src/host/network/kernel-interfaces.ts';
import type { Cleanup } from '../cleanup.ts';
import { eventually } from '../eventually.ts';

const run = promisify(execFile);

/** Why interfaces cannot be made here; false when they can. */
export const cannotMakeInterfaces: string | false =
  process.getuid?.() !== 0
    ? 'only root may make network namespaces and interfaces'
    : !existsSync('/dev/net/tun')
      ? 'this host has no /dev/net/tun'
      : triedInVain('--net', 'true') && 'this host does not let root make network namespaces';

function triedInVain(...command: string[]): boolean {
  try {
    execFileSync('unshare', command, { stdio: 'ignore' });
    return false;
  } catch {
    return true;
  }
}

/** Why device nodes cannot be made and mounted over others here; false when they can. */
export function cannotMakeDevices(): string | false {
  const directory = mkdtempSync(join(tmpdir(), 'labwire-device-'));
  try {
    // On some file systems nodes can be made but not opened.
    const script = 'mknod "$0/tun" c 10 200 && mount --bind "$0/tun" /dev/net/tun && : <>/dev/net/tun';
    const inVain = triedInVain('--mount', '--propagation', 'private', 'sh', '-c', script, directory);
    return inVain && 'this host does not let root make device nodes';
  } finally {
    rmSync(directory, { recursive: true });
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
export function removeAfter(t: Cleanup, name: string): void {
  t.after(async () => {
    if (findLink(name) === undefined) return;
    // It may go at this moment with a namespace or a bridge.
    await ip('link', 'delete', name).catch((error) => {
      if (findLink(name) !== undefined) throw error;
    });
  });
}

/** A network namespace with an interface, like a container's. */
export class Namespace {
  readonly name: string;

  private constructor(name: string) {
    this.name = name;
  }

  static async create(t: Cleanup): Promise<Namespace> {
    const namespace = new Namespace(uniqueName());
    await ip('netns', 'add', namespace.name);
    t.after(() => namespace.remove());
    return namespace;
  }

  /** Runs a program within and gives what it prints. */
  async run(...command: string[]): Promise<string> {
    return (await run('ip', ['netns', 'exec', this.name, ...command], { timeout: 600_000 })).stdout;
  }

  async ip(...args: string[]): Promise<string> {
    return await ip('-n', this.name, ...args);
  }

  /** Takes an interface of the host in, gives it an address, and brings it up. */
  async adopt(link: string, address: string): Promise<void> {
    await ip('link', 'set', link, 'netns', this.name);
    await this.ip('link', 'set', 'lo', 'up');
    await this.ip('link', 'set', link, 'up');
    // Without the check for duplicates an IPv6 address can be used at once.
    await this.ip('address', 'add', address, 'dev', link, ...(address.includes(':') ? ['nodad'] : []));
  }

  /** Packets that an interface within has received. */
  async received(link: string): Promise<number> {
    const [{ stats64 }] = JSON.parse(await this.ip('-json', '-s', 'link', 'show', 'dev', link));
    return stats64.rx.packets;
  }

  /** Removes it with all that is in it. */
  async remove(): Promise<void> {
    if (existsSync(`/run/netns/${this.name}`)) await ip('netns', 'delete', this.name);
  }
}

/** A pair of interfaces of the host: what is sent into one comes out of the other. Nobody else says anything on them. */
export async function cablePair(t: Cleanup): Promise<[string, string]> {
  const pair: [string, string] = [uniqueName(), uniqueName()];
  await ip('link', 'add', pair[0], 'type', 'veth', 'peer', 'name', pair[1]);
  removeAfter(t, pair[0]);
  for (const name of pair) {
    if (existsSync('/proc/sys/net/ipv6')) await writeFile(`/proc/sys/net/ipv6/conf/${name}/disable_ipv6`, '1');
    await ip('link', 'set', name, 'up');
  }
  // The kernel drops frames for a moment after the other end has come up.
  await eventually('the cable', () => pair.every((name) => getLink(name).running));
  return pair;
}

/** Sends so many bytes by TCP from one namespace to an address of another one, and checks that they arrive as they were. */
export async function transfer(from: Namespace, to: Namespace, address: string, bytes: number): Promise<void> {
  const stream = fileURLToPath(new URL('./stream.ts', import.meta.url));
  const receiver = spawn('ip', ['netns', 'exec', to.name, process.execPath, stream, 'receive'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const lines = createInterface({ input: receiver.stdout })[Symbol.asyncIterator]();
    const port = (await lines.next()).value as string;
    const sent = await from.run(process.execPath, stream, 'send', address, port, String(bytes));
    assert.equal((await lines.next()).value, sent.trim());
  } finally {
    receiver.kill('SIGKILL');
  }
}
