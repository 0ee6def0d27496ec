// The container that a node has, whether it runs or not: made, found again after a former life of the server, made anew where it is out of
// date, removed. The X server of a VNC console comes and goes with it.
import { isDeepStrictEqual } from 'node:util';
import { messageOf } from '../../../failures.ts';
import { log } from '../../../host/log.ts';
import type { Variables } from '../../../store/vocabulary.ts';
import type { NodeProject } from '../../nodes/owner.ts';
import type { Services } from '../../services.ts';
import { DISPLAY_LABEL, inspect, LEVEL_LABEL, removeContainer, VOLUMES_LABEL } from './container.ts';
import { type Made, makeContainer, type Wanted } from './making.ts';
import { LEVELS, type Level, levelsOf } from './rights.ts';
import type { Shared } from './shared.ts';
import { reattachXServer, startXServer, type XServer } from './x-server.ts';

/** The node as its container knows it; members are read whenever a container is made. */
export interface ContainerOwner {
  readonly identity: { id: string; name: string; project: NodeProject; directory: string; relativeDirectory: string };
  readonly wanted: Omit<Wanted, 'level' | 'display'>;
  readonly console: { readonly type: string; readonly port: number | null };
  /** See `ProgramNode`. */
  makeDirectory(undo: AsyncDisposableStack): Promise<void>;
}

export class OwnContainer {
  /** What the next one is allowed to do. */
  level: Level;
  readonly #owner: ContainerOwner;
  readonly #services: Services;
  readonly #shared: Shared;
  #made: Made | undefined;
  #xServer: XServer | undefined;
  readonly #xResources = new Held();
  /** Of the project, when it was made. */
  #variables: Variables;

  constructor(owner: ContainerOwner, services: Services, shared: Shared) {
    this.#owner = owner;
    this.#services = services;
    this.#shared = shared;
    this.level = levelsOf(services.config.Docker, false)[0]!;
    this.#variables = owner.identity.project.variables;
  }

  get id(): string | undefined {
    return this.#made?.id;
  }

  /** Variables of the project are its environment: with others it must be made anew. */
  get isOutOfDate(): boolean {
    return !isDeepStrictEqual(this.#variables, this.#owner.identity.project.variables);
  }

  /** What a former life of the server has left of the node: the one that runs is its container now, the others are removed. */
  async takeOver(undo: AsyncDisposableStack): Promise<Made | undefined> {
    const { identity } = this.#owner;
    const { engine, unclaimed } = this.#shared;
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
    return this.#made;
  }

  /** @throws Failure `conflict`, see `makeContainer` */
  async make(undo: AsyncDisposableStack): Promise<Made> {
    const { identity, wanted } = this.#owner;
    await this.#owner.makeDirectory(undo);
    this.#variables = identity.project.variables;
    const display = await this.#startXServer();
    this.#made = await makeContainer(
      { ...wanted, ...identity, level: this.level, ...(display === undefined ? {} : { display }) },
      this.#services,
      this.#shared,
    );
    return this.#made;
  }

  /** One that can be started: another one where it is out of date, or the Engine has lost it. Answers whether it has never been started. */
  async ready(undo: AsyncDisposableStack): Promise<{ made: Made; isNew: boolean }> {
    // It knows the socket of that X server, and of no other.
    if (this.#xServer?.isAlive === false || this.isOutOfDate) await this.remove();
    const made = this.#made ?? (await this.make(undo));
    const isNew = made.isNew;
    made.isNew = false;
    return { made, isNew };
  }

  /** It gets no more rights at its next start than it has. */
  keepRights(): void {
    if (this.#made) this.#made.isNew = false;
  }

  async remove(): Promise<void> {
    const made = this.#made;
    this.#made = undefined;
    if (!made) return;
    const { id, name, project } = this.#owner.identity;
    try {
      await removeContainer(this.#shared.engine, made.id, id);
    } catch (error) {
      // The next life of this server finds it by its label.
      const message = `The container of ${name} stays, ${made.id.slice(0, 12)}: ${messageOf(error)}`;
      log.warn(message, { project: project.id });
      this.#services.events.emit('log.warning', { message }, project.id);
    }
  }

  /** Ends the X server as well. */
  async release(): Promise<void> {
    await this.remove();
    await this.#xResources.release();
  }

  /** For a VNC console; answers its display. */
  async #startXServer(): Promise<number | undefined> {
    await this.#xResources.release();
    this.#xServer = undefined;
    const { identity, wanted, console } = this.#owner;
    const { type, port } = console;
    if (type !== 'vnc' || port === null) return undefined;
    const { console_resolution: resolution } = wanted.settings;
    this.#xServer = await startXServer(identity, { resolution, port }, this.#services, this.#xResources.fresh());
    return this.#xServer.display;
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
