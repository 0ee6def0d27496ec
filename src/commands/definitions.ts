// The command line: `labwired [serve]`, `labwired doctor`, `labwired help`, `labwired demo URL`, `labwired password`, `labwired user`,
// `labwired audit`, `labwired cluster`, `labwired recover`,
// `labwired backup DIR`, `labwired version`; and the first word of the commands that speak to a running server, which are in src/client.
import { parseArgs } from 'node:util';
import type { ConfigSources } from '../config/load.ts';
import { defined } from '../host/values/defined-members.ts';
import { didYouMean, flagMistake } from '../host/values/nearest-name.ts';
import { WrongUsage } from './wrong-usage.ts';

export const HELP = `labwired: a network-lab server in one executable (GNS3 API v2)

  labwired [serve] [options]   run the server (default)
  labwired doctor  [options]   check this host; --json for scripts, --fix prints the commands
                               that fix it (does not run them)
  labwired help [TOPIC[#PART]] show a document; without a topic, list them
  labwired demo URL            build a small lab on a running server and show it
  labwired password [options]  change the password; --generate prints a random one, --user NAME renames
  labwired user add|remove|password|role|lock|unlock|list [NAME...]   accounts for people who share the host
  labwired audit   [--json]    who changed what, from where
  labwired cluster init|join|token|status|hand-over|forget|renew|leave   several hosts as one (labwired help cluster)
  labwired recover [options]   rebuild a damaged state database from its readable parts
  labwired backup DIR          copy the state directory and all projects, even while the server runs
  labwired version             print the version

On a running server, this host's or --server URL; for details: labwired lab --help, and so on:
  labwired lab list|create|open|close|update|duplicate|delete|lock|unlock|start|stop|share|layout|notes|
               export|import|check|schema|import-containerlab
  labwired node list|create|update|duplicate|move|start|stop|reload|isolate|unisolate|delete|restore|console|exec
  labwired link list|create|update|reset|delete  labwired capture LINK
  labwired snapshot list|create|restore|delete
  labwired image list|upload|download|delete
  labwired template list|create|update|delete
  labwired appliance list [WORD]           labwired events [LAB]
  labwired compute list|add|update|drain|undrain|remove
  labwired top [LAB]                       labwired logs [LAB] [NODE]
  labwired wait STATE [NODE...]            labwired context list|add|use|remove
  labwired token create|list|revoke        labwired group create|list|add|remove|delete

Labs as text, in files (lab.yaml):
  labwired plan [FILE]     show the changes        labwired apply [FILE]    make them
  labwired diff [FILE]     show the differences    labwired destroy [FILE]  delete the lab
  labwired test [FILE]     run its checks          labwired export LAB --yaml   write a lab as a file

Options of serve, doctor, password, user, audit, cluster, recover and backup:
  --host ADDRESS       listen here (127.0.0.1)        --port NUMBER   on this port (3080)
  --state DIR          the state directory            --config FILE   read only this configuration file
  --local, -L          accept paths of this machine's own disk from clients
  --allow, -A          consoles listen on all addresses
  --insecure           listen beyond loopback without authentication
  --ssl                serve HTTPS, with a certificate made here, or --certfile FILE --certkey FILE
  --api-version X.Y.Z  the release reported to clients (their own)
  --log FILE           write the log there            --quiet, -q     warnings and errors only
  --pid FILE           write the process id there     --debug, -d     more
  --record FILE        append one curl line for each JSON request, without passwords
`;

/** Arguments of `labwired cluster`, by verb. */
export const CLUSTER_VERBS: Readonly<Record<string, string>> = {
  init: '--name NAME --address ADDRESS[:PORT] [--servers 1|3|5] [--host-name NAME]',
  join: "'lab://HOST:PORT#TOKEN' [--address ADDRESS[:PORT]] [--host-name NAME] [--standby|--no-standby]",
  token: '[--storage]',
  status: '[--json]',
  'hand-over': '[HOST]',
  forget: 'HOST',
  renew: '',
  leave: '',
};

const CLUSTER_HELP = `labwired cluster: several hosts as one (labwired help cluster)

${Object.entries(CLUSTER_VERBS)
  .map(([verb, words]) => `  labwired cluster ${verb} ${words}`.trimEnd())
  .join('\n')}

  --name NAME           of the cluster
  --address ADDRESS     by which other hosts reach NATS on this one; port 4222 without another
  --servers COUNT       how many hosts are to run NATS: 3 bear the loss of one of them
  --storage             the line is for a host that is to run NATS
  --nats URL            with init instead of --address, and with join instead of lab://...: use an existing
                        NATS, nats://HOST:PORT or tls://HOST:PORT
  --credentials FILE    with --nats: lets all hosts of the cluster in there
  --host-name NAME      of this host in the cluster; without it the system's name
  --standby             this host takes over when the controller's host dies; as one that runs NATS does
                        without --no-standby
`;

