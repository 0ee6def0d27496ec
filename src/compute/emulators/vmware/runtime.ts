// A running VMware machine: started and ended by vmrun, with its first serial port as a console.
import { messageOf } from '../../../failures.ts';
import { log } from '../../../host/log.ts';
import type { ExitInfo } from '../../nodes/lifecycle/node-runtime.ts';
import { type MachineOwner, MachineRuntime } from '../../nodes/machines/machine-runtime.ts';
import type { MachineSettings } from '../../nodes/machines/machine-settings.ts';
import { readPairs, writePairs } from './files.ts';
import { refusal, type Vmrun } from './vmrun.ts';
import { attachSerial, detachAdapters } from './vmx.ts';

const STOP_WORDS: Readonly<Record<MachineSettings['on_close'], readonly [string, ...string[]]>> = {
  save_vm_state: ['suspend'],
  shutdown_signal: ['stop', 'soft'],
  power_off: ['stop'],
};

export interface VirtualMachine {
  vmrun: Vmrun;
  vmxPath: string;
}

export interface MachineStart {
  headless: boolean;
  hasConsole: boolean;
}

export class VmwareRuntime extends MachineRuntime {
  readonly #machine: VirtualMachine;

  /** @param isSuspended whether it was suspended before; VMware does not report that */
  constructor(node: MachineOwner, machine: VirtualMachine, isSuspended = false) {
    super(node, 'gns3_vmware');
    this.#machine = machine;
    this.isSuspended = isSuspended;
  }

  /** @throws Failure `conflict` (`VMwareError`) if it runs already */
  async mustNotRun(): Promise<void> {
    if (await this.#isOn()) throw refusal(`${this.node.name} runs in VMware already: stop it there first.`);
  }

  async start({ headless, hasConsole }: MachineStart, resources: AsyncDisposableStack): Promise<void> {
    const { vmrun, vmxPath } = this.#machine;
    if (hasConsole) {
      const vmx = await readPairs(vmxPath);
      attachSerial(vmx, await this.makePipe(resources));
      await writePairs(vmxPath, vmx, vmrun.product);
    }
    await vmrun.run('start', vmxPath, ...(headless ? ['nogui'] : []));
  }

  /** @throws Failure `conflict` (`VMwareError`) if the product is not Workstation */
  override async suspend(): Promise<void> {
    this.#mustBeWorkstation();
    await this.#run('pause');
    this.isSuspended = true;
  }

  override async resume(): Promise<void> {
    this.#mustBeWorkstation();
    await this.#run('unpause');
    this.isSuspended = false;
  }

  override reset(): Promise<void> {
    return this.#run('reset');
  }

  /** Ends the machine and reverts the start's changes to its file. VMware's errors are logged. */
  async close(how: MachineSettings['on_close'], managed: ReadonlySet<string>): Promise<void> {
    this.stopLooking();
    const { vmrun, vmxPath } = this.#machine;
    const [verb, ...words] = STOP_WORDS[how];
    try {
      if (!this.ended) await vmrun.run(verb, vmxPath, ...words);
    } catch (thrown) {
      log.warn('VMware does not stop a machine', { node: this.node.id, reason: messageOf(thrown) });
    }
    const vmx = await readPairs(vmxPath);
    detachAdapters(vmx, managed);
    await writePairs(vmxPath, vmx, vmrun.product);
  }

  protected override async look(): Promise<'running' | ExitInfo> {
    return (await this.#isOn()) ? 'running' : { expected: false, fault: undefined };
  }

  async #isOn(): Promise<boolean> {
    const { vmrun, vmxPath } = this.#machine;
    return (await vmrun.run('list')).split(/\r?\n/).some((line) => line.trim() === vmxPath);
  }

  #mustBeWorkstation(): void {
    if (this.#machine.vmrun.hostType !== 'ws') throw refusal('Only VMware Workstation can suspend a machine: stop it.');
  }

  async #run(verb: string): Promise<void> {
    const { vmrun, vmxPath } = this.#machine;
    await vmrun.run(verb, vmxPath);
  }
}
