// `save`, `load`, `echo`, `sleep`: commands for scripts.

import { formatAddress } from '../address.ts';
import { DEFAULT_MTU } from '../ipv4.ts';
import { pause } from '../job.ts';
import { DEFAULT_NAME } from '../settings.ts';
import { bold, type Command, Complaint, type Surroundings } from './command.ts';
import { parseNumber } from './options.ts';

const STARTUP_FILE = 'startup.vpc';
const FILE_NAME = /^[\w-][\w. -]{0,99}$/;
const LONGEST_SLEEP_SECONDS = 86_400;

/** The commands that restore the PC's configuration. */
function configuration({ host, settings, dhcp }: Surroundings): string[] {
  const commands: string[] = [];
  if (settings.name !== DEFAULT_NAME) commands.push(`set pcname ${settings.name}`);
  const { settings: four, mtu } = host.ipv4;
  if (dhcp.isOn) commands.push('ip dhcp');
  else if (four !== undefined) {
    const way = four.gateway === undefined ? [] : [formatAddress(four.gateway)];
    commands.push(['ip', formatAddress(four.address), ...way, String(four.prefix)].join(' '));
  }
  if (mtu !== DEFAULT_MTU) commands.push(`ip mtu ${mtu}`);
  if (settings.dns.length > 0) commands.push(`ip dns ${settings.dns.map(formatAddress).join(' ')}`);
  if (settings.domain !== '') commands.push(`ip domain ${settings.domain}`);
  const { settings: six, gateway } = host.ipv6;
  if (settings.autoconfigures) commands.push('ip auto');
  else if (six !== undefined) {
    const way = gateway === undefined ? '' : ` ${formatAddress(gateway)}`;
    commands.push(`ip ${formatAddress(six.address)}/${six.prefix}${way}`);
  }
  if (settings.echoes) commands.push('set echo on');
  if (settings.dump.length > 0) commands.push(`set dump ${settings.dump.join(' ')}`);
  return commands;
}

function fileName(rest: string): string {
  const name = rest === '' ? STARTUP_FILE : rest;
  if (!FILE_NAME.test(name)) throw new Complaint(`Invalid file name: ${name}`);
  return name.includes('.') ? name : `${name}.vpc`;
}

export const save: Command = {
  summary: ['[<file>]', `Write the settings into a file; ${STARTUP_FILE}, unless named`],
  help: `${bold('save [<file>]')}
  Writes the settings as a script into <file> in the node's directory, ${STARTUP_FILE} without one. That one runs when
  the PC starts.
`,
  *run(_words, pc, rest) {
    const name = fileName(rest);
    pc.print(`Saving startup configuration to ${name}\n`);
    const problem = yield* pc.writeFile(name, `${configuration(pc).join('\n')}\n`);
    if (problem !== undefined) throw new Complaint(`Can't save: ${problem}`);
    pc.print('.  done\n');
  },
};

export const load: Command = {
  summary: ['[<file>]', `Run a file of commands; ${STARTUP_FILE}, unless named`],
  help: `${bold('load [<file>]')}
  Runs the commands in <file> in the node's directory, ${STARTUP_FILE} without one. Lines that begin with # or ! are
  comments. Ctrl+C ends the script.
`,
  *run(_words, pc, rest) {
    const name = fileName(rest);
    const text = yield* pc.readFile(name);
    if (text === undefined) throw new Complaint(`Can't open "${name}"`);
    pc.print(`\nExecuting the file "${name}"\n\n`);
    yield* pc.runScript(text);
  },
};

export const echo: Command = {
  summary: ['<text>', 'Print <text>'],
  help: `${bold('echo <text>')}\n  Prints <text>.\n`,
  // biome-ignore lint/correctness/useYield: nothing to wait for
  *run(_words, pc, rest) {
    pc.print(`${rest}\n`);
  },
};

export const sleep: Command = {
  summary: ['<seconds> [<text>]', 'Print <text> and wait'],
  help: `${bold('sleep [<seconds>] [<text>]')}
  Prints <text> and waits so long, or for a key when <seconds> is 0 or missing.
`,
  *run([first, ...text], pc) {
    const seconds = first === undefined ? 0 : parseNumber(first, 'the number of seconds', [0, LONGEST_SLEEP_SECONDS]);
    pc.print(text.length === 0 ? '\n' : `${text.join(' ')} \n`);
    if (seconds === 0) yield* pc.key();
    else yield* pause(pc.host, seconds * 1000);
  },
};
