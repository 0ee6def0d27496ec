// One running virtual PC: the program on its terminal, its input and its console.

import { EventEmitter } from 'node:events';
import { Console } from '../../../consoles/console.ts';
import { Terminal, type TerminalExit } from '../../../consoles/terminal.ts';
import { conflict } from '../../../failures.ts';
import type { ProgramHandle, SupervisorClient } from '../../../supervisor/client.ts';
import { LineFeeder } from './line-feeder.ts';

/**
 * VPCS polls 5,000 times a second while idle. Woken up to this late it takes a tenth of the CPU time (docs/vpcs.md).
 */
const TIMER_SLACK_MS = 5;
/** A port that cannot be opened is reported right after the banner, long before the prompt (300 ms). */
const SETTLE_MS = 50;
/** A program with output other than VPCS's counts as started after so long. */
const STRANGE_MS = 2000;
/** A program without output hangs. */
const SILENCE_MS = 5000;
const BANNER_CHARACTERS = 4096;

const LF = 0x0a;

export interface VpcsProcessOptions {
  supervisor: SupervisorClient;
  /** Name of the node. */
  name: string;
  /** Program and arguments, see `vpcsCommand`. */
  command: readonly string[];
  /** The node's directory. */
  directory: string;
  environment: Readonly<Record<string, string>>;
  /** Kept with the program, to reattach it. */
  record?: object;
}

interface VpcsProcessEvents {
  /** It ended after its start, unexpectedly or by `stop`. The console's clients are disconnected by then. */
  exit: [TerminalExit];
}

/** Interprets the first output: VPCS continues without its network if its UDP port is taken. */
export function startOutcome(output: string): 'starting' | 'settling' | 'started' | { port: string; reason: string } {
  const [, port, reason] = /Open port (\d+) error \[([^\]]*)\]/.exec(output) ?? [];
  if (port !== undefined && reason !== undefined) return { port, reason };
  if (/Executing the startup file|[\r\n]\S+> ?$/.test(output)) return 'started';
  return output.includes("Press '?' to get help.") ? 'settling' : 'starting';
}

type Outcome = 'started' | 'silent' | TerminalExit | { port: string; reason: string };

/** The unfinished last line, as if it had just begun: enough to detect whether VPCS waits for a command. */
function lastLine(history: Buffer): Buffer {
  return Buffer.concat([Buffer.of(LF), history.subarray(history.lastIndexOf(LF) + 1)]);
}

/** Can be started or reattached once. A node that starts again creates a new one. */
export class VpcsProcess extends EventEmitter<VpcsProcessEvents> {
  readonly console: Console;
  readonly #name: string;
  readonly #terminal: Terminal;
  /** The first output. */
  #banner = '';
  /** The next output is from the previous run of this process. */
  #isHistory = false;

  constructor({ supervisor, name, command, directory, environment, record = {} }: VpcsProcessOptions) {
    super();
    const [program, ...args] = command as [string, ...string[]];
    const terminal = new Terminal({
      supervisor,
      program,
      arguments: args,
      directory,
      environment,
      record,
      timerSlackMilliseconds: TIMER_SLACK_MS,
    });
    const feeder = new LineFeeder((bytes) => terminal.write(bytes));
    const console = new Console({
      name,
      write: (bytes) => feeder.input(bytes),
      resize: (columns, rows) => terminal.resize(columns, rows),
    });
    terminal.on('output', (chunk) => {
      if (this.#banner.length < BANNER_CHARACTERS) this.#banner += chunk.toString('latin1');
      console.output(chunk);
      feeder.output(this.#isHistory ? lastLine(chunk) : chunk);
      this.#isHistory = false;
    });
    terminal.on('exit', () => {
      feeder.stop();
      console.closeClients(`${name} has stopped`);
    });
    this.#name = name;
    this.#terminal = terminal;
    this.console = console;
  }

  get pid(): number | undefined {
    return this.#terminal.pid;
  }

  /**
   * Resolves when VPCS runs, usually after 60 ms.
   * @throws Failure `conflict` (`VPCSError`) if it cannot be started, ends at once or does not get its UDP port
   */
  async start(): Promise<void> {
    const terminal = this.#terminal;
    const { promise: settled, resolve: settle } = Promise.withResolvers<Outcome>();
    let timer: NodeJS.Timeout | undefined;
    const phases = new Set<string>();
    const stopLooking = this.#look((outcome) => {
      if (outcome !== 'starting' && outcome !== 'settling') return settle(outcome);
      if (phases.has(outcome)) return;
      phases.add(outcome);
      clearTimeout(timer);
      timer = setTimeout(() => settle('started'), outcome === 'settling' ? SETTLE_MS : STRANGE_MS);
    });
    // Output and end may arrive together: then the output does not count.
    let over: TerminalExit | undefined;
    const ended = (exit: TerminalExit): void => {
      over = exit;
      settle(exit);
    };
    terminal.once('exit', ended);
    try {
      await terminal.start();
      // From here on: a busy host may need seconds to start the supervisor.
      timer ??= setTimeout(() => settle('silent'), SILENCE_MS);
      const said = await settled;
      const outcome = over ?? said;
      if (outcome !== 'started') {
        await terminal.stop();
        throw conflict(this.#explain(outcome), { exception: 'VPCSError' });
      }
    } finally {
      clearTimeout(timer);
      stopLooking();
      terminal.off('exit', ended);
    }
    terminal.on('exit', (exit) => this.emit('exit', exit));
    // On a busy host the error may come later. A PC without a network is useless.
    const stopWatching = this.#look((outcome) => {
      if (outcome === 'starting' || outcome === 'settling') return;
      stopWatching();
      if (outcome !== 'started') terminal.signal('SIGKILL');
    });
  }

  /** Reattaches a program of the previous run of this process; its console shows the kept output. */
  reattach(handle: ProgramHandle): void {
    this.#isHistory = true;
    this.#terminal.on('exit', (exit) => this.emit('exit', exit));
    this.#terminal.reattach(handle);
  }

  /** Interprets the output so far, whenever more arrives, until the returned function is called. */
  #look(tell: (outcome: ReturnType<typeof startOutcome>) => void): () => void {
    const look = () => tell(startOutcome(this.#banner));
    this.#terminal.on('output', look);
    return () => void this.#terminal.off('output', look);
  }

  #explain(outcome: Exclude<Outcome, 'started'>): string {
    if (outcome === 'silent') {
      return `VPCS of '${this.#name}' said nothing for ${SILENCE_MS / 1000} s; set vpcs_path in section [VPCS] to a working vpcs program`;
    }
    if ('port' in outcome) {
      return `UDP port ${outcome.port} of '${this.#name}' cannot be opened: ${outcome.reason}; end the program that has it and start the node again`;
    }
    const how = outcome.signal ?? `exit code ${outcome.code}`;
    return `VPCS of '${this.#name}' ended at once (${how}): ${outcome.lastOutput || 'no output'}`;
  }

  /** Ends the program; resolves when it has ended. */
  async stop(): Promise<void> {
    await this.#terminal.stop();
  }
}