const OPTIONS_AT = HELP.indexOf('\nOptions of serve');

/** Arguments of `labwired user`, by verb. */
export const USER_VERBS: Readonly<Record<string, string>> = {
  add: 'NAME... [--role ROLE] [--password-file FILE | --generate] [--json]',
  remove: 'NAME...',
  password: 'NAME [--password-file FILE | --generate]',
  role: 'NAME --role ROLE',
  lock: 'NAME...',
  unlock: 'NAME...',
  list: '[--json]',
};

const USER_HELP = `labwired user: accounts for people who share this host (labwired help accounts)

${Object.entries(USER_VERBS)
  .map(([verb, words]) => `  labwired user ${verb} ${words}`)
  .join('\n')}

  --role ROLE           admin, user (default), observer or none
  --password-file FILE  its first line is the password; for several accounts one line each
  --generate            create and print a random password for each account
                        Without either, type the password, or give it on standard input.
  --json                with list and add: for programs
`;

/** The output of `labwired COMMAND --help`, or without a command the general help. */
export function helpOf(command: string | undefined): string {
  if (command === undefined) return HELP;
  if (command === 'cluster') return CLUSTER_HELP + HELP.slice(OPTIONS_AT);
  if (command === 'user') return USER_HELP + HELP.slice(OPTIONS_AT);
  const rows = HELP.slice(0, HELP.indexOf('\n\nOn a running server')).split('\n');
  const starts = (row: string): boolean =>
    row.startsWith(`  labwired ${command} `) || row.startsWith(`  labwired [${command}] `);
  const first = rows.findIndex(starts);
  const next = rows.findIndex((row, index) => index > first && row.startsWith('  labwired '));
  const own = rows.slice(first, next === -1 ? undefined : next).join('\n');
  return `${own}\n${isConfigured(command) ? HELP.slice(OPTIONS_AT) : ''}`;
}

/** @throws WrongUsage unless the words after `labwired user` are a verb and its arguments */
function checkUser([verb, name, ...more]: readonly string[], role: string | undefined): void {
  const verbs = Object.keys(USER_VERBS);
  if (verb === undefined) throw new WrongUsage(`Say what to do: labwired user ${verbs.join('|')}`);
  const words = USER_VERBS[verb];
  if (words === undefined)
    throw new WrongUsage(`There is no "labwired user ${verb}"${didYouMean(verb, verbs)} See labwired user --help`);
  const write = `Write: labwired user ${verb} ${words}`;
  const takesName = words.startsWith('NAME');
  if (takesName && !name) throw new WrongUsage(`NAME is missing. ${write}`);
  if (more.includes('')) throw new WrongUsage(`A name is empty. ${write}`);
  const [extra] = words.startsWith('NAME...') ? [] : takesName ? more : [name, ...more];
  if (extra !== undefined) throw new WrongUsage(`"${extra}" is one argument too many. ${write}`);
  if (verb === 'role' && role === undefined) throw new WrongUsage(`--role ROLE is missing. ${write}`);
}

/** @throws WrongUsage unless the words after `labwired cluster` are a verb and its argument */
function checkCluster(
  [verb, ...rest]: readonly string[],
  given: {
    name?: string;
    address?: string;
    nats?: string;
    credentials?: string;
    standby?: boolean;
    'no-standby'?: boolean;
  },
): void {
  const verbs = Object.keys(CLUSTER_VERBS);
  if (verb === undefined) throw new WrongUsage(`Say what to do: labwired cluster ${verbs.join('|')}`);
  const words = CLUSTER_VERBS[verb];
  if (words === undefined)
    throw new WrongUsage(
      `There is no "labwired cluster ${verb}"${didYouMean(verb, verbs)} See labwired cluster --help`,
    );
  const write = `Write: labwired cluster ${verb} ${words}`.trimEnd();
  const isExisting = given.nats !== undefined;
  if (isExisting !== (given.credentials !== undefined))
    throw new WrongUsage(`--nats URL and --credentials FILE are given together. See labwired cluster --help`);
  const expected = verb === 'forget' || (verb === 'join' && !isExisting) ? 1 : 0;
  if (rest.length < expected) throw new WrongUsage(`An argument is missing. ${write}`);
  const most = verb === 'hand-over' ? 1 : expected;
  if (rest.length > most) throw new WrongUsage(`"${rest[most]}" is one argument too many. ${write}`);
  if (verb === 'init' && (given.name === undefined || (given.address === undefined && !isExisting)))
    throw new WrongUsage(`--name and --address are needed. ${write}`);
  if (given.standby && given['no-standby'])
    throw new WrongUsage(`--standby and --no-standby contradict each other. ${write}`);
  if ((given.standby || given['no-standby']) && verb !== 'join')
    throw new WrongUsage(`--standby and --no-standby are options of labwired cluster join. ${write}`);
}

