// The Docker container node: image, settings, life cycle, and rights.
import { isDeepStrictEqual } from 'node:util';
import { type DockerCreate, type DockerUpdate, dockerSettings } from '../../../api/kinds/docker.ts';
import { defaultsOf } from '../../../api/kinds/property.ts';
import { adapterMac, adapterMacs } from '../../../api/mac.ts';
import { messageOf } from '../../../failures.ts';
import { loadOfGroup, type ProcessLoad } from '../../../host/processes/process-load.ts';
import { copyFiles } from '../../nodes/files.ts';
import { allOrNothing, type Steps } from '../../nodes/lifecycle/all-or-nothing.ts';
import { type NodeChange, ProgramNode } from '../../nodes/lifecycle/program-node.ts';
import type { NodeIdentity } from '../../nodes/node.ts';
import { LivePort } from '../../nodes/ports/live-port.ts';
import type { PortRules } from '../../nodes/ports/port.ts';
import type { Services } from '../../services.ts';
import { Cables } from './cables.ts';
import { writtenBytes } from './container.ts';
import { assertCreatable, type Made, type Wanted } from './create-container.ts';
import type { DockerHost } from './docker-host.ts';
import { exception } from './engine.ts';
import { discardRestoredLayer, restoreLayer, takeLayerCheckpoint } from './layer-checkpoint.ts';
import { type ContainerOwner, type ContainerPlan, OwnContainer } from './own-container.ts';
import { type Level, levelsOf, named, withFix } from './rights.ts';
import { watchForRefusal } from './rights-watch.ts';
import { DockerRuntime } from './runtime.ts';
import { changedSettings, fullImageName } from './settings.ts';
import { WebConsole } from './web-console.ts';
import { hasXServer } from './x-server.ts';

export const MODULE = 'docker';
export const PORT_RULES: PortRules = { exception, nios: new Set(['nio_udp']) };

interface State extends Omit<Wanted, 'level'> {
  usage: string;
}

export class DockerNode extends ProgramNode<DockerRuntime, DockerUpdate> {
  readonly type = MODULE;
  readonly #host: DockerHost;
  readonly #container: OwnContainer;
  readonly #cables: Cables;
  #state: State;
  /** Pid of the container that runs or is about to run. */
  #process = 0;

  private constructor(identity: NodeIdentity, consoleType: string, services: Services, host: DockerHost, state: State) {
    super(identity, services, {
      module: MODULE,
      rules: PORT_RULES,
      consoleType,
      adapters: state.settings.adapters,
      makePort: (...parts) => new LivePort(...parts),
    });
    this.#host = host;
    this.#state = state;
    this.#container = new OwnContainer(this.#asOwner(), services, this.#host);
    this.#cables = new Cables(this.id, this.ports, this.services.nodeNetwork, () => this.#state.settings.offload);
    this.#cables.follow(() => this.runtime?.pid);
  }

