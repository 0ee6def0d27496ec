// A console of a node: its type, its port, which is reserved while the node exists, and the listener on it while the
// node runs.
import type { Console } from '../../../consoles/console.ts';
import { TelnetServer } from '../../../consoles/telnet-server.ts';
import { conflict, type Failure } from '../../../failures.ts';
import type { Connected } from '../../../http/app/route.ts';
import { consoleHost } from '../../ports/ports.ts';
import type { Services } from '../../services.ts';
import { withExceptionName } from '../exception-name.ts';
import { allOrNothing, type Steps } from '../lifecycle/all-or-nothing.ts';
import type { PortOwner } from '../owner.ts';
import { relayPort } from './port-relay.ts';

/** The lowest port of a VNC display: display 0 (RFC 6143, section 2 of its registry). */
const VNC_BASE = 5900;

/** Listens on a console's port. */
export interface ConsoleListener {
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Creates the listener of a console type other than telnet; undefined if the program listens on its port itself. */
export type MakeListener = (type: string, at: { host: string; port: number }) => ConsoleListener | undefined;

/** Its type, and its port: null with type `none`. */
export interface ConsoleState {
  readonly type: string;
  readonly port: number | null;
}

export interface ConsoleEndpointOptions {
  node: PortOwner;
  exception: string;
  services: Services;
  type: string;
  listener?: MakeListener;
}

export class ConsoleEndpoint {
  readonly #options: ConsoleEndpointOptions;
  #type: string;
  #port: number | null = null;
  /** Of the running program. */
  #console: Console | undefined;
  #isServed = false;
  #listener: ConsoleListener | undefined;

  constructor(options: ConsoleEndpointOptions) {
    this.#options = options;
    this.#type = options.type;
  }

  get type(): string {
    return this.#type;
  }

  /** Null with console type `none`. */
  get port(): number | null {
    return this.#port;
  }

  /** Changes its type or port, see `reserve`. */
  change(type: string, wanted?: number): Promise<void> {
    return allOrNothing(async (steps) => this.take(await this.reserve(type, wanted, steps), steps));
  }

  /**
   * Reserves what another type or port needs. The port number stays if the new type allows it. An occupied port is
   * ignored silently if the node has one already, as clients expect.
   * @param isRestarted the node is stopped before its console takes this
   * @throws Failure `conflict` when no port is free, for a VNC port below 5900, and for another type while the node
   * runs
   */
  async reserve(type: string, wanted: number | undefined, { undo }: Steps, isRestarted = false): Promise<ConsoleState> {
    const { node, exception, services } = this.#options;
    const port = this.#port;
    const isOther = type !== this.#type;
    if (isOther && this.#isServed && !isRestarted) {
      throw conflict(`console_type: stop ${node.name} before its console changes.`, { exception });
    }
    // A new node whose port is occupied gets another one, as saved labs rely on; a change is refused.
    const isNew = port === null && !isOther;
    if (type === 'vnc' && wanted !== undefined && wanted !== port && wanted < VNC_BASE && !isNew) {
      throw conflict(`console: VNC needs a port from ${VNC_BASE} on.`, { exception: 'NodeError' });
    }
    if (type === 'none') return { type, port: null };
    const { console: pool, vncRange } = services.ports;
    const range = type === 'vnc' ? vncRange : pool.range;
    const { id } = node.project;
    const other = wanted === port ? undefined : wanted;
    const fits = port !== null && (!isOther || (port >= range[0] && port <= range[1]));
    if (fits && (other === undefined || !(await pool.claim(id, other, range)))) return { type, port };
    const reserved = fits && other !== undefined ? other : await pool.reserve(id, other, range);
    undo.defer(() => pool.release(id, reserved));
    return { type, port: reserved };
  }

  /** Applies the reserved state. A port on which the program itself listens changes with the next start. */
  async take({ type, port }: ConsoleState, { undo, done }: Steps): Promise<void> {
    const { services, node, exception } = this.#options;
    const before = { type: this.#type, port: this.#port, listener: this.#listener };
    const { port: former } = before;
    if (port !== former) {
      if (former !== null) done.defer(() => services.ports.console.release(node.project.id, former));
      if (before.listener) {
        this.#listener = await withExceptionName(exception, () => this.#listen(this.#console, port));
        const listener = this.#listener;
        undo.defer(() => listener?.stop());
        done.defer(() => before.listener?.stop());
      }
    }
    undo.defer(() => {
      this.#type = before.type;
      this.#port = former;
      if (this.#isServed) this.#listener = before.listener;
    });
    this.#type = type;
    this.#port = port;
  }

  /** Keeps the port of a new node whose program outlived the server: the program listens on it, so it is not free. */
  keep(port: number): void {
    const { services, node } = this.#options;
    if (this.#port === null && services.ports.console.keep(node.project.id, port)) this.#port = port;
  }

  /** Offers the console of the running program on the port. */
  async serve(console: Console | undefined): Promise<void> {
    this.#listener = await this.#listen(console, this.#port);
    this.#console = console;
    this.#isServed = true;
  }

  /** Disconnects all clients and stops listening. */
  async stop(reason: string): Promise<void> {
    const listener = this.#listener;
    this.#console?.closeClients(reason);
    this.#listener = undefined;
    this.#console = undefined;
    this.#isServed = false;
    await listener?.stop();
  }

  async reset(): Promise<void> {
    this.#console?.closeClients('the console was reset');
    await this.#listener?.stop();
    await withExceptionName(this.#options.exception, () => this.#listener?.start());
  }

  /** The console of the running node. @throws Failure `conflict` when the node does not run, or has no such console */
  connect(): Console {
    this.#requireServed();
    if (this.#type === 'telnet' && this.#console) return this.#console;
    throw this.#failure('has no console; set console_type to telnet.');
  }

  /**
   * Connects a client to the display of a VNC console. @throws Failure `conflict` as `connect`, and when it does not
   * answer
   */
  async connectDisplay(): Promise<Connected> {
    this.#requireServed();
    if (this.#type === 'vnc' && this.#port !== null) return this.#relay('display', this.#port);
    throw this.#failure('has no display; set console_type to vnc.');
  }

  /**
   * Connects a client to the port, whatever the console's type. @throws Failure `conflict` as `connect`, and when it
   * does not answer
   */
  async connectPort(): Promise<Connected> {
    this.#requireServed();
    if (this.#port !== null) return this.#relay('console', this.#port);
    throw this.#failure('has no console; set its console_type.');
  }

  #requireServed(): void {
    if (!this.#isServed) throw this.#failure('is not started; start it first.');
  }

  #failure(why: string): Failure {
    const { node, exception } = this.#options;
    return conflict(`${node.name} ${why}`, { exception });
  }

  #relay(what: string, port: number): Promise<Connected> {
    const { node, exception, services } = this.#options;
    return withExceptionName(exception, () => relayPort(`${what} of ${node.name}`, consoleHost(services.config), port));
  }

  release(): void {
    const { services, node } = this.#options;
    if (this.#port !== null) services.ports.console.release(node.project.id, this.#port);
    this.#port = null;
  }

  async #listen(console: Console | undefined, port: number | null): Promise<ConsoleListener | undefined> {
    if (port === null) return undefined;
    const { services } = this.#options;
    const at = { host: consoleHost(services.config), port };
    const listener =
      this.#type === 'telnet' && console
        ? new TelnetServer({ console, ...at })
        : this.#options.listener?.(this.#type, at);
    await listener?.start();
    return listener;
  }
}
