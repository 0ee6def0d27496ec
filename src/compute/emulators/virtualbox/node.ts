// The VirtualBox node: settings, adapters, and running machine.

import type { VirtualboxCreate, VirtualboxUpdate } from '../../../api/kinds/virtual-machines.ts';
import { messageOf } from '../../../failures.ts';
import { log } from '../../../host/log.ts';
import type { Steps } from '../../nodes/lifecycle/all-or-nothing.ts';
import type { CommonState } from '../../nodes/lifecycle/program-node.ts';
import type { IsOver } from '../../nodes/lifecycle/surviving-programs.ts';
import {
  type CloneOwner,
  endMachinesLeft,
  MachineNode,
  type MachineState,
  makeCloneOwner,
} from '../../nodes/machines/machine-node.ts';
import type { MachineUsers } from '../../nodes/machines/machine-users.ts';
import type { NodeIdentity } from '../../nodes/node.ts';
import { followCables, LivePort } from '../../nodes/ports/live-port.ts';
import type { MakePort } from '../../nodes/ports/memory-ports.ts';
import type { PortRules } from '../../nodes/ports/port.ts';
import type { Services } from '../../services.ts';
import { type AdapterPlan, attachmentOf, isTaken, mostAdapters, mustHave, typeOf } from './adapters.ts';
import { linkedClone, releaseClone } from './clones.ts';
import { KEPT, type KeptAdapter, type MachineKept } from './kept.ts';
import { EXCEPTION as exception, refusal, VBoxManage } from './manage.ts';
import { VirtualboxRuntime } from './runtime.ts';
import { changedSettings, DEFAULTS, type Settings } from './settings.ts';

export const MODULE = 'virtualbox';
export const PORT_RULES: PortRules = { exception, nios: new Set(['nio_udp']) };

const LOOPBACK = '127.0.0.1';

/** The machine's properties that the node has read. */
interface Facts {
  uuid: string;
  mostAdapters: number;
}

export class VirtualboxNode extends MachineNode<VirtualboxRuntime, Settings, VirtualboxUpdate> {
  readonly type = MODULE;
  protected readonly machineMember = 'vmname';
  readonly #manage: VBoxManage;
  #facts: Facts;

  private constructor(
    identity: NodeIdentity,
    consoleType: string,
    services: Services,
    state: MachineState<Settings>,
    { manage, users, ...facts }: Facts & { manage: VBoxManage; users: MachineUsers },
  ) {
    const makePort: MakePort = (...parts) => new LivePort(...parts);
    super(identity, services, { module: MODULE, rules: PORT_RULES, consoleType, makePort, users }, state);
    this.#manage = manage;
    this.#facts = facts;
    this.portsChanged();
  }

