// Converts a container of containerlab to a node; its kind, group and defaults count as well.
import { quoted } from '../../host/terminal/shell-word.ts';
import type { Path } from '../labfile/source.ts';
import type { NodeConfig, TopologyContent } from './file.ts';
import { netemCommand, type Shaped } from './netem.ts';
import type { Report } from './report.ts';

/** A value, and where it stands. */
interface Given<Value> {
  value: Value;
  path: Path;
}

/** A node's members from itself, its group, its kind and the defaults; the first one wins. */
export class NodeDefinition {
  readonly name: string;
  readonly path: Path;
  readonly kind: string;
  readonly #layers: readonly Given<NodeConfig>[];

  constructor({ topology }: Pick<TopologyContent, 'topology'>, name: string) {
    this.name = name;
    this.path = ['topology', 'nodes', name];
    const own = topology.nodes?.[name] ?? {};
    const defaults = topology.defaults ?? {};
    const group = own.group ?? defaults.group;
    const ofGroup = (group !== undefined && topology.groups?.[group]) || {};
    this.kind = own.kind ?? ofGroup.kind ?? defaults.kind ?? '';
    this.#layers = [
      { value: own, path: this.path },
      { value: ofGroup, path: ['topology', 'groups', group ?? ''] },
      { value: topology.kinds?.[this.kind] ?? {}, path: ['topology', 'kinds', this.kind] },
      { value: defaults, path: ['topology', 'defaults'] },
    ];
  }

  first<Key extends keyof NodeConfig>(key: Key): Given<NonNullable<NodeConfig[Key]>> | undefined {
    for (const { value, path } of this.#layers) {
      const found = value[key];
      if (found === undefined || found === null) continue;
      const own = typeof found === 'string' ? this.#named(found) : found;
      return { value: own as NonNullable<NodeConfig[Key]>, path: [...path, key] };
    }
    return undefined;
  }

  /** All entries of a list, those of the defaults first. */
  entries(key: 'exec' | 'binds' | 'wait-for'): Given<string>[] {
    return this.#layers
      .toReversed()
      .flatMap(({ value, path }) =>
        (value[key] ?? []).map((entry, index) => ({ value: this.#named(entry), path: [...path, key, index] })),
      );
  }

  /** With containerlab's placeholders for the node filled in. */
  #named(text: string): string {
    return text.replaceAll('__clabNodeName__', this.name).replaceAll('__clabNodeDir__', `__clabDir__/${this.name}`);
  }

  /** All members, those of the node itself before others of their name. */
  members(key: 'env' | 'sysctls' | 'labels'): Map<string, Given<string>> {
    const found = new Map<string, Given<string>>();
    for (const { value, path } of this.#layers.toReversed()) {
      for (const [name, one] of Object.entries(value[key] ?? {})) {
        found.set(name, { value: this.#named(String(one ?? '')), path: [...path, key, name] });
      }
    }
    return found;
  }

  /** The members that are not among these. */
  others(known: ReadonlySet<string>): Given<string>[] {
    return this.#layers.flatMap(({ value, path }) =>
      Object.keys(value)
        .filter((key) => !known.has(key))
        .map((key) => ({ value: key, path: [...path, key] })),
    );
  }
}

/** Reasons for members without an equivalent; other unknown members have no special reason. */
const REASONS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['mgmt-ipv4', 'mgmt-ipv6', 'mgmt_ipv4', 'mgmt_ipv6'].map((name) => [
      name,
      'there is no management network; consoles are reached by the server',
    ]),
  ),
  ports: 'containers have no network but their cables, so no port is published',
  'network-mode': 'a container has a network of its own, without an eth0 to the host',
  entrypoint: "the image's own entry point stays",
  memory: 'containers are not limited',
  cpu: 'containers are not limited',
  'cpu-set': 'containers are not limited',
  'startup-config': 'put the file into files, or into the image',
  'env-files': 'write the variables into env',
  'cap-add': 'the server says what containers may do',
  devices: 'a container has no devices of the host',
  'shm-size': 'containers are not limited',
  runtime: 'containers are those of Docker',
  dns: 'write /etc/resolv.conf in exec',
  user: 'the programs run as the image says',
  healthcheck: 'start.ready says when a node counts as started',
  'restart-policy': 'a container that has ended stays so until it is started',
};

/** Members that are handled, or that have no effect on a lab. */
const KNOWN = new Set([
  ...['kind', 'group', 'image', 'cmd', 'env', 'exec', 'binds', 'sysctls', 'startup-delay', 'wait-for', 'stages'],
  ...['labels', 'image-pull-policy', 'auto-remove', 'position', 'network-mode'],
]);

