// The console of an Ethernet switch: a small command line by telnet, shared by all clients.
import { setImmediate } from 'node:timers/promises';
import type { SwitchPort } from '../../../api/kinds/ethernet-switches.ts';
import type { MacTableRow } from '../../../api/routes/compute-nodes.ts';
import { Console } from '../../../consoles/console.ts';
import type { PortStatistics } from '../../../fabric/fabric.ts';
import { messageOf } from '../../../failures.ts';
import { LineEditor } from '../../../pc/shell/line-editor.ts';

/** Limit of text typed while a command runs; the rest is dropped. */
const HELD_CHARACTERS = 64 * 1024;

/** A port in the console's list. */
export interface PortRow extends SwitchPort {
  vlan: number;
  /** Undefined without a link. */
  statistics: PortStatistics | undefined;
}

export interface ConsoleSwitch {
  readonly name: string;
  macTable(): Promise<MacTableRow[]>;
  clearMacTable(): Promise<void>;
  listPorts(): Promise<PortRow[]>;
}

interface Command {
  /** The arguments, for the help. */
  readonly usage?: string;
  readonly help: string;
  /** Returns the output. */
  run(argument: string): Promise<string> | string;
}

export class SwitchConsole {
  readonly #switch: ConsoleSwitch;
  readonly console: Console;
  readonly #editor: LineEditor;
  #name: string;
  /** Text typed while a command runs. */
  #held = '';
  #isRunning = false;

  readonly #commands: Readonly<Record<string, Command>> = {
    mac: {
      usage: '[vlan]',
      help: 'Addresses that were learned',
      run: async (vlan) =>
        macTable((await this.#switch.macTable()).filter((row) => vlan === '' || `${row.vlan}` === vlan)),
    },
    ports: {
      help: 'Ports, their settings and their traffic',
      run: async () => portTable(await this.#switch.listPorts()),
    },
    'clear mac': {
      help: 'Forget the addresses',
      run: async () => {
        await this.#switch.clearMacTable();
        return '';
      },
    },
    help: { help: 'This list; ? as well', run: () => this.#help() },
    exit: {
      help: 'Disconnect',
      run: () => {
        this.console.closeClients('exit');
        return '';
      },
    },
  };

  constructor(node: ConsoleSwitch) {
    this.#switch = node;
    this.#name = node.name;
    this.console = new Console({
      name: node.name,
      write: (input) => this.#type(input.toString('latin1')),
      abandon: () => {
        this.#held = '';
      },
    });
    this.#editor = new LineEditor({
      print: (text) => this.#print(text),
      prompt: () => this.#prompt,
      complete: (before) => {
        const fitting = Object.keys(this.#commands).filter((name) => name.startsWith(before));
        return fitting.map((name) => name.slice(before.lastIndexOf(' ') + 1));
      },
    });
    this.#print(`\n${this.#name}: Ethernet switch. Type help for the commands.\n\n${this.#prompt}`);
  }

  /** Changes the name in the prompt. */
  rename(name: string): void {
    this.#name = name;
  }

  get #prompt(): string {
    return `${this.#name}> `;
  }

  /** False if text was dropped. */
  #type(text: string): boolean {
    // As on any terminal, Ctrl+C also drops text typed ahead.
    const interrupt = this.#isRunning ? text.lastIndexOf('\x03') : -1;
    const held = interrupt < 0 ? this.#held + text : text.slice(interrupt);
    this.#held = held.slice(0, HELD_CHARACTERS);
    if (!this.#isRunning) void this.#take();
    return held.length <= HELD_CHARACTERS;
  }

  async #take(): Promise<void> {
    this.#isRunning = true;
    while (this.#held !== '') {
      const character = this.#held[0]!;
      this.#held = this.#held.slice(1);
      const typed = this.#editor.key(character);
      if (typed?.kind === 'interrupt') this.#print(this.#prompt);
      if (typed?.kind !== 'line') continue;
      await this.#run(typed.line);
      // Other clients of the server get their turns between commands that wait for nothing.
      await setImmediate();
    }
    this.#isRunning = false;
  }

  async #run(line: string): Promise<void> {
    const words = line.trim().split(/\s+/).join(' ');
    const run = this.#find(words === '?' ? 'help' : words);
    if (words !== '') {
      try {
        this.#print(run === undefined ? `Unknown command: ${words}. Type help for the commands.\n` : await run());
      } catch (error) {
        this.#print(`${messageOf(error)}\n`);
      }
    }
    this.#print(this.#prompt);
  }

  #find(words: string): (() => Promise<string> | string) | undefined {
    for (const [name, command] of Object.entries(this.#commands)) {
      if (words === name) return () => command.run('');
      if (command.usage !== undefined && words.startsWith(`${name} `))
        return () => command.run(words.slice(name.length + 1));
    }
    return undefined;
  }

  #help(): string {
    const rows = Object.entries(this.#commands).map(([name, { usage = '', help }]) => [
      `${name} ${usage}`.trim(),
      help,
    ]);
    return table(rows);
  }

  #print(text: string): void {
    if (text !== '') this.console.output(Buffer.from(text.replaceAll('\n', '\r\n')));
  }
}

function macTable(rows: readonly MacTableRow[]): string {
  if (rows.length === 0) return 'No addresses.\n';
  return table([
    ['MAC', 'VLAN', 'Port', 'Age (s)'],
    ...rows.map(({ mac_address, vlan, port_name, age }) => [mac_address, vlan, port_name, age]),
  ]);
}

function portTable(rows: readonly PortRow[]): string {
  return table([
    ['Port', 'Type', 'VLAN', 'Linked', 'Frames in', 'Frames out', 'Dropped'],
    ...rows.map(({ name, type, vlan, ethertype, statistics }) => [
      name,
      type === 'qinq' ? `qinq ${ethertype || '0x8100'}` : type,
      vlan,
      statistics ? 'yes' : 'no',
      statistics?.toDevice.frames ?? 0,
      statistics?.toCable.frames ?? 0,
      statistics ? Object.values(statistics.drops).reduce((sum, count) => sum + count, 0) : 0,
    ]),
  ]);
}

/** The rows as lines, with two blanks between columns. */
function table(rows: readonly (readonly (string | number)[])[]): string {
  const widths = rows.reduce<number[]>(
    (most, row) => row.map((cell, column) => Math.max(most[column] ?? 0, String(cell).length)),
    [],
  );
  const lines = rows.map((row) =>
    row
      .map((cell, column) => String(cell).padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  );
  return lines.map((line) => `${line}\n`).join('');
}
