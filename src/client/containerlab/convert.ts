// Converts a topology of containerlab to a lab: containers, bridges, links and netem impairments.
import { changed, type DirectionImpairments } from '../../api/impairments.ts';
import type { LabText, LinkText, NodeText } from '../labfile/schema.ts';
import type { Path } from '../labfile/source.ts';
import {
  type BindSource,
  type Container,
  containerOf,
  NodeDefinition,
  placeOf,
  sayUnused,
  setupFiles,
} from './container.ts';
import type { LinkConfig, LinkEndConfig, TopologyFile } from './file.ts';
import { refusedImpairments } from './netem.ts';
import { Report } from './report.ts';

const SWITCHES = new Set(['bridge', 'ovs-bridge']);
/** Default number of switch ports. */
const USUAL_PORTS = 8;
/** Interfaces that a container may have. */
const MOST_ADAPTERS = 99;

/** Link ends that are not nodes. */
const OUTSIDE: Readonly<Record<string, string>> = {
  host: 'the host',
  'mgmt-net': 'the management network',
  macvlan: 'an interface of the host',
  vxlan: 'another host',
  'vxlan-stitch': 'another host',
};

/** The template of a kind that has one on the server. */
export type Templates = ReadonlyMap<string, string>;

interface Options {
  /** By kind. */
  templates: Templates;
  binds: BindSource;
  /** Impairments that were set by hand, by node and interface. */
  netem: ReadonlyMap<string, ReadonlyMap<string, DirectionImpairments>>;
}

export interface Converted {
  lab: LabText;
  report: Report;
  /** Nodes without an equivalent yet: replaced by containers with the same links. */
  placeholders: readonly NodeDefinition[];
}

/** Where links may be plugged in at a node. */
interface Sockets {
  /** The port for a containerlab interface; empty: the first free one. Undefined if there is none left. */
  port(name: string, path: Path): string | undefined;
  /** How many there have to be. */
  readonly count: number;
}

function switchSockets(): Sockets {
  const names: string[] = [];
  return {
    port: (name) => {
      if (!names.includes(name)) names.push(name);
      return `e${names.indexOf(name)}`;
    },
    get count() {
      return names.length;
    },
  };
}

/** Which ports a template gives is the server's to say: links take the first free ones in their order. */
const TEMPLATE_SOCKETS: Sockets = { port: () => '', count: 0 };

function containerSockets(node: string, taken: readonly string[], report: Report): Sockets {
  const ports = new Map<string, number>();
  for (const name of taken) {
    const number = Number(/^eth(\d{1,2})$/.exec(name)?.[1]);
    if (number < MOST_ADAPTERS) ports.set(name, number);
  }
  return {
    port: (name, path) => {
      if (!ports.has(name)) {
        const used = new Set(ports.values());
        const free = Array.from({ length: MOST_ADAPTERS }, (_, number) => number).find(
          (one) => one > 0 && !used.has(one),
        );
        if (free === undefined) {
          report.add(path, `node "${node}" has no interface left for ${name}; the link is left out`);
          return undefined;
        }
        ports.set(name, free);
        report.add(path, `the interface ${name} of "${node}" is eth${free} here`);
      }
      return `eth${ports.get(name)}`;
    },
    get count() {
      return Math.max(0, ...ports.values()) + 1;
    },
  };
}

interface End {
  node: string;
  interface: string;
  mac: string | undefined;
}

function endOf(config: LinkEndConfig): End {
  if (typeof config !== 'string') {
    const { node, interface: name = '', mac } = config;
    return { node, interface: name, mac: typeof mac === 'string' ? mac : undefined };
  }
  const colon = config.indexOf(':');
  return {
    node: config.slice(0, colon < 0 ? undefined : colon),
    interface: colon < 0 ? '' : config.slice(colon + 1),
    mac: undefined,
  };
}

function endsOf({ endpoints = [], endpoint }: LinkConfig): End[] {
  return (endpoint === undefined ? endpoints : [endpoint]).map(endOf);
}

const isDummy = (link: LinkConfig): boolean =>
  link.type === 'dummy' || endsOf(link).some(({ node }) => node === 'dummy');