const SWITCH_KNOWN = new Set(['kind', 'group', 'labels', 'network-mode', 'image', 'mtu']);

/** First words of commands that set up a network: they need none of the image's own programs. */
const SETUP = new Set([
  'ip',
  'ifconfig',
  'route',
  'sysctl',
  'echo',
  'brctl',
  'bridge',
  'iptables',
  'tc',
  'arp',
  'hostname',
  'mkdir',
]);

const SCRIPT = 'etc/network/setup.sh';
// Of the loopback interface nothing is left to be done: all that counts is the command.
const INTERFACES = `# As ifup reads it when the node starts.
auto lo
iface lo inet manual
\tup sh /${SCRIPT}
`;

export interface Container {
  image: string;
  environment: string[];
  startCommand: string | undefined;
  /** Absolute paths that are kept. */
  volumes: string[];
  /** Lines of a shell that set the container up before its command. */
  setup: string[];
  /** Files of this machine, by their path below the node's directory. */
  copies: Map<string, string>;
  after: string[];
  delay: number | undefined;
  /** Impairments set by `tc` in `exec`. */
  shaped: (Shaped & { path: Path })[];
}

/** Reports the settings of a node that is no container. */
export function sayUnused(node: NodeDefinition, reason: string, report: Report): void {
  for (const { value: key, path } of node.others(SWITCH_KNOWN)) {
    if (path[1] === 'nodes') report.add(path, `${key} of "${node.name}" has no equivalent: ${reason}`);
  }
}

/** A node's position from graph labels of containerlab; undefined without them. */
export function placeOf(node: NodeDefinition): [number, number] | undefined {
  const labels = node.members('labels');
  const [x, y] = ['graph-posX', 'graph-posY'].map((name) =>
    Math.round(Number.parseFloat(labels.get(name)?.value ?? '')),
  );
  return Number.isSafeInteger(x) && Number.isSafeInteger(y) ? [x!, y!] : undefined;
}

/** A folder with more files is not used as configuration. */
export const MOST_FILES = 200;

/** A file or a folder of this machine that a container sees. */
export interface BindSource {
  /** Files by their path below the source; a single file has an empty path. A text: why they cannot be read. */
  files(source: string): Map<string, string> | string;
}

/** The place for messages: `exec of "r1"`, or `exec of kinds.linux`, which applies to all of its nodes. */
function membersOwner(node: NodeDefinition, path: Path): string {
  return path[1] === 'nodes' ? `"${node.name}"` : path.slice(1, path[1] === 'defaults' ? 2 : 3).join('.');
}

/** Converts a container; members without an equivalent are reported. */
export function containerOf(node: NodeDefinition, image: string, binds: BindSource, report: Report): Container {
  for (const { value: key, path } of node.others(KNOWN)) {
    const reason = REASONS[key] === undefined ? '' : `: ${REASONS[key]}`;
    report.add(path, `${key} of ${membersOwner(node, path)} has no equivalent${reason}`);
  }
  const mode = node.first('network-mode');
  if (mode !== undefined && mode.value !== 'none')
    report.add(
      mode.path,
      `network-mode ${mode.value} of ${membersOwner(node, mode.path)} has no equivalent: ${REASONS['network-mode']}`,
    );
  const container: Container = {
    image,
    environment: environmentOf(node, report),
    startCommand: node.first('cmd')?.value,
    volumes: [],
    setup: [...node.members('sysctls')].map(([name, { value }]) => `sysctl -w ${quoted(`${name}=${value}`)}`),
    copies: new Map(),
    after: waitsOf(node, report),
    delay: node.first('startup-delay')?.value,
    shaped: [],
  };
  for (const bind of node.entries('binds'))
    addBind(container, bind, binds, (text) =>
      report.add(bind.path, `binds of ${membersOwner(node, bind.path)}: ${text}`),
    );
  for (const command of node.entries('exec'))
    addCommand(container, command, (text) =>
      report.add(command.path, `exec of ${membersOwner(node, command.path)}: ${text}`),
    );
  return container;
}

/** Setup files of the node, if any. */
export function setupFiles({ setup }: Container): Record<string, string> {
  return setup.length === 0 ? {} : { 'etc/network/interfaces': INTERFACES, [SCRIPT]: `${setup.join('\n')}\n` };
}

