// A running machine: its process, its connections, and reattaching it after a restart of the server.

import { readdirSync } from 'node:fs';
import { realpath, rm, writeFile } from 'node:fs/promises';
import { setPriority } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Terminal, TerminalExit } from '../../../consoles/terminal.ts';
import { type Failure, messageOf } from '../../../failures.ts';
import { log } from '../../../host/log.ts';
import { memoryOf } from '../../../host/processes/child-processes.ts';
import { quoted } from '../../../host/terminal/shell-word.ts';
import type { ProgramHandle } from '../../../supervisor/client.ts';
import { SerialConsole } from '../../nodes/consoles/serial-console.ts';
import { connectWhenThere } from '../../nodes/consoles/unix-sockets.ts';
import { programRecord, programTerminal } from '../../nodes/lifecycle/node-program.ts';
import {
  EndingRuntime,
  type ExitInfo,
  exitInfo,
  type NodeRuntime,
  reattachProgram,
} from '../../nodes/lifecycle/node-runtime.ts';
import { DiskErrors } from './disk-errors.ts';
import { mustHoldBytes } from './disk-space.ts';
import { SAVED_STATE } from './disks.ts';
import { findHalt, type Halt } from './halts.ts';
import { KEPT, type QemuKept } from './kept.ts';
import { loadState, STATE_MS, saveState } from './machine-state.ts';
import { mustHaveOpenOnly } from './open-files.ts';
import type { MachineOwner } from './qemu-host.ts';
import { Qmp } from './qmp.ts';
import { refusal } from './refusal.ts';
import { AGENT_SOCKET, QMP_SOCKET, SERIAL_DEVICE, SERIAL_SOCKET } from './sockets.ts';
import { Throttle } from './throttle.ts';

const LOG = 'qemu.log';
/** Precedes QEMU's output in the log. */
const HEADING = 'Output:';
/** A machine that takes longer to answer hangs. */
const START_MS = 60_000;
/** How long a program that has closed its sockets may take to end. */
const LAST_WORDS_MS = 5_000;
/** QEMU's output about a halt arrives separately from the event. */
const WORDS_MS = 200;
/** How long a guest may take to shut down, and to save its state. */
const CLOSE_MS = 120_000;

const NICE: Readonly<Record<string, number>> = {
  realtime: -20,
  'very high': -15,
  high: -5,
  normal: 0,
  low: 5,
  'very low': 19,
};

export interface MachineStart {
  emulator: string;
  words: readonly string[];
  kept: QemuKept;
  udpPorts: readonly number[];
  taps: readonly string[];
  /** Id of the process in whose network namespace they are created. Default: the supervisor's. */
  tapNetwork?: number;
  priority: string;
  /** Per cent of one core; 0 for no limit. */
  throttling: number;
  /** Files that it writes to. */
  disks: readonly string[];
  /** Real paths of the only files that it may open; undefined if the user's options may open any. */
  opens: ReadonlySet<string> | undefined;
  /** The state to continue from, if it is not on the command line. */
  load?: string;
}

/** A machine of the server's previous run. */
export interface MachineLeft {
  handle: ProgramHandle;
  commandLine: string;
  kept: QemuKept;
  throttling: number;
  disks: readonly string[];
}

export type OnClose = 'power_off' | 'shutdown_signal' | 'save_vm_state';

export class QemuRuntime extends EndingRuntime implements NodeRuntime {
  readonly commandLine: string;
  readonly kept: QemuKept;
  /** Paused until resumed. */
  isSuspended = false;
  /** Called when the machine was halted or resumed without a request. */
  onHalt: (() => void) | undefined;
  #halt: Halt | undefined;
  /** We paused the machine, for its user or briefly. */
  #isOurPause = false;
  readonly #node: MachineOwner;
  readonly #terminal: Terminal;
  readonly #serial: SerialConsole | undefined;
  readonly #throttle: Throttle;
  #diskErrors: DiskErrors | undefined;
  /** Of all files that it writes to. */
  #directories: readonly string[] = [];
  #qmp: Qmp | undefined;
  #isStopping = false;

