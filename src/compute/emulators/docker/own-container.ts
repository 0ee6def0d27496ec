// The container of a node, running or not: created, found again after a restart of the server, recreated when out of
// date, removed. The X server of a VNC console starts and ends with it.
import { isDeepStrictEqual } from 'node:util';
import type { Variables } from '../../../api/vocabulary.ts';
import { messageOf } from '../../../failures.ts';
import { log } from '../../../host/log.ts';
import { allOrNothing, type Steps } from '../../nodes/lifecycle/all-or-nothing.ts';
import type { NodeProject } from '../../nodes/owner.ts';
import type { Services } from '../../services.ts';
import { DISPLAY_LABEL, inspect, LEVEL_LABEL, nameContainer, removeContainer, VOLUMES_LABEL } from './container.ts';
import { type Made, makeContainer, type Wanted } from './create-container.ts';
import type { DockerHost } from './docker-host.ts';
import { LEVELS, type Level, levelsOf } from './rights.ts';
import { endXServer, reattachXServer, startXServer, type XServer } from './x-server.ts';

/** Everything a container is created from. */
export interface ContainerPlan {
  readonly identity: { id: string; name: string; project: NodeProject; directory: string; relativeDirectory: string };
  readonly wanted: Omit<Wanted, 'level' | 'display'>;
  readonly console: { readonly type: string; readonly port: number | null };
}

/** The node as its container sees it. Members are read whenever a container is created. */
export interface ContainerOwner extends ContainerPlan {
  /** See `ProgramNode`. */
  makeDirectory(undo: AsyncDisposableStack): Promise<void>;
}

export class OwnContainer {
  /** Rights of the next container. */
  level: Level;
  readonly #owner: ContainerOwner;
  readonly #services: Services;
  readonly #host: DockerHost;
  #made: Made | undefined;
  #xServer: XServer | undefined;
  readonly #xResources = new Held();
  /** Of the project when the container was created. */
  #variables: Variables;

  constructor(owner: ContainerOwner, services: Services, host: DockerHost) {
    this.#owner = owner;
    this.#services = services;
    this.#host = host;
    this.level = levelsOf(services.config.Docker, false)[0]!;
    this.#variables = owner.identity.project.variables;
  }

  get id(): string | undefined {
    return this.#made?.id;
  }

  /** The project's variables are part of the environment: after a change it must be recreated. */
  get isOutOfDate(): boolean {
    return !isDeepStrictEqual(this.#variables, this.#owner.identity.project.variables);
  }

  /**
   * Takes over what the previous run of the server left of the node: the running container is the node's now, others
   * are removed.
   */
  async takeOver(undo: AsyncDisposableStack): Promise<Made | undefined> {
    const { identity } = this.#owner;
    const { engine, unclaimed } = this.#host;
    for (const { Id: id, Labels } of await unclaimed.claim(identity.id)) {
      const { State } = await inspect(engine, id);
      if (!State.Running || this.#made) {
        await removeContainer(engine, id, identity.id);
        continue;
      }
      this.level = LEVELS.find((level) => level === Labels[LEVEL_LABEL]) ?? this.level;
      await this.#owner.makeDirectory(undo);
      const display = Labels[DISPLAY_LABEL];
      if (display !== undefined) {
        this.#xServer = reattachXServer(identity, Number(display), this.#services, this.#xResources.fresh());
      }
      this.#made = { id, volumes: (Labels[VOLUMES_LABEL] ?? '').split(':').filter(Boolean), isNew: false };
    }
    // That of a removed container still has the console's port.
    if (!this.#xServer) await endXServer(identity, this.#services);
    return this.#made;
  }

  /** @throws Failure `conflict`, see `makeContainer` */
  make(undo: AsyncDisposableStack): Promise<Made> {
    return this.#make(this.#owner, undo);
  }

  /** Whether it has an X server, which must end before another container is created. */
  get hasXServer(): boolean {
    return this.#xServer !== undefined;
  }

  /**
   * Creates another container next to this one, which is removed at the end.
   * @param level rights of the new one
   * @throws Failure `conflict`, see `makeContainer`
   */
  async replace({ undo, done }: Steps, plan: ContainerPlan = this.#owner, level = this.level): Promise<Made> {
    const before = { made: this.#made, level: this.level, variables: this.#variables };
    const display = this.#xServer?.display;
    undo.defer(async () => {
      await this.#xResources.release();
      // It has the socket of an ended X server: `ready` creates another one.
      this.#xServer = display === undefined ? undefined : { display, isAlive: false };
      this.#made = before.made;
      this.level = before.level;
      this.#variables = before.variables;
    });
    this.level = level;
    const made = await this.#make(plan, undo);
    undo.defer(() => this.#discard(made));
    done.defer(async () => {
      if (before.made) await this.#discard(before.made);
      const { id: nodeId, name, project } = plan.identity;
      await nameContainer(this.#host.engine, made.id, { name, nodeId, projectId: project.id });
    });
    return made;
  }

  /** A container that can be started: a new one if this one is out of date, or missing in the Engine. */
  async ready(undo: AsyncDisposableStack): Promise<Made> {
    // It has the socket of that X server only.
    if (this.#xServer?.isAlive === false || this.isOutOfDate)
      await allOrNothing(async (steps) => void (await this.replace(steps)));
    return this.#made ?? (await this.make(undo));
  }

  /** Its next start gives it no additional rights. */
  keepRights(): void {
    if (this.#made) this.#made.isNew = false;
  }

  async remove(): Promise<void> {
    const made = this.#made;
    this.#made = undefined;
    if (made) await this.#discard(made);
  }

  /** Also ends the X server. */
  async release(): Promise<void> {
    await this.remove();
    await this.#xResources.release();
  }

  async #make(plan: ContainerPlan, undo: AsyncDisposableStack): Promise<Made> {
    const { identity, wanted } = plan;
    await this.#owner.makeDirectory(undo);
    this.#variables = identity.project.variables;
    const display = await this.#startXServer(plan);
    this.#made = await makeContainer(
      { ...wanted, ...identity, level: this.level, ...(display === undefined ? {} : { display }) },
      this.#services,
      this.#host,
    );
    return this.#made;
  }

  async #discard({ id }: Made): Promise<void> {
    const { id: nodeId, name, project } = this.#owner.identity;
    try {
      await removeContainer(this.#host.engine, id, nodeId);
    } catch (error) {
      // The next run of this server finds it by its label.
      const message = `The container of ${name} stays, ${id.slice(0, 12)}: ${messageOf(error)}`;
      log.warn(message, { project: project.id });
      this.#services.events.emit('log.warning', { message }, project.id);
    }
  }

  /** For a VNC console; returns its display. */
  async #startXServer({ identity, wanted, console }: ContainerPlan): Promise<number | undefined> {
    await this.#xResources.release();
    this.#xServer = undefined;
    const { type, port } = console;
    if (type !== 'vnc' || port === null) return undefined;
    const { console_resolution: resolution } = wanted.settings;
    this.#xServer = await startXServer(identity, { resolution, port }, this.#services, this.#xResources.fresh());
    return this.#xServer.display;
  }
}

/** A resource that is allocated and released repeatedly. */
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