  static async create(
    identity: NodeIdentity,
    body: DockerCreate,
    services: Services,
    host: DockerHost,
  ): Promise<DockerNode> {
    await using undo = new AsyncDisposableStack();
    const { id } = identity;
    const state = {
      settings: changedSettings(defaultsOf(dockerSettings, id), body, id),
      hidden: { custom_adapters: body.custom_adapters ?? [] },
      image: fullImageName(body.image),
      usage: body.usage ?? '',
    };
    const node = new DockerNode(identity, body.console_type, services, host, state);
    assertCreatable({ ...state, ...node.#identity });
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
      ...this.common(),
      container_id: this.#container.id,
      image,
      usage,
      aux: this.auxiliaryConsole.port,
      ...settings,
    };
  }

  override suspend(): Promise<void> {
    return this.inTurn(() => this.#suspendNow());
  }

  resume(): Promise<void> {
    return this.inTurn(async () => {
      await this.requireRunning().resume();
      this.status = 'started';
    });
  }

  /** Of all processes in the container. */
  override load(): ProcessLoad | undefined {
    const { pid } = this.runtime ?? {};
    return pid === undefined ? undefined : (loadOfGroup(pid) ?? super.load());
  }

  override reload(): Promise<void> {
    return this.inTurn(async () => {
      const runtime = this.requireRunning();
      try {
        await this.#cables.unplug();
        await runtime.restart();
        this.#process = runtime.pid;
        await runtime.unlessEnded(() => this.#cables.plug(runtime.pid));
      } catch (error) {
        await this.switchOff().catch((thrown: unknown) => this.#tell('log.warning', messageOf(thrown)));
        throw error;
      }
      if (this.status !== 'started') this.status = 'started';
    });
  }

  /**
   * Variables are part of its environment: a running container is recreated and restarted, a stopped one at its next
   * start.
   */
  override variablesChanged(): Promise<void> {
    return this.inTurn(async () => {
      if (this.runtime && this.#container.isOutOfDate) await this.#makeAgain();
    });
  }

  /** Data written in the container outside its volumes, as counted by the Engine. */
  override async filesElsewhere(): Promise<{ path: string; size: number; bytes: number }[]> {
    const { id } = this.#container;
    if (id === undefined) return [];
    const size = await writtenBytes(this.#host.engine, id).catch(() => 0);
    return size > 0 ? [{ path: '(container)', size, bytes: size }] : [];
  }

  /**
   * Copies what it has written outside its volumes, for another host.
   * @param stopped also while it does not run
   * @throws Failure `out-of-space`, `conflict` if it had to give way
   */
  checkpoint(stopped: boolean): Promise<void> {
    return this.copyInTurn(async (signal) => {
      const { id: container } = this.#container;
      // Nothing runs in a suspended one; its copy is of the last round.
      if (container === undefined || this.runtime?.isSuspended) return;
      const layer = { engine: this.#host.engine, container, directory: this.directory };
      await takeLayerCheckpoint(layer, { isRunning: this.runtime !== undefined, stopped, signal });
    });
  }

  /** The container's files with their permissions. */
  async copyFilesOf(source: DockerNode): Promise<void> {
    await copyFiles(this.project, source.relativeDirectory, this.relativeDirectory);
  }

  protected override get restartsToChange(): boolean {
    return true;
  }

  /** A changed container is recreated, and started again if it ran. */
  protected override check(body: DockerUpdate): NodeChange {
    const before = this.#state;
    const { console, auxiliaryConsole } = this;
    const state = {
      ...before,
      settings: changedSettings(before.settings, body, this.id),
      hidden: { custom_adapters: body.custom_adapters ?? before.hidden.custom_adapters },
      usage: body.usage ?? before.usage,
    };
    assertCreatable({ ...state, ...this.#identity, name: body.name ?? this.name });
    let start = async (): Promise<void> => {};
    return {
      prepare: async (after, steps) => {
        const isSame = isDeepStrictEqual(
          [after.name, after.console, after.auxiliaryConsole.port, state.settings, state.hidden],
          [
            this.name,
            { type: console.type, port: console.port },
            auxiliaryConsole.port,
            before.settings,
            before.hidden,
          ],
        );
        if (isSame) return;
        const identity = { ...this.#identity, name: after.name };
        start = await this.#replace(steps, { identity, wanted: state, console: after.console });
      },
      apply: async (after, steps) => {
        steps.undo.defer(() => {
          this.#state = before;
        });
        this.#state = state;
        this.name = after.name;
        const { adapters } = state.settings;
        if (adapters !== before.settings.adapters) {
          this.ports.resize(adapters, steps);
          this.#cables.follow(() => this.runtime?.pid);
        }
        await start();
      },
    };
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
    using _slot = await this.#host.starts.take(this.stopAsked);
    const made = await this.#container.ready(undo);
    const layer = { engine: this.#host.engine, container: made.id, directory: this.directory };
    const discard = await restoreLayer(layer, (message) => this.#tell('log.warning', `${this.name}: ${message}`));
    const starting = DockerRuntime.start(this, this.#host, this.#startOf(made), resources);
    const runtime = await starting.catch((error: unknown) => {
      throw withFix(error, this.services.config.Docker);
    });
    await this.#join(runtime, resources);
    if (made.isNew) await this.#watchRights(runtime, resources, made, discard);
    else await discard?.();
    return runtime;
  }

  protected override async reattachTo(): Promise<never> {
    throw new Error('containers are kept by the Engine, not by the supervisor');
  }

  get #identity() {
    const { id, name, project } = this;
    return { id, name, project, directory: this.directory, relativeDirectory: this.relativeDirectory };
  }

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

  async #suspendNow(): Promise<void> {
    await this.requireRunning().suspend();
    this.status = 'suspended';
  }

  /** Those that the NAT network has leased to its adapters. */
  async liveAddresses(): Promise<string[]> {
    const { settings, hidden } = this.#state;
    const macs = adapterMacs(settings.mac_address, settings.adapters, hidden.custom_adapters);
    return this.runtime ? this.services.natNetwork.leasedTo(macs) : [];
  }

  #startOf({ id, volumes }: Made) {
    const { settings, hidden } = this.#state;
    const interfaces = Array.from({ length: settings.adapters }, (_, adapter) => ({
      name: `eth${adapter}`,
      macAddress: adapterMac(settings.mac_address, adapter, hidden.custom_adapters),
      mtu: settings.mtu,
      offload: settings.offload,
    }));
    return { container: id, volumes, interfaces, offersTerminal: this.console.type === 'telnet' };
  }

  /** Uses the container left by the previous run of the server, if it still matches; otherwise creates one. */
  async #makeOrTakeBack(undo: AsyncDisposableStack): Promise<void> {
    const found = await this.#container.takeOver(undo);
    if (!found) return void (await this.#container.make(undo));
    // The previous run may have ended before it was discarded.
    await discardRestoredLayer(this.directory).catch((error: unknown) => this.#tell('log.warning', messageOf(error)));
    await this.reattachBy(async (resources) => {
      const runtime = await DockerRuntime.reattach(this, this.#host, this.#startOf(found), resources);
      await this.#join(runtime, resources);
      return runtime;
    });
  }

  protected override makeListener(type: string, at: { host: string; port: number }): WebConsole | undefined {
    if (type !== 'http' && type !== 'https') return undefined;
    const target = () => ({ process: this.#process, port: this.#state.settings.console_http_port });
    return new WebConsole({ at, name: this.name, secure: type === 'https', target });
  }

  async #join(runtime: DockerRuntime, resources: AsyncDisposableStack): Promise<void> {
    this.#process = runtime.pid;
    resources.defer(() => this.#cables.unplug());
    await runtime.unlessEnded(() => this.#cables.plug(runtime.pid));
  }

  /** Creates another container, and starts it if this one ran. */
  #makeAgain(level?: Level): Promise<void> {
    return allOrNothing(async (steps) => {
      const start = await this.#replace(steps, undefined, level);
      await start();
    });
  }

  /**
   * Replaces this container by another one. The new one is created before the old one stops, unless both need the same
   * X server's port. Returns the function that starts it, if the old one ran.
   */
  async #replace(steps: Steps, plan?: ContainerPlan, level?: Level): Promise<() => Promise<void>> {
    const { runtime } = this;
    const { isSuspended = false } = runtime ?? {};
    steps.undo.defer(async () => {
      if (!runtime || this.runtime) return;
      await this.startNow();
      if (isSuspended) await this.#suspendNow();
    });
    if (this.#container.hasXServer && runtime) await this.switchOff();
    await this.#container.replace(steps, plan, level);
    if (this.runtime) await this.switchOff();
    return async () => {
      if (runtime && !isSuspended) await this.startNow();
    };
  }

  /**
   * Gives a new container missing rights if the configuration allows it, and reports that in events. When it needs none
   * the copy that it was restored from, if any, is discarded.
   */
  async #watchRights(
    runtime: DockerRuntime,
    resources: AsyncDisposableStack,
    made: Made,
    discard: (() => Promise<void>) | undefined,
  ): Promise<void> {
    const settled = async (): Promise<void> => {
      made.isNew = false;
      await discard?.();
    };
    const levels = levelsOf(this.services.config.Docker, await this.services.isShared());
    const next = levels[levels.indexOf(this.#container.level) + 1];
    if (next === undefined) return settled();
    const refused = (line: string): void => void this.inTurn(() => this.#giveRights(runtime, next, line));
    watchForRefusal(runtime, resources, refused, (isOver) => {
      // It is watched again at its next start, unless that would restore the copy again over what it has written since.
      if (!isOver && discard === undefined) return;
      settled().catch((error: unknown) => this.#tell('log.warning', messageOf(error)));
    });
  }

  async #giveRights(runtime: DockerRuntime, level: Level, line: string): Promise<void> {
    if (this.runtime !== runtime) return;
    const before = this.#container.level;
    try {
      await this.#makeAgain(level);
      // It may have ended before.
      if (!this.runtime) await this.startNow();
      this.#tell('log.warning', `${this.name} was refused something (${line}): it runs ${named(level)} now.`);
    } catch (error) {
      this.#tell(
        'log.warning',
        `${this.name} cannot run ${named(level)} here (${messageOf(error)}): it goes on ${named(before)}.`,
      );
      this.#container.keepRights();
      await this.startNow().catch((thrown: unknown) => this.#tell('log.error', messageOf(thrown)));
    }
  }

  #tell(action: 'log.warning' | 'log.error', message: string): void {
    this.services.events.emit(action, { message }, this.project.id);
  }
}
