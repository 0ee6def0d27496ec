// A server for tests of the page: the executable or the sources, with or without a password, reached as from this or from another host.
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Browser } from 'playwright-core';
import { basicHeader } from '../../src/http/authentication.ts';
import { cablePair, cannotMakeInterfaces, ip, Namespace } from '../fabric/namespaces.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { type Daemon, type DaemonOptions, startDaemon } from '../system/daemon.ts';
import { executable, FROM_SOURCE } from '../system/executable.ts';
import { CHROMIUM, startBrowser, startBrowserBy } from './browser.ts';

export interface Credentials {
  user: string;
  password: string;
}

export const CREDENTIALS: Credentials = { user: 'ada', password: 'counts to ten' };

/** Lines that make a server ask for them. */
export const CONFIG_WITH_PASSWORD = `[Server]
auth = true
user = ${CREDENTIALS.user}
password = ${CREDENTIALS.password}
`;

/** The same for a `LabServer`. */
export const SETTINGS_WITH_PASSWORD = { auth: 'true', ...CREDENTIALS };

export interface ServedOptions {
  /** The executable, unless the sources are asked for, which need no build. */
  from?: 'executable' | 'sources';
  /** The server asks for `CREDENTIALS`. One that is reached from a room always does. */
  withPassword?: boolean;
  /** Where it runs; without one on loopback, which browsers take for a secure context. */
  room?: Room;
  /** More lines of the configuration, sections and keys. */
  config?: string;
}

export interface Served {
  daemon: Daemon;
  /** Of the page, with a slash at the end. */
  address: string;
  /** For `visit`. */
  credentials: Credentials | undefined;
}

/** A started server that ends with the test. Its virtual PCs are the built-in ones. */
export async function serve(t: TestContext, options: ServedOptions = {}): Promise<Served> {
  const { from = 'executable', room, withPassword = room !== undefined, config = '' } = options;
  const lines = withPassword ? [CONFIG_WITH_PASSWORD] : [];
  const program = from === 'sources' ? FROM_SOURCE : executable();
  const started: DaemonOptions = {
    program: [...(room?.inside ?? []), ...program],
    config: [...lines, '[VPCS]', 'engine = built-in', config].join('\n'),
    ...(room && { host: room.address }),
    ...(withPassword && { headers: { Authorization: basicHeader(CREDENTIALS) } }),
  };
  const daemon = await startDaemon(t, started);
  return { daemon, address: `${daemon.url}/`, credentials: withPassword ? CREDENTIALS : undefined };
}

/** A server with a password and a browser, where root may have it in a room; elsewhere on loopback, which is a secure context. */
export async function servedAfar(t: TestContext): Promise<Served & { browser: Browser; isSecure: boolean }> {
  if (cannotMakeInterfaces) {
    t.diagnostic(`as from this host: ${cannotMakeInterfaces}`);
    return { ...(await serve(t, { withPassword: true })), browser: await startBrowser(t), isSecure: true };
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

  /** A browser that runs in the room. `directory` is for the script that starts it. */
  async browser(t: TestContext, directory: string): Promise<Browser> {
    const script = join(directory, 'browser');
    writeFileSync(script, `#!/bin/sh\nexec ip netns exec ${this.#name} ${CHROMIUM} "$@"\n`);
    chmodSync(script, 0o755);
    return startBrowserBy(t, script);
  }
}
