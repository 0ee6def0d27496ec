// What all nodes have in common that run something: their life, one lock for it, their console, their ports and their directory.
import { join } from 'node:path';
import type { Console } from '../../../consoles/console.ts';
import { Failure, messageOf } from '../../../failures.ts';
import { makeDirectory, removeEmptyDirectories } from '../../../host/files/directories.ts';
import { log } from '../../../host/log.ts';
import { loadOf, type ProcessLoad } from '../../../host/processes/process-load.ts';
import { KeyedLock } from '../../../host/values/keyed-lock.ts';
import type { Connected } from '../../../http/app/route.ts';
import type { Services } from '../../services.ts';
import { ConsoleEndpoint, type MakeListener } from '../consoles/console-endpoint.ts';
import { withExceptionName } from '../exception-name.ts';
import { Node, type NodeEnd, type NodeIdentity, nodeDirectory } from '../node.ts';
import { AdapterPorts } from '../ports/adapter-ports.ts';
import type { MakePort } from '../ports/memory-ports.ts';
import type { NodePort, PortRules } from '../ports/port.ts';
import type { ExitInfo, NodeRuntime } from './node-runtime.ts';
import type { SurvivingProgram } from './surviving-programs.ts';

interface Running<Runtime extends NodeRuntime> {
  readonly runtime: Runtime;
  /** Everything that was taken for it; given back when it is disposed. */
  readonly resources: AsyncDisposableStack;
}

/** What a kind of node tells of itself. */
export interface ProgramNodeOptions {
  /** Folder below `project-files`. */
  module: string;
  rules: PortRules;
  consoleType: string;
  /** Adapters; `any` when every number means the first one. */
  adapters: number | 'any';
  /** 1 when not given. */
  portsPerAdapter?: number;
  /** Makes what listens on the port of a console that is not telnet. */
  listener?: MakeListener;
  /** Makes a port that has to do more than others. */
  makePort?: MakePort;
}

export abstract class ProgramNode<Runtime extends NodeRuntime = NodeRuntime> extends Node {
  readonly relativeDirectory: string;
  protected readonly exception: string;
  protected readonly ports: AdapterPorts;
  protected readonly console: ConsoleEndpoint;
  /** A second console, by telnet. It has neither port nor clients until the kind gives it the type `telnet`, with `change`. */
  protected readonly auxiliaryConsole: ConsoleEndpoint;
  protected commandLine = '';
  /** Starting, stopping, changing and closing wait for each other, whoever asks: a request, the project, the program that ended. */
  readonly #turns = new KeyedLock();
  #running: Running<Runtime> | undefined;
  /** Its project is being closed, which does not wait for guests to shut down. */
  protected isClosing = false;
  #isClosed = false;
  #stopAsked = new AbortController();

  constructor(identity: NodeIdentity, services: Services, options: ProgramNodeOptions) {
    super(identity, services, 'stopped');
    const { module, rules, consoleType: type, adapters, portsPerAdapter, listener, makePort } = options;
    const { exception } = rules;
    this.exception = exception;
    this.relativeDirectory = nodeDirectory(module, this.id);
    this.ports = new AdapterPorts({
      ...{ node: this, rules, services, adapters },
      ...(portsPerAdapter === undefined ? {} : { portsPerAdapter }),
      ...(makePort ? { makePort } : {}),
    });
    this.console = new ConsoleEndpoint({
      ...{ node: this, exception, services, type },
      ...(listener ? { listener } : {}),
    });
    this.auxiliaryConsole = new ConsoleEndpoint({ node: this, exception, services, type: 'none' });
  }

  /**
   * Starts what the node runs.
   * @param resources end it and give back what it took
   * @param undo takes back what would stay after it, when the start fails after all
   */
  protected abstract launch(resources: AsyncDisposableStack, undo: AsyncDisposableStack): Promise<Runtime>;

  /** What the node runs has outlived the server: it is as it was. Answers how it ended, if it did meanwhile. */
  protected abstract reattachTo(
    program: SurvivingProgram,
    resources: AsyncDisposableStack,
  ): Promise<Runtime | ExitInfo>;

  get directory(): string {
    return join(this.project.path, this.relativeDirectory);
  }

  override port(adapter: number, port: number): NodePort {
    return this.ports.port(adapter, port);
  }

  override start(): Promise<void> {
    return this.startInTurn(() => this.startNow());
  }

  override stop(): Promise<void> {
    this.takeBackStart('stopped');
    return this.inTurn(() => this.switchOff());
  }

  override takeBackStart(end: NodeEnd): void {
    const { exception } = this;
    this.#stopAsked.abort(new Failure('conflict', `${this.name} was ${end} before it started.`, { exception }));
    this.#stopAsked = new AbortController();
  }

  reload(): Promise<void> {
    return this.startInTurn(async () => {
      await this.switchOff();
      await this.startNow();
    });
  }

