// A VirtualBox machine that runs: started and ended by VBoxManage, with its first serial port as a console.
import { EventEmitter } from 'node:events';
import { mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../../failures.ts';
import { log } from '../../../host/log.ts';
import type { ExitInfo, NodeRuntime } from '../../nodes/node-runtime.ts';
import type { NodeProject } from '../../nodes/owner.ts';
import { openSerialConsole, type SerialConsole } from '../../nodes/serial-console.ts';
import { refusal, type VBoxManage } from './manage.ts';
import type { Settings } from './settings.ts';

/** How often a machine is asked whether it has shut down, and how many times. */
const SHUTDOWN_POLL_MS = 1000;
const SHUTDOWN_POLLS = 120;
/** VirtualBox keeps a machine locked for a moment after it has stopped. */
const UNLOCK_MS = 500;
const SAVED = 'SavedByGNS3';

export interface VirtualMachine {
  manage: VBoxManage;
  uuid: string;
}

export interface RuntimeNode {
  readonly id: string;
  readonly name: string;
  readonly project: NodeProject;
}

export interface MachineStart {
  headless: boolean;
  hasConsole: boolean;
  /** Words for `modifyvm` that lead the adapters to the fabric; only a machine that is off takes them. */
  adapters: readonly string[];
}

export class MachineRuntime extends EventEmitter<{ end: [ExitInfo] }> implements NodeRuntime {
  readonly commandLine = '';
  isSuspended = false;
  readonly #node: RuntimeNode;
  readonly #machine: VirtualMachine;
  #serial: SerialConsole | undefined;
  #ended: ExitInfo | undefined;
  #isStopping = false;

  private constructor(node: RuntimeNode, machine: VirtualMachine) {
    super();
    this.#node = node;
    this.#machine = machine;
  }

  get console() {
    return this.#serial?.console;
  }

  get ended(): ExitInfo | undefined {
    return this.#ended;
  }

  /** @throws Failure `conflict` (`VirtualBoxError`, or `NodeError` for a console that does not come) */
  static async start(node: RuntimeNode, machine: VirtualMachine, start: MachineStart, resources: AsyncDisposableStack) {
    const runtime = new MachineRuntime(node, machine);
    const { manage, uuid } = machine;
    const state = await runtime.#state();
    if (state === 'paused') await manage.run('controlvm', uuid, 'resume');
    else {
      await runtime.#prepare(state, start, resources);
      await manage.run('startvm', uuid, ...(start.headless ? ['--type', 'headless'] : []));
    }
    await runtime.#property('NameInGNS3', node.name);
    await runtime.#property('ProjectDirInGNS3', node.project.path);
    if (start.hasConsole) await runtime.#connect(resources);
    return runtime;
  }

  async suspend(): Promise<void> {
    if ((await this.#state()) !== 'running') return;
    await this.#control('pause');
    this.isSuspended = true;
  }

  async resume(): Promise<void> {
    await this.#control('resume');
    this.isSuspended = false;
  }

  /** As the button of a PC. */
  reset(): Promise<void> {
    return this.#control('reset');
  }

  setLink(adapter: number, up: boolean): Promise<void> {
    return this.#control(`setlinkstate${adapter + 1}`, up ? 'on' : 'off');
  }

  /** Ends the machine; afterwards its adapters and its serial port are as if nobody had used them, unless its state was saved. */
  async close(how: Settings['on_close'], adapters: readonly number[]): Promise<void> {
    this.#isStopping = true;
    const { manage, uuid } = this.#machine;
    const state = await this.#state();
    if (state === 'running' || state === 'paused') await this.#end(how);
    if (how === 'save_vm_state' && state !== 'aborted') return;
    await sleep(UNLOCK_MS);
    const off = adapters.flatMap((number) => {
      const k = number + 1;
      return [`--nictrace${k}`, 'off', `--cableconnected${k}`, 'off', `--nic${k}`, 'null'];
    });
    await manage.run('modifyvm', uuid, '--uart1', 'off', ...off);
  }

  async #prepare(
    state: string,
    { adapters, hasConsole }: MachineStart,
    resources: AsyncDisposableStack,
  ): Promise<void> {
    const { manage, uuid } = this.#machine;
    const { name } = this.#node;
    if (state === 'saved') {
      const saved = await manage.run('guestproperty', 'get', uuid, SAVED);
      if (!/Value: *\S/.test(saved))
        throw refusal(`${name} has a state that somebody else has saved: discard it first.`);
      await manage.run('guestproperty', 'delete', uuid, SAVED);
    } else if (state === 'poweroff' || state === 'aborted') {
      const serial = hasConsole ? await this.#serialWords(resources) : [];
      if (adapters.length + serial.length > 0) await manage.run('modifyvm', uuid, ...adapters, ...serial);
    } else throw refusal(`${name} is ${state} in VirtualBox: stop it there first.`);
  }

  async #serialWords(resources: AsyncDisposableStack): Promise<string[]> {
    await mkdir(this.#pipes, { recursive: true, mode: 0o700 });
    const pipe = join(this.#pipes, this.#node.id);
    await rm(pipe, { force: true });
    resources.defer(() => rm(pipe, { force: true }));
    return ['--uart1', '0x3F8', '4', '--uartmode1', 'server', pipe];
  }

  async #connect(resources: AsyncDisposableStack): Promise<void> {
    const { serial, socket } = await openSerialConsole(this.#pipes, this.#node, resources);
    socket.once('close', () => void this.#lookWhetherOver());
    this.#serial = serial;
  }

  async #end(how: Settings['on_close']): Promise<void> {
    if (how === 'save_vm_state') {
      await this.#property(SAVED, 'yes');
      await this.#control('savestate');
      return;
    }
    if (how === 'shutdown_signal') {
      await this.#control('acpipowerbutton');
      for (let polls = 0; polls < SHUTDOWN_POLLS; polls += 1) {
        if ((await this.#state()) === 'poweroff') return;
        await sleep(SHUTDOWN_POLL_MS);
      }
    }
    await this.#control('poweroff');
  }

  /** A machine that closes its serial port has been switched off by its guest, or by its user. */
  async #lookWhetherOver(): Promise<void> {
    if (this.#isStopping) return;
    try {
      const state = await this.#state();
      if (state === 'running' || state === 'paused' || this.#isStopping) return;
      this.#ended = { expected: false, fault: state === 'aborted' ? 'in VirtualBox' : undefined };
      this.emit('end', this.#ended);
    } catch (thrown) {
      log.warn('VirtualBox does not tell whether a machine runs', { node: this.#node.id, reason: messageOf(thrown) });
    }
  }

  get #pipes(): string {
    return join(tmpdir(), 'gns3_vbox');
  }

  async #state(): Promise<string> {
    const { manage, uuid } = this.#machine;
    return (await manage.info(uuid)).get('VMState') ?? 'unknown';
  }

  async #control(...words: string[]): Promise<void> {
    const { manage, uuid } = this.#machine;
    await manage.run('controlvm', uuid, ...words);
  }

  async #property(name: string, value: string): Promise<void> {
    const { manage, uuid } = this.#machine;
    await manage.run('guestproperty', 'set', uuid, name, value);
  }
}
