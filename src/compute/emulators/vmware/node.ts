// A VMware machine as a node: its settings, its adapters on networks of the host, and what runs it.
import { stat, writeFile } from 'node:fs/promises';
import { Failure, messageOf } from '../../../failures.ts';
import { log } from '../../../host/log.ts';
import {
  changedMachineSettings,
  type HiddenSettings,
  MACHINE_DEFAULTS,
  type MachineSettings,
} from '../../nodes/machine-settings.ts';
import { releaseMachines, reserveMachine } from '../../nodes/machine-users.ts';
import { warnOfMemory } from '../../nodes/memory-warning.ts';
import type { Nio } from '../../nodes/nio.ts';
import type { NodeIdentity } from '../../nodes/node.ts';
import { NodePort, type PortRules } from '../../nodes/port.ts';
import { ProgramNode } from '../../nodes/program-node.ts';
import type { Services } from '../../services.ts';
import { leaveInventory, linkedClone } from './clones.ts';
import { pairsText, readPairs } from './files.ts';
import { allocateNetwork, isGiven, networksOf, releaseNetworks, takeNetwork } from './networks.ts';
import { MachineRuntime } from './runtime.ts';
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

export class VmwareNode extends ProgramNode<MachineRuntime> {
  readonly type = MODULE;
  #state: State;
  #isClosing = false;

  private constructor(identity: NodeIdentity, consoleType: string, services: Services, state: State) {
    super(identity, services, {
      ...{ module: MODULE, rules: PORT_RULES, consoleType, adapters: state.settings.adapters },
      makePort: (...parts) => new AdapterPort(...parts),
    });
    this.#state = state;
  }

  static async create(identity: NodeIdentity, body: VmwareCreate, services: Services): Promise<VmwareNode> {
    await using undo = new AsyncDisposableStack();
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
    undo.move();
    return node;
  }

  override describe(): object {
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

  override suspend(): Promise<void> {
    return this.inTurn(async () => {
      if (!this.runtime) return;
      await this.runtime.suspend();
      this.status = 'suspended';
    });
  }

  /** @throws Failure `conflict` (`VMwareError`) when it is not started */
  resume(): Promise<void> {
    return this.inTurn(async () => {
      if (!this.runtime) throw refusal(`${this.name} is not started; start it first.`);
      await this.#goOn(this.runtime);
    });
  }

  override reload(): Promise<void> {
    return this.inTurn(async () => void (await this.runtime?.reset()));
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

  override close(): Promise<void> {
    this.#isClosing = true;
    return super.close();
  }

  protected override async startNow(): Promise<void> {
    if (this.runtime) return this.#goOn(this.runtime);
    await super.startNow();
  }

  protected override releaseAll(rest: AsyncDisposableStack): void {
    rest.defer(() => releaseMachines(this.services, this.id));
    rest.defer(() => releaseNetworks(this.services, this.id));
    rest.defer(() => this.#leaveInventory());
    super.releaseAll(rest);
  }

  protected override async launch(resources: AsyncDisposableStack): Promise<MachineRuntime> {
    const { vmrun, vmxPath, settings, hidden } = this.#state;
    const runtime = new MachineRuntime(this, { vmrun, vmxPath });
    await runtime.mustNotRun();
    const vmx = await readPairs(vmxPath);
    warnOfMemory(this, this.services, Number(vmx.get('memsize') ?? 0));
    const attached = attachAdapters(
      vmx,
      { ...settings, ...hidden },
      (vnet) => isGiven(this.services, vnet),
      () => takeNetwork(this.services, this.id),
    );
    resources.defer(() => releaseNetworks(this.services, this.id));
    await writeFile(vmxPath, pairsText(vmx, vmrun.product));
    resources.defer(() => runtime.close(this.#onClose, networksOf(this.services, this.id)));
    const hasConsole = this.console.type !== 'none';
    await runtime.start({ headless: settings.headless, hasConsole }, resources);
    for (const [adapter, vnet] of attached) {
      const port = this.ports.all[adapter]!;
      await port.setDevice({ kind: 'packet', interface: vnet });
      resources.defer(() => port.setDevice(null));
    }
    if (hasConsole) await runtime.connect(resources);
    return runtime;
  }

  /** Its machines are VMware's, not the supervisor's. */
  protected override reattachTo(): Promise<never> {
    throw new Failure('internal', 'VMware machines are not kept by the supervisor.');
  }

  get #onClose(): MachineSettings['on_close'] {
    return this.#isClosing ? 'power_off' : this.#state.settings.on_close;
  }

  async #goOn(runtime: MachineRuntime): Promise<void> {
    if (runtime.isSuspended) await runtime.resume();
    this.status = 'started';
  }

  async #leaveInventory(): Promise<void> {
    const { settings, vmxPath } = this.#state;
    if (!settings.linked_clone) return;
    await leaveInventory(vmxPath).catch((error: unknown) => {
      log.warn('a linked clone stays in the inventory of VMware', { node: this.id, reason: messageOf(error) });
    });
  }
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
