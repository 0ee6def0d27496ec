// The base class of all nodes with a program: life cycle, lock, consoles, ports and directory.
import { join } from 'node:path';
import { CHECKPOINT_MS } from '../../../api/disk-checkpoint.ts';
import type { Console } from '../../../consoles/console.ts';
import { conflict, type Failure, messageOf, notFound } from '../../../failures.ts';
import { makeDirectory, removeEmptyDirectories } from '../../../host/files/directories.ts';
import { log } from '../../../host/log.ts';
import { loadOf, type ProcessLoad } from '../../../host/processes/process-load.ts';
import { KeyedLock } from '../../../host/values/keyed-lock.ts';
import type { Connected } from '../../../http/app/route.ts';
import type { Services } from '../../services.ts';
import { ConsoleEndpoint, type ConsoleState, type MakeListener } from '../consoles/console-endpoint.ts';
import { withExceptionName } from '../exception-name.ts';
import { type CancelReason, Node, type NodeIdentity, nodeDirectory } from '../node.ts';
import { AdapterPorts } from '../ports/adapter-ports.ts';
import type { MakePort } from '../ports/memory-ports.ts';
import type { NodePort, PortRules } from '../ports/port.ts';
import { allOrNothing, type Steps } from './all-or-nothing.ts';
import type { ProgramOwner } from './node-program.ts';
import type { ExitInfo, NodeRuntime } from './node-runtime.ts';
import type { SurvivingProgram } from './surviving-programs.ts';

interface Running<Runtime extends NodeRuntime> {
  readonly runtime: Runtime;
  /** Everything allocated for it; disposing releases it. */
  readonly resources: AsyncDisposableStack;
}

/** The description that a kind gives of itself. */
export interface ProgramNodeOptions {
  /** Folder below `project-files`. */
  module: string;
  rules: PortRules;
  consoleType: string;
  /** Adapters; `any` if every number means the first one. */
  adapters: number | 'any';
  /** Default: 1. */
  portsPerAdapter?: number;
  /** Creates a specialised port. */
  makePort?: MakePort;
}

/** The members of a change common to all nodes with a program. */
export interface CommonUpdate {
  name?: string | null | undefined;
  console_type?: string | undefined;
  console?: number | null | undefined;
  aux?: number | null | undefined;
}

/** The common members after a change. */
export interface CommonState {
  name: string;
  console: ConsoleState;
  auxiliaryConsole: ConsoleState;
}

export interface NodeChange {
  /** The steps outside of this server, which may fail. Name and consoles are still the old ones. */
  prepare?(after: CommonState, steps: Steps): void | Promise<void>;
  /** The last step: the node takes its new state. Its consoles are the new ones, its name is still the old one. */
  apply(after: CommonState, steps: Steps): void | Promise<void>;
}

export abstract class ProgramNode<
  Runtime extends NodeRuntime = NodeRuntime,
  Update extends CommonUpdate = CommonUpdate,
