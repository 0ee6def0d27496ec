// The running program of a node as the node sees it: console, command line, exit.
import { EventEmitter, once } from 'node:events';
import type { Console } from '../../../consoles/console.ts';
import type { TerminalExit } from '../../../consoles/terminal.ts';
import { memoryKills } from '../../../host/processes/memory-kills.ts';
import type { ProgramHandle } from '../../../supervisor/client.ts';

/** How the running program ended. */
export interface ExitInfo {
  /** True after `stop`. */
  expected: boolean;
  /** The fault, unless the user ended it: `with exit code 1`. */
  fault: string | undefined;
  /** Its last output, if it ended without a fault. */
  lastOutput?: string;
}

/** Emits `end` once. */
export abstract class EndingRuntime extends EventEmitter<{ end: [ExitInfo] }> {
  #ended: ExitInfo | undefined;

  /** Set when it has ended: `end` may have been emitted before anyone listened. */
  get ended(): ExitInfo | undefined {
    return this.#ended;
  }

  protected finish(end: ExitInfo): void {
    this.#ended = end;
    this.emit('end', end);
  }
}

export interface NodeRuntime extends EndingRuntime {
  /** Undefined if it has none, or the program listens on the port itself (VNC, SPICE). */
  readonly console: Console | undefined;
  /** The second console, if the kind has one. */
  readonly auxiliaryConsole?: Console | undefined;
  /** Of its process, if it has its own. */
  readonly pid?: number | undefined;
  /** Whether the user has suspended it. */
  readonly isSuspended?: boolean;
  /** As clients see it. */
  readonly commandLine: string;
}

/** How a supervised program ended. */
export function exitInfo({ expected, code, signal, lastOutput }: TerminalExit): ExitInfo {
  if (code === 0 && signal === undefined) return { expected, fault: undefined };
  const reason = signal === 'SIGKILL' && !expected ? memoryKills.reason() : undefined;
  const how =
    signal === undefined ? `with exit code ${code}` : `by ${signal}${reason === undefined ? '' : `: ${reason}`}`;
  return { expected, fault: `${how}. Last output: ${lastOutput}` };
}

/**
 * Reattaches a program that outlived the server; `resources` stop it. Returns how it ended, if it did meanwhile: what
 * `reporter` emits then as `event`.
 */
export async function reattachProgram<End>(
  program: { reattach(handle: ProgramHandle): void; stop(): Promise<void> },
  handle: ProgramHandle,
  [reporter, event]: [reporter: EventEmitter, event: 'end' | 'exit'],
  resources: AsyncDisposableStack,
): Promise<End | undefined> {
  if (!handle.exit) {
    program.reattach(handle);
    resources.defer(() => program.stop());
    return undefined;
  }
  const ended = once(reporter, event);
  program.reattach(handle);
  return ((await ended) as [End])[0];
}
