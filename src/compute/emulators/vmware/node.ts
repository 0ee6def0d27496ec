// The VMware node: settings, adapters on networks of the host, and running machine.
import { stat } from 'node:fs/promises';
import type { VmwareCreate, VmwareUpdate } from '../../../api/kinds/virtual-machines.ts';
import { messageOf } from '../../../failures.ts';
import { log } from '../../../host/log.ts';
import { warnOfMemory } from '../../nodes/lifecycle/memory-warning.ts';
import type { IsOver } from '../../nodes/lifecycle/surviving-programs.ts';
import { endMachinesLeft, MachineNode, type MachineState, makeCloneOwner } from '../../nodes/machines/machine-node.ts';
import {
  changedMachineSettings,
  MACHINE_DEFAULTS,
  type MachineSettings,
} from '../../nodes/machines/machine-settings.ts';
import { MachineUsers } from '../../nodes/machines/machine-users.ts';
import type { NodeIdentity } from '../../nodes/node.ts';
import type { PortRules } from '../../nodes/ports/port.ts';
import type { Services } from '../../services.ts';
import { leaveInventory, linkedClone } from './clones.ts';
import { readPairs, writePairs } from './files.ts';
import { KEPT, type MachineKept } from './kept.ts';
import { Networks } from './networks.ts';
import { VmwareRuntime } from './runtime.ts';
import { EXCEPTION as exception, refusal, Vmrun } from './vmrun.ts';
import { attachAdapters, attachmentOf } from './vmx.ts';

const DEFAULTS: MachineSettings = { ...MACHINE_DEFAULTS, adapter_type: 'e1000' };

export const MODULE = 'vmware';
export const PORT_RULES: PortRules = { exception, nios: new Set(['nio_udp']) };

/** What the nodes of a host share. */
export class VmwareHost {
  readonly users = new MachineUsers();
  readonly networks: Networks;

  constructor(services: Services) {
    this.networks = new Networks(services);
  }
}

export class VmwareNode extends MachineNode<VmwareRuntime, MachineSettings, VmwareUpdate> {
  readonly type = MODULE;
  protected readonly machineMember = 'vmx_path';
  readonly #vmrun: Vmrun;
  readonly #networks: Networks;
  /** The record of the machine while it is on. */
  #kept: MachineKept | undefined;

  private constructor(
    identity: NodeIdentity,
    consoleType: string,
    services: Services,
    state: MachineState,
    { vmrun, users, networks }: VmwareHost & { vmrun: Vmrun },
  ) {
    super(identity, services, { module: MODULE, rules: PORT_RULES, consoleType, users }, state);
    this.#vmrun = vmrun;
    this.#networks = networks;
  }