class Conversion {
  readonly report: Report;
  readonly #file: TopologyFile;
  readonly #options: Options;
  readonly #definitions: NodeDefinition[];
  readonly #containers = new Map<string, Container>();
  readonly #sockets = new Map<string, Sockets>();
  readonly placeholders: NodeDefinition[] = [];
  /** Ports that a link has. */
  readonly #taken = new Set<string>();
  readonly #macs = new Map<string, { adapter_number: number; mac_address: string }[]>();

  constructor(file: TopologyFile, options: Options) {
    this.#file = file;
    this.#options = options;
    this.report = new Report(file);
    const { content } = file;
    this.#definitions = Object.keys(content.topology.nodes ?? {}).map((name) => new NodeDefinition(content, name));
  }

  run(): LabText {
    const { content } = this.#file;
    this.#sayTop();
    for (const definition of this.#definitions) this.#takeNode(definition);
    const links = (content.topology.links ?? []).flatMap((link, index) => this.#link(link, index) ?? []);
    this.#sayUnusedNetem();
    const nodes = this.#definitions.flatMap((definition) => {
      const node = this.#node(definition);
      return node ? [[definition.name, node] as const] : [];
    });
    return { name: content.name, nodes: Object.fromEntries(nodes), links };
  }

  #sayTop(): void {
    for (const key of Object.keys(this.#file.content)) {
      if (key === 'mgmt')
        this.report.add(
          [key],
          'mgmt has no equivalent: there is no management network; consoles are reached by the server',
        );
      else if (!['name', 'topology', 'prefix'].includes(key)) this.report.add([key], `${key} has no equivalent`);
    }
    for (const key of Object.keys(this.#file.content.topology)) {
      if (!['defaults', 'kinds', 'groups', 'nodes', 'links'].includes(key))
        this.report.add(['topology', key], `${key} has no equivalent`);
    }
    for (const [name, line] of this.#file.unset) {
      this.report.addAt(
        line,
        `the variable ${name} of the shell has no value and no default; it stays as it is written`,
      );
    }
  }

  #takeNode(definition: NodeDefinition): void {
    const { name, kind, path } = definition;
    const image = definition.first('image')?.value;
    const template = this.#options.templates.get(kind);
    if (template !== undefined) {
      this.report.add(
        path,
        `node "${name}" is made of the template "${template}"; its links take the first free ports in their order`,
      );
      sayUnused(definition, 'its template says what it is', this.report);
      this.#sockets.set(name, TEMPLATE_SOCKETS);
    } else if (kind === 'linux' && image !== undefined) {
      const container = containerOf(definition, image, this.#options.binds, this.report);
      this.#containers.set(name, container);
      this.#sockets.set(name, containerSockets(name, this.#interfacesOf(name), this.report));
    } else if (SWITCHES.has(kind)) {
      this.report.add(
        path,
        `the ${kind} "${name}" of the host is a switch of the lab here; what else is on the bridge is not`,
      );
      sayUnused(definition, 'a switch runs nothing', this.report);
      this.#sockets.set(name, switchSockets());
    } else {
      this.placeholders.push(definition);
      this.report.add(
        path,
        `node "${name}" is a placeholder, a container with its links: ${whyPlaceholder(definition)}`,
      );
      this.#sockets.set(name, containerSockets(name, this.#interfacesOf(name), this.report));
    }
  }

  /** As links name them. */
  #interfacesOf(node: string): string[] {
    const cables = (this.#file.content.topology.links ?? []).filter((link) => !isDummy(link));
    return cables.flatMap(endsOf).flatMap((end) => (end.node === node ? [end.interface] : []));
  }

  #link(config: LinkConfig, index: number): LinkText | string | undefined {
    const path: Path = ['topology', 'links', index];
    const { type = 'veth' } = config;
    if (isDummy(config)) {
      this.#addDummy(config, path);
      return undefined;
    }
    const ends = endsOf(config);
    const words = ends.map(({ node, interface: name }) => (name === '' ? node : `${node}:${name}`)).join(', ');
    const outside = OUTSIDE[type] ?? ends.flatMap(({ node }) => (this.#isNode(node) ? [] : (OUTSIDE[node] ?? [])))[0];
    if (outside !== undefined) {
      this.report.add(path, `the link of ${words} to ${outside} has no equivalent; a cloud node leads out of a lab`);
      return undefined;
    }
    if (type !== 'veth' || ends.length !== 2) {
      this.report.add(
        path,
        `the link of ${words || 'nothing'} is left out: ${type === 'veth' ? 'it has not two ends' : `its type ${type} has no equivalent`}`,
      );
      return undefined;
    }
    for (const { node } of ends) {
      if (!this.#isNode(node)) this.report.add(path, `the link of ${words} is left out: there is no node "${node}"`);
    }
    const [one, other] = ends as [End, End];
    if (one.node === other.node && this.#sockets.has(one.node)) {
      this.report.add(path, `the link of ${words} is left out: a link joins two nodes`);
      return undefined;
    }
    const places = ends.map((end) => this.#sockets.get(end.node)?.port(end.interface, path));
    if (places.includes(undefined)) return undefined;
    for (const [side, { node }] of ends.entries()) {
      const port = `${node}:${places[side] || ends[side]!.interface}`;
      if (this.#taken.has(port)) {
        this.report.add(path, `the link of ${words} is left out: another one is at ${port} already`);
        return undefined;
      }
    }
    for (const [side, { node }] of ends.entries()) this.#taken.add(`${node}:${places[side] || ends[side]!.interface}`);
    this.#sayLinkMembers(config, { ends, places: places as string[], words }, path);
    const [there, back] = ends.map((end) => this.#impairmentsAt(end, path)) as [
      DirectionImpairments,
      DirectionImpairments,
    ];
    const link = ends.map(({ node }, side) => (places[side] === '' ? node : `${node}:${places[side]}`)).join(' -- ');
    const impairments = {
      ...(Object.keys(there).length > 0 && { forward: there }),
      ...(Object.keys(back).length > 0 && { backward: back }),
    };
    return Object.keys(impairments).length > 0 ? { link, impairments } : link;
  }

  /** An interface without a cable: the container makes it. */
  #addDummy(config: LinkConfig, path: Path): void {
    for (const { node, interface: name } of endsOf(config)) {
      const container = this.#containers.get(node);
      if (container && name !== '') container.setup.push(`ip link add ${name} type dummy`, `ip link set ${name} up`);
      else if (node !== 'dummy')
        this.report.add(path, `the dummy interface of ${node} is left out: it is no container`);
    }
  }

  #isNode(name: string): boolean {
    return this.#definitions.some((one) => one.name === name);
  }

  #sayLinkMembers(
    config: LinkConfig,
    { ends, places, words }: { ends: readonly End[]; places: readonly string[]; words: string },
    path: Path,
  ): void {
    for (const [side, end] of ends.entries()) {
      const container = this.#containers.get(end.node);
      if (end.mac !== undefined && container) {
        const macs = this.#macs.get(end.node) ?? [];
        macs.push({ adapter_number: Number(places[side]!.slice(3)), mac_address: end.mac });
        this.#macs.set(end.node, macs);
      } else if (end.mac !== undefined) {
        this.report.add(
          path,
          `the mac of ${end.node}:${end.interface} has no equivalent: "${end.node}" is no container`,
        );
      }
      if (config.mtu !== undefined) container?.setup.unshift(`ip link set dev ${places[side]} mtu ${config.mtu}`);
    }
    for (const key of Object.keys(config)) {
      if (!['type', 'endpoints', 'endpoint', 'mtu', 'labels'].includes(key)) {
        this.report.add([...path, key], `${key} of the link of ${words} has no equivalent`);
      }
    }
    for (const [side, end] of (config.endpoints ?? []).entries()) {
      if (typeof end === 'string') continue;
      for (const key of Object.keys(end)) {
        if (!['node', 'interface', 'mac'].includes(key)) {
          this.report.add(
            [...path, 'endpoints', side, key],
            `${key} of ${end.node}:${end.interface ?? ''} has no equivalent: say it in exec`,
          );
        }
      }
    }
  }

  /** Impairments of frames that leave the node by this interface. */
  #impairmentsAt({ node, interface: name }: End, path: Path): DirectionImpairments {
    let impairments: DirectionImpairments = {};
    const own = this.#containers.get(node)?.shaped.filter((one) => one.interface === name) ?? [];
    const shown = this.#options.netem.get(node) ?? this.#options.netem.get(this.#containerName(node));
    const all = [...own.map((one) => ({ ...one })), { impairments: shown?.get(name) ?? {}, path }];
    for (const one of all) {
      const { kept, refused } = refusedImpairments(one.impairments);
      for (const reason of refused) this.report.add(one.path, `${node}:${name}: ${reason}`);
      impairments = changed(impairments, kept);
    }
    return impairments;
  }