/** Flags that set a configuration key. */
const FLAG_KEYS = {
  host: { type: 'string', key: 'host' },
  port: { type: 'string', key: 'port' },
  ssl: { type: 'boolean', key: 'ssl' },
  certfile: { type: 'string', key: 'certfile' },
  certkey: { type: 'string', key: 'certkey' },
  record: { type: 'string', key: 'record' },
  local: { type: 'boolean', short: 'L', key: 'local' },
  allow: { type: 'boolean', short: 'A', key: 'allow_remote_console' },
  insecure: { type: 'boolean', key: 'insecure' },
  quiet: { type: 'boolean', short: 'q', key: 'quiet' },
  debug: { type: 'boolean', short: 'd', key: 'debug' },
  log: { type: 'string', key: 'log' },
  shell: { type: 'boolean', key: 'shell' },
  'api-version': { type: 'string', key: 'version' },
} as const;

/** Flags of release 2.2.57 for things that systemd and journald do here. */
const IGNORED_FLAGS = {
  daemon: { type: 'boolean' },
  logmaxsize: { type: 'string' },
  logbackupcount: { type: 'string' },
  logcompression: { type: 'boolean' },
  profile: { type: 'string' },
} as const;

const OTHER_FLAGS = {
  config: { type: 'string' },
  state: { type: 'string' },
  pid: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' },
} as const;

/** Flags of some commands only. */
const OWN_FLAGS = {
  json: { type: 'boolean', of: ['doctor', 'user', 'audit', 'cluster'] },
  name: { type: 'string', of: ['cluster'] },
  address: { type: 'string', of: ['cluster'] },
  'host-name': { type: 'string', of: ['cluster'] },
  standby: { type: 'boolean', of: ['cluster'] },
  'no-standby': { type: 'boolean', of: ['cluster'] },
  servers: { type: 'string', of: ['cluster'] },
  storage: { type: 'boolean', of: ['cluster'] },
  nats: { type: 'string', of: ['cluster'] },
  credentials: { type: 'string', of: ['cluster'] },
  fix: { type: 'boolean', of: ['doctor'] },
  generate: { type: 'boolean', of: ['password', 'user'] },
  user: { type: 'string', of: ['password'] },
  role: { type: 'string', of: ['user'] },
  'password-file': { type: 'string', of: ['user'] },
} as const;

/** All commands of the server and its host. */
export const COMMANDS = [
  'serve',
  'doctor',
  'demo',
  'password',
  'user',
  'audit',
  'cluster',
  'recover',
  'backup',
  'version',
  'help',
] as const;

function isCommand(name: string): boolean {
  return (COMMANDS as readonly string[]).includes(name);
}

/** First words of the commands in src/client, listed here so that the server need not load them. */
export const CLIENT_NOUNS: readonly string[] = [
  ...['lab', 'node', 'link', 'capture', 'template', 'appliance', 'compute', 'snapshot', 'image', 'events'],
  ...['logs', 'wait', 'context', 'token', 'group', 'top'],
  ...['plan', 'diff', 'apply', 'destroy', 'export', 'test'],
];

/** All effective flags, without dashes, and whether they take a value. */
export const FLAGS: readonly { name: string; hasValue: boolean }[] = Object.entries({
  ...FLAG_KEYS,
  ...OTHER_FLAGS,
  ...OWN_FLAGS,
}).map(([name, { type }]) => ({ name, hasValue: type === 'string' }));

/** The commands that read the configuration. */
const CONFIGURED = ['serve', 'doctor', 'password', 'user', 'audit', 'cluster', 'recover', 'backup'] as const;

function isConfigured(name: string): name is (typeof CONFIGURED)[number] {
  return (CONFIGURED as readonly string[]).includes(name);
}

export type Command =
  | {
      name: (typeof CONFIGURED)[number];
      flags: ConfigSources['flags'];
      file?: string;
      state?: string;
      pidFile?: string;
      /** For `doctor`, `user list`, `audit` and `cluster status`: a report for scripts. */
      json: boolean;
      /** For `doctor`: show the commands that fix the problems. */
      fix: boolean;
      /** For `user` and `cluster`: the verb and its arguments. */
      words: readonly string[];
      role?: string;
      passwordFile?: string;
      /** Of `password` and `user`. */
      generate: boolean;
      /** Of `password`. */
      user?: string;
      /** Of `cluster`: its name, the address of NATS, and the name of this host. */
      clusterName?: string;
      address?: string;
      hostName?: string;
      /** Of `cluster join`: whether this host may be the controller; without it, whether it runs NATS. */
      standby?: boolean;
      /** Of `cluster`: how many hosts are to run NATS, and whether the next one is to be one of them. */
      servers?: string;
      /** Of `cluster`: an existing NATS, and the file with its credentials. */
      nats?: string;
      credentials?: string;
      storage: boolean;
      /** For `backup`: the target; empty otherwise. */
      directory: string;
      ignored: string[];
    }
  | { name: 'demo'; url: string }
  /** Words that begin with one of `CLIENT_NOUNS`. */
  | { name: 'client'; words: readonly string[] }
  /** The documents; `topic` has the words that name one, and is empty for their list. Without it the help of a command, or of all. */
  | { name: 'help'; topic?: readonly string[]; of?: string }
  | { name: 'version' };

