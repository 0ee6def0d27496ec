// Nodes that are machines of another program on this host, VirtualBox's and VMware's: what their lives have in common.
import type * as v from 'valibot';
import { Failure, messageOf } from '../../../failures.ts';
import { log } from '../../../host/log.ts';
import type { Services } from '../../services.ts';
import { ProgramNode } from '../lifecycle/program-node.ts';
import type { IsOver } from '../lifecycle/surviving-programs.ts';
import type { MachineOwner, MachineRuntime } from './machine-runtime.ts';
import type { MachineSettings } from './machine-settings.ts';

/** A machine that runs has made its serial port long ago. */
const SERIAL_PORT_MS = 2_000;

export abstract class MachineNode<Runtime extends MachineRuntime> extends ProgramNode<Runtime> {
  protected abstract get settings(): MachineSettings;

  override suspend(): Promise<void> {
    return this.inTurn(async () => {
      await this.runtime?.suspend();
      if (!this.runtime?.isSuspended) return;
      await this.suspensionChanged();
      this.status = 'suspended';
    });
  }

  /** @throws Failure `conflict` when it is not started */
  resume(): Promise<void> {
    return this.inTurn(async () => {
      if (this.runtime) return this.#goOn(this.runtime);
      const { exception } = this;
      throw new Failure('conflict', `${this.name} is not started; start it first.`, { exception });
    });
  }

  override reload(): Promise<void> {
    return this.inTurn(async () => void (await this.runtime?.reset()));
  }

  protected override async startNow(): Promise<void> {
    if (this.runtime) return this.#goOn(this.runtime);
    await super.startNow();
  }

  /** Its machines are another program's, not the supervisor's. */
  protected override reattachTo(): Promise<never> {
    throw new Failure('internal', `${this.name} is a machine that the supervisor does not keep.`);
  }

  /** How the machine is ended now. */
  protected get onClose(): MachineSettings['on_close'] {
    return this.isClosing ? 'power_off' : this.settings.on_close;
  }

  protected get hasConsole(): boolean {
    return this.console.type !== 'none';
  }

  /** It is suspended now, or goes on: for those whose program does not tell. */
  protected async suspensionChanged(): Promise<void> {}

  /**
   * Within the node's turn, while it is made: its machine was on when the server ended, and is the node's again if it runs on.
   * @param hold registers what ends the machine, and gives back what it has
   * @param join leads its adapters to their cables
   */
  protected takeBackMachine(
    runtime: Runtime,
    hold: (resources: AsyncDisposableStack) => void,
    join: (resources: AsyncDisposableStack) => Promise<void>,
  ): Promise<void> {
    return this.takeBack(async (resources) => {
      hold(resources);
      const end = await runtime.reattach();
      if (end) return end;
      await join(resources);
      if (this.hasConsole) await this.#connectAgain(runtime, resources);
      return runtime;
    });
  }

  /** That its console is gone is no reason to end a machine. */
  async #connectAgain(runtime: Runtime, resources: AsyncDisposableStack): Promise<void> {
    try {
      await runtime.connect(resources, SERIAL_PORT_MS);
    } catch (error) {
      const message = `${this.name} runs on without its console: its serial port does not answer. Stop and start it to have one.`;
      log.warn(message, { node: this.id, reason: messageOf(error) });
      this.services.events.emit('log.warning', { message }, this.project.id);
    }
  }

  async #goOn(runtime: Runtime): Promise<void> {
    if (runtime.isSuspended) {
      await runtime.resume();
      await this.suspensionChanged();
    }
    this.status = 'started';
  }
}

/**
 * Ends machines that ran on while the server was away, of nodes that are over and have not taken them back.
 * @param end answers whether there was anything to end
 */
export async function endMachinesLeft<Schema extends v.GenericSchema<unknown, { node_name: string }>>(
  { switchedOn, events }: Services,
  isOver: IsOver,
  schema: Schema,
  end: (kept: v.InferOutput<Schema>, owner: MachineOwner) => Promise<boolean>,
): Promise<void> {
  for (const { nodeId: id, projectId, data } of switchedOn.left(schema, isOver)) {
    const { node_name: name } = data;
    const ran = `${name} ran on while the server was away, but could not be taken back`;
    const message = await end(data, { id, name }).then(
      (didRun) => (didRun ? `${ran}: it is switched off.` : undefined),
      (error: unknown) => `${ran}: switch it off. ${messageOf(error)}`,
    );
    if (message === undefined) continue;
    log.warn(message, { project: projectId, node: id });
    events.emit('log.warning', { message }, projectId);
  }
}