  /** As containerlab calls the container of a node. */
  #containerName(node: string): string {
    const { prefix, name } = this.#file.content;
    const first = typeof prefix === 'string' ? prefix : 'clab';
    return first === '' ? node : first === '__lab-name' ? `${name}-${node}` : `${first}-${name}-${node}`;
  }

  #sayUnusedNetem(): void {
    for (const [node, { shaped }] of this.#containers) {
      const linked = this.#interfacesOf(node);
      for (const one of shaped) {
        if (!linked.includes(one.interface))
          this.report.add(one.path, `no link is at ${node}:${one.interface}, whose netem is left out`);
      }
    }
  }

  #node(definition: NodeDefinition): NodeText | undefined {
    const { name } = definition;
    const sockets = this.#sockets.get(name);
    if (!sockets) return undefined;
    const container = this.#containers.get(name);
    const at = placeOf(definition);
    const template = this.#options.templates.get(definition.kind);
    if (template !== undefined) return { template, ...(at && { at }) };
    if (this.placeholders.includes(definition)) {
      const image = definition.first('image')?.value ?? (definition.kind || UNKNOWN_IMAGE);
      const usage = `Placeholder: ${whyPlaceholder(definition)}`;
      return { type: 'docker', ...(at && { at }), properties: { image, adapters: sockets.count, usage } };
    }
    if (!container) {
      return {
        type: 'ethernet_switch',
        ...(at && { at }),
        ...(sockets.count > USUAL_PORTS && { properties: { ports_mapping: switchPorts(sockets.count) } }),
      };
    }
    const { image, environment, startCommand, volumes, copies, delay } = container;
    const after = container.after.filter((other) => this.#sockets.has(other));
    const macs = this.#macs.get(name) ?? [];
    const files = {
      ...setupFiles(container),
      ...Object.fromEntries([...copies].map(([path, file]) => [path, { file }])),
    };
    return {
      type: 'docker',
      ...(at && { at }),
      properties: {
        image,
        adapters: sockets.count,
        ...(startCommand !== undefined && { start_command: startCommand }),
        ...(environment.length > 0 && { environment: environment.join('\n') }),
        ...(volumes.length > 0 && { extra_volumes: volumes }),
      },
      ...(macs.length > 0 && { custom_adapters: macs }),
      ...(Object.keys(files).length > 0 && { files }),
      ...((after.length > 0 || delay !== undefined) && {
        start: { ...(delay !== undefined && { delay }), ...(after.length > 0 && { after }) },
      }),
    };
  }
}

/** Of a node that says neither its image nor its kind. */
const UNKNOWN_IMAGE = 'unknown';

function whyPlaceholder({ kind }: NodeDefinition): string {
  if (kind === 'linux') return 'it has no image; write one into the topology file';
  if (kind === '') return 'it has no kind; write one into the topology file';
  return `its kind ${kind} is unknown; name a template for it with --map ${kind}=TEMPLATE`;
}

function switchPorts(count: number): object[] {
  return Array.from({ length: count }, (_, number) => ({
    name: `Ethernet${number}`,
    port_number: number,
    type: 'access',
    vlan: 1,
  }));
}

/** Converts a topology file; the report lists everything without an equivalent. */
export function convertTopology(file: TopologyFile, options: Options): Converted {
  const conversion = new Conversion(file, options);
  const lab = conversion.run();
  return { lab, report: conversion.report, placeholders: conversion.placeholders };
}