function flagsFirst(noun: string): WrongUsage {
  return new WrongUsage(`Write flags after the command: labwired ${noun} ...`);
}

/**
 * Parses the arguments.
 * @throws WrongUsage with the flag and the fix
 */
export function parseCommand(words: readonly string[]): Command {
  const [first = '', second = ''] = words;
  if (CLIENT_NOUNS.includes(first)) return { name: 'client', words };
  if (first === 'help' && CLIENT_NOUNS.includes(second)) return { name: 'client', words: [second, '--help'] };
  const options = { ...FLAG_KEYS, ...IGNORED_FLAGS, ...OTHER_FLAGS, ...OWN_FLAGS };
  let parsed: ReturnType<typeof parseArgs<{ options: typeof options; allowPositionals: true }>>;
  try {
    parsed = parseArgs({ args: [...words], options, allowPositionals: true });
  } catch (error) {
    const noun = words.find((word) => CLIENT_NOUNS.includes(word));
    if (noun !== undefined) throw flagsFirst(noun);
    const own = isCommand(first) ? ` ${first}` : '';
    throw new WrongUsage(`${flagMistake(error, Object.keys(options))} See labwired${own} --help`);
  }
  const { values, positionals } = parsed;
  const [name = 'serve', ...rest] = positionals;
  if (values.help) {
    return { name: 'help', ...(positionals.length > 0 && isCommand(name) && name !== 'help' && { of: name }) };
  }
  if (name === 'help') return { name, topic: rest };
  if (values.version || name === 'version') return { name: 'version' };
  if (name === 'demo') {
    const [url, ...more] = rest;
    if (url === undefined || more.length > 0 || !URL.canParse(url)) {
      throw new WrongUsage('The server is missing: labwired demo http://127.0.0.1:3080');
    }
    return { name, url };
  }
  if (CLIENT_NOUNS.includes(name)) throw flagsFirst(name);
  if (!isConfigured(name))
    throw new WrongUsage(
      `There is no command "${name}"${didYouMean(name, [...COMMANDS, ...CLIENT_NOUNS])} See labwired --help`,
    );
  const directory = name === 'backup' ? rest.shift() : '';
  if (directory === undefined)
    throw new WrongUsage('The target directory is missing: labwired backup /backup/labwire-today');
  const own = name === 'user' || name === 'cluster' ? rest.splice(0) : [];
  if (name === 'user') checkUser(own, values.role);
  if (name === 'cluster') checkCluster(own, values);
  if (rest.length > 0) throw new WrongUsage(`"${rest[0]}" is not expected after "${name}". See labwired --help`);
  if (values.json && values.fix) throw new WrongUsage('--json includes the commands of --fix: leave out one of them');
  for (const [flag, { of }] of Object.entries(OWN_FLAGS)) {
    if (values[flag as keyof typeof OWN_FLAGS] === undefined || of.some((one) => one === name)) continue;
    throw new WrongUsage(`--${flag} is an option of labwired ${of.join(' and labwired ')}. See labwired --help`);
  }
  const flags: ConfigSources['flags'] = [];
  for (const [flag, { key }] of Object.entries(FLAG_KEYS)) {
    const value = values[flag as keyof typeof FLAG_KEYS];
    if (value !== undefined) flags.push({ section: 'Server', key, value: String(value), flag: `--${flag}` });
  }
  return {
    name,
    flags,
    ...defined({ file: values.config, state: values.state, pidFile: values.pid }),
    ...defined({ role: values.role, passwordFile: values['password-file'], user: values.user }),
    ...defined({ clusterName: values.name, address: values.address, hostName: values['host-name'] }),
    ...defined({ servers: values.servers, nats: values.nats, credentials: values.credentials }),
    ...((values.standby || values['no-standby']) && { standby: values.standby ?? false }),
    json: values.json ?? false,
    fix: values.fix ?? false,
    generate: values.generate ?? false,
    storage: values.storage ?? false,
    directory,
    words: own,
    ignored: Object.keys(IGNORED_FLAGS).filter((flag) => values[flag as keyof typeof IGNORED_FLAGS] !== undefined),
  };
}
