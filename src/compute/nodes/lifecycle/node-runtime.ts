// What a node with a program runs, as the node knows it: a console, a command line, an end.
import type { EventEmitter } from 'node:events';
import type { Console } from '../../../consoles/console.ts';
import type { TerminalExit } from '../../../consoles/terminal.ts';
import { memoryKills } from '../../../host/processes/memory-kills.ts';

/** How what a node runs came to its end. */
export interface ExitInfo {
  /** Asked for by `stop`. */
  expected: boolean;
  /** What happened, when it was not the user who ended it: `with exit code 1`. */
  fault: string | undefined;
  /** The last it has said, for one that ended without a fault. */
  lastOutput?: string;
}

export interface NodeRuntime extends EventEmitter<{ end: [ExitInfo] }> {
  /** Undefined when there is none, or the program serves it on its port by itself (VNC, SPICE). */
  readonly console: Console | undefined;
  /** The second console, of kinds that have one. */
  readonly auxiliaryConsole?: Console | undefined;
  /** Of its process, if it has one of its own. */
  readonly pid?: number | undefined;
  /** It stands still, as its user has asked for. */
  readonly isSuspended?: boolean;
  /** How it ended, once it has: `end` may have been announced before anybody listened. */
  readonly ended: ExitInfo | undefined;
  /** As clients are told it. */
  readonly commandLine: string;
}

/** The end of a program that the supervisor kept. */
export function exitInfo({ expected, code, signal, lastOutput }: TerminalExit): ExitInfo {
  if (code === 0 && signal === undefined) return { expected, fault: undefined };
  const reason = signal === 'SIGKILL' && !expected ? memoryKills.reason() : undefined;
  const how =
    signal === undefined ? `with exit code ${code}` : `by ${signal}${reason === undefined ? '' : `: ${reason}`}`;
  return { expected, fault: `${how}. Last output: ${lastOutput}` };
}
