// A VMware machine as a node: its settings, its adapters on networks of the host, and what runs it.
import { stat } from 'node:fs/promises';
import { messageOf } from '../../../failures.ts';
import { log } from '../../../host/log.ts';
import { warnOfMemory } from '../../nodes/lifecycle/memory-warning.ts';
import type { IsOver } from '../../nodes/lifecycle/surviving-programs.ts';
import { endMachinesLeft, MachineNode } from '../../nodes/machines/machine-node.ts';
import {
  changedMachineSettings,
  type HiddenSettings,
  MACHINE_DEFAULTS,
  type MachineSettings,
} from '../../nodes/machines/machine-settings.ts';
import { releaseMachines, reserveMachine } from '../../nodes/machines/machine-users.ts';
import type { NodeIdentity } from '../../nodes/node.ts';
import type { Nio } from '../../nodes/ports/nio.ts';
import { NodePort, type PortRules } from '../../nodes/ports/port.ts';
import type { Services } from '../../services.ts';
import { leaveInventory, linkedClone } from './clones.ts';
import { readPairs, writePairs } from './files.ts';
import { KEPT, type MachineKept } from './kept.ts';
import { allocateNetwork, isGiven, keepNetworks, networksOf, releaseNetworks, takeNetwork } from './networks.ts';
import { VmwareRuntime } from './runtime.ts';
import type { VmwareCreate, VmwareUpdate } from './schema.ts';
import { EXCEPTION as exception, refusal, Vmrun } from './vmrun.ts';
import { attachAdapters, attachmentOf } from './vmx.ts';

const DEFAULTS: MachineSettings = { ...MACHINE_DEFAULTS, adapter_type: 'e1000' };

export const MODULE = 'vmware';
export const PORT_RULES: PortRules = { exception, nios: new Set(['nio_udp']) };

interface State {
  vmrun: Vmrun;
  vmxPath: string;
  settings: MachineSettings;
  hidden: HiddenSettings;
}

export class VmwareNode extends MachineNode<VmwareRuntime> {
  readonly type = MODULE;
  #state: State;
  /** What is noted of the machine while it is on. */
  #kept: MachineKept | undefined;

  private constructor(identity: NodeIdentity, consoleType: string, services: Services, state: State) {
    super(identity, services, {
      ...{ module: MODULE, rules: PORT_RULES, consoleType, adapters: state.settings.adapters },
      makePort: (...parts) => new AdapterPort(...parts),
    });
    this.#state = state;
  }

