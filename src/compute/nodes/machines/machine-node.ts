// Nodes that are machines of another program on this host, VirtualBox's and VMware's: what their lives have in common.

import { join } from 'node:path';
import type * as v from 'valibot';
import type { ComputeNode } from '../../../api/objects.ts';
import { Failure, messageOf } from '../../../failures.ts';
import { log } from '../../../host/log.ts';
import type { CustomAdapter } from '../../../store/vocabulary.ts';
import type { Services } from '../../services.ts';
import type { Steps } from '../lifecycle/all-or-nothing.ts';
import {
  type CommonState,
  makeNodeDirectory,
  type NodeChange,
  ProgramNode,
  type ProgramNodeOptions,
} from '../lifecycle/program-node.ts';
import type { IsOver } from '../lifecycle/surviving-programs.ts';
import { type NodeIdentity, nodeDirectory } from '../node.ts';
import type { MachineOwner, MachineRuntime } from './machine-runtime.ts';
import type { MachineSettings, MachineUpdate } from './machine-settings.ts';
import { releaseMachine } from './machine-users.ts';

/** A machine that runs has made its serial port long ago. */
const SERIAL_PORT_MS = 2_000;

export interface CloneOwner {
  readonly id: string;
  readonly name: string;
  readonly directory: string;
  readonly relativeDirectory: string;
  readonly project: { readonly path: string };
}

/** Which machine a node is, and what it is configured with. */
export interface MachineState<Settings extends MachineSettings = MachineSettings> {
  /** As its program names it. */
  readonly machine: string;
  readonly settings: Settings;
  /** Not shown with the settings. */
  readonly customAdapters: readonly CustomAdapter[];
}

export abstract class MachineNode<
  Runtime extends MachineRuntime,
  Settings extends MachineSettings = MachineSettings,
  Update extends MachineUpdate = MachineUpdate,
> extends ProgramNode<Runtime, Update> {
  /** The member of the node's object that names its machine. */
  protected abstract readonly machineMember: 'vmname' | 'vmx_path';
  protected state: MachineState<Settings>;

  constructor(
    identity: NodeIdentity,
    services: Services,
    options: Omit<ProgramNodeOptions, 'adapters'>,
    state: MachineState<Settings>,
  ) {
    super(identity, services, { ...options, adapters: state.settings.adapters });
    this.state = state;
  }

  /** The settings with what a body gives. @throws Failure `conflict` for more adapters than the machine can have */
  protected abstract changedSettings(body: Update): Settings;

  /** The machine that a body makes the node, if that is another one. */
  protected abstract otherMachine(body: Update): string | undefined;

  /** @throws Failure `conflict` while another node uses the machine */
  protected abstract reserveMachine(machine: string): Promise<void>;

  /** What the machine's program has to do for a change, and how it is rolled back. Answers the state that comes of it. */
  protected async prepareMachine(
    state: MachineState<Settings>,
    _after: CommonState,
    _steps: Steps,
  ): Promise<MachineState<Settings>> {
    return state;
  }

  /** There are other ports now. */
  protected portsChanged(): void {}

  override describe(): ComputeNode {
    return {
      name: this.name,
      node_id: this.id,
      project_id: this.project.id,
      status: this.status,
      node_directory: this.directory,
      console: this.console.port,
      console_type: this.console.type,
      [this.machineMember]: this.state.machine,
      ...this.state.settings,
    };
  }

  protected override async check(body: Update, { undo, done }: Steps): Promise<NodeChange> {
    const before = this.state;
    const { exception, services, id } = this;
    const settings = this.changedSettings(body);
    if (settings.linked_clone !== before.settings.linked_clone) {
      const message = `linked_clone: ${this.name} cannot change this; create another node.`;
      throw new Failure('conflict', message, { exception });
    }
    const machine = this.otherMachine(body) ?? before.machine;
    if (machine !== before.machine) {
      if (this.runtime) {
        const message = `${this.machineMember}: stop ${this.name} before it becomes another machine.`;
        throw new Failure('conflict', message, { exception });
      }
      undo.defer(() => releaseMachine(services, machine, id));
      await this.reserveMachine(machine);
      done.defer(() => releaseMachine(services, before.machine, id));
    }
    let state: MachineState<Settings> = {
      machine,
      settings,
      customAdapters: body.custom_adapters ?? before.customAdapters,
    };
    return {
      prepare: async (after, steps) => {
        state = await this.prepareMachine(state, after, steps);
      },
      apply: (_, steps) => {
        this.state = state;
        if (settings.adapters === before.settings.adapters) return;
        this.ports.resize(settings.adapters, steps);
        this.portsChanged();
      },
    };
  }

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
    return this.isClosing ? 'power_off' : this.state.settings.on_close;
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

/** For a linked clone, before its node is made: who has it, and the directory that it is to be in. */
export async function makeCloneOwner(
  { id, name, project }: NodeIdentity,
  module: string,
  undo: AsyncDisposableStack,
): Promise<CloneOwner> {
  const relativeDirectory = nodeDirectory(module, id);
  const directory = join(project.path, relativeDirectory);
  await makeNodeDirectory(directory, relativeDirectory, undo);
  return { id, name, directory, relativeDirectory, project };
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