  override close(): Promise<void> {
    this.isClosing = true;
    this.takeBackStart('removed');
    return this.inTurn(async () => {
      this.#isClosed = true;
      await using rest = new AsyncDisposableStack();
      this.releaseAll(rest);
      if (this.#running) await this.switchOff();
    });
  }

  /** Both consoles: their clients are disconnected, and may come again. */
  resetConsole(): Promise<void> {
    return this.inTurn(async () => {
      await this.console.reset();
      await this.auxiliaryConsole.reset();
    });
  }

  connectConsole(): Console {
    return this.console.connect();
  }

  connectAuxiliaryConsole(): Console {
    return this.auxiliaryConsole.connect();
  }

  connectDisplay(): Promise<Connected> {
    return this.console.connectDisplay();
  }

  connectConsolePort(): Promise<Connected> {
    return this.console.connectPort();
  }

  override load(): ProcessLoad | undefined {
    const pid = this.runtime?.pid;
    return pid === undefined ? undefined : loadOf(pid);
  }

  /** What runs, if anything does. */
  protected get runtime(): Runtime | undefined {
    return this.#running?.runtime;
  }

  /** Registers what a node that is closed gives back, in the opposite order. */
  protected releaseAll(rest: AsyncDisposableStack): void {
    rest.defer(() => this.console.release());
    rest.defer(() => this.auxiliaryConsole.release());
    rest.defer(() => this.ports.close());
  }

  /** Aborted when the node is to stop or to go: what a start waits for is waited for no longer then. */
  protected get stopAsked(): AbortSignal {
    return this.#stopAsked.signal;
  }

  /** Runs what starts the node. @throws Failure `conflict` when a stop was asked for before its turn came */
  protected startInTurn<T>(task: () => T | Promise<T>): Promise<T> {
    const { stopAsked } = this;
    return this.inTurn(() => {
      stopAsked.throwIfAborted();
      return task();
    });
  }

  protected inTurn<T>(task: () => T | Promise<T>): Promise<T> {
    return this.#turns.run('life', task);
  }

  /** Within the node's turn. */
  protected async startNow(): Promise<void> {
    if (this.#isClosed) throw new Failure('not-found', `node_id: ${this.id} was removed.`);
    if (this.#running) return;
    await using undo = new AsyncDisposableStack();
    await using resources = new AsyncDisposableStack();
    await withExceptionName(this.exception, async () => this.#run(await this.launch(resources, undo), resources));
    undo.move();
    this.status = 'started';
  }

  /** Within the node's turn. It is off afterwards, whatever fails on the way. */
  protected async switchOff(): Promise<void> {
    try {
      await this.#end();
    } finally {
      this.status = 'stopped';
    }
  }

  /** Within the node's turn, while it is made. What hinders it is told, and ends the program. */
  protected async reattach(program: SurvivingProgram): Promise<void> {
    const { udp } = this.services.ports;
    await this.takeBack((resources) => {
      for (const port of program.record.udp_ports) resources.defer(() => udp.release(this.project.id, port));
      return this.reattachTo(program, resources);
    });
  }

  /**
   * The same, for what somebody else than the supervisor has kept.
   * @param find takes it over, or answers how it ended meanwhile
   */
  protected async takeBack(find: (resources: AsyncDisposableStack) => Promise<Runtime | ExitInfo>): Promise<void> {
    await using resources = new AsyncDisposableStack();
    try {
      await withExceptionName(this.exception, async () => {
        const found = await find(resources);
        if ('expected' in found) {
          log.warn('a node ended while the server was away', { node: this.id, fault: found.fault });
          this.#tellEnd(found);
          return;
        }
        await this.#run(found, resources);
        this.status = found.isSuspended ? 'suspended' : 'started';
      });
    } catch (error) {
      const message = `${this.name} ran on while the server was away, but is ended now: ${messageOf(error)}`;
      this.services.events.emit('log.error', { message }, this.project.id);
    }
  }

  /** Makes the node's directory, if it is not there; `undo` removes it when nobody has put something into it. */
  protected async makeDirectory(undo: AsyncDisposableStack): Promise<void> {
    const made = await makeDirectory(this.directory, this.relativeDirectory);
    if (made !== undefined) undo.defer(() => removeEmptyDirectories(this.directory, made));
  }

  /** Offers what runs, and takes what it took. */
  async #run(runtime: Runtime, resources: AsyncDisposableStack): Promise<void> {
    runtime.on('end', (end) => {
      if (!end.expected) void this.inTurn(() => this.#endedByItself(runtime, end));
    });
    await this.console.serve(runtime.console);
    try {
      await this.auxiliaryConsole.serve(runtime.auxiliaryConsole);
    } catch (error) {
      await this.console.stop(`${this.name} did not start`);
      throw error;
    }
    this.#running = { runtime, resources: resources.move() };
    this.commandLine = runtime.commandLine;
    // It may have ended before anybody listened.
    const { ended } = runtime;
    if (ended && !ended.expected) void this.inTurn(() => this.#endedByItself(runtime, ended));
  }

  async #end(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    try {
      for (const console of [this.console, this.auxiliaryConsole]) await console.stop(`${this.name} was stopped`);
    } finally {
      await running?.resources.disposeAsync();
    }
  }

  async #endedByItself(runtime: Runtime, end: ExitInfo): Promise<void> {
    if (this.#running?.runtime !== runtime) return;
    await this.#end();
    this.status = 'stopped';
    this.#tellEnd(end);
  }

  #tellEnd({ fault, lastOutput = '' }: ExitInfo): void {
    const { events } = this.services;
    if (fault === undefined) {
      const words = lastOutput === '' ? '' : ` Last output: ${lastOutput}`;
      events.emit('log.info', { message: `${this.name} has ended by itself.${words}` }, this.project.id);
    } else events.emit('log.error', { message: `${this.name} ended unexpectedly ${fault}` }, this.project.id);
  }
}
