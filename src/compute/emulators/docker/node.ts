// A Docker container as a node: its image, its settings, its volumes, and what runs it.
import { isDeepStrictEqual } from 'node:util';
import { Failure, messageOf } from '../../../failures.ts';
import { log } from '../../../host/log.ts';
import type { Variables } from '../../../store/vocabulary.ts';
import { copyFiles } from '../../nodes/files.ts';
import { LivePort } from '../../nodes/live-port.ts';
import type { NodeIdentity } from '../../nodes/node.ts';
import type { PortRules } from '../../nodes/port.ts';
import { ProgramNode } from '../../nodes/program-node.ts';
import type { Services } from '../../services.ts';
import { DISPLAY_LABEL, inspect, LEVEL_LABEL, removeContainer, VOLUMES_LABEL } from './container.ts';
import { exception } from './engine.ts';
import { type Made, makeContainer, mustBeSound, type Wanted } from './making.ts';
import { LEVELS, type Level, lacksRights, levelsOf, named } from './rights.ts';
import { DockerRuntime } from './runtime.ts';
import type { DockerCreate, DockerUpdate } from './schema.ts';
import { changedSettings, defaultSettings, fullImageName, macOf } from './settings.ts';
import { type Shared, sharedBy } from './shared.ts';
import { WebConsole } from './web-console.ts';
import { hasXServer, reattachXServer, startXServer, type XServer } from './x-server.ts';

export const MODULE = 'docker';
export const PORT_RULES: PortRules = { exception, nios: new Set(['nio_udp']) };

/** How long a container that is new is watched for rights that it lacks, and how often. */
const WATCHED_MS = 5_000;
const WATCH_MS = 250;

interface State extends Omit<Wanted, 'level'> {
  usage: string;
}

export class DockerNode extends ProgramNode<DockerRuntime> {
  readonly type = MODULE;
  readonly #shared: Shared;
  #state: State;
  #level: Level;
  #made: Made | undefined;
  /** Of a VNC console: there as long as the container is. */
  #xServer: XServer | undefined;
  /** Of the project, when the container was made. */
  #variables: Variables;
  readonly #xResources = new Held();
  /** By adapter, where its interface is open. */
  readonly #plugged = new Map<number, number>();
  /** Of the container that runs, or is about to. */
  #process = 0;

  private constructor(identity: NodeIdentity, consoleType: string, services: Services, state: State) {
    const own: { node?: DockerNode } = {};
    super(identity, services, {
      ...{ module: MODULE, rules: PORT_RULES, consoleType, adapters: state.settings.adapters },
      makePort: (...parts) => new LivePort(...parts),
      listener: (type, at) => own.node!.#webConsole(type, at),
    });
    own.node = this;
    this.#variables = identity.project.variables;
    this.#shared = sharedBy(services);
    this.#state = state;
    this.#level = levelsOf(services.config.Docker)[0]!;
    this.#listenToPorts();
  }