function environmentOf(node: NodeDefinition, report: Report): string[] {
  return [...node.members('env')].flatMap(([name, { value, path }]) => {
    if (name.startsWith('__') || /[\r\n]/.test(value)) {
      report.add(
        path,
        `env ${name} of ${membersOwner(node, path)} has no equivalent: a variable is one line, and none comes from containerlab's shell`,
      );
      return [];
    }
    return [`${name}=${value}`];
  });
}

/** The nodes that start before: `wait-for` of old files, and the stages of newer ones. */
function waitsOf(node: NodeDefinition, report: Report): string[] {
  const names = node.entries('wait-for').map(({ value }) => value);
  const stages = node.first('stages');
  for (const [stage, definition] of Object.entries(stages?.value ?? {})) {
    const path = [...stages!.path, stage];
    const { 'wait-for': waits, exec } = (definition ?? {}) as { 'wait-for'?: unknown; exec?: unknown };
    if (exec !== undefined)
      report.add([...path, 'exec'], `exec of the stage ${stage} of "${node.name}" has no equivalent`);
    for (const [index, wait] of (Array.isArray(waits) ? waits : []).entries()) {
      if (typeof wait?.node !== 'string') {
        report.add(
          [...path, 'wait-for', index],
          `wait-for of "${node.name}" names no node: write {node: NAME, stage: STAGE}`,
        );
        continue;
      }
      names.push(wait.node);
      if (wait.stage === 'healthy' || wait.stage === 'exit') {
        const text = `"${node.name}" starts after "${wait.node}" has started, not when that is ${wait.stage}: say with start.ready when it is`;
        report.add([...path, 'wait-for', index], text);
      }
    }
  }
  return [...new Set(names)];
}

/** Bound files are copied at the start: changes by the container do not come back to this host. */
function addBind(container: Container, { value }: Given<string>, binds: BindSource, say: (text: string) => void): void {
  const [first = '', target] = value.split(':');
  if (target === undefined) {
    container.volumes.push(first);
    return;
  }
  const files = binds.files(first);
  if (typeof files === 'string') {
    say(`${value} is left out: ${files}`);
    return;
  }
  const folder = `etc/network/binds/${container.copies.size}`;
  for (const [below, source] of files) container.copies.set(below === '' ? folder : `${folder}/${below}`, source);
  const whole = target.replace(/\/+$/, '');
  const parent = whole.replace(/\/[^/]*$/, '') || '/';
  container.setup.push(
    files.has('') ? `mkdir -p ${quoted(parent)}` : `mkdir -p ${quoted(whole)}`,
    files.has('') ? `cp ${folderPath(folder)} ${quoted(whole)}` : `cp -R ${folderPath(folder)}/. ${quoted(whole)}/`,
  );
  if (!value.endsWith(':ro')) say(`${value} is copied at the start; what the node writes does not come back`);
}

const folderPath = (folder: string): string => quoted(`/${folder}`);

/** The words that containerlab passes to a program, without a shell; undefined if a quote has no end. */
function wordsOf(command: string): string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  const parts = /(\s+|(?<!\S)#[^\n]*)|\\(.)|"((?:\\.|[^"\\])*)"|'([^']*)'|(.)/gs;
  for (const [, blank, escaped, double, single, plain] of `${command} `.matchAll(parts)) {
    if (plain !== undefined && /["'\\]/.test(plain)) return undefined;
    if (blank === undefined) word = (word ?? '') + (escaped ?? double?.replaceAll(/\\(.)/gs, '$1') ?? single ?? plain);
    else {
      if (word !== undefined) words.push(word);
      word = undefined;
    }
  }
  return words;
}

function addCommand(container: Container, { value, path }: Given<string>, say: (text: string) => void): void {
  const command = value.trim().replaceAll('$$', '$');
  const shaped = netemCommand(command);
  if (shaped) {
    container.shaped.push({ ...shaped, path });
    for (const words of shaped.strange) say(`tc ... netem ${words} has no equivalent`);
    return;
  }
  const words = wordsOf(command);
  if (words === undefined) {
    say(`${command} is left out: a quote has no end`);
    return;
  }
  const [first = '', flag = '', script = ''] = words;
  const isScript = /^(?:.*\/)?(?:ba|a)?sh$/.test(first) && /^-l?c$/.test(flag);
  const program = (isScript ? script.trim().split(/[\s;]/)[0]! : first).replace(/^.*\//, '');
  container.setup.push(words.map(quoted).join(' '));
  if (!SETUP.has(program)) {
    say(`${command.split('\n')[0]} runs before the image's own command, not when that is up`);
  }
}
