// One running virtual PC: the program on its terminal, its input and its console.

import { EventEmitter } from 'node:events';
import { Console } from '../../../consoles/console.ts';
import { Terminal, type TerminalExit } from '../../../consoles/terminal.ts';
import { Failure } from '../../../failures.ts';
import { LineFeeder } from './line-feeder.ts';

/** VPCS polls 5,000 times a second while idle; woken up to this late it takes a tenth of the CPU (docs/vpcs.md). */
const TIMER_SLACK_MILLISECONDS = 5;
/** When VPCS has shown neither prompt nor failure by then, it is taken as started. */
const START_MILLISECONDS = 2000;
const BANNER_CHARACTERS = 4096;

export interface VpcsProcessOptions {
  /** Name of the node. */
  name: string;
  /** Program and arguments, see `vpcsCommand`. */
  command: readonly string[];
  /** The node's directory. */
  directory: string;
  environment: Readonly<Record<string, string>>;
}

interface VpcsProcessEvents {
  /** It ended after it had been started, by itself or by `stop`; the console's clients are gone by then. */
  exit: [TerminalExit];
}

/** What the first output tells: VPCS goes on without its network when its UDP port is taken. */
export function startOutcome(output: string): 'started' | 'starting' | { port: string; reason: string } {
  const [, port, reason] = /Open port (\d+) error \[([^\]]*)\]/.exec(output) ?? [];
  if (port !== undefined && reason !== undefined) return { port, reason };
  return /Executing the startup file|[\r\n]\S+> ?$/.test(output) ? 'started' : 'starting';
}

type Outcome = 'started' | TerminalExit | { port: string; reason: string };

/** To be started once; a node that starts again makes a new one. */
export class VpcsProcess extends EventEmitter<VpcsProcessEvents> {
  readonly console: Console;
  readonly #name: string;
  readonly #terminal: Terminal;

  constructor({ name, command, directory, environment }: VpcsProcessOptions) {
    super();
    const [program, ...args] = command as [string, ...string[]];
    const terminal = new Terminal({
      ...{ program, arguments: args, directory, environment },
      timerSlackMilliseconds: TIMER_SLACK_MILLISECONDS,
    });
    const feeder = new LineFeeder((bytes) => terminal.write(bytes));
    const console = new Console({
      name,
      write: (bytes) => feeder.input(bytes),
      resize: (columns, rows) => terminal.resize(columns, rows),
    });
    terminal.on('output', (chunk) => {
      console.output(chunk);
      feeder.output(chunk);
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
   * Resolves when VPCS takes commands or works on its start-up script, some 10 ms later as a rule.
   * @throws Failure `conflict` (`VPCSError`) when it cannot be started, ends at once or does not get its UDP port
   */
  async start(): Promise<void> {
    const terminal = this.#terminal;
    const { promise: settled, resolve: settle } = Promise.withResolvers<Outcome>();
    let banner = '';
    const look = (chunk: Buffer) => {
      banner = (banner + chunk.toString('latin1')).slice(-BANNER_CHARACTERS);
      const outcome = startOutcome(banner);
      if (outcome !== 'starting') settle(outcome);
    };
    terminal.on('output', look).once('exit', settle);
    const late = setTimeout(() => settle('started'), START_MILLISECONDS);
    let outcome: Outcome;
    try {
      await terminal.start();
      outcome = await settled;
    } finally {
      clearTimeout(late);
      terminal.off('output', look).off('exit', settle);
    }
    if (outcome === 'started') {
      terminal.on('exit', (exit) => this.emit('exit', exit));
      return;
    }
    await terminal.stop();
    throw new Failure('conflict', this.#explain(outcome), { exception: 'VPCSError' });
  }

  #explain(outcome: Exclude<Outcome, 'started'>): string {
    if ('port' in outcome) {
      return `UDP port ${outcome.port} of '${this.#name}' cannot be opened: ${outcome.reason}; end the program that has it and start the node again`;
    }
    const how = outcome.signal ?? `exit code ${outcome.code}`;
    return `VPCS of '${this.#name}' ended at once (${how}): ${outcome.lastOutput || 'no output'}`;
  }

  /** Ends the program; resolves when it is gone. */
  async stop(): Promise<void> {
    await this.#terminal.stop();
  }
}