  static async create(
    identity: NodeIdentity,
    body: VirtualboxCreate,
    services: Services,
    users: MachineUsers,
  ): Promise<VirtualboxNode> {
    await using undo = new AsyncDisposableStack();
    const wasOn = services.switchedOn.claim(identity, KEPT, undo);
    const manage = await VBoxManage.find(services.config.VirtualBox.vboxmanage_path);
    const settings = changedSettings(DEFAULTS, body);
    undo.defer(() => users.releaseAll(identity.id));
    if (!settings.linked_clone) await reserve(users, body.vmname, identity);
    const properties = await manage.systemProperties();
    const owner = settings.linked_clone ? await makeCloneOwner(identity, MODULE, undo) : undefined;
    const vmname = owner ? await linkedClone(manage, body.vmname, owner) : body.vmname;
    await using unregistered = new AsyncDisposableStack();
    const info = await manage.info(vmname);
    const uuid = info.get('UUID') ?? body.vmname;
    if (owner) unregistered.defer(() => unregister(manage, { uuid, vmname }, owner));
    const ram = Number(info.get('memory') ?? 0);
    const most = mostAdapters(properties, info);
    mustHave(settings.adapters, most);
    const consoleType = body.console_type ?? 'telnet';
    const state = {
      machine: vmname,
      settings: { ...settings, ram: settings.ram || ram },
      customAdapters: body.custom_adapters ?? [],
    };
    const node = new VirtualboxNode(identity, consoleType, services, state, {
      manage,
      users,
      uuid,
      mostAdapters: most,
    });
    unregistered.move();
    undo.defer(() => node.close());
    if (settings.ram !== 0 && settings.ram !== ram) await manage.run('modifyvm', uuid, '--memory', `${settings.ram}`);
    await node.console.change(consoleType, body.console ?? undefined);
    if (wasOn) await node.inTurn(() => node.#reattach(wasOn));
    undo.move();
    return node;
  }

  override describe() {
    return { ...super.describe(), ...(this.state.settings.linked_clone ? {} : { node_directory: null }) };
  }

  override async mustBeFree(number: number): Promise<void> {
    if (this.state.settings.use_any_adapter) return;
    const attachment = attachmentOf(await this.#manage.info(this.#facts.uuid), number);
    if (isTaken(attachment)) {
      throw refusal(`Adapter ${number} of ${this.name} is attached to ${attachment}; set use_any_adapter to use it.`);
    }
  }

  protected override changedSettings(body: VirtualboxUpdate): Settings {
    const settings = changedSettings(this.state.settings, body);
    mustHave(settings.adapters, this.#facts.mostAdapters);
    return settings;
  }

  /** A clone has its node's name. If a change has a new node name, its machine name is ignored. */
  protected override otherMachine({ name, vmname }: VirtualboxUpdate): string | undefined {
    return name === undefined && !this.state.settings.linked_clone ? vmname : undefined;
  }

  protected override reserveMachine(vmname: string): Promise<void> {
    return reserve(this.users, vmname, this);
  }

  protected override async prepareMachine(
    state: MachineState<Settings>,
    { name }: CommonState,
    { undo }: Steps,
  ): Promise<MachineState<Settings>> {
    const manage = this.#manage;
    const { uuid } = this.#facts;
    const { machine, settings } = this.state;
    const modify = async (option: string, before: string, after: string): Promise<void> => {
      await manage.run('modifyvm', uuid, option, after);
      undo.defer(async () => void (await manage.run('modifyvm', uuid, option, before)));
    };
    if (state.settings.ram !== settings.ram) await modify('--memory', `${settings.ram}`, `${state.settings.ram}`);
    if (state.machine !== machine) {
      const facts = this.#facts;
      undo.defer(() => {
        this.#facts = facts;
      });
      this.#facts = { ...facts, uuid: (await manage.info(state.machine)).get('UUID') ?? state.machine };
    }
    if (!settings.linked_clone || name === this.name) return state;
    if (this.runtime) throw refusal(`name: stop ${this.name} before its clone is renamed.`);
    await modify('--name', machine, name);
    return { ...state, machine: name };
  }

  protected override portsChanged(): void {
    followCables(this.id, this.ports, async (adapter, { isUp }) => this.runtime?.setLink(adapter, isUp));
  }

  protected override releaseAll(rest: AsyncDisposableStack): void {
    rest.defer(async () => {
      const { machine: vmname, settings } = this.state;
      if (settings.linked_clone) await unregister(this.#manage, { uuid: this.#facts.uuid, vmname }, this);
    });
    super.releaseAll(rest);
  }

  protected override async launch(resources: AsyncDisposableStack): Promise<VirtualboxRuntime> {
    const { settings } = this.state;
    const { uuid, mostAdapters: most } = this.#facts;
    const info = await this.#manage.info(uuid);
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

  /** Reattaches a machine left on by the previous run of the server. */
  async #reattach(kept: MachineKept): Promise<void> {
    const runtime = this.#newRuntime();
    await this.reattachMachine(
      runtime,
      (resources) => {
        this.#giveBackPorts(kept, resources);
        this.#endWith(runtime, kept, resources);
      },
      (resources) => this.#join(kept.adapters, resources),
    );
  }

  #newRuntime(): VirtualboxRuntime {
    return new VirtualboxRuntime(this, { manage: this.#manage, uuid: this.#facts.uuid });
  }

  #endWith(runtime: VirtualboxRuntime, kept: MachineKept, resources: AsyncDisposableStack): void {
    const numbers = kept.adapters.map(({ number }) => number);
    resources.defer(() => runtime.close(this.onClose, numbers));
  }

  /** Also removes the record that the machine is on. */
  #giveBackPorts(kept: MachineKept, resources: AsyncDisposableStack): void {
    const { ports, switchedOn } = this.services;
    for (const port of portsOf(kept)) resources.defer(() => ports.udp.release(this.project.id, port));
    resources.defer(() => switchedOn.remove(this.id));
  }

  /** Numbers of the adapters connected to the fabric. */
  #usedAdapters(info: ReadonlyMap<string, string>): number[] {
    const { use_any_adapter: useAny } = this.state.settings;
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
    const { settings, customAdapters } = this.state;
    const custom = customAdapters.find(({ adapter_number }) => adapter_number === number);
    const connected = (this.ports.all[number] as LivePort).isUp;
    return { number, type: typeOf(settings.adapter_type, custom), ports: { program, cable }, connected };
  }

  #join(adapters: readonly KeptAdapter[], resources: AsyncDisposableStack): Promise<void> {
    const device = ({ program_port: remotePort, cable_port: localPort }: KeptAdapter) =>
      ({ kind: 'udp', localPort, remoteHost: LOOPBACK, remotePort }) as const;
    return this.join(adapters, device, resources);
  }
}

/** Switches off machines of the server's previous run, in projects that are over. */
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

const portsOf = ({ adapters }: MachineKept): number[] =>
  adapters.flatMap(({ program_port, cable_port }) => [program_port, cable_port]);

function reserve(users: MachineUsers, vmname: string, node: Pick<NodeIdentity, 'id' | 'project'>): Promise<void> {
  return users.reserve(vmname, node, () =>
    refusal(`vmname: "${vmname}" is used by another node; set linked_clone, or use another machine.`),
  );
}

/** A clone is registered in VirtualBox only while its node exists. */
async function unregister(
  manage: VBoxManage,
  clone: { uuid: string; vmname: string },
  owner: CloneOwner,
): Promise<void> {
  await releaseClone(manage, clone, owner).catch((error: unknown) => {
    const { vmname } = clone;
    log.warn('a linked clone stays registered', { node: owner.id, vmname, reason: messageOf(error) });
  });
}
