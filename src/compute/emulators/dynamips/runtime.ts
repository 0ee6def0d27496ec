// A running router: its emulator's process, its consoles, and reattaching it after a restart of the server.
import * as v from 'valibot';
import type { TerminalExit } from '../../../consoles/terminal.ts';
import { messageOf } from '../../../failures.ts';
import { log } from '../../../host/log.ts';
import { keepPort, takeFreePort } from '../../../host/network/free-ports.ts';
import { type ProgramOwner, programRecord } from '../../nodes/lifecycle/node-program.ts';
import { EndingRuntime, type ExitInfo, exitInfo, type NodeRuntime } from '../../nodes/lifecycle/node-runtime.ts';
import type { ProgramRecord, SurvivingProgram } from '../../nodes/lifecycle/surviving-programs.ts';
import { ConsoleLine } from './console-line.ts';
import type { Hypervisor } from './hypervisor.ts';
import { KEPT, type RouterKept } from './kept.ts';
import { machineName } from './machine.ts';
import { refusal } from './platforms.ts';
import { EmulatorProcess, LOOPBACK } from './process.ts';
import type { DynamipsProgram } from './program.ts';

/** The emulator takes up to 10 s to stop a router. If it takes longer it hangs, and is ended. */
const STOP_MS = 15_000;
/** States of `vm get_status`. */
const OFF = '0';
const SUSPENDED = '3';

export interface RuntimeOptions {
  program: DynamipsProgram;
  dynamipsId: number;
  /** Whether it gets a console, and an auxiliary one. */
  console: boolean;
  aux: boolean;
}

export class RouterRuntime extends EndingRuntime implements NodeRuntime {
  readonly commandLine: string;
  readonly kept: RouterKept;
  readonly hypervisor: Hypervisor;
  isSuspended = false;
  readonly #node: ProgramOwner;
  readonly #process: EmulatorProcess;
  readonly #console: ConsoleLine | undefined;
  readonly #aux: ConsoleLine | undefined;
  #isStopping = false;

  private constructor(
    node: ProgramOwner,
    process: EmulatorProcess,
    hypervisor: Hypervisor,
    record: Pick<ProgramRecord, 'command_line' | 'data'>,
  ) {
    super();
    this.#node = node;
    this.#process = process;
    this.hypervisor = hypervisor;
    this.commandLine = record.command_line;
    this.kept = v.parse(KEPT.schema, record.data);
    const { console_port: console, aux_port: aux } = this.kept;
    this.#console = console === null ? undefined : new ConsoleLine(node.name, LOOPBACK, console);
    this.#aux = aux === null ? undefined : new ConsoleLine(`${node.name} (auxiliary)`, LOOPBACK, aux);
    process.on('exit', (exit) => this.#end(exit));
    if (process.exit) this.#end(process.exit);
  }

  get console() {
    return this.#console?.console;
  }

  get auxiliaryConsole() {
    return this.#aux?.console;
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** Starts the emulator, without a router in it. `resources` end it. */
  static async start(
    node: ProgramOwner,
    { program, dynamipsId, console, aux }: RuntimeOptions,
    resources: AsyncDisposableStack,
  ): Promise<RouterRuntime> {
    const port = async (wanted: boolean): Promise<number | null> => (wanted ? takeFreePort(resources) : null);
    const kept = {
      console_port: await port(console),
      aux_port: await port(aux),
      vm_name: machineName(node.name),
      dynamips_id: dynamipsId,
    };
    const recordOf = (controlPort: number, command: readonly string[]): ProgramRecord => {
      const data: RouterKept = { ...kept, control_port: controlPort };
      return programRecord(node, KEPT, { kind: 'dynamips', command_line: command.join(' '), udp_ports: [], data });
    };
    const { process, hypervisor, record } = await EmulatorProcess.start(node, program, recordOf, resources);
    return new RouterRuntime(node, process, hypervisor, record);
  }

  /** Reattaches a router that outlived the server. Returns how it ended, if it did meanwhile. `resources` end it. */
  static async reattach(
    node: ProgramOwner,
    { handle, record }: SurvivingProgram,
    resources: AsyncDisposableStack,
  ): Promise<RouterRuntime | ExitInfo> {
    const process = await EmulatorProcess.reattach(node, handle, resources);
    if (!(process instanceof EmulatorProcess)) return exitInfo(process);
    const kept = v.parse(KEPT.schema, record.data);
    for (const port of [kept.control_port, kept.console_port, kept.aux_port]) {
      if (port !== null) keepPort(port, resources);
    }
    const hypervisor = await process.control(kept.control_port, node.name);
    resources.defer(() => hypervisor.close());
    const runtime = new RouterRuntime(node, process, hypervisor, record);
    const status = await runtime.#status();
    // The server ended while it started the router, which was never reported as running.
    if (status === OFF) throw refusal('it had not been switched on yet');
    runtime.isSuspended = status === SUSPENDED;
    await runtime.#openConsoles(resources);
    return runtime;
  }

  /** A command about the router. @throws Failure `conflict` (`DynamipsError`) with the emulator's message */
  vm(verb: string, ...words: (string | number)[]) {
    return this.hypervisor.run(`vm ${verb}`, [this.kept.vm_name, ...words]);
  }

  /** Switches on the configured router. */
  async switchOn(resources: AsyncDisposableStack): Promise<void> {
    await this.vm('start');
    await this.#openConsoles(resources);
  }

  /** Switches it off, if it still reacts; otherwise the end of its process does. */
  async switchOff(): Promise<void> {
    this.#isStopping = true;
    if (this.ended) return;
    try {
      await this.hypervisor.run('vm stop', [this.kept.vm_name], STOP_MS);
    } catch (error) {
      log.warn('a router does not let itself be switched off', { node: this.#node.id, reason: messageOf(error) });
    }
  }

  async suspend(): Promise<void> {
    await this.vm('suspend');
    this.isSuspended = true;
  }

  async resume(): Promise<void> {
    await this.vm('resume');
    this.isSuspended = false;
  }

  async #status(): Promise<string> {
    return (await this.vm('get_status')).text.trim();
  }

  async #openConsoles(resources: AsyncDisposableStack): Promise<void> {
    for (const line of [this.#console, this.#aux]) {
      await line?.open(() => this.ended !== undefined);
      resources.defer(() => line?.close());
    }
  }

  #end(exit: TerminalExit): void {
    this.hypervisor.close();
    this.finish(exitInfo({ ...exit, expected: exit.expected || this.#isStopping }));
  }
}