  private constructor(
    node: MachineOwner,
    command: readonly string[],
    commandLine: string,
    kept: QemuKept,
    record: object,
    { taps, tapNetwork }: Pick<MachineStart, 'taps' | 'tapNetwork'> = { taps: [] },
  ) {
    super();
    this.#node = node;
    this.kept = kept;
    this.commandLine = commandLine;
    this.#serial = kept.serial ? new SerialConsole(node.name, () => void this.#sendBreak()) : undefined;
    this.#terminal = programTerminal(node, command, {
      record,
      log: join(node.directory, LOG),
      ...(taps.length > 0 && { taps }),
      ...(tapNetwork !== undefined && { tapNetwork }),
    });
    this.#terminal.on('exit', (exit) => this.#end(exit));
    this.#throttle = new Throttle({ node, pid: () => this.#terminal.pid });
  }

  get console() {
    return this.#serial?.console;
  }

  async #sendBreak(): Promise<void> {
    try {
      await this.#qmp?.run('chardev-send-break', { id: SERIAL_DEVICE });
    } catch (error) {
      log.debug('a Break was not sent', { node: this.#node.id, reason: messageOf(error) });
    }
  }

  get pid(): number | undefined {
    return this.#terminal.pid;
  }

  /**
   * Starts the machine, halted: `resume` runs it. `resources` end it.
   * @throws Failure `conflict` (`QemuError`) with QEMU's last output if it does not start
   */
  static async start(node: MachineOwner, start: MachineStart, resources: AsyncDisposableStack): Promise<QemuRuntime> {
    const command = [start.emulator, ...start.words];
    const line = command.map(quoted).join(' ');
    const about = { kind: 'qemu', command_line: line, udp_ports: [...start.udpPorts], data: start.kept };
    const record = programRecord(node, KEPT, about);
    const runtime = new QemuRuntime(node, command, line, start.kept, record, start);
    const { directory } = node;
    for (const name of [QMP_SOCKET, SERIAL_SOCKET, AGENT_SOCKET, LOG]) {
      await rm(join(directory, name), { force: true });
      if (name !== LOG) resources.defer(() => rm(join(directory, name), { force: true }));
    }
    await writeFile(join(directory, LOG), `Start QEMU with: ${line}\n\n${HEADING}\n`, { flag: 'wx', mode: 0o600 });
    await runtime.#terminal.start();
    resources.defer(() => runtime.#terminal.stop());
    await runtime.#connect(start.disks, resources, start.words.includes('-loadvm') ? STATE_MS : undefined);
    if (start.opens && runtime.pid !== undefined) {
      const paths = new Set([...start.opens, await realpath(join(directory, LOG))]);
      await mustHaveOpenOnly(paths, runtime.pid, node.name);
    }
    // Unless the user sets another action: QEMU would end, and the reason would be lost.
    if (!start.words.includes('-action')) await runtime.#pauseOnPanic();
    if (start.load !== undefined) await loadState(runtime.qmp, start.load);
    runtime.#prioritise(start.priority);
    resources.use(runtime.#throttle);
    await runtime.throttle(start.throttling);
    return runtime;
  }

  /** Reattaches a machine that outlived the server. Returns how it ended, if it did meanwhile. */
  static async reattach(
    node: MachineOwner,
    { handle, commandLine, kept, throttling, disks }: MachineLeft,
    resources: AsyncDisposableStack,
  ): Promise<QemuRuntime | ExitInfo> {
    const runtime = new QemuRuntime(node, [], commandLine, kept, {});
    for (const name of [QMP_SOCKET, SERIAL_SOCKET, AGENT_SOCKET])
      resources.defer(() => rm(join(node.directory, name), { force: true }));
    const end = await reattachProgram<ExitInfo>(runtime.#terminal, handle, [runtime, 'end'], resources);
    if (end) return end;
    resources.use(runtime.#throttle);
    await runtime.#throttle.reattach(throttling);
    // It may be saving a state.
    await runtime.#connect(disks, resources, STATE_MS);
    const { status } = (await runtime.qmp.run('query-status')) as { status: string };
    runtime.isSuspended = status === 'paused';
    runtime.#isOurPause = runtime.isSuspended;
    if (status === 'prelaunch') await runtime.resume();
    if (status === 'io-error') runtime.#diskErrors?.waitForSpace();
    await runtime.#lookForHalt();
    return runtime;
  }

  /** @throws Failure `conflict` if the connection to the machine is lost */
  get qmp(): Qmp {
    if (this.#qmp && !this.ended) return this.#qmp;
    throw refusal(`${this.#node.name} cannot be talked to: it has ended.`);
  }

  /** Of an adapter, as seen by the guest. */
  async setLink(adapter: number, up: boolean): Promise<void> {
    await this.qmp.run('set_link', { name: `gns3-${adapter}`, up });
  }

  async suspend(): Promise<void> {
    await this.pause();
    this.isSuspended = true;
  }

  /** Pauses the machine until `qmp` runs `cont`. */
  async pause(): Promise<void> {
    this.#isOurPause = true;
    await this.qmp.run('stop');
  }

  /** Resumes it, with a reset if it cannot continue otherwise. */
  async resume(): Promise<void> {
    if (this.#halt?.needsReset) {
      const isReset = this.qmp.next('RESET');
      await this.qmp.run('system_reset');
      await isReset;
    }
    await this.qmp.run('cont');
    this.isSuspended = false;
  }

  /** Why it was halted, with the fix; undefined if it was not. */
  get haltReason(): string | undefined {
    return this.#halt && `${this.#halt.reason}; ${this.#halt.fix}`;
  }

  /** @param percent of one core; 0 for no limit. @throws Failure `conflict` (`QemuError`) if the limit cannot be set */
  async throttle(percent: number): Promise<void> {
    await this.#throttle.set(percent);
  }

  /** Like the reset button of a PC. */
  async reset(): Promise<void> {
    await this.qmp.run('system_reset');
    if (this.#halt) await this.resume();
  }

  /** Inserts another CD, or none. */
  async changeCd(path: string): Promise<void> {
    const drives = (await this.qmp.run('query-block')) as { device: string }[];
    // A q35 has one drive on each bus, other PCs have two.
    const device = drives.find((drive) => /^ide\d+-cd\d+$/.test(drive.device))?.device ?? 'ide1-cd0';
    if (path === '') await this.qmp.run('eject', { device, force: true });
    else await this.qmp.run('blockdev-change-medium', { device, filename: path, format: 'raw', force: true });
  }

  /** Ends the guest in the configured way, if it reacts. Otherwise the resources end it. */
  async close(how: OnClose): Promise<void> {
    this.#isStopping = true;
    if (how === 'power_off' || this.ended) return;
    try {
      if (how === 'shutdown_signal') {
        if (this.isSuspended) await this.resume();
        await this.qmp.run('system_powerdown');
        for (const end = performance.now() + CLOSE_MS; !this.ended && performance.now() < end; ) await sleep(100);
        if (!this.ended) this.#warn('has not shut down within 120 s: it is switched off');
      } else {
        await this.pause();
        await this.mustHoldMemory()
          .then(() => saveState(this.qmp, SAVED_STATE))
          .catch((error: unknown) => this.#warn(`has not saved its state: ${messageOf(error)}`));
      }
    } catch (error) {
      this.#warn(`does not end as it should: ${messageOf(error)}`);
    }
  }

  /** Call before its memory is saved in its disks. @throws Error with the figures if there is not enough space */
  async mustHoldMemory(): Promise<void> {
    const { 'base-memory': whole } = (await this.qmp.run('query-memory-size-summary')) as { 'base-memory': number };
    // Untouched memory takes no space.
    const touched = (this.pid && memoryOf(this.pid)) ?? whole;
    await mustHoldBytes(Math.min(touched, whole), this.#directories);
  }

  #warn(what: string): void {
    const { services, name, project } = this.#node;
    services.events.emit('log.warning', { message: `${name} ${what}` }, project.id);
  }

  /** @param answerMs how long it may answer nothing */
  async #connect(disks: readonly string[], resources: AsyncDisposableStack, answerMs?: number): Promise<void> {
    const { directory } = this.#node;
    const deadline = performance.now() + START_MS;
    const isOver = (): boolean => this.ended !== undefined || performance.now() > deadline;
    const control = await connectWhenThere(directory, QMP_SOCKET, isOver);
    if (!control) throw this.#doesNotStart();
    this.#qmp = await Qmp.open(control, answerMs).catch(async (error: unknown) => {
      // It closes its sockets before it ends: its last output follows.
      for (const end = performance.now() + LAST_WORDS_MS; !this.ended && performance.now() < end; ) await sleep(20);
      throw this.ended ? this.#doesNotStart() : error;
    });
    resources.defer(() => this.#qmp?.close());
    this.#directories = [...new Set(disks.map((path) => dirname(path)))];
    this.#diskErrors = new DiskErrors({
      node: this.#node,
      qmp: this.#qmp,
      directories: this.#directories,
      isOver: () => this.ended !== undefined || this.#isStopping,
      isSuspended: () => this.isSuspended,
    });
    this.#qmp.on('event', (name) => {
      if (name === 'STOP') void this.#lookForHalt();
      else if (name === 'RESUME') this.#goesOn();
    });
    if (!this.#serial) return;
    const socket = await connectWhenThere(directory, SERIAL_SOCKET, isOver);
    if (!socket) throw this.#doesNotStart();
    this.#serial.open(socket);
    resources.defer(() => this.#serial?.close());
  }

  /** Before QEMU 6.0 this is not possible, and QEMU ends instead. */
  async #pauseOnPanic(): Promise<void> {
    await this.qmp.run('set-action', { panic: 'pause' }).catch((error: unknown) => {
      log.debug('qemu: a panic of the guest ends the machine', { node: this.#node.id, reason: messageOf(error) });
    });
  }

  async #lookForHalt(): Promise<void> {
    const { name, project, services, id } = this.#node;
    try {
      const context = {
        qmp: this.qmp,
        isOurPause: () => this.#isOurPause,
        diskError: () => this.#diskErrors?.lastError,
        lastWords: () => ownWords(this.#terminal.lastOutput()),
      };
      if ((await findHalt(context)) === undefined) return;
      await sleep(WORDS_MS);
      const halt = await findHalt(context);
      if (halt === undefined || this.#isStopping) return;
      this.#halt = halt;
      // Without space it resumes automatically, and the user was notified.
      if (this.#diskErrors?.isWaiting !== true) {
        this.isSuspended = true;
        const message = `${name} stands still: ${this.haltReason}.`;
        services.events.emit('log.error', { message }, project.id);
      }
      this.onHalt?.();
    } catch (error) {
      // It is ending, which is reported.
      if (!this.ended) log.debug('qemu: the state is unknown', { node: id, reason: messageOf(error) });
    }
  }

  #goesOn(): void {
    this.#isOurPause = false;
    if (this.#halt === undefined) return;
    this.#halt = undefined;
    this.isSuspended = false;
    this.onHalt?.();
  }

  #doesNotStart(): Failure {
    const why = this.ended ? 'ended at once' : `does not answer within ${START_MS / 1000} s`;
    const words = ownWords(this.#terminal.lastOutput()).split('\n').slice(-3).join(' ');
    return refusal(`QEMU of '${this.#node.name}' ${why}: ${words}`);
  }

  #end(exit: TerminalExit): void {
    const expected = exit.expected || this.#isStopping;
    const lastOutput = ownWords(exit.lastOutput);
    this.#qmp?.close();
    this.finish({ ...exitInfo({ ...exit, expected, lastOutput }), lastOutput });
  }

  /** Sets the priority of every thread; new ones inherit it. A failure is only logged. */
  #prioritise(priority: string): void {
    const nice = NICE[priority] ?? 0;
    const { pid } = this.#terminal;
    if (nice === 0 || pid === undefined) return;
    try {
      for (const thread of readdirSync(`/proc/${pid}/task`)) setPriority(Number(thread), nice);
    } catch (error) {
      log.warn('a machine keeps the usual priority', { node: this.#node.id, reason: messageOf(error) });
    }
  }
}

/** The end of the log without the lines before QEMU's output. */
function ownWords(end: string): string {
  return end.slice(end.lastIndexOf(HEADING) + (end.includes(HEADING) ? HEADING.length : 1)).trim();
}
