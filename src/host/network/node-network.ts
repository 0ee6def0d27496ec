// The network namespace of nodes' interfaces: no program of the host sees them there, and no name collides. A sleeping
// process keeps the namespace, so that it outlives the server, as its nodes do. (A mount would not: under systemd each
// start of the service has mounts of its own.)

import { spawn } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { conflict, messageOf, systemCode } from '../../failures.ts';
import { log } from '../log.ts';
import { holds } from '../processes/capabilities.ts';
import { childEnvironment } from '../processes/child-processes.ts';
import { inNetworkOfAny, inNewNetwork, SystemError } from '../system-calls.ts';
import { findLink } from './kernel-interfaces.ts';
import { kernelLinksUnavailable } from './kernel-link-support.ts';

/** In the state directory: the id of the process that keeps the namespace. */
const FILE = 'node-network';
/** Marks that process, with the uuid of the state directory. */
const MARK = 'LABWIRE_NETWORK';
const SETTINGS = '/proc/sys/net/ipv6/conf';

/** Why nodes' interfaces are in the host's own network; undefined if they are not. */
export function nodeNetworkUnavailable(): string | undefined {
  if (!holds('CAP_SYS_ADMIN')) return 'CAP_SYS_ADMIN is missing';
  return kernelLinksUnavailable();
}

export class NodeNetwork {
  readonly #directory: string;
  readonly #mark: string;
  readonly #isWanted: boolean;
  #process: number | undefined;
  #isRead = false;

  /**
   * @param instance uuid of the state directory; "" for whichever it has
   * @param isWanted false: new interfaces are in the host's own network
   */
  constructor(directory: string, instance: string, isWanted: boolean) {
    this.#directory = directory;
    this.#mark = `${MARK}=${instance}`;
    this.#isWanted = isWanted;
  }

  /** Why new interfaces are in the host's own network; undefined if they are not. */
  get unavailable(): string | undefined {
    return this.#isWanted ? nodeNetworkUnavailable() : 'kernel_links in section [Server] is off';
  }

  /** The process in whose network new interfaces are to be, started if needed; undefined for this process. */
  open(): number | undefined {
    if (this.unavailable !== undefined) return undefined;
    if (this.#running() === undefined) this.#start();
    return this.#process;
  }

  /** The process whose network has this interface; undefined for this process, or if there is no such interface. */
  find(link: string): number | undefined {
    const process = this.#running();
    if (process === undefined) return undefined;
    try {
      return inNetworkOfAny(process, () => findLink(link)) === undefined ? undefined : process;
    } catch (error) {
      if (error instanceof SystemError) return undefined;
      throw error;
    }
  }

  /** Ends the namespace with all that is in it. */
  close(): void {
    const keeper = this.#running();
    this.#process = undefined;
    rmSync(join(this.#directory, FILE), { force: true });
    if (keeper === undefined) return;
    try {
      process.kill(keeper, 'SIGKILL');
    } catch (error) {
      if (systemCode(error) !== 'ESRCH') throw error;
    }
  }

  /** The process that keeps the namespace, this server's or an earlier one's. */
  #running(): number | undefined {
    if (!this.#isRead) this.#process = this.#noted();
    this.#isRead = true;
    if (this.#process !== undefined && !this.#isOurs(this.#process)) this.#process = undefined;
    return this.#process;
  }

  #noted(): number | undefined {
    try {
      const noted = Number(readFileSync(join(this.#directory, FILE), 'latin1'));
      return Number.isInteger(noted) && noted > 0 ? noted : undefined;
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return undefined;
      throw error;
    }
  }

  /** The id may be another process's by now. */
  #isOurs(keeper: number): boolean {
    try {
      return readFileSync(`/proc/${keeper}/environ`, 'utf8')
        .split('\0')
        .some((entry) => entry.startsWith(this.#mark));
    } catch {
      return false;
    }
  }

  #start(): void {
    const [name = '', instance = ''] = this.#mark.split('=');
    try {
      using undo = new DisposableStack();
      const child = inNewNetwork(() => {
        disableIpv6();
        return spawn('sleep', ['infinity'], {
          cwd: this.#directory,
          env: childEnvironment({ [name]: instance }),
          detached: true,
          stdio: 'ignore',
        });
      });
      undo.defer(() => child.kill('SIGKILL'));
      child.on('error', () => {});
      child.unref();
      if (child.pid === undefined) throw conflict('the program sleep is missing');
      writeFileSync(join(this.#directory, FILE), `${child.pid}`, { mode: 0o600 });
      this.#process = child.pid;
      undo.move();
    } catch (error) {
      log.warn("nodes' interfaces are in the host's own network", { reason: messageOf(error) });
    }
  }
}

/** In this namespace. Without IPv6, or where settings are read-only, it is disabled at each interface that is made. */
function disableIpv6(): void {
  for (const which of ['all', 'default']) {
    try {
      writeFileSync(`${SETTINGS}/${which}/disable_ipv6`, '1');
    } catch {}
  }
}
