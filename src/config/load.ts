// Builds the configuration from flags, environment and files; the earlier ones win.
import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import * as v from 'valibot';
import { Failure, invalid, systemCode } from '../failures.ts';
import { isLoopback } from '../host/network/loopback.ts';
import { parseIni } from './ini.ts';
import { type Config, SECTIONS, type SectionName, type Sections, WITHOUT_EFFECT } from './schema.ts';

/** A value and its source for messages: `file.conf line 3`, `LABWIRE_SERVER_PORT`, `--port`. */
interface Sourced {
  value: string;
  source: string;
}

type Values = Map<SectionName, Map<string, Sourced>>;

export interface ConfigSources {
  /** Values from the command line, by section and key. */
  flags: { section: SectionName; key: string; value: string; flag: string }[];
  environment: Readonly<Record<string, string | undefined>>;
  workingDirectory: string;
  home: string;
  /** `--config`: the only file to read. */
  file?: string | undefined;
  /** `--state`. */
  state?: string | undefined;
}

export interface LoadedConfig {
  config: Config;
  /** Files that were read, weakest first. */
  files: string[];
  /** Unknown keys and sections, and keys without effect. */
  warnings: string[];
}

/** The release's files, then ours; later files win. */
function configFiles({ workingDirectory, home }: Pick<ConfigSources, 'workingDirectory' | 'home'>): string[] {
  return [
    join(workingDirectory, 'gns3_server.conf'),
    join(home, '.config/GNS3/2.2/gns3_server.conf'),
    join(home, '.config/GNS3.conf'),
    '/etc/gns3/gns3_server.conf',
    '/etc/xdg/GNS3/gns3_server.conf',
    '/etc/xdg/GNS3.conf',
    '/etc/labwire/labwired.conf',
  ];
}

function sectionNamed(name: string): SectionName | undefined {
  return (Object.keys(SECTIONS) as SectionName[]).find((known) => known.toLowerCase() === name.toLowerCase());
}

function put(values: Values, section: SectionName, key: string, sourced: Sourced): void {
  const members = values.get(section) ?? new Map<string, Sourced>();
  values.set(section, members.set(key, sourced));
}

function readFiles(sources: ConfigSources, values: Values, warnings: string[]): string[] {
  const candidates =
    sources.file === undefined ? configFiles(sources) : [resolve(sources.workingDirectory, sources.file)];
  const read: string[] = [];
  for (const path of candidates) {
    let text: string;
    try {
      text = readFileSync(path, 'utf8');
    } catch (error) {
      if (sources.file === undefined && ['ENOENT', 'ENOTDIR', 'EACCES'].includes(systemCode(error) ?? '')) {
        if (systemCode(error) === 'EACCES') warnings.push(`${path} exists but may not be read; it is ignored`);
        continue;
      }
      throw invalid(`The configuration file ${path} cannot be read: ${systemCode(error) ?? error}`);
    }
    read.push(path);
    const ini = parseIni(text);
    const [problem] = ini.problems;
    if (problem) throw invalid(`${path} line ${problem.line}: ${problem.problem}`);
    for (const { section, key, value, line } of ini.entries) {
      const source = `${path} line ${line}`;
      const known = sectionNamed(section);
      if (known === undefined) warnings.push(`${source}: the section [${section}] is not known; it is ignored`);
      else if (!(key in SECTIONS[known].entries))
        warnings.push(`${source}: [${known}] has no key "${key}"; it is ignored`);
      else put(values, known, key, { value: key.endsWith('_path') ? expandHome(value, sources.home) : value, source });
    }
  }
  return read;
}

function expandHome(value: string, home: string): string {
  return value === '~' || value.startsWith('~/') ? join(home, value.slice(1)) : value;
}

/** Variables that are not configuration keys. */
const OTHER_VARIABLES = new Set([
  'LABWIRE_STATE',
  'LABWIRE_CONFIG',
  'LABWIRE_ADDON_DIR',
  'LABWIRE_INSTANCE',
  'LABWIRE_NODE',
  'LABWIRE_SERVER',
  'LABWIRE_LAB',
  'LABWIRE_CONTEXT',
]);

function readEnvironment(sources: ConfigSources, values: Values, warnings: string[]): void {
  for (const [name, value] of Object.entries(sources.environment)) {
    if (!name.startsWith('LABWIRE_') || value === undefined || OTHER_VARIABLES.has(name)) continue;
    const [, sectionText = '', key = ''] = /^LABWIRE_([A-Z]+)_(.+)$/.exec(name) ?? [];
    const section = sectionNamed(sectionText);
    if (section && key.toLowerCase() in SECTIONS[section].entries)
      put(values, section, key.toLowerCase(), { value, source: name });
    else warnings.push(`the environment variable ${name} is not known; it is ignored`);
  }
}

/** The given keys that have no effect here, in one warning. */
function warnWithoutEffect(values: Values, warnings: string[]): void {
  const given = [...values].flatMap(([section, members]) =>
    (WITHOUT_EFFECT[section] ?? []).filter((key) => members.has(key)).map((key) => `[${section}] ${key}`),
  );
  if (given.length > 0) warnings.push(`keys without effect on this server: ${given.join(', ')}`);
}

/** A flag with an impossible value, which is a mistake of the command line. */
export class InvalidFlag extends Failure {
  constructor(message: string) {
    super('invalid', message);
  }
}

