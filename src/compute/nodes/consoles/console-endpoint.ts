// A console of a node: its type, the port that is reserved for it as long as the node exists, and what listens there while it runs.
import type { Console } from '../../../consoles/console.ts';
import { TelnetServer } from '../../../consoles/telnet-server.ts';
import { Failure } from '../../../failures.ts';
import type { Connected } from '../../../http/app/route.ts';
import { consoleHost } from '../../ports/ports.ts';
import type { Services } from '../../services.ts';
import { withExceptionName } from '../exception-name.ts';
import type { PortOwner } from '../owner.ts';
import { relayPort } from './port-relay.ts';

/** The lowest port of a VNC display: display 0 (RFC 6143, section 2 of its registry). */
const VNC_BASE = 5900;

/** What listens on a console's port. */
export interface ConsoleListener {
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Makes the listener of a console type other than telnet; undefined when the program listens on its port by itself. */
export type MakeListener = (type: string, at: { host: string; port: number }) => ConsoleListener | undefined;

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
  /** Of what runs. */
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

  /**
   * Gives it another type or port. Its port keeps its number where the new type may have that. A port that is not free is passed over in
   * silence when there is one already, as clients know it.
   * @throws Failure `conflict` when no port is free, for a VNC port below 5900, and for another type while the node runs
   */
  async change(type: string, wanted?: number): Promise<void> {
    const { node, exception, services } = this.#options;
    if (type !== this.#type && this.#isServed) {
      const message = `console_type: stop ${node.name} before its console changes.`;
      throw new Failure('conflict', message, { exception });
    }
    // A new node whose port cannot be had gets another one, as saved labs rely on; a change is refused.
    const isNew = this.#port === null && type === this.#type;
    if (type === 'vnc' && wanted !== undefined && wanted !== this.#port && wanted < VNC_BASE && !isNew) {
      const message = `console: VNC needs a port from ${VNC_BASE} on.`;
      throw new Failure('conflict', message, { exception: 'NodeError' });
    }
    const { console: pool, vncRange } = services.ports;
    const range = type === 'vnc' ? vncRange : pool.range;
    const { id } = node.project;
    const isOther = type !== this.#type && this.#port !== null;
    const fits = this.#port !== null && this.#port >= range[0] && this.#port <= range[1];
    if (type === 'none') this.release();
    else if (isOther && !fits) {
      const port = await pool.reserve(id, wanted === this.#port ? undefined : wanted, range);
      this.release();
      this.#port = port;
    } else if (this.#port === null) this.#port = await pool.reserve(id, wanted, range);
    else if (wanted !== undefined && wanted !== this.#port && (await pool.claim(id, wanted, range))) {
      await this.#move(wanted);
    }
    this.#type = type;
  }

  /** The port of a new node whose program has outlived the server, and listens there by itself: it is not free, and is the node's. */
  keep(port: number): void {
    const { services, node } = this.#options;
    if (this.#port === null && services.ports.console.keep(node.project.id, port)) this.#port = port;
  }

  /** Offers the console of what runs on the port. */
  async serve(console: Console | undefined): Promise<void> {
    this.#listener = await this.#listen(console, this.#port);
    this.#console = console;
    this.#isServed = true;
  }

  /** Ends the connections of all clients, and listens no more. */
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

  /** The console of what runs. @throws Failure `conflict` when the node does not run, or has no such console */
  connect(): Console {
    const { node, exception } = this.#options;
    if (!this.#isServed) throw new Failure('conflict', `${node.name} is not started; start it first.`, { exception });
    const console = this.#console;
    if (this.#type !== 'telnet' || !console) {
      throw new Failure('conflict', `${node.name} has no console; set console_type to telnet.`, { exception });
    }
    return console;
  }

  /** Joins a client with the display of a VNC console. @throws Failure `conflict` as `connect`, and when it does not answer */
  async connectDisplay(): Promise<Connected> {
    const { node, exception } = this.#options;
    if (!this.#isServed) throw new Failure('conflict', `${node.name} is not started; start it first.`, { exception });
    if (this.#type !== 'vnc' || this.#port === null) {
      throw new Failure('conflict', `${node.name} has no display; set console_type to vnc.`, { exception });
    }
    return this.#relay('display', this.#port);
  }

  /** Joins a client with what listens on the port, whatever its type. @throws Failure `conflict` as `connect`, and when it does not answer */
  async connectPort(): Promise<Connected> {
    const { node, exception } = this.#options;
    if (!this.#isServed) throw new Failure('conflict', `${node.name} is not started; start it first.`, { exception });
    if (this.#port === null) {
      throw new Failure('conflict', `${node.name} has no console; set its console_type.`, { exception });
    }
    return this.#relay('console', this.#port);
  }

  #relay(what: string, port: number): Promise<Connected> {
    const { node, exception, services } = this.#options;
    return withExceptionName(exception, () => relayPort(`${what} of ${node.name}`, consoleHost(services.config), port));
  }

  /** Gives the port back. */
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

  /** What a program listens on by itself it goes on listening on, until it is started again. */
  async #move(port: number): Promise<void> {
    const { services, node, exception } = this.#options;
    if (this.#listener) {
      try {
        const listener = await withExceptionName(exception, () => this.#listen(this.#console, port));
        await this.#listener.stop();
        this.#listener = listener;
      } catch (thrown) {
        services.ports.console.release(node.project.id, port);
        throw thrown;
      }
    }
    this.release();
    this.#port = port;
  }
}
