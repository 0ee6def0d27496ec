// A server for tests of the page: the executable, the sources or one in this process, with a password as a rule, reached as from this or
// from another host.
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Browser } from 'playwright-core';
import { basicHeader } from '../../src/http/access/authentication.ts';
import { LabServer } from '../controller/lab-server.ts';
import { cablePair, cannotMakeInterfaces, ip, Namespace } from '../fabric/namespaces.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { type Daemon, type DaemonOptions, startDaemon } from '../system/daemon.ts';
import { executable, FROM_SOURCE } from '../system/executable.ts';
import { CHROMIUM, startBrowser, startBrowserBy } from './browser.ts';
import { CONFIG_WITH_PASSWORD, CREDENTIALS, SETTINGS_WITH_PASSWORD } from './credentials.ts';
import { IS_FIREFOX } from './firefox.ts';

export interface ServedOptions {
  /** The executable, unless the sources are asked for, which need no build. */
  from?: 'executable' | 'sources';
  /** The server asks for `CREDENTIALS`, unless this is false. */
  withPassword?: boolean;
  /** Where it runs; without one on loopback, which browsers take for a secure context. */
  room?: Room;
  /** More lines of the configuration, sections and keys. */
  config?: string;
  environment?: Readonly<Record<string, string>>;
}

export interface Served {
  daemon: Daemon;
  /** Of the page, with a slash at the end. */
  address: string;
}

/** A started server that ends with the test. Its virtual PCs are the built-in ones. */
export async function serve(t: TestContext, options: ServedOptions = {}): Promise<Served> {
  const { from = 'executable', room, withPassword = true, config = '', environment = {} } = options;
  const lines = withPassword ? [CONFIG_WITH_PASSWORD] : [];
  const program = from === 'sources' ? FROM_SOURCE : executable();
  const started: DaemonOptions = {
    program: [...(room?.inside ?? []), ...program],
    config: [...lines, '[VPCS]', 'engine = built-in', config].join('\n'),
    environment,
    ...(room && { host: room.address }),
    ...(withPassword && { headers: { Authorization: basicHeader(CREDENTIALS) } }),
  };
  const daemon = await startDaemon(t, started);
  return { daemon, address: `${daemon.url}/` };
}

/** A server in this process with a password, which is started sooner than a program. */
export function serveInside(t: TestContext, settings: Record<string, string> = {}): Promise<LabServer> {
  return LabServer.start(t, { ...SETTINGS_WITH_PASSWORD, ...settings });
}

/** A server with a password and a browser, where root may have it in a room; elsewhere on loopback, which is a secure context. */
export async function servedAfar(t: TestContext): Promise<Served & { browser: Browser; isSecure: boolean }> {
  if (cannotMakeInterfaces) {
    t.diagnostic(`as from this host: ${cannotMakeInterfaces}`);
    return { ...(await serve(t)), browser: await startBrowser(t), isSecure: true };
  }
  const room = await Room.make(t);
  const served = await serve(t, { room });
  return { ...served, browser: await room.browser(t, await scratchDirectory(t)), isSecure: false };
}

/**
 * A network namespace without any route: what runs there reaches nothing but itself. Its address is not loopback's, so
 * that a browser has no secure context there. Needs root: skip tests by `cannotMakeInterfaces` of `test/fabric/namespaces.ts`.
 */
export class Room {
  readonly address: string;
  readonly inside: readonly string[];
  readonly #name: string;

  private constructor(name: string, address: string) {
    this.#name = name;
    this.address = address;
    this.inside = ['ip', 'netns', 'exec', name];
  }

  static async make(t: TestContext): Promise<Room> {
    const namespace = await Namespace.create(t);
    const [outside, within] = await cablePair(t);
    // An IPv6 address that comes a second later, after the check for duplicates, is another network to Chromium: it breaks off what it loads.
    if (existsSync('/proc/sys/net/ipv6')) {
      await namespace.run('sysctl', '-qw', 'net.ipv6.conf.all.disable_ipv6=1', 'net.ipv6.conf.default.disable_ipv6=1');
    }
    const network = `10.236.${process.pid % 250}`;
    await ip('address', 'add', `${network}.1/30`, 'dev', outside);
    await namespace.adopt(within, `${network}.2/30`);
    return new Room(namespace.name, `${network}.2`);
  }

  /** A browser that runs in the room; Firefox, which is driven by a socket, looks in from outside. `directory` is for the script that starts it. */
  async browser(t: TestContext, directory: string): Promise<Browser> {
    if (IS_FIREFOX) return startBrowser(t);
    const script = join(directory, 'browser');
    writeFileSync(script, `#!/bin/sh\nexec ip netns exec ${this.#name} ${CHROMIUM} "$@"\n`);
    chmodSync(script, 0o755);
    return startBrowserBy(t, script);
  }
}
