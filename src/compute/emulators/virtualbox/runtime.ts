// A running VirtualBox machine: started and ended by VBoxManage, with its first serial port as a console.
import { setTimeout as sleep } from 'node:timers/promises';
import type { ExitInfo } from '../../nodes/lifecycle/node-runtime.ts';
import { type MachineOwner, MachineRuntime } from '../../nodes/machines/machine-runtime.ts';
import type { MachineSettings } from '../../nodes/machines/machine-settings.ts';
import { type AdapterPlan, adapterWords, liveAdapterWords } from './adapters.ts';
import { refusal, type VBoxManage } from './manage.ts';

/** How often to check whether a machine has shut down, and how many times. */
const SHUTDOWN_POLL_MS = 1000;
const SHUTDOWN_POLLS = 120;
/** VirtualBox keeps a machine locked for a moment after it has stopped. */
const UNLOCK_MS = 500;
const SAVED = 'SavedByGNS3';
const OFF: readonly string[] = ['poweroff', 'aborted'];
/** Transitional states, and how long they may last. */
const PASSING: readonly string[] = ['starting', 'stopping', 'saving', 'restoring', 'settingup'];
const PASSING_MS = 60_000;
/** The guest has failed, but the machine still exists. */
const STUCK = 'gurumeditation';

export interface VirtualMachine {
  manage: VBoxManage;
  uuid: string;
}

export interface MachineStart {
  headless: boolean;
  hasConsole: boolean;
  /** Adapters connected to the fabric. */
  adapters: readonly AdapterPlan[];
  /** Numbers of the adapters to disable. */
  unused: readonly number[];
}

export class VirtualboxRuntime extends MachineRuntime {
  readonly #machine: VirtualMachine;

  constructor(node: MachineOwner, machine: VirtualMachine) {
    super(node, 'gns3_vbox');
    this.#machine = machine;
  }

  /** @throws Failure `conflict` (`VirtualBoxError`) */
  async start(start: MachineStart, resources: AsyncDisposableStack): Promise<void> {
    const { manage, uuid } = this.#machine;
    const state = await this.#state();
    const pipe = start.hasConsole && state !== 'paused' ? await this.makePipe(resources) : undefined;
    const isOff = OFF.includes(state);
    if (isOff) await this.#configure(start, pipe);
    else if (state === 'saved') await this.#mustBeOurs();
    else if (state !== 'paused') throw refusal(`${this.node.name} is ${state} in VirtualBox: stop it there first.`);
    if (state === 'paused') await this.#control('resume');
    else await manage.run('startvm', uuid, ...(start.headless ? ['--type', 'headless'] : []));
    if (isOff) return;
    // Only now: after a failed start the state is still there.
    if (state === 'saved') await manage.run('guestproperty', 'delete', uuid, SAVED);
    // It continues with the ports from when it was saved or paused.
    for (const adapter of start.adapters) {
      for (const words of liveAdapterWords(adapter)) await this.#control(...words);
    }
  }

  /** Passes the node's identity to programs in the guest. */
  async introduce(directory: string): Promise<void> {
    await this.#property('NameInGNS3', this.node.name);
    await this.#property('ProjectDirInGNS3', directory);
  }

  override async suspend(): Promise<void> {
    if ((await this.#state()) !== 'running') return;
    await this.#control('pause');
    this.isSuspended = true;
  }

  override async resume(): Promise<void> {
    await this.#control('resume');
    this.isSuspended = false;
  }

  override reset(): Promise<void> {
    return this.#control('reset');
  }

  setLink(adapter: number, up: boolean): Promise<void> {
    return this.#control(`setlinkstate${adapter + 1}`, up ? 'on' : 'off');
  }

  /** Ends the machine, and resets its adapters and serial port unless its state was saved. */
  async close(how: MachineSettings['on_close'], adapters: readonly number[]): Promise<void> {
    this.stopLooking();
    const { manage, uuid } = this.#machine;
    const state = await this.#settledState();
    const isOn = state === 'running' || state === 'paused';
    if (isOn) await this.#end(how);
    if (state === STUCK) await this.#control('poweroff');
    if (state === 'saved' || (isOn && how === 'save_vm_state')) return;
    await sleep(UNLOCK_MS);
    const off = adapters.flatMap((number) => {
      const k = number + 1;
      return [`--nictrace${k}`, 'off', `--cableconnected${k}`, 'off', `--nic${k}`, 'null'];
    });
    await manage.run('modifyvm', uuid, '--uart1', 'off', ...off);
  }

  protected override async look(): Promise<'running' | 'paused' | ExitInfo> {
    const state = await this.#settledState();
    if (state === 'running' || state === 'paused') return state;
    return { expected: false, fault: state === 'aborted' || state === STUCK ? 'in VirtualBox' : undefined };
  }

  /** @throws Failure `conflict` if the saved state is not Labwire's */
  async #mustBeOurs(): Promise<void> {
    const { manage, uuid } = this.#machine;
    const saved = await manage.run('guestproperty', 'get', uuid, SAVED);
    if (!/Value: *\S/.test(saved))
      throw refusal(`${this.node.name} has a state that was saved outside Labwire: discard it first.`);
  }

  async #configure({ adapters, unused }: MachineStart, pipe: string | undefined): Promise<void> {
    const { manage, uuid } = this.#machine;
    const words = [...adapters.flatMap(adapterWords), ...unused.flatMap((number) => [`--nic${number + 1}`, 'none'])];
    if (pipe !== undefined) words.push('--uart1', '0x3F8', '4', '--uartmode1', 'server', pipe);
    if (words.length > 0) await manage.run('modifyvm', uuid, ...words);
  }

  async #end(how: MachineSettings['on_close']): Promise<void> {
    if (how === 'save_vm_state') {
      await this.#property(SAVED, 'yes');
      await this.#control('savestate');
      return;
    }
    if (how === 'shutdown_signal') {
      // It takes no signal while it is paused.
      if ((await this.#state()) === 'paused') await this.resume();
      await this.#control('acpipowerbutton');
      for (let polls = 0; polls < SHUTDOWN_POLLS; polls += 1) {
        if (OFF.includes(await this.#state())) return;
        await sleep(SHUTDOWN_POLL_MS);
      }
    }
    await this.#control('poweroff');
  }

  async #state(): Promise<string> {
    const { manage, uuid } = this.#machine;
    return (await manage.info(uuid)).get('VMState') ?? 'unknown';
  }

  async #settledState(): Promise<string> {
    for (const end = performance.now() + PASSING_MS; ; await sleep(UNLOCK_MS)) {
      const state = await this.#state();
      if (!PASSING.includes(state) || performance.now() > end) return state;
    }
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
