// A VirtualBox machine as a node: its settings, its adapters, and what runs it.
import { type Failure, messageOf } from '../../../failures.ts';
import { log } from '../../../host/log.ts';
import type { IsOver } from '../../nodes/lifecycle/surviving-programs.ts';
import { endMachinesLeft, MachineNode } from '../../nodes/machines/machine-node.ts';
import type { HiddenSettings } from '../../nodes/machines/machine-settings.ts';
import { releaseMachines, reserveMachine } from '../../nodes/machines/machine-users.ts';
import type { NodeIdentity } from '../../nodes/node.ts';
import { LivePort } from '../../nodes/ports/live-port.ts';
import type { Nio } from '../../nodes/ports/nio.ts';
import type { PortRules } from '../../nodes/ports/port.ts';
import type { Services } from '../../services.ts';
import { type AdapterPlan, attachmentOf, isTaken, mostAdapters, mustHave, typeOf } from './adapters.ts';
import { linkedClone, releaseClone } from './clones.ts';
import { KEPT, type KeptAdapter, type MachineKept } from './kept.ts';
import { EXCEPTION as exception, refusal, VBoxManage } from './manage.ts';
import { VirtualboxRuntime } from './runtime.ts';
import type { VirtualboxCreate, VirtualboxUpdate } from './schema.ts';
import { changedSettings, DEFAULTS, type Settings } from './settings.ts';

export const MODULE = 'virtualbox';
export const PORT_RULES: PortRules = { exception, nios: new Set(['nio_udp']) };

const LOOPBACK = '127.0.0.1';

interface State {
  manage: VBoxManage;
  /** As VirtualBox calls it. */
  vmname: string;
  uuid: string;
  mostAdapters: number;
  settings: Settings;
  hidden: HiddenSettings;
}

export class VirtualboxNode extends MachineNode<VirtualboxRuntime> {
  readonly type = MODULE;
  #state: State;

  private constructor(identity: NodeIdentity, consoleType: string, services: Services, state: State) {
    super(identity, services, {
      ...{ module: MODULE, rules: PORT_RULES, consoleType, adapters: state.settings.adapters },
      makePort: (...parts) => new AdapterPort(...parts),
    });
    this.#state = state;
    this.#listenToPorts();
  }