function checked<Name extends SectionName>(name: Name, values: Values): Sections[Name] {
  const given = values.get(name) ?? new Map<string, Sourced>();
  const raw = Object.fromEntries([...given].map(([key, { value }]) => [key, value]));
  const result = v.safeParse(SECTIONS[name], raw);
  if (result.success) return Object.freeze(result.output) as Sections[Name];
  const [issue] = result.issues;
  const key = v.getDotPath(issue) ?? '';
  const sourced = given.get(key);
  if (sourced?.source.startsWith('--')) throw new InvalidFlag(`${sourced.source} ${sourced.value}: ${issue.message}`);
  throw invalid(`${sourced?.source ?? name}: ${key} = "${sourced?.value ?? ''}" is not possible: ${issue.message}`);
}

/** The default state directory: systemd's, the system's for root, otherwise the user's own. */
function defaultState(sources: Pick<ConfigSources, 'environment' | 'home'>): string {
  const given = sources.environment['STATE_DIRECTORY']?.split(':')[0];
  if (given) return given;
  if (process.getuid?.() === 0) return '/var/lib/labwire';
  return join(sources.environment['XDG_DATA_HOME'] || join(sources.home, '.local/share'), 'labwire');
}

function stateDirectory(sources: Pick<ConfigSources, 'environment' | 'home' | 'workingDirectory' | 'state'>): string {
  const named = sources.state ?? sources.environment['LABWIRE_STATE'] ?? defaultState(sources);
  return resolve(sources.workingDirectory, expandHome(named, sources.home));
}

/** The name of the local socket in its directory. */
const SOCKET = 'labwired.sock';
/** The service's socket, as in its unit file. */
export const SERVICE_SOCKET = `/run/labwire/${SOCKET}`;

/** Empty: none is wanted. Without a path of its own it is in the directory that systemd makes for this, or in the state directory. */
function socketPath(given: string, state: string, runtime: string | undefined): string {
  if (given === 'off') return '';
  return given || join(runtime?.split(':')[0] || state, SOCKET);
}

/** Default places of a local server's socket, this user's own first. */
export function usualSockets(sources: Pick<ConfigSources, 'environment' | 'home' | 'workingDirectory'>): string[] {
  return [join(stateDirectory(sources), SOCKET), SERVICE_SOCKET];
}

/** Either key turns TLS on. */
function isTls({ ssl, protocol }: Sections['Server']): boolean {
  return ssl || protocol === 'https';
}

function checkTogether({ Server, VMware }: Sections): void {
  const wrong = (message: string): never => {
    throw invalid(message);
  };
  const ranges = [
    ['console_start_port_range', 'console_end_port_range'],
    ['vnc_console_start_port_range', 'vnc_console_end_port_range'],
    ['udp_start_port_range', 'udp_end_port_range'],
  ] as const;
  for (const [start, end] of ranges) {
    if (Server[start] >= Server[end]) wrong(`${start} (${Server[start]}) must be below ${end} (${Server[end]})`);
  }
  if (VMware.vmnet_start_range >= VMware.vmnet_end_range) wrong('vmnet_start_range must be below vmnet_end_range');
  if (Server.password !== '' && Server.user === '') wrong('password is set, but user is empty: set both in [Server]');
  if (isTls(Server) && (Server.certfile === '') !== (Server.certkey === '')) {
    wrong(
      'certfile and certkey go together: name both, or neither, for a certificate that the server makes for itself',
    );
  }
}

/**
 * Reads and checks everything.
 * @throws Failure `invalid` with the line, variable or flag and the expected value
 */
export function loadConfig(sources: ConfigSources): LoadedConfig {
  const values: Values = new Map();
  const warnings: string[] = [];
  const file = sources.file ?? sources.environment['LABWIRE_CONFIG'];
  const files = readFiles({ ...sources, file }, values, warnings);
  readEnvironment(sources, values, warnings);
  for (const { section, key, value, flag } of sources.flags) put(values, section, key, { value, source: flag });
  warnWithoutEffect(values, warnings);
  const sections = Object.fromEntries(
    (Object.keys(SECTIONS) as SectionName[]).map((name) => [name, checked(name, values)]),
  ) as unknown as Sections;
  checkTogether(sections);
  const state = stateDirectory(sources);
  const place = (path: string, below: string): string =>
    path === '' ? join(state, below) : resolve(sources.workingDirectory, path);
  const { Server } = sections;
  const config: Config = {
    ...sections,
    Server: Object.freeze({
      ...Server,
      auth: Server.auth === 'automatic' ? !Server.insecure && !isLoopback(Server.host) : Server.auth,
      // Announced addresses always match.
      ssl: isTls(Server),
      protocol: isTls(Server) ? 'https' : 'http',
      socket_path: socketPath(Server.socket_path, state, sources.environment['RUNTIME_DIRECTORY']),
      projects_path: place(Server.projects_path, 'projects'),
      images_path: place(Server.images_path, 'images'),
      appliances_path: place(Server.appliances_path, 'appliances'),
      symbols_path: place(Server.symbols_path, 'symbols'),
      configs_path: place(Server.configs_path, 'configs'),
      resources_path: place(Server.resources_path, 'resources'),
    }),
    state,
    directory: files.length > 0 ? dirname(files.at(-1) as string) : state,
  };
  return { config: Object.freeze(config), files, warnings };
}
