// A VirtualBox machine as a node: its settings, its adapters, and what runs it.
import { Failure, messageOf } from '../../../failures.ts';
import { log } from '../../../host/log.ts';
import { LivePort } from '../../nodes/live-port.ts';
import type { HiddenSettings } from '../../nodes/machine-settings.ts';
import { releaseMachines, reserveMachine } from '../../nodes/machine-users.ts';
import type { Nio } from '../../nodes/nio.ts';
import type { NodeIdentity } from '../../nodes/node.ts';
import type { PortRules } from '../../nodes/port.ts';
import { ProgramNode } from '../../nodes/program-node.ts';
import type { Services } from '../../services.ts';
import { adapterWords, attachmentOf, isTaken, mostAdapters, mustHave, typeOf } from './adapters.ts';
import { linkedClone } from './clones.ts';
import { EXCEPTION as exception, refusal, VBoxManage } from './manage.ts';
import { MachineRuntime } from './runtime.ts';
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

export class VirtualboxNode extends ProgramNode<MachineRuntime> {
  readonly type = MODULE;
  #state: State;
  #isClosing = false;

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
    undo.move();
    return node;
  }

  override describe(): object {
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

  override suspend(): Promise<void> {
    return this.inTurn(async () => {
      await this.runtime?.suspend();
      if (this.runtime?.isSuspended) this.status = 'suspended';
    });
  }

  /** @throws Failure `conflict` (`VirtualBoxError`) when it is not started */
  resume(): Promise<void> {
    return this.inTurn(async () => {
      if (!this.runtime) throw refusal(`${this.name} is not started; start it first.`);
      await this.#goOn(this.runtime);
    });
  }

  override reload(): Promise<void> {
    return this.inTurn(async () => void (await this.runtime?.reset()));
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
    rest.defer(() => this.#unregister());
    super.releaseAll(rest);
  }

  protected override async launch(resources: AsyncDisposableStack): Promise<MachineRuntime> {
    const { manage, uuid, settings } = this.#state;
    const info = await manage.info(uuid);
    const adapters = await this.#planAdapters(info, resources);
    const start = { headless: settings.headless, hasConsole: this.console.type !== 'none', adapters };
    // Whatever of it comes to run is ended when the rest fails.
    const begun: { runtime?: MachineRuntime } = {};
    resources.defer(() => begun.runtime?.close(this.#onClose, this.#usedAdapters(info)));
    begun.runtime = await MachineRuntime.start(this, { manage, uuid }, start, resources);
    return begun.runtime;
  }

  /** Its machines are VirtualBox's, not the supervisor's. */
  protected override reattachTo(): Promise<never> {
    throw new Failure('internal', 'VirtualBox machines are not kept by the supervisor.');
  }

  get #onClose(): Settings['on_close'] {
    return this.#isClosing ? 'power_off' : this.#state.settings.on_close;
  }

  async #goOn(runtime: MachineRuntime): Promise<void> {
    if (runtime.isSuspended) await runtime.resume();
    this.status = 'started';
  }

  /** Numbers of the adapters that lead to the fabric. */
  #usedAdapters(info: ReadonlyMap<string, string>): number[] {
    const { use_any_adapter: useAny } = this.#state.settings;
    return [...this.ports.all.keys()].filter((number) => useAny || !isTaken(attachmentOf(info, number)));
  }

  /** Joins the adapters with their cables; answers what VirtualBox has to be told of them. */
  async #planAdapters(info: ReadonlyMap<string, string>, resources: AsyncDisposableStack): Promise<string[]> {
    const { settings, hidden, mostAdapters: most } = this.#state;
    const { udp } = this.services.ports;
    const words: string[] = [];
    const reserve = async (): Promise<number> => {
      const port = await udp.reserve(this.project.id);
      resources.defer(() => udp.release(this.project.id, port));
      return port;
    };
    for (const number of this.#usedAdapters(info)) {
      const port = this.ports.all[number] as LivePort;
      const ports = { program: await reserve(), cable: await reserve() };
      const custom = hidden.custom_adapters.find(({ adapter_number }) => adapter_number === number);
      const attachment = attachmentOf(info, number);
      const type = typeOf(settings.adapter_type, custom);
      words.push(
        ...adapterWords({ number, attachment, type, useAny: settings.use_any_adapter, ports, connected: port.isUp }),
      );
      await port.setDevice({ kind: 'udp', localPort: ports.cable, remoteHost: LOOPBACK, remotePort: ports.program });
      resources.defer(() => port.setDevice(null));
    }
    for (let number = settings.adapters; number < most; number += 1) words.push(`--nic${number + 1}`, 'none');
    return words;
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
    await manage.run('unregistervm', vmname).catch((error: unknown) => {
      log.warn('a linked clone stays registered', { node: this.id, vmname, reason: messageOf(error) });
    });
  }
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

const inUse = (vmname: string) => (): Failure =>
  refusal(`vmname: "${vmname}" is used by another node; set linked_clone, or use another machine.`);