  static async create(identity: NodeIdentity, body: VirtualboxCreate, services: Services): Promise<VirtualboxNode> {
    await using undo = new AsyncDisposableStack();
    const wasOn = services.switchedOn.claim(identity, KEPT, undo);
    const manage = await VBoxManage.find(services.config.VirtualBox.vboxmanage_path);
    const settings = { ...changedSettings(DEFAULTS, body), linked_clone: body.linked_clone ?? false };
    undo.defer(() => releaseMachines(services, identity.id));
    if (!settings.linked_clone) await reserveMachine(services, body.vmname, identity, inUse(body.vmname));
    const properties = await manage.systemProperties();
    const consoleType = body.console_type ?? 'telnet';
    const state = { manage, vmname: body.vmname, uuid: '', mostAdapters: 0, settings, hidden: hiddenOf(body) };
    const node = new VirtualboxNode(identity, consoleType, services, state);
    undo.defer(() => node.close());
    if (settings.linked_clone) {
      await node.makeDirectory(undo);
      node.#state.vmname = await linkedClone(manage, body.vmname, node);
    }
    const info = await manage.info(node.#state.vmname);
    const ram = Number(info.get('memory') ?? 0);
    const most = mostAdapters(properties, info);
    mustHave(settings.adapters, most);
    const uuid = info.get('UUID') ?? body.vmname;
    node.#state = { ...node.#state, uuid, mostAdapters: most, settings: { ...settings, ram: settings.ram || ram } };
    if (settings.ram !== 0 && settings.ram !== ram) await manage.run('modifyvm', uuid, '--memory', `${settings.ram}`);
    await node.console.change(consoleType, body.console ?? undefined);
    if (wasOn) await node.inTurn(() => node.#takeBack(wasOn));
    undo.move();
    return node;
  }

  override describe() {
    const { settings, vmname } = this.#state;
    return {
      ...{ name: this.name, node_id: this.id, project_id: this.project.id, status: this.status },
      node_directory: settings.linked_clone ? this.directory : null,
      ...{ console: this.console.port, console_type: this.console.type, vmname },
      ...settings,
    };
  }

  /** All of it, or nothing but what VirtualBox has done. @throws Failure `conflict` (`VirtualBoxError`) */
  change(body: VirtualboxUpdate): Promise<void> {
    return this.inTurn(async () => {
      const { manage, uuid, settings: before, mostAdapters: most } = this.#state;
      const settings = changedSettings(before, body);
      mustHave(settings.adapters, most);
      const { type, port } = this.console;
      await this.console.change(body.console_type ?? type, body.console ?? undefined);
      try {
        if (settings.ram !== before.ram) await manage.run('modifyvm', uuid, '--memory', `${settings.ram}`);
        if (body.name !== undefined) await this.#rename(body.name);
        else if (body.vmname !== undefined && !before.linked_clone) await this.#takeOther(body.vmname);
      } catch (error) {
        await this.console.change(type, port ?? undefined);
        throw error;
      }
      this.name = body.name ?? this.name;
      const hidden = body.custom_adapters === undefined ? this.#state.hidden : hiddenOf(body);
      this.#state = { ...this.#state, settings, hidden };
      if (settings.adapters !== before.adapters) {
        await this.ports.resize(settings.adapters);
        this.#listenToPorts();
      }
    });
  }

  /** @throws Failure `conflict` (`VirtualBoxError`) for an adapter that VirtualBox uses otherwise */
  async mustBeFree(number: number): Promise<void> {
    const { manage, uuid, settings } = this.#state;
    if (settings.use_any_adapter) return;
    const attachment = attachmentOf(await manage.info(uuid), number);
    if (isTaken(attachment)) {
      throw refusal(`Adapter ${number} of ${this.name} is attached to ${attachment}; set use_any_adapter to use it.`);
    }
  }

  protected override get settings(): Settings {
    return this.#state.settings;
  }

  protected override releaseAll(rest: AsyncDisposableStack): void {
    rest.defer(() => releaseMachines(this.services, this.id));
    rest.defer(() => this.#unregister());
    super.releaseAll(rest);
  }

  protected override async launch(resources: AsyncDisposableStack): Promise<VirtualboxRuntime> {
    const { manage, uuid, settings, mostAdapters: most } = this.#state;
    const info = await manage.info(uuid);
    const adapters = await this.#reservePorts(this.#usedAdapters(info));
    const kept = { node_name: this.name, uuid, adapters };
    this.#giveBackPorts(kept, resources);
    await this.services.switchedOn.add(this, kept, portsOf(kept));
    await this.#join(adapters, resources);
    const runtime = this.#newRuntime();
    const start = {
      headless: settings.headless,
      hasConsole: this.hasConsole,
      adapters: adapters.map((adapter) => this.#planOf(adapter)),
      unused: Array.from({ length: Math.max(0, most - settings.adapters) }, (_, index) => settings.adapters + index),
    };
    await runtime.start(start, resources);
    this.#endWith(runtime, kept, resources);
    await runtime.introduce(this.project.path);
    if (this.hasConsole) await runtime.connect(resources);
    return runtime;
  }

  /** What a former life of the server has left on. */
  async #takeBack(kept: MachineKept): Promise<void> {
    const runtime = this.#newRuntime();
    await this.takeBackMachine(
      runtime,
      (resources) => {
        this.#giveBackPorts(kept, resources);
        this.#endWith(runtime, kept, resources);
      },
      (resources) => this.#join(kept.adapters, resources),
    );
  }

  #newRuntime(): VirtualboxRuntime {
    const { manage, uuid } = this.#state;
    return new VirtualboxRuntime(this, { manage, uuid });
  }

  #endWith(runtime: VirtualboxRuntime, kept: MachineKept, resources: AsyncDisposableStack): void {
    const numbers = kept.adapters.map(({ number }) => number);
    resources.defer(() => runtime.close(this.onClose, numbers));
  }

  /** And forgets that the machine is on. */
  #giveBackPorts(kept: MachineKept, resources: AsyncDisposableStack): void {
    const { ports, switchedOn } = this.services;
    for (const port of portsOf(kept)) resources.defer(() => ports.udp.release(this.project.id, port));
    resources.defer(() => switchedOn.remove(this.id));
  }

