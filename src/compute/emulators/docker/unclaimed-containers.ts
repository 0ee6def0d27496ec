// Containers left by the previous run of this server, until their nodes are created again and claim them. Volumes are
// included, because they may exist without a container if that run ended in between.
import { messageOf } from '../../../failures.ts';
import { log } from '../../../host/log.ts';
import type { IsOver } from '../../nodes/lifecycle/surviving-programs.ts';
import { findContainers, INSTANCE_LABEL, NODE_LABEL, PROJECT_LABEL, removeContainer } from './container.ts';
import type { Engine } from './engine.ts';
import { findVolumes, type Labels, removeVolumes, type Volume } from './volumes.ts';

export interface Left {
  Id: string;
  Labels: Labels;
}

export class UnclaimedContainers {
  readonly #engine: Engine;
  readonly #instance: string;
  #left: Promise<Left[]> | undefined;
  #volumes: Volume[] = [];

  constructor(engine: Engine, instance: string) {
    this.#engine = engine;
    this.#instance = instance;
  }

  /** The containers of a node, which owns them from now on. @throws Failure `conflict` without an Engine */
  async claim(node: string): Promise<Left[]> {
    return await this.#take(({ Labels }) => Labels[NODE_LABEL] === node);
  }

  /** Removes unclaimed containers of nodes that are over. */
  async end(isOver: IsOver): Promise<void> {
    const belongs = ({ Labels }: { Labels: Labels }): boolean =>
      isOver(Labels[PROJECT_LABEL] ?? '', Labels[NODE_LABEL] ?? '');
    // Without an Engine nothing can be removed now; the next run checks again.
    const over = await this.#take(belongs).catch(() => []);
    for (const { Id: id, Labels } of over) {
      await removeContainer(this.#engine, id, Labels[NODE_LABEL] ?? '').catch((error: unknown) =>
        log.warn('a container of a former life stays', { container: id, reason: messageOf(error) }),
      );
    }
    const volumes = this.#volumes.filter(belongs);
    this.#volumes = this.#volumes.filter((volume) => !volumes.includes(volume));
    await removeVolumes(this.#engine, volumes).catch((error: unknown) =>
      log.warn('volumes of a former life stay', { reason: messageOf(error) }),
    );
  }

  /** Asks the Engine only once: later containers belong to this run. */
  async #take(fits: (left: Left) => boolean): Promise<Left[]> {
    this.#left ??= this.#find(`${INSTANCE_LABEL}=${this.#instance}`).catch((error: unknown) => {
      this.#left = undefined;
      throw error;
    });
    const left = await this.#left;
    const taken = left.filter(fits);
    for (const one of taken) left.splice(left.indexOf(one), 1);
    return taken;
  }

  async #find(label: string): Promise<Left[]> {
    const left = await findContainers(this.#engine, [label]);
    this.#volumes = await findVolumes(this.#engine, label);
    return left;
  }
}
