// All commands of the shell.

import { until } from '../job.ts';
import { bold, type Command, Complaint } from './command.ts';
import { dhcp, ip } from './ip.ts';
import { ping } from './ping.ts';
import { echo, load, save, sleep } from './scripts.ts';
import { clear, set } from './settings.ts';
import { arp, history, show, version } from './show.ts';
import { trace } from './trace.ts';

function absent(does: string, instead: string): Command {
  return {
    summary: ['', does],
    help: `${does}.\n  ${instead}\n`,
    run() {
      throw new Complaint(instead);
    },
  };
}

const quit: Command = {
  summary: ['', 'Stop the PC'],
  help: `${bold('quit')}\n  Stops the PC; its settings are lost unless they were saved.\n`,
  *run(_words, pc) {
    pc.quit();
    // Nothing runs behind it, such as the rest of a script.
    yield* until<void>(() => undefined);
  },
};

const disconnect = absent('Leave the console', 'Close this window to leave the console; the PC goes on running.');
const relay = absent('Not used here', 'Packets are relayed by the links of the lab.');
const rlogin = absent('Not used here', 'There is no rlogin: open the console of the other node instead.');

const help: Command = {
  summary: ['', 'Show this list'],
  help: `${bold('help')} or ${bold('?')}\n  Shows the list of commands. ${bold('<command> ?')} explains one.\n`,
  // biome-ignore lint/correctness/useYield: nothing to wait for
  *run(_words, pc) {
    pc.print(`\n${overview()}\n`);
  },
};

/** In the order of the overview. */
export const COMMANDS: Readonly<Record<string, Command>> = {
  '?': help,
  arp,
  clear,
  dhcp,
  disconnect,
  echo,
  help,
  history,
  ip,
  load,
  ping,
  quit,
  relay,
  rlogin,
  save,
  set,
  show,
  sleep,
  trace,
  version,
};

const HIDDEN = new Set(['relay', 'rlogin']);

function overview(): string {
  const lines = Object.entries(COMMANDS)
    .filter(([name]) => !HIDDEN.has(name))
    .map(([name, { summary }]) => `${`${name} ${summary[0]}`.padEnd(25)}${summary[1]}`);
  return `${lines.join('\n')}\n\n'?' behind a command explains it.\n`;
}
