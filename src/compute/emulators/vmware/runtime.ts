// A VMware machine that runs: started and ended by vmrun, with its first serial port as a console.
import { EventEmitter } from 'node:events';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '../../../failures.ts';
import { log } from '../../../host/log.ts';
import type { MachineSettings } from '../../nodes/machine-settings.ts';
import type { ExitInfo, NodeRuntime } from '../../nodes/node-runtime.ts';
import { openSerialConsole, type SerialConsole } from '../../nodes/serial-console.ts';
import { pairsText, readPairs } from './files.ts';
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

export class MachineRuntime extends EventEmitter<{ end: [ExitInfo] }> implements NodeRuntime {
  readonly commandLine = '';
  /** Nothing tells that a machine has ended by itself. */
  readonly ended = undefined;
  isSuspended = false;
  readonly #node: { id: string; name: string };
  readonly #machine: VirtualMachine;
  #serial: SerialConsole | undefined;

  constructor(node: { id: string; name: string }, machine: VirtualMachine) {
    super();
    this.#node = node;
    this.#machine = machine;
  }

  get console() {
    return this.#serial?.console;
  }

  /** @throws Failure `conflict` (`VMwareError`) when it runs already */
  async mustNotRun(): Promise<void> {
    const { vmrun, vmxPath } = this.#machine;
    if ((await vmrun.run('list')).split(/\r?\n/).some((line) => line.trim() === vmxPath))
      throw refusal(`${this.#node.name} runs in VMware already: stop it there first.`);
  }

  async start({ headless, hasConsole }: MachineStart, resources: AsyncDisposableStack): Promise<void> {
    const { vmrun, vmxPath } = this.#machine;
    if (hasConsole) await this.#makeSerial(resources);
    await vmrun.run('start', vmxPath, ...(headless ? ['nogui'] : []));
  }

  async connect(resources: AsyncDisposableStack): Promise<void> {
    const { serial } = await openSerialConsole(this.#pipes, this.#node, resources);
    this.#serial = serial;
  }

  /** @throws Failure `conflict` (`VMwareError`) when it is not Workstation */
  async suspend(): Promise<void> {
    this.#mustBeWorkstation();
    await this.#run('pause');
    this.isSuspended = true;
  }

  async resume(): Promise<void> {
    this.#mustBeWorkstation();
    await this.#run('unpause');
    this.isSuspended = false;
  }

  async reset(): Promise<void> {
    await this.#run('reset');
  }

  /** Ends the machine and takes back what the start has changed in its file; what VMware refuses is noted. */
  async close(how: MachineSettings['on_close'], managed: ReadonlySet<string>): Promise<void> {
    const { vmrun, vmxPath } = this.#machine;
    const [verb, ...words] = STOP_WORDS[how];
    try {
      await vmrun.run(verb, vmxPath, ...words);
    } catch (thrown) {
      log.warn('VMware does not stop a machine', { node: this.#node.id, reason: messageOf(thrown) });
    }
    const vmx = await readPairs(vmxPath);
    detachAdapters(vmx, managed);
    await writeFile(vmxPath, pairsText(vmx, vmrun.product));
  }

  #mustBeWorkstation(): void {
    if (this.#machine.vmrun.hostType !== 'ws') throw refusal('Only VMware Workstation can suspend a machine: stop it.');
  }

  async #makeSerial(resources: AsyncDisposableStack): Promise<void> {
    const { vmrun, vmxPath } = this.#machine;
    await mkdir(this.#pipes, { recursive: true, mode: 0o700 });
    const pipe = join(this.#pipes, this.#node.id);
    await rm(pipe, { force: true });
    resources.defer(() => rm(pipe, { force: true }));
    const vmx = await readPairs(vmxPath);
    attachSerial(vmx, pipe);
    await writeFile(vmxPath, pairsText(vmx, vmrun.product));
  }

  get #pipes(): string {
    return join(tmpdir(), 'gns3_vmware');
  }

  async #run(verb: string): Promise<void> {
    const { vmrun, vmxPath } = this.#machine;
    await vmrun.run(verb, vmxPath);
  }
}