  /** Numbers of the adapters that lead to the fabric. */
  #usedAdapters(info: ReadonlyMap<string, string>): number[] {
    const { use_any_adapter: useAny } = this.settings;
    return [...this.ports.all.keys()].filter((number) => useAny || !isTaken(attachmentOf(info, number)));
  }

  async #reservePorts(numbers: readonly number[]): Promise<KeptAdapter[]> {
    const { udp } = this.services.ports;
    await using undo = new AsyncDisposableStack();
    const reserve = async (): Promise<number> => {
      const port = await udp.reserve(this.project.id);
      undo.defer(() => udp.release(this.project.id, port));
      return port;
    };
    const adapters: KeptAdapter[] = [];
    for (const number of numbers) {
      adapters.push({ number, program_port: await reserve(), cable_port: await reserve() });
    }
    undo.move();
    return adapters;
  }

  #planOf({ number, program_port: program, cable_port: cable }: KeptAdapter): AdapterPlan {
    const { settings, hidden } = this.#state;
    const custom = hidden.custom_adapters.find(({ adapter_number }) => adapter_number === number);
    const connected = (this.ports.all[number] as LivePort).isUp;
    return { number, type: typeOf(settings.adapter_type, custom), ports: { program, cable }, connected };
  }

  /** Leads the adapters to their cables. */
  async #join(adapters: readonly KeptAdapter[], resources: AsyncDisposableStack): Promise<void> {
    for (const { number, program_port: remotePort, cable_port: localPort } of adapters) {
      const port = this.ports.all[number];
      // The node may have fewer adapters now than its machine.
      if (!port) continue;
      await port.setDevice({ kind: 'udp', localPort, remoteHost: LOOPBACK, remotePort });
      resources.defer(() => port.setDevice(null));
    }
  }

  #listenToPorts(): void {
    for (const [adapter, port] of this.ports.all.entries()) {
      (port as LivePort).onCable(async (isUp) => {
        await this.runtime?.setLink(adapter, isUp).catch((error: unknown) => {
          log.warn('a guest does not hear of its cable', { node: this.id, adapter, reason: messageOf(error) });
        });
      });
    }
  }

  /** A clone has its node's name. */
  async #rename(name: string): Promise<void> {
    const { settings, manage, uuid } = this.#state;
    if (!settings.linked_clone || name === this.name) return;
    if (this.runtime) throw refusal(`name: stop ${this.name} before its clone is renamed.`);
    await manage.run('modifyvm', uuid, '--name', name);
    this.#state = { ...this.#state, vmname: name };
  }

  async #takeOther(vmname: string): Promise<void> {
    if (vmname === this.#state.vmname) return;
    if (this.runtime) throw refusal(`vmname: stop ${this.name} before it becomes another machine.`);
    const { manage } = this.#state;
    await reserveMachine(this.services, vmname, this, inUse(vmname));
    const uuid = (await manage.info(vmname)).get('UUID') ?? vmname;
    this.#state = { ...this.#state, vmname, uuid };
  }

  /** A clone is VirtualBox's only while its node is there. */
  async #unregister(): Promise<void> {
    const { settings, manage, uuid, vmname } = this.#state;
    if (!settings.linked_clone || uuid === '') return;
    await releaseClone(manage, { uuid, vmname }, this).catch((error: unknown) => {
      log.warn('a linked clone stays registered', { node: this.id, vmname, reason: messageOf(error) });
    });
  }
}

/** Switches off machines of a former life of the server, in projects that are over. */
export function endLeft(services: Services, isOver: IsOver): Promise<void> {
  return endMachinesLeft(services, isOver, KEPT, async ({ uuid, adapters }, owner) => {
    const manage = await VBoxManage.find(services.config.VirtualBox.vboxmanage_path);
    const runtime = new VirtualboxRuntime(owner, { manage, uuid });
    const end = await runtime.reattach();
    await runtime.close(
      'power_off',
      adapters.map(({ number }) => number),
    );
    return end === undefined;
  });
}

/** A port whose adapter VirtualBox may use otherwise. */
class AdapterPort extends LivePort {
  readonly #node: VirtualboxNode;
  readonly #adapter: number;

  constructor(...parts: ConstructorParameters<typeof LivePort>) {
    super(...parts);
    const [node, label] = parts;
    this.#node = node as VirtualboxNode;
    this.#adapter = Number.parseInt(label, 10);
  }

  override async attach(wanted: Nio): Promise<void> {
    await this.#node.mustBeFree(this.#adapter);
    await super.attach(wanted);
  }
}

function hiddenOf({ custom_adapters = [] }: VirtualboxUpdate): HiddenSettings {
  return { custom_adapters };
}

const portsOf = ({ adapters }: MachineKept): number[] =>
  adapters.flatMap(({ program_port, cable_port }) => [program_port, cable_port]);

const inUse = (vmname: string) => (): Failure =>
  refusal(`vmname: "${vmname}" is used by another node; set linked_clone, or use another machine.`);
