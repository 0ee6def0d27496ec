// `set` and `clear`: all settings except addresses.

import { describeFrame } from '../dump.ts';
import type { Job } from '../job.ts';
import type { DumpFlag } from '../settings.ts';
import { bold, type Command, Complaint, choose, type Surroundings } from './command.ts';
import { dumpFlags } from './show.ts';

const NAME = /^[!-Z^-~]{1,63}$/;
const SETTINGS = ['dump', 'echo', 'lport', 'mtu', 'pcname', 'rhost', 'rport'];
const DUMP_FLAGS: readonly DumpFlag[] = ['mac', 'raw', 'detail', 'all'];

function setName({ settings }: Surroundings, words: readonly string[]): void {
  const name = words.join(' ');
  if (!NAME.test(name)) throw new Complaint('Invalid name: up to 63 characters without blanks and brackets');
  settings.name = name;
}

function setDump(pc: Surroundings, words: readonly string[]): void {
  const { settings } = pc;
  if (words.includes('off')) settings.dump = [];
  else {
    const chosen = words.map((word) => choose(word, DUMP_FLAGS, 'Invalid options') as DumpFlag);
    settings.dump = DUMP_FLAGS.filter((flag) => settings.dump.includes(flag) || chosen.includes(flag));
  }
  watchFrames(pc);
  pc.print(`\n${dumpFlags(pc)}`);
}

function watchFrames({ host, settings, print }: Surroundings): void {
  host.link.watcher =
    settings.dump.length === 0 ? undefined : (frame, sent) => print(describeFrame(frame, sent, settings.dump));
}

function setEcho({ settings }: Surroundings, [value]: readonly string[]): void {
  if (value !== 'on' && value !== 'off') throw new Complaint('Invalid arguments: set echo on, or off');
  settings.echoes = value === 'on';
}

// biome-ignore lint/correctness/useYield: nothing to wait for
function* runSet(words: string[], pc: Surroundings): Job {
  const [first = '', ...rest] = words;
  const setting = choose(first, SETTINGS, 'Invalid command.');
  if (rest.length === 0) throw new Complaint('Incomplete command.');
  if (setting === 'pcname') setName(pc, rest);
  else if (setting === 'dump') setDump(pc, rest);
  else if (setting === 'echo') setEcho(pc, rest);
  else if (setting === 'mtu') throw new Complaint('The MTU of IPv4 is set by: ip mtu <bytes>');
  else throw new Complaint(`${setting} is not used here: the cable of this PC is made by the lab.`);
}

export const set: Command = {
  summary: ['[arguments]', 'Set the name, what is shown of packets and scripts'],
  words: SETTINGS,
  help: `${bold('set pcname <name>')}
  Sets the name of the PC, which is its prompt.
${bold('set echo on|off')}
  Whether scripts show their commands.
${bold('set dump [mac] [raw] [detail] [all]')} or ${bold('set dump off')}
  Shows packets:
    mac            their MAC addresses
    raw            their first bytes
    detail         what they say
    all            with what others send to all
${bold('set lport|rport|rhost ...')}
  Not used here: the cable of this PC is made by the lab.
`,
  run: runSet,
};

// biome-ignore lint/correctness/useYield: nothing to wait for
function* runClear(words: string[], pc: Surroundings): Job {
  const { host, settings, dhcp } = pc;
  switch (choose(words[0] ?? '', ['ip', 'ipv6', 'arp', 'neighbor', 'history'], 'Invalid options')) {
    case 'ip':
      host.ipv4.settings = undefined;
      dhcp.forget();
      settings.dns = [];
      settings.domain = '';
      pc.print('IPv4 address/mask, gateway, DNS, and DHCP cleared\n');
      break;
    case 'ipv6':
      host.ipv6.clear();
      settings.autoconfigures = false;
      pc.print('IPv6 address/mask and router link-layer address cleared\n');
      break;
    case 'arp':
      host.ipv4.neighbours.clear();
      break;
    case 'neighbor':
      host.ipv6.neighbours.clear();
      break;
    default:
      pc.history.length = 0;
  }
}

export const clear: Command = {
  summary: ['[arguments]', 'Forget addresses, neighbours or the history'],
  words: ['ip', 'ipv6', 'arp', 'neighbor', 'history'],
  help: `${bold('clear ip|ipv6|arp|neighbor|history')}
  Forgets the addresses of IPv4 (with name servers and lease) or IPv6, the neighbours of IPv4 or IPv6, or the
  commands that were typed.
`,
  run: runClear,
};
