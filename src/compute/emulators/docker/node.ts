// A Docker container as a node: its image and settings, its life, and its rights.
import { isDeepStrictEqual } from 'node:util';
import { Failure, messageOf } from '../../../failures.ts';
import { loadOfGroup, type ProcessLoad } from '../../../host/processes/process-load.ts';
import { copyFiles } from '../../nodes/files.ts';
import { ProgramNode } from '../../nodes/lifecycle/program-node.ts';
import type { NodeIdentity } from '../../nodes/node.ts';
import { LivePort } from '../../nodes/ports/live-port.ts';
import type { PortRules } from '../../nodes/ports/port.ts';
import type { Services } from '../../services.ts';
import { Cables } from './cables.ts';
import { writtenBytes } from './container.ts';
import { exception } from './engine.ts';
import { type Made, mustBeSound, type Wanted } from './making.ts';
import { type ContainerOwner, OwnContainer } from './own-container.ts';
import { type Level, levelsOf, named, withFix } from './rights.ts';
import { watchForRefusal } from './rights-watch.ts';
import { DockerRuntime } from './runtime.ts';
import type { DockerCreate, DockerUpdate } from './schema.ts';
import { changedSettings, defaultSettings, fullImageName, macOf } from './settings.ts';
import { type Shared, sharedBy } from './shared.ts';
import { WebConsole } from './web-console.ts';
import { hasXServer } from './x-server.ts';

export const MODULE = 'docker';
export const PORT_RULES: PortRules = { exception, nios: new Set(['nio_udp']) };

interface State extends Omit<Wanted, 'level'> {
  usage: string;
}

export class DockerNode extends ProgramNode<DockerRuntime> {
  readonly type = MODULE;
  readonly #shared: Shared;
  readonly #container: OwnContainer;
  readonly #cables: Cables;
  #state: State;
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
    this.#shared = sharedBy(services);
    this.#state = state;
    this.#container = new OwnContainer(this.#asOwner(), services, this.#shared);
    this.#cables = new Cables(this.id, this.ports);
    this.#cables.follow(() => this.runtime?.pid);
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

  override describe() {
    const { settings, image, usage } = this.#state;
    return {
      ...{ name: this.name, node_id: this.id, project_id: this.project.id, status: this.status },
      ...{ node_directory: this.directory, container_id: this.#container.id, image, usage },
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

  /** Of all that runs in the container. */
  override load(): ProcessLoad | undefined {
    const { pid } = this.runtime ?? {};
    return pid === undefined ? undefined : (loadOfGroup(pid) ?? super.load());
  }

  override reload(): Promise<void> {
    return this.inTurn(async () => {
      const runtime = this.#running();
      await this.#cables.unplug();
      await runtime.restart();
      this.#process = runtime.pid;
      await this.#cables.plug(runtime.pid);
      if (this.status !== 'started') this.status = 'started';
    });
  }

  /** They are the environment of its programs: a container that runs is made anew, and started again. One that does not waits for its start. */
  override variablesChanged(): Promise<void> {
    return this.inTurn(async () => {
      if (this.runtime && this.#container.isOutOfDate) await this.#makeAgain(async () => {});
    });
  }

  /** What was written into the container beside its volumes, as the Engine counts it. */
  override async filesElsewhere(): Promise<{ path: string; size: number; bytes: number }[]> {
    const { id } = this.#container;
    if (id === undefined) return [];
    const size = await writtenBytes(this.#shared.engine, id).catch(() => 0);
    return size > 0 ? [{ path: '(container)', size, bytes: size }] : [];
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
    rest.defer(() => this.#container.release());
  }

  protected override async launch(resources: AsyncDisposableStack, undo: AsyncDisposableStack): Promise<DockerRuntime> {
    using _slot = await this.#shared.starts.take(this.stopAsked);
    const { made, isNew } = await this.#container.ready(undo);
    const starting = DockerRuntime.start(this, this.#shared, this.#startOf(made), resources);
    const runtime = await starting.catch((error: unknown) => {
      throw withFix(error, this.services.config.Docker);
    });
    await this.#join(runtime, resources);
    if (isNew) await this.#watchRights(runtime, resources);
    return runtime;
  }

  protected override async reattachTo(): Promise<never> {
    throw new Error('containers are kept by the Engine, not by the supervisor');
  }

  get #identity() {
    const { id, name, project } = this;
    return { id, name, project, directory: this.directory, relativeDirectory: this.relativeDirectory };
  }

  /** As the container sees the node. */
  #asOwner(): ContainerOwner {
    const node = this;
    return {
      get identity() {
        return node.#identity;
      },
      get wanted() {
        return node.#state;
      },
      console: node.console,
      makeDirectory: (undo) => node.makeDirectory(undo),
    };
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
    const found = await this.#container.takeOver(undo);
    if (!found) return void (await this.#container.make(undo));
    await this.takeBack(async (resources) => {
      const runtime = await DockerRuntime.reattach(this, this.#shared, this.#startOf(found), resources);
      await this.#join(runtime, resources);
      return runtime;
    });
  }

  #webConsole(type: string, at: { host: string; port: number }): WebConsole | undefined {
    if (type !== 'http' && type !== 'https') return undefined;
    const target = () => ({ process: this.#process, port: this.#state.settings.console_http_port });
    return new WebConsole({ at, name: this.name, secure: type === 'https', target });
  }

  async #join(runtime: DockerRuntime, resources: AsyncDisposableStack): Promise<void> {
    this.#process = runtime.pid;
    resources.defer(() => this.#cables.unplug());
    await this.#cables.plug(runtime.pid);
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
      this.#cables.follow(() => this.runtime?.pid);
    });
  }

  /** Replaces the container, after `change`; it runs afterwards if it did. */
  async #makeAgain(change: () => Promise<void>): Promise<void> {
    const ran = this.runtime !== undefined && !this.runtime.isSuspended;
    if (this.runtime) await this.switchOff();
    await change();
    await this.#container.remove();
    await using undo = new AsyncDisposableStack();
    await this.#container.make(undo);
    undo.move();
    if (ran) await this.startNow();
  }

  /** A new container that is refused something gets more rights, where the configuration allows it: said in events. */
  async #watchRights(runtime: DockerRuntime, resources: AsyncDisposableStack): Promise<void> {
    const levels = levelsOf(this.services.config.Docker, await this.services.isShared());
    const next = levels[levels.indexOf(this.#container.level) + 1];
    if (next === undefined) return;
    watchForRefusal(runtime, resources, (line) => void this.inTurn(() => this.#giveRights(runtime, next, line)));
  }

  async #giveRights(runtime: DockerRuntime, level: Level, line: string): Promise<void> {
    if (this.runtime !== runtime) return;
    const before = this.#container.level;
    try {
      this.#container.level = level;
      await this.#makeAgain(async () => {});
      // It may have ended by itself before.
      if (!this.runtime) await this.startNow();
      this.#tell('log.warning', `${this.name} was refused something (${line}): it runs ${named(level)} now.`);
    } catch (error) {
      this.#container.level = before;
      this.#tell(
        'log.warning',
        `${this.name} cannot run ${named(level)} here (${messageOf(error)}): it goes on ${named(before)}.`,
      );
      await this.#makeAgain(async () => {}).catch(() => {});
      this.#container.keepRights();
      await this.startNow().catch((thrown: unknown) => this.#tell('log.error', messageOf(thrown)));
    }
  }

  #tell(action: 'log.warning' | 'log.error', message: string): void {
    this.services.events.emit(action, { message }, this.project.id);
  }
}
