// One emulator process: on a terminal of the supervisor, with a control connection on loopback.
import { EventEmitter } from 'node:events';
import type { Terminal, TerminalExit } from '../../../consoles/terminal.ts';
import { takeFreePort } from '../../../host/network/free-ports.ts';
import type { ProgramHandle } from '../../../supervisor/client.ts';
import { type ProgramOwner, programTerminal } from '../../nodes/lifecycle/node-program.ts';
import { reattachProgram } from '../../nodes/lifecycle/node-runtime.ts';
import type { ProgramRecord } from '../../nodes/lifecycle/surviving-programs.ts';
import { Hypervisor } from './hypervisor.ts';
import { refusal } from './platforms.ts';
import type { DynamipsProgram } from './program.ts';

export const LOOPBACK = '127.0.0.1';

/** Time limit for opening the control port. */
const START_MS = 30_000;
/** How often it is started if another program has taken the port meanwhile. */
const ATTEMPTS = 3;
const OUTPUT_CHARACTERS = 16 * 1024;
const LISTENS = /control server started/i;
const PORT_TAKEN = /unable to (create|bind).*socket|address already in use/i;

export class EmulatorProcess extends EventEmitter<{ exit: [TerminalExit] }> {
  readonly #terminal: Terminal;
  #output = '';
  #exit: TerminalExit | undefined;

  private constructor(node: ProgramOwner, command: readonly string[], record: object) {
    super();
    this.#terminal = programTerminal(node, command, { record });
    this.#terminal.on('output', (chunk) => {
      if (this.#output.length < OUTPUT_CHARACTERS) this.#output += chunk.toString('latin1');
    });
    this.#terminal.on('exit', (exit) => {
      this.#exit = exit;
      this.emit('exit', exit);
    });
  }

  get exit(): TerminalExit | undefined {
    return this.#exit;
  }

  get pid(): number | undefined {
    return this.#terminal.pid;
  }

  /**
   * Starts the program; `resources` end it.
   * @param recordOf the data kept with it, given its control port
   * @throws Failure `conflict` (`DynamipsError`) with its last output
   */
  static async start(
    node: ProgramOwner,
    program: DynamipsProgram,
    recordOf: (controlPort: number, command: readonly string[]) => ProgramRecord,
    resources: AsyncDisposableStack,
  ): Promise<{ process: EmulatorProcess; hypervisor: Hypervisor; record: ProgramRecord }> {
    for (let attempt = 1; ; attempt += 1) {
      await using held = new AsyncDisposableStack();
      const controlPort = await takeFreePort(held);
      const command = commandOf(program, controlPort);
      const record = recordOf(controlPort, command);
      const process = new EmulatorProcess(node, command, record);
      await process.#terminal.start();
      held.defer(() => process.#terminal.stop());
      if (!(await process.#listens())) {
        if (PORT_TAKEN.test(process.#output) && attempt < ATTEMPTS) continue;
        throw process.#doesNotStart(node.name);
      }
      const hypervisor = await process.control(controlPort, node.name);
      held.defer(() => hypervisor.close());
      resources.use(held.move());
      return { process, hypervisor, record };
    }
  }

  /** Reattaches a process of the previous run. Returns how it ended, if it did meanwhile. */
  static async reattach(
    node: ProgramOwner,
    handle: ProgramHandle,
    resources: AsyncDisposableStack,
  ): Promise<EmulatorProcess | TerminalExit> {
    const process = new EmulatorProcess(node, [], {});
    const end = await reattachProgram<TerminalExit>(process.#terminal, handle, [process, 'exit'], resources);
    if (end) return end;
    return process;
  }

  /** A control connection to it. @throws Failure `conflict` (`DynamipsError`) */
  async control(port: number, name: string): Promise<Hypervisor> {
    try {
      return await Hypervisor.connect(LOOPBACK, port);
    } catch (error) {
      throw this.#exit ? this.#doesNotStart(name) : refusal(`Dynamips of '${name}' does not take commands`, error);
    }
  }

  /** Ends it at once; its end is reported like any other. */
  kill(): void {
    this.#terminal.signal('SIGKILL');
  }

  /** Whether it accepts commands now; false if it has ended, or hangs. */
  async #listens(): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const look = (): void => {
      if (LISTENS.test(this.#output)) resolve(true);
    };
    const ended = (): void => resolve(false);
    const late = setTimeout(ended, START_MS);
    this.#terminal.on('output', look).once('exit', ended);
    try {
      look();
      if (this.#exit) return false;
      return await promise;
    } finally {
      clearTimeout(late);
      this.#terminal.off('output', look).off('exit', ended);
    }
  }

  #doesNotStart(name: string) {
    const how = this.#exit ? 'ended at once' : `does not take commands within ${START_MS / 1000} s`;
    const words = (this.#exit?.lastOutput ?? this.#terminal.lastOutput()).split('\n').slice(-3).join(' ');
    return refusal(`Dynamips of '${name}' ${how}: ${words || 'no output'}`);
  }
}

/** One instance with numbered files that listens on loopback only. */
function commandOf({ path, bindsConsoles }: DynamipsProgram, controlPort: number): string[] {
  const consoles = bindsConsoles ? ['--console-binding-addr', LOOPBACK] : [];
  return [path, '-N1', '-l', 'dynamips_log.txt', '-H', `${LOOPBACK}:${controlPort}`, ...consoles];
}