  static async create(identity: NodeIdentity, body: DockerCreate, services: Services): Promise<DockerNode> {
    await using undo = new AsyncDisposableStack();
    const { id } = identity;
    const state = {
      settings: changedSettings(defaultSettings(id), body, id),
      hidden: { custom_adapters: body.custom_adapters ?? [] },
      image: fullImageName(body.image),
      usage: body.usage ?? '',
    };
    const node = new DockerNode(identity, body.console_type, services, state);
    mustBeSound({ ...state, ...node.#identity });
    undo.defer(() => node.close());
    if (body.aux != null) await node.auxiliaryConsole.change('telnet', body.aux);
    if (body.console != null && hasXServer(identity.project.id, id, services)) node.console.keep(body.console);
    await node.console.change(body.console_type, body.console ?? undefined);
    if (body.aux == null) await node.auxiliaryConsole.change('telnet');
    await node.inTurn(() => node.#makeOrTakeBack(undo));
    undo.move();
    return node;
  }

  override describe(): object {
    const { settings, image, usage } = this.#state;
    return {
      ...{ name: this.name, node_id: this.id, project_id: this.project.id, status: this.status },
      ...{ node_directory: this.directory, container_id: this.#made?.id, image, usage },
      ...{ console: this.console.port, console_type: this.console.type, aux: this.auxiliaryConsole.port },
      ...settings,
    };
  }

  /** All of it, or nothing: a container of which something changes is made anew, and started again if it ran. */
  change(body: DockerUpdate): Promise<void> {
    return this.inTurn(() => this.#changeNow(body));
  }

  override suspend(): Promise<void> {
    return this.inTurn(async () => {
      await this.#running().suspend();
      this.status = 'suspended';
    });
  }

  resume(): Promise<void> {
    return this.inTurn(async () => {
      await this.#running().resume();
      this.status = 'started';
    });
  }

  override reload(): Promise<void> {
    return this.inTurn(async () => {
      const runtime = this.#running();
      await this.#unplug();
      await runtime.restart();
      this.#process = runtime.pid;
      await this.#plug(runtime);
      if (this.status !== 'started') this.status = 'started';
    });
  }

  /** The container's files, and its permissions with them. */
  async copyFilesOf(source: DockerNode): Promise<void> {
    await copyFiles(this.project, source.relativeDirectory, this.relativeDirectory);
  }

  protected override async startNow(): Promise<void> {
    if (!this.runtime?.isSuspended) return super.startNow();
    await this.runtime.resume();
    this.status = 'started';
  }

  protected override releaseAll(rest: AsyncDisposableStack): void {
    super.releaseAll(rest);
    rest.defer(() => this.#xResources.release());
    rest.defer(() => this.#removeContainer());
  }

  protected override async launch(resources: AsyncDisposableStack, undo: AsyncDisposableStack): Promise<DockerRuntime> {
    using _slot = await this.#shared.starts.take(this.stopAsked);
    const { made, isNew } = await this.#ready(undo);
    const runtime = await DockerRuntime.start(this, this.#shared, this.#startOf(made), resources);
    await this.#join(runtime, resources);
    if (isNew) this.#watchRights(runtime, resources);
    return runtime;
  }

  protected override async reattachTo(): Promise<never> {
    throw new Error('containers are kept by the Engine, not by the supervisor');
  }

  get #identity() {
    const { id, name, project } = this;
    return { id, name, project, directory: this.directory, relativeDirectory: this.relativeDirectory };
  }

  #running(): DockerRuntime {
    if (this.runtime) return this.runtime;
    throw new Failure('conflict', `${this.name} is not started; start it first.`, { exception });
  }

  #startOf({ id, volumes }: Made) {
    const { settings, hidden } = this.#state;
    const interfaces = Array.from({ length: settings.adapters }, (_, adapter) => ({
      name: `eth${adapter}`,
      macAddress: macOf(settings, hidden.custom_adapters, adapter),
    }));
    return { container: id, volumes, interfaces, offersTerminal: this.console.type === 'telnet' };
  }

  /** What a former life of the server has left, as far as it is what is wanted; else a container of this life. */
  async #makeOrTakeBack(undo: AsyncDisposableStack): Promise<void> {
    const found = await this.#shared.unclaimed.claim(this.id);
    for (const { Id: id, Labels } of found) {
      const { State } = await inspect(this.#shared.engine, id);
      if (!State.Running || this.#made) {
        await removeContainer(this.#shared.engine, id, this.id);
        continue;
      }
      this.#level = LEVELS.find((level) => level === Labels[LEVEL_LABEL]) ?? this.#level;
      await this.makeDirectory(undo);
      const display = Labels[DISPLAY_LABEL];
      if (display !== undefined) {
        this.#xServer = reattachXServer(this.#identity, Number(display), this.services, this.#xResources.fresh());
      }
      this.#made = { id, volumes: (Labels[VOLUMES_LABEL] ?? '').split(':').filter(Boolean), isNew: false };
    }
    if (!this.#made) return void (await this.#make(undo));
    const made = this.#made;
    await this.takeBack(async (resources) => {
      const runtime = await DockerRuntime.reattach(this, this.#shared, this.#startOf(made), resources);
      await this.#join(runtime, resources);
      return runtime;
    });
  }

  async #make(undo: AsyncDisposableStack): Promise<Made> {
    await this.makeDirectory(undo);
    this.#variables = this.project.variables;
    const display = await this.#startXServer();
    this.#made = await makeContainer(
      { ...this.#state, ...this.#identity, level: this.#level, ...(display === undefined ? {} : { display }) },
      this.services,
      this.#shared,
    );
    return this.#made;
  }

  /** The container, which the Engine may have lost meanwhile. */
  async #ready(undo: AsyncDisposableStack): Promise<{ made: Made; isNew: boolean }> {
    // It knows the socket of that X server, and of no other.
    if (this.#xServer?.isAlive === false) await this.#removeContainer();
    // Variables of the project are its environment.
    if (!isDeepStrictEqual(this.#variables, this.project.variables)) await this.#removeContainer();
    const made = this.#made ?? (await this.#make(undo));
    const isNew = made.isNew;
    made.isNew = false;
    return { made, isNew };
  }

  /** For a VNC console; answers its display. */
  async #startXServer(): Promise<number | undefined> {
    await this.#xResources.release();
    this.#xServer = undefined;
    const { type, port } = this.console;
    if (type !== 'vnc' || port === null) return undefined;
    const { console_resolution: resolution } = this.#state.settings;
    this.#xServer = await startXServer(this.#identity, { resolution, port }, this.services, this.#xResources.fresh());
    return this.#xServer.display;
  }

  #webConsole(type: string, at: { host: string; port: number }): WebConsole | undefined {
    if (type !== 'http' && type !== 'https') return undefined;
    const target = () => ({ process: this.#process, port: this.#state.settings.console_http_port });
    return new WebConsole({ at, name: this.name, secure: type === 'https', target });
  }

  async #join(runtime: DockerRuntime, resources: AsyncDisposableStack): Promise<void> {
    this.#process = runtime.pid;
    resources.defer(() => this.#unplug());
    await this.#plug(runtime);
  }

  async #plug(runtime: DockerRuntime): Promise<void> {
    await Promise.all(this.ports.all.map((port, adapter) => this.#plugOne(port as LivePort, adapter, runtime)));
  }

  /** An interface has a carrier as long as somebody has it open: that is while its cable is there. */
  async #plugOne(port: LivePort, adapter: number, { pid }: DockerRuntime): Promise<void> {
    const process = port.isUp ? pid : undefined;
    // What stays as it is is not opened again: the container would see its cable go and come.
    if (this.#plugged.get(adapter) === process) return;
    this.#plugged.delete(adapter);
    if (process === undefined) return await port.setDevice(null);
    await port.setDevice({ kind: 'tap', interface: `eth${adapter}`, create: 'never', process });
    this.#plugged.set(adapter, process);
  }

  async #unplug(): Promise<void> {
    this.#plugged.clear();
    await Promise.all(this.ports.all.map((port) => port.setDevice(null)));
  }

  #listenToPorts(): void {
    for (const [adapter, port] of this.ports.all.entries()) {
      (port as LivePort).onCable(async () => {
        const { runtime } = this;
        if (!runtime) return;
        await this.#plugOne(port as LivePort, adapter, runtime).catch((error: unknown) => {
          log.warn('a container does not hear of its cable', { node: this.id, adapter, reason: messageOf(error) });
        });
      });
    }
  }

  async #changeNow(body: DockerUpdate): Promise<void> {
    const before = this.#state;
    const { type, port } = this.console;
    const name = body.name ?? this.name;
    const after = {
      ...before,
      settings: changedSettings(before.settings, body, this.id),
      hidden: { custom_adapters: body.custom_adapters ?? before.hidden.custom_adapters },
      usage: body.usage ?? before.usage,
    };
    mustBeSound({ ...after, ...this.#identity, name });
    const wanted = [name, body.console_type ?? type, body.console ?? port, body.aux ?? this.auxiliaryConsole.port];
    const isSame =
      isDeepStrictEqual(wanted, [this.name, type, port, this.auxiliaryConsole.port]) &&
      isDeepStrictEqual([after.settings, after.hidden], [before.settings, before.hidden]);
    this.#state = after;
    if (isSame) return;
    await this.#makeAgain(async () => {
      await this.console.change(body.console_type ?? type, body.console ?? undefined);
      await this.auxiliaryConsole.change('telnet', body.aux ?? undefined);
      this.name = name;
      if (after.settings.adapters === before.settings.adapters) return;
      await this.ports.resize(after.settings.adapters);
      this.#listenToPorts();
    });
  }

  /** Replaces the container, after `change`; it runs afterwards if it did. */
  async #makeAgain(change: () => Promise<void>): Promise<void> {
    const ran = this.runtime !== undefined && !this.runtime.isSuspended;
    if (this.runtime) await this.switchOff();
    await change();
    await this.#removeContainer();
    await using undo = new AsyncDisposableStack();
    await this.#make(undo);
    undo.move();
    if (ran) await this.startNow();
  }

  async #removeContainer(): Promise<void> {
    const made = this.#made;
    this.#made = undefined;
    if (!made) return;
    try {
      await removeContainer(this.#shared.engine, made.id, this.id);
    } catch (error) {
      // The next life of this server finds it by its label.
      const message = `The container of ${this.name} stays, ${made.id.slice(0, 12)}: ${messageOf(error)}`;
      log.warn(message, { project: this.project.id });
      this.services.events.emit('log.warning', { message }, this.project.id);
    }
  }

  /** A new container that is refused something gets more rights, where the configuration allows it: said in events. */
  #watchRights(runtime: DockerRuntime, resources: AsyncDisposableStack): void {
    const levels = levelsOf(this.services.config.Docker);
    const next = levels[levels.indexOf(this.#level) + 1];
    if (next === undefined) return;
    const end = performance.now() + WATCHED_MS;
    const look = (): void => {
      if (lacksRights(runtime.lastOutput)) {
        clearInterval(timer);
        void this.inTurn(() => this.#giveRights(runtime, next));
      } else if (performance.now() > end || runtime.ended) clearInterval(timer);
    };
    const timer = setInterval(look, WATCH_MS).unref();
    runtime.once('end', look);
    resources.defer(() => clearInterval(timer));
  }

  async #giveRights(runtime: DockerRuntime, level: Level): Promise<void> {
    if (this.runtime !== runtime) return;
    const before = this.#level;
    const reason = lastRefusal(runtime.lastOutput);
    try {
      this.#level = level;
      await this.#makeAgain(async () => {});
      // It may have ended by itself before.
      if (!this.runtime) await this.startNow();
      this.#tell('log.warning', `${this.name} was refused something (${reason}): it runs ${named(level)} now.`);
    } catch (error) {
      this.#level = before;
      this.#tell(
        'log.warning',
        `${this.name} cannot run ${named(level)} here (${messageOf(error)}): it goes on ${named(before)}.`,
      );
      await this.#makeAgain(async () => {}).catch(() => {});
      if (this.#made) this.#made.isNew = false;
      await this.startNow().catch((thrown: unknown) => this.#tell('log.error', messageOf(thrown)));
    }
  }

  #tell(action: 'log.warning' | 'log.error', message: string): void {
    this.services.events.emit(action, { message }, this.project.id);
  }
}

/** What is taken and given back again and again. */
class Held {
  #stack: AsyncDisposableStack | undefined;

  fresh(): AsyncDisposableStack {
    this.#stack = new AsyncDisposableStack();
    return this.#stack;
  }

  async release(): Promise<void> {
    const stack = this.#stack;
    this.#stack = undefined;
    await stack?.disposeAsync();
  }
}

/** The line that tells it. */
function lastRefusal(output: string): string {
  const line = output.split('\n').findLast(lacksRights) ?? '';
  return line.trim().slice(-200);
}