  static async create(identity: NodeIdentity, body: VmwareCreate, services: Services): Promise<VmwareNode> {
    await using undo = new AsyncDisposableStack();
    const wasOn = services.switchedOn.claim(identity, KEPT, undo);
    const vmrun = await Vmrun.find(services.config.VMware.vmrun_path);
    if (!(await stat(body.vmx_path).catch(() => undefined))?.isFile())
      throw refusal(
        `vmx_path: there is no machine ${body.vmx_path}; GET /v2/compute/vmware/vms lists those that there are.`,
      );
    const settings = { ...changedMachineSettings(DEFAULTS, body), linked_clone: body.linked_clone };
    undo.defer(() => releaseMachines(services, identity.id));
    if (!settings.linked_clone) {
      await reserveMachine(services, body.vmx_path, identity, () =>
        refusal(`vmx_path: ${body.vmx_path} is used by another node; set linked_clone, or use another machine.`),
      );
    }
    const hidden = { custom_adapters: body.custom_adapters ?? [] };
    const consoleType = body.console_type ?? 'telnet';
    const state = { vmrun, vmxPath: body.vmx_path, settings, hidden };
    const node = new VmwareNode(identity, consoleType, services, state);
    undo.defer(() => node.close());
    if (settings.linked_clone) {
      await node.makeDirectory(undo);
      node.#state = { ...state, vmxPath: await linkedClone(vmrun, body.vmx_path, node) };
    }
    await node.console.change(consoleType, body.console ?? undefined);
    if (wasOn) await node.inTurn(() => node.#takeBack(wasOn));
    undo.move();
    return node;
  }

  override describe() {
    const { settings, vmxPath } = this.#state;
    return {
      ...{ name: this.name, node_id: this.id, project_id: this.project.id, status: this.status },
      ...{ node_directory: this.directory, console: this.console.port, console_type: this.console.type },
      vmx_path: vmxPath,
      ...settings,
    };
  }

  change(body: VmwareUpdate): Promise<void> {
    return this.inTurn(async () => {
      const { settings: before, hidden } = this.#state;
      const settings = changedMachineSettings(before, body);
      const { type } = this.console;
      await this.console.change(body.console_type ?? type, body.console ?? undefined);
      this.name = body.name ?? this.name;
      const custom = { custom_adapters: body.custom_adapters ?? hidden.custom_adapters };
      this.#state = { ...this.#state, settings, hidden: custom };
      if (settings.adapters !== before.adapters) await this.ports.resize(settings.adapters);
    });
  }

  /** Gives the node one of VMware's networks. */
  allocateNetwork(): Promise<string> {
    return allocateNetwork(this.services, this.id);
  }

  /** @throws Failure `conflict` (`VMwareError`) for an adapter that VMware uses otherwise */
  async mustBeFree(adapter: number): Promise<void> {
    const { vmxPath, settings } = this.#state;
    const attachment = attachmentOf(await readPairs(vmxPath), adapter);
    if (settings.use_any_adapter || attachment === undefined) return;
    throw refusal(`Adapter ${adapter} of ${this.name} is attached to ${attachment}; set use_any_adapter to use it.`);
  }

  protected override get settings(): MachineSettings {
    return this.#state.settings;
  }

  protected override async suspensionChanged(): Promise<void> {
    if (this.#kept) await this.#note({ ...this.#kept, suspended: this.runtime?.isSuspended ?? false });
  }

  protected override releaseAll(rest: AsyncDisposableStack): void {
    rest.defer(() => releaseMachines(this.services, this.id));
    rest.defer(() => releaseNetworks(this.services, this.id));
    rest.defer(() => this.#leaveInventory());
    super.releaseAll(rest);
  }

  protected override async launch(resources: AsyncDisposableStack): Promise<VmwareRuntime> {
    const { vmrun, vmxPath, settings, hidden } = this.#state;
    const { services, hasConsole } = this;
    const runtime = new VmwareRuntime(this, { vmrun, vmxPath });
    await runtime.mustNotRun();
    const vmx = await readPairs(vmxPath);
    warnOfMemory(this, services, Number(vmx.get('memsize') ?? 0));
    resources.defer(() => releaseNetworks(services, this.id));
    const attached = attachAdapters(
      vmx,
      { ...settings, ...hidden },
      (vnet) => isGiven(services, vnet),
      () => takeNetwork(services, this.id),
    );
    await writePairs(vmxPath, vmx, vmrun.product);
    this.#endWith(runtime, resources);
    const adapters = [...attached].map(([number, vnet]) => ({ number, vnet }));
    const networks = [...networksOf(services, this.id)];
    await this.#note({ node_name: this.name, vmx_path: vmxPath, adapters, networks, suspended: false });
    await runtime.start({ headless: settings.headless, hasConsole }, resources);
    await this.#join(adapters, resources);
    if (hasConsole) await runtime.connect(resources);
    return runtime;
  }

  /** What a former life of the server has left on. */
  async #takeBack(kept: MachineKept): Promise<void> {
    const { vmrun, vmxPath } = this.#state;
    const runtime = new VmwareRuntime(this, { vmrun, vmxPath }, kept.suspended);
    this.#kept = kept;
    await this.takeBackMachine(
      runtime,
      (resources) => {
        keepNetworks(this.services, this.id, kept.networks);
        resources.defer(() => releaseNetworks(this.services, this.id));
        this.#endWith(runtime, resources);
      },
      (resources) => this.#join(kept.adapters, resources),
    );
  }

  /** And forgets that the machine is on. */
  #endWith(runtime: VmwareRuntime, resources: AsyncDisposableStack): void {
    resources.defer(() => {
      this.#kept = undefined;
      return this.services.switchedOn.remove(this.id);
    });
    resources.defer(() => runtime.close(this.onClose, networksOf(this.services, this.id)));
  }

  async #note(kept: MachineKept): Promise<void> {
    this.#kept = kept;
    await this.services.switchedOn.add(this, kept);
  }

  /** Leads the adapters to their cables. */
  async #join(adapters: MachineKept['adapters'], resources: AsyncDisposableStack): Promise<void> {
    for (const { number, vnet } of adapters) {
      const port = this.ports.all[number];
      // The node may have fewer adapters now than its machine.
      if (!port) continue;
      await port.setDevice({ kind: 'packet', interface: vnet });
      resources.defer(() => port.setDevice(null));
    }
  }

  async #leaveInventory(): Promise<void> {
    const { settings, vmxPath } = this.#state;
    if (!settings.linked_clone) return;
    await leaveInventory(vmxPath).catch((error: unknown) => {
      log.warn('a linked clone stays in the inventory of VMware', { node: this.id, reason: messageOf(error) });
    });
  }
}

/** Switches off machines of a former life of the server, in projects that are over. */
export function endLeft(services: Services, isOver: IsOver): Promise<void> {
  return endMachinesLeft(services, isOver, KEPT, async ({ vmx_path: vmxPath, networks }, owner) => {
    const vmrun = await Vmrun.find(services.config.VMware.vmrun_path);
    const runtime = new VmwareRuntime(owner, { vmrun, vmxPath });
    const end = await runtime.reattach();
    await runtime.close('power_off', new Set(networks));
    return end === undefined;
  });
}

/** A port whose adapter VMware may use otherwise. */
class AdapterPort extends NodePort {
  readonly #node: VmwareNode;
  readonly #adapter: number;

  constructor(...parts: ConstructorParameters<typeof NodePort>) {
    super(...parts);
    const [node, label] = parts;
    this.#node = node as VmwareNode;
    this.#adapter = Number.parseInt(label, 10);
  }

  override async attach(wanted: Nio): Promise<void> {
    await this.#node.mustBeFree(this.#adapter);
    await super.attach(wanted);
  }
}
