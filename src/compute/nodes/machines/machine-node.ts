// The base class of nodes that are machines of another program on this host (VirtualBox, VMware).

import { join } from 'node:path';
import type * as v from 'valibot';
import type { ComputeNode } from '../../../api/objects.ts';
import type { CustomAdapter } from '../../../api/vocabulary.ts';
import type { Device } from '../../../fabric/fabric.ts';
import { internal, messageOf } from '../../../failures.ts';
import { log } from '../../../host/log.ts';
import type { Services } from '../../services.ts';
import { oneConsole, type WithConsole } from '../kind.ts';
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
import type { MachineUsers } from './machine-users.ts';

/** Time limit (ms) for the serial port of a machine that runs already. */
const SERIAL_PORT_MS = 2_000;

export interface CloneOwner {
  readonly id: string;
  readonly name: string;
  readonly directory: string;
  readonly relativeDirectory: string;
  readonly project: { readonly path: string };
}

export interface MachineState<Settings extends MachineSettings = MachineSettings> {
  /** Its name in its program. */
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
  /** The member of the node's object with its machine's name. */
  protected abstract readonly machineMember: 'vmname' | 'vmx_path';
  protected readonly users: MachineUsers;
  protected state: MachineState<Settings>;

  constructor(
    identity: NodeIdentity,
    services: Services,
    { users, ...options }: Omit<ProgramNodeOptions, 'adapters'> & { users: MachineUsers },
    state: MachineState<Settings>,
  ) {
    super(identity, services, { ...options, adapters: state.settings.adapters });
    this.users = users;
    this.state = state;
  }

  /** @throws Failure `conflict` for an adapter that the machine's program uses otherwise */
  abstract mustBeFree(adapter: number): Promise<void>;

  /** The settings after a change. @throws Failure `conflict` for more adapters than the machine can have */
  protected abstract changedSettings(body: Update): Settings;

  /** The machine that a change assigns, if it is another one. */
  protected abstract otherMachine(body: Update): string | undefined;

  /** @throws Failure `conflict` while another node uses the machine */
  protected abstract reserveMachine(machine: string): Promise<void>;

  /** Applies a change to the machine, and registers its rollback. Returns the resulting state. */
  protected async prepareMachine(
    state: MachineState<Settings>,
    _after: CommonState,
    _steps: Steps,
  ): Promise<MachineState<Settings>> {
    return state;
  }

  /** Called when the ports have changed. */
  protected portsChanged(): void {}

  override describe(): ComputeNode {
    return {
      ...this.common(),
      [this.machineMember]: this.state.machine,
      ...this.state.settings,
    };
  }

  protected override async check(body: Update, { undo, done }: Steps): Promise<NodeChange> {
    const before = this.state;
    const { users, id } = this;
    const settings = this.changedSettings(body);
    if (settings.linked_clone !== before.settings.linked_clone) {
      throw this.failure(`linked_clone: ${this.name} cannot change this; create another node.`);
    }
    const machine = this.otherMachine(body) ?? before.machine;
    if (machine !== before.machine) {
      if (this.runtime)
        throw this.failure(`${this.machineMember}: stop ${this.name} before it becomes another machine.`);
      undo.defer(() => users.release(machine, id));
      await this.reserveMachine(machine);
      done.defer(() => users.release(before.machine, id));
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
    return this.inTurn(() => this.#goOn(this.requireRunning()));
  }

  override reload(): Promise<void> {
    return this.inTurn(async () => void (await this.runtime?.reset()));
  }

  protected override async startNow(): Promise<void> {
    if (this.runtime) return this.#goOn(this.runtime);
    await super.startNow();
  }

  /** Its machines belong to another program, not the supervisor. */
  protected override reattachTo(): Promise<never> {
    throw internal(`${this.name} is a machine that the supervisor does not keep.`);
  }

  /** How a close ends the machine. */
  protected get onClose(): MachineSettings['on_close'] {
    return this.isClosing ? 'power_off' : this.state.settings.on_close;
  }

  protected get hasConsole(): boolean {
    return this.console.type !== 'none';
  }

  /** Called when it is suspended or resumed, for kinds whose program does not report that. */
  protected async suspensionChanged(): Promise<void> {}

  /**
   * Call within the node's turn, while it is created. Reattaches its machine, which was on when the server ended, if it
   * still runs.
   * @param hold registers what ends the machine, and releases its resources
   * @param join connects its adapters to their cables
   */
  protected reattachMachine(
    runtime: Runtime,
    hold: (resources: AsyncDisposableStack) => void,
    join: (resources: AsyncDisposableStack) => Promise<void>,
  ): Promise<void> {
    return this.reattachBy(async (resources) => {
      hold(resources);
      const end = await runtime.reattach();
      if (end) return end;
      await join(resources);
      if (this.hasConsole) await this.#connectAgain(runtime, resources);
      return runtime;
    });
  }

  /** Connects adapters to their cables. The node may have fewer adapters now than its machine. */
  protected async join<Adapter extends { number: number }>(
    adapters: readonly Adapter[],
    device: (adapter: Adapter) => Device,
    resources: AsyncDisposableStack,
  ): Promise<void> {
    for (const adapter of adapters) {
      const port = this.ports.all[adapter.number];
      if (!port) continue;
      await port.setDevice(device(adapter));
      resources.defer(() => port.setDevice(null));
    }
  }

  protected override releaseAll(rest: AsyncDisposableStack): void {
    rest.defer(() => this.users.releaseAll(this.id));
    super.releaseAll(rest);
  }

  /** Losing its console is no reason to end a machine. */
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

/** What both programs' machines can do, for the definitions of their kinds. */
export const machineAbilities = <
  Kind extends WithConsole & Pick<MachineNode<MachineRuntime>, 'reload' | 'resume'>,
>() => ({
  reload: (node: Kind) => node.reload(),
  resume: (node: Kind) => node.resume(),
  console: oneConsole<Kind>(),
});

/** Owner and directory of a linked clone, before its node is created. */
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
 * Ends machines that kept running while the server was down, of nodes that are over and have not reattached them.
 * @param end returns whether there was anything to end
 */
export async function endMachinesLeft<Schema extends v.GenericSchema<unknown, { node_name: string }>>(
  { switchedOn, events }: Services,
  isOver: IsOver,
  schema: Schema,
  end: (kept: v.InferOutput<Schema>, owner: MachineOwner) => Promise<boolean>,
): Promise<void> {
  for (const { nodeId: id, projectId, data } of switchedOn.left(schema, isOver)) {
    const { node_name: name } = data;
    const ran = `${name} ran on while the server was away, but could not be reattached`;
    const message = await end(data, { id, name }).then(
      (didRun) => (didRun ? `${ran}: it is switched off.` : undefined),
      (error: unknown) => `${ran}: switch it off. ${messageOf(error)}`,
    );
    if (message === undefined) continue;
    log.warn(message, { project: projectId, node: id });
    events.emit('log.warning', { message }, projectId);
  }
}