> extends Node {
  readonly relativeDirectory: string;
  protected readonly exception: string;
  protected readonly ports: AdapterPorts;
  protected readonly console: ConsoleEndpoint;
  /**
   * A second console, by telnet. It has neither port nor clients until the kind sets its type to `telnet` with
   * `change`.
   */
  protected readonly auxiliaryConsole: ConsoleEndpoint;
  protected commandLine = '';
  /**
   * Start, stop, change and close run one after the other, whether a request, the project or an ended program causes
   * them.
   */
  readonly #turns = new KeyedLock();
  #running: Running<Runtime> | undefined;
  /** Its project is being closed, which does not wait for guests to shut down. */
  protected isClosing = false;
  #isClosed = false;
  #stopAsked = new AbortController();
  /** Copies for another host that are being made or wait for their turn. */
  readonly #copies = new Set<AbortController>();

  constructor(identity: NodeIdentity, services: Services, options: ProgramNodeOptions) {
    super(identity, services, 'stopped');
    const { module, rules, consoleType: type, adapters, portsPerAdapter, makePort } = options;
    const { exception } = rules;
    this.exception = exception;
    this.relativeDirectory = nodeDirectory(module, this.id);
    this.ports = new AdapterPorts({
      node: this,
      rules,
      services,
      adapters,
      ...(portsPerAdapter === undefined ? {} : { portsPerAdapter }),
      ...(makePort ? { makePort } : {}),
    });
    const listener: MakeListener = (...parts) => this.makeListener(...parts);
    this.console = new ConsoleEndpoint({ node: this, exception, services, type, listener });
    this.auxiliaryConsole = new ConsoleEndpoint({ node: this, exception, services, type: 'none' });
  }

  protected override common() {
    const { port, type } = this.console;
    return { ...super.common(), node_directory: this.directory, console: port, console_type: type };
  }

  /**
   * Starts the node's program.
   * @param resources end it and release what it allocated
   * @param undo rolls back lasting changes if the start fails later
   */
  protected abstract launch(resources: AsyncDisposableStack, undo: AsyncDisposableStack): Promise<Runtime>;

  /** Creates the listener of a console that is not telnet; undefined if the program listens itself. */
  protected makeListener(..._parts: Parameters<MakeListener>): ReturnType<MakeListener> {
    return undefined;
  }

  /** The node's program outlived the server, unchanged. Returns how it ended, if it did meanwhile. */
  protected abstract reattachTo(
    program: SurvivingProgram,
    resources: AsyncDisposableStack,
  ): Promise<Runtime | ExitInfo>;

  /**
   * Checks whether a change is possible, and returns its steps. Nothing has changed then except what `steps` roll back.
   * @throws Failure `conflict`, `invalid`, `image-missing`
   */
  protected abstract check(body: Update, steps: Steps): NodeChange | Promise<NodeChange>;

  /** Whether a running node is restarted for a change. */
  protected get restartsToChange(): boolean {
    return false;
  }

  /** Applies the change completely or not at all. @throws Failure `conflict`, `invalid`, `image-missing` */
  change(body: Update): Promise<void> {
    return this.inTurn(() =>
      allOrNothing(async (steps) => {
        const { name } = this;
        const [one, two] = [this.console, this.auxiliaryConsole];
        const change = await this.check(body, steps);
        const type = body.aux == null ? two.type : 'telnet';
        const after = {
          name: body.name ?? name,
          console: await one.reserve(
            body.console_type ?? one.type,
            body.console ?? undefined,
            steps,
            this.restartsToChange,
          ),
          auxiliaryConsole: await two.reserve(type, body.aux ?? undefined, steps, this.restartsToChange),
        };
        await change.prepare?.(after, steps);
        await one.take(after.console, steps);
        await two.take(after.auxiliaryConsole, steps);
        steps.undo.defer(() => {
          this.name = name;
        });
        await change.apply(after, steps);
        this.name = after.name;
      }),
    );
  }

  get directory(): string {
    return join(this.project.path, this.relativeDirectory);
  }

  protected get owner(): ProgramOwner {
    const { id, name, project, services, directory } = this;
    return { id, name, project, services, directory };
  }

  override port(adapter: number, port: number): NodePort {
    return this.ports.port(adapter, port);
  }

  override start(): Promise<void> {
    return this.startInTurn(() => this.startNow());
  }

  override stop(): Promise<void> {
    this.cancelStart('stopped');
    return this.inTurn(() => this.switchOff());
  }

  override cancelStart(reason: CancelReason): void {
    const { exception } = this;
    this.#stopAsked.abort(conflict(`${this.name} was ${reason} before it started.`, { exception }));
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
    this.cancelStart('removed');
    return this.inTurn(async () => {
      this.#isClosed = true;
      await using rest = new AsyncDisposableStack();
      this.releaseAll(rest);
      if (this.#running) await this.switchOff();
    });
  }

  /** Both consoles: disconnects their clients, which may reconnect. */
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

  protected get runtime(): Runtime | undefined {
    return this.#running?.runtime;
  }

  /** @throws Failure `conflict` when it is not started */
  protected requireRunning(): Runtime {
    if (this.runtime) return this.runtime;
    throw this.failure(`${this.name} is not started; start it first.`);
  }

  /** A `conflict` with the name of the kind's exception. */
  protected failure(message: string): Failure {
    return conflict(message, { exception: this.exception });
  }

  /** Registers what a closed node releases, in reverse order. */
  protected releaseAll(rest: AsyncDisposableStack): void {
    rest.defer(() => this.console.release());
    rest.defer(() => this.auxiliaryConsole.release());
    rest.defer(() => this.ports.close());
  }

  /** Aborted when the node is to stop or be removed: a start must not wait any longer then. */
  protected get stopAsked(): AbortSignal {
    return this.#stopAsked.signal;
  }

  /** Runs a start in the node's turn. @throws Failure `conflict` if a stop was requested before */
  protected startInTurn<T>(task: () => T | Promise<T>): Promise<T> {
    const { stopAsked } = this;
    return this.inTurn(() => {
      stopAsked.throwIfAborted();
      return task();
    });
  }

  /** A copy for another host gives way to everything else. */
  protected inTurn<T>(task: () => T | Promise<T>): Promise<T> {
    for (const copy of this.#copies) copy.abort();
    return this.#turns.run('life', task);
  }

  /**
   * Makes a copy for another host, until another action asks for a turn.
   * @throws Failure `conflict` if it had to give way, or takes too long: a program that hangs, such as the Docker Engine, would hold it for ever
   */
  protected copyInTurn(copy: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const copying = new AbortController();
    this.#copies.add(copying);
    return this.#turns.run('life', async () => {
      const late = AbortSignal.timeout(CHECKPOINT_MS);
      const signal = AbortSignal.any([copying.signal, late]);
      try {
        signal.throwIfAborted();
        await copy(signal);
      } catch (thrown) {
        if (!signal.aborted) throw thrown;
        const reason = copying.signal.aborted
          ? 'gave way to another action'
          : `was given up, as it took longer than ${CHECKPOINT_MS / 1000} s`;
        const message = `The copy of ${this.name} ${reason}; the next one has everything.`;
        throw conflict(message, { exception: this.exception, cause: thrown });
      } finally {
        this.#copies.delete(copying);
      }
    });
  }

  /** Call within the node's turn. */
  protected async startNow(): Promise<void> {
    if (this.#isClosed) throw notFound(`node_id: ${this.id} was removed.`);
    if (this.#running) return;
    await using undo = new AsyncDisposableStack();
    await using resources = new AsyncDisposableStack();
    await withExceptionName(this.exception, async () => this.#run(await this.launch(resources, undo), resources));
    undo.move();
    this.status = 'started';
  }

  /** Call within the node's turn. The node is off afterwards, even after a failure. */
  protected async switchOff(): Promise<void> {
    try {
      await this.#end();
    } finally {
      this.status = 'stopped';
    }
  }

  /** Call within the node's turn, while it is created. A failure is reported, and ends the program. */
  protected async reattach(program: SurvivingProgram): Promise<void> {
    const { udp } = this.services.ports;
    await this.reattachBy((resources) => {
      for (const port of program.record.udp_ports) resources.defer(() => udp.release(this.project.id, port));
      return this.reattachTo(program, resources);
    });
  }

  /**
   * The same, for a program that the supervisor does not hold.
   * @param find reattaches it, or returns how it ended meanwhile
   */
  protected async reattachBy(find: (resources: AsyncDisposableStack) => Promise<Runtime | ExitInfo>): Promise<void> {
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

  protected makeDirectory(undo: AsyncDisposableStack): Promise<void> {
    return makeNodeDirectory(this.directory, this.relativeDirectory, undo);
  }

  /** Makes the running program the node's, with its resources. */
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
    // It may have ended before anyone listened.
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
    await this.#end().catch((error: unknown) => {
      log.warn('not all that an ended node used is released', { node: this.id, reason: messageOf(error) });
    });
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

/** Creates a node's directory, if missing; `undo` removes it if it is still empty. */
export async function makeNodeDirectory(path: string, shownAs: string, undo: AsyncDisposableStack): Promise<void> {
  const made = await makeDirectory(path, shownAs);
  if (made !== undefined) undo.defer(() => removeEmptyDirectories(path, made));
}