  static async create(
    identity: NodeIdentity,
    body: VmwareCreate,
    services: Services,
    host: VmwareHost,
  ): Promise<VmwareNode> {
    await using undo = new AsyncDisposableStack();
    const wasOn = services.switchedOn.claim(identity, KEPT, undo);
    const vmrun = await Vmrun.find(services.config.VMware.vmrun_path);
    await mustBeThere(body.vmx_path);
    const settings = changedMachineSettings(DEFAULTS, body);
    undo.defer(() => host.users.releaseAll(identity.id));
    if (!settings.linked_clone) await reserve(host.users, body.vmx_path, identity);
    const consoleType = body.console_type ?? 'telnet';
    const machine = settings.linked_clone
      ? await linkedClone(vmrun, body.vmx_path, await makeCloneOwner(identity, MODULE, undo))
      : body.vmx_path;
    const state = { machine, settings, customAdapters: body.custom_adapters ?? [] };
    const node = new VmwareNode(identity, consoleType, services, state, { ...host, vmrun });
    undo.defer(() => node.close());
    await node.console.change(consoleType, body.console ?? undefined);
    if (wasOn) await node.inTurn(() => node.#reattach(wasOn));
    undo.move();
    return node;
  }

  /** Assigns the node one of VMware's networks. */
  allocateNetwork(): Promise<string> {
    return this.#networks.allocate(this.id);
  }

  override async mustBeFree(adapter: number): Promise<void> {
    const { machine, settings } = this.state;
    const attachment = attachmentOf(await readPairs(machine), adapter);
    if (settings.use_any_adapter || attachment === undefined) return;
    throw refusal(`Adapter ${adapter} of ${this.name} is attached to ${attachment}; set use_any_adapter to use it.`);
  }

  protected override changedSettings(body: VmwareUpdate): MachineSettings {
    return changedMachineSettings(this.state.settings, body);
  }

  /** @throws Failure `conflict` (`VMwareError`) for a clone, which cannot be replaced by another machine */
  protected override otherMachine({ vmx_path: path }: VmwareUpdate): string | undefined {
    const { machine, settings } = this.state;
    if (settings.linked_clone && path !== undefined && path !== machine)
      throw refusal(`vmx_path: ${this.name} has a linked clone of its own; create another node for another machine.`);
    return path;
  }

  protected override async reserveMachine(path: string): Promise<void> {
    await mustBeThere(path);
    await reserve(this.users, path, this);
  }

  protected override async suspensionChanged(): Promise<void> {
    if (this.#kept) await this.#note({ ...this.#kept, suspended: this.runtime?.isSuspended ?? false });
  }

  protected override releaseAll(rest: AsyncDisposableStack): void {
    rest.defer(() => this.#networks.release(this.id));
    rest.defer(() => this.#leaveInventory());
    super.releaseAll(rest);
  }

  protected override async launch(resources: AsyncDisposableStack): Promise<VmwareRuntime> {
    const { machine: vmxPath, settings, customAdapters: custom } = this.state;
    const vmrun = this.#vmrun;
    const { services, hasConsole } = this;
    const runtime = new VmwareRuntime(this, { vmrun, vmxPath });
    await runtime.mustNotRun();
    const vmx = await readPairs(vmxPath);
    warnOfMemory(this, services, Number(vmx.get('memsize') ?? 0));
    resources.defer(() => this.#networks.release(this.id));
    const attached = attachAdapters(
      vmx,
      { ...settings, custom_adapters: custom },
      (vnet) => this.#networks.has(vnet),
      () => this.#networks.take(this.id),
    );
    await writePairs(vmxPath, vmx, vmrun.product);
    this.#endWith(runtime, resources);
    const adapters = [...attached].map(([number, vnet]) => ({ number, vnet }));
    const networks = [...this.#networks.of(this.id)];
    await this.#note({ node_name: this.name, vmx_path: vmxPath, adapters, networks, suspended: false });
    await runtime.start({ headless: settings.headless, hasConsole }, resources);
    await this.#join(adapters, resources);
    if (hasConsole) await runtime.connect(resources);
    return runtime;
  }

  /** Reattaches a machine left on by the previous run of the server. */
  async #reattach(kept: MachineKept): Promise<void> {
    const machine = { vmrun: this.#vmrun, vmxPath: this.state.machine };
    const runtime = new VmwareRuntime(this, machine, kept.suspended);
    this.#kept = kept;
    await this.reattachMachine(
      runtime,
      (resources) => {
        this.#networks.keep(this.id, kept.networks);
        resources.defer(() => this.#networks.release(this.id));
        this.#endWith(runtime, resources);
      },
      (resources) => this.#join(kept.adapters, resources),
    );
  }

  /** Also removes the record that the machine is on. */
  #endWith(runtime: VmwareRuntime, resources: AsyncDisposableStack): void {
    resources.defer(() => {
      this.#kept = undefined;
      return this.services.switchedOn.remove(this.id);
    });
    resources.defer(() => runtime.close(this.onClose, this.#networks.of(this.id)));
  }

  async #note(kept: MachineKept): Promise<void> {
    this.#kept = kept;
    await this.services.switchedOn.add(this, kept);
  }

  #join(adapters: MachineKept['adapters'], resources: AsyncDisposableStack): Promise<void> {
    return this.join(adapters, ({ vnet }) => ({ kind: 'packet', interface: vnet }), resources);
  }

  async #leaveInventory(): Promise<void> {
    const { settings, machine } = this.state;
    if (!settings.linked_clone) return;
    await leaveInventory(machine).catch((error: unknown) => {
      log.warn('a linked clone stays in the inventory of VMware', { node: this.id, reason: messageOf(error) });
    });
  }
}

/** @throws Failure `conflict` (`VMwareError`) */
async function mustBeThere(path: string): Promise<void> {
  if ((await stat(path).catch(() => undefined))?.isFile()) return;
  throw refusal(`vmx_path: there is no machine ${path}; GET /v2/compute/vmware/vms lists those that there are.`);
}

function reserve(users: MachineUsers, path: string, node: Pick<NodeIdentity, 'id' | 'project'>): Promise<void> {
  return users.reserve(path, node, () =>
    refusal(`vmx_path: ${path} is used by another node; set linked_clone, or use another machine.`),
  );
}

/** Switches off machines of the server's previous run, in projects that are over. */
export function endLeft(services: Services, isOver: IsOver): Promise<void> {
  return endMachinesLeft(services, isOver, KEPT, async ({ vmx_path: vmxPath, networks }, owner) => {
    const vmrun = await Vmrun.find(services.config.VMware.vmrun_path);
    const runtime = new VmwareRuntime(owner, { vmrun, vmxPath });
    const end = await runtime.reattach();
    await runtime.close('power_off', new Set(networks));
    return end === undefined;
  });
}
