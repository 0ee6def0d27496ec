// Exports a lab as a lab file from which the same lab can be created.

import { Document, isMap, isScalar, type Pair, parse, visit } from 'yaml';
import { builtinProperties, findNodeKind, givenByHost, usualConsole, usualSymbol } from '../../api/kinds/kinds.ts';
import type { Port } from '../../api/kinds/port.ts';
import { defaultEndLabel } from '../../controller/links/link.ts';
import { defaultLabel } from '../../controller/nodes/label.ts';
import { asset } from '../../host/files/assets.ts';
import { harmless } from '../../host/terminal/terminal-text.ts';
import type { Api } from '../server/api.ts';
import { endText } from '../server/link-ends.ts';
import type { ServerNode } from '../server/nodes.ts';
import { isReserved } from './checking.ts';
import { configPath, hasConfiguration, hasPrivateConfiguration, withoutMark } from './configurations.ts';
import { SCHEMA_FILE, schemaHint } from './json-schema.ts';
import { isWhole } from './plan-links.ts';
import type { LabText, LinkText, NodeText } from './schema.ts';
import {
  hasLabFile,
  KEPT_CHECKS,
  labPath,
  NOTES,
  readLabFile,
  readNodeFile,
  type ServerDrawing,
  type ServerLab,
  type ServerLink,
} from './state.ts';
import { hasRange, literal } from './substitution.ts';
import { yamlText } from './yaml-text.ts';

/** Default settings of a lab. */
const SETTINGS: Readonly<Record<string, unknown>> = {
  auto_close: false,
  auto_open: false,
  auto_start: false,
  drawing_grid_size: 25,
  grid_size: 75,
  scene_height: 1000,
  scene_width: 2000,
  show_grid: false,
  show_interface_labels: false,
  show_layers: false,
  snap_to_grid: false,
  supplier: null,
  zoom: 100,
};

const USUAL_PORTS = { format: 'Ethernet{0}', segmentSize: 0 };

/** Properties that name a node's configuration or the place of its files: the lab file has those elsewhere. */
const SAID_BESIDE = /^(startup_config|private_config|startup_script|base_script_file|node_directory|command_line)/;

function propertiesOf({ node_type: type, properties }: ServerNode): Record<string, unknown> | undefined {
  const given = givenByHost(type);
  const kept = Object.entries(properties).filter(([name, value]) => {
    const isEmpty =
      value === null || (typeof value === 'object' && !Array.isArray(value) && Object.keys(value).length === 0);
    return !isEmpty && !given.includes(name) && !SAID_BESIDE.test(name);
  });
  return kept.length > 0 ? escaped(Object.fromEntries(kept)) : undefined;
}

/** All texts so that they stand for themselves. */
function escaped<T>(value: T): T {
  if (typeof value === 'string') return literal(value) as T;
  if (Array.isArray(value)) return value.map(escaped) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [literal(name), escaped(one)])) as T;
}

/** The members of an object that say something; undefined when none do. */
function said<T extends object>(members: T): Partial<T> | undefined {
  const kept = Object.entries(members).filter(([, value]) => value !== undefined);
  return kept.length > 0 ? (Object.fromEntries(kept) as Partial<T>) : undefined;
}

const unless = <T>(value: T | undefined, usual: unknown): T | undefined => (value === usual ? undefined : value);

function labelOf({ label, height = 59 }: ServerNode): NodeText['label'] | undefined {
  const usual = defaultLabel(label.text, height);
  const isUsual = !label.style && label.x == null && !label.rotation && (label.y ?? usual.y) === usual.y;
  if (isUsual) return undefined;
  const { style, x, y, rotation } = label;
  return said({ style: style ?? null, x: x ?? null, y, rotation }) as NodeText['label'];
}

async function nodeText(
  api: Api,
  { object }: ServerLab,
  node: ServerNode,
  { consoles, omits }: ExportOptions & { omits: (file: string) => void },
): Promise<NodeText> {
  const type = node.node_type as NonNullable<NodeText['type']>;
  const kind = findNodeKind(type);
  const names = kind?.portNames ?? USUAL_PORTS;
  const file = async (path: string): Promise<string | undefined> => {
    const content = await readNodeFile(api, object, node, path);
    const text = content && textOf(withoutMark(node, path, content));
    if (content && text === undefined) omits(`${node.name}: ${path}`);
    return text && literal(text);
  };
  const files: Record<string, string | undefined> = {};
  for (const path of kind?.settingFiles ?? []) files[path] = await file(path);
  const consoleType = node.console_type as ConsoleType | null;
  type ConsoleType = NonNullable<NonNullable<NodeText['console']>['type']>;
  return said({
    type,
    template_id: node.template_id ?? undefined,
    compute: unless(node.compute_id, 'local'),
    at: [node.x, node.y],
    z: unless(node.z, 1),
    locked: node.locked === true ? true : undefined,
    symbol: unless(node.symbol, usualSymbol(type)) && (node.symbol ?? undefined),
    label: labelOf(node),
    console: said({
      type: unless(consoleType ?? undefined, usualConsole(type)),
      port: consoles ? (node.console ?? undefined) : undefined,
      auto_start: node.console_auto_start === true ? true : undefined,
    }),
    properties: propertiesOf(node),
    custom_adapters: node.custom_adapters?.length ? node.custom_adapters : undefined,
    ports: said({
      format: unless(node.port_name_format, names.format),
      segment_size: unless(node.port_segment_size, names.segmentSize),
      first: node.first_port_name ?? undefined,
    }),
    start: said({ order: node.start_order || undefined, delay: node.start_delay || undefined }),
    config: hasConfiguration(type) ? unless(await file(configPath(node, false)), usualConfig(node)) : undefined,
    private_config: hasPrivateConfiguration(type) ? await file(configPath(node, true)) : undefined,
    files: said(files),
  }) as NodeText;
}

/** Undefined for bytes that are no text. */
function textOf(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** The default configuration of a virtual PC, unless an administrator has changed it. */
function usualConfig({ node_type: type, name }: ServerNode): string | undefined {
  const base = findNodeKind(type) && builtinProperties(type as NonNullable<NodeText['type']>)['base_script_file'];
  const text = typeof base === 'string' ? asset(`configs/${base}`) : undefined;
  return text && literal(text.toString().replaceAll('%h', name));
}

function linkText({ nodes }: ServerLab, link: ServerLink): string | LinkText {
  const text = literal(link.nodes.map((end) => endText(nodes, end)).join(' -- '));
  const filters = Object.fromEntries(
    Object.entries(link.filters ?? {}).map(([type, values]) => [type, values.length === 1 ? values[0]! : values]),
  );
  const isUsual = link.nodes.every(({ label, ...port }) => {
    const usual = defaultEndLabel(port as unknown as Port);
    return !label || (label.text === usual.text && (label.style ?? usual.style) === usual.style && label.x == null);
  });
  const more = said({
    filters: Object.keys(filters).length > 0 ? escaped(filters) : undefined,
    impairments: link.impairments,
    suspended: link.suspend ? true : undefined,
    style: link.link_style && Object.keys(link.link_style).length > 0 ? escaped(link.link_style) : undefined,
    labels: isUsual ? undefined : escaped(link.nodes.map(({ label }) => label)),
  });
  return more ? ({ link: text, ...more } as LinkText) : text;
}

function drawingText({ svg, x, y, z, locked, rotation }: ServerDrawing): object {
  return {
    at: [x, y],
    ...said({ z: unless(z, 2), locked: locked || undefined, rotation: rotation || undefined }),
    svg: literal(svg),
  };
}

const listed = (names: readonly string[]): string =>
  `${names.slice(0, 5).join(', ')}${names.length > 5 ? ` and ${names.length - 5} more` : ''}`;

const named = (nodes: readonly ServerNode[]): string => listed(nodes.map(({ name }) => name));

/** Nodes with more data on their host than the lab file can have: disks, or files that they have written. */
const keepsFiles = ({ node_type: type }: ServerNode): boolean => {
  const { images, linksLeadInside, staysOnHost } = findNodeKind(type) ?? {};
  return Boolean(images ?? linksLeadInside ?? staysOnHost);
};

/** What the lab file leaves out, one sentence each. */
async function leftOut(api: Api, { object, nodes, links }: ServerLab, omitted: readonly string[]): Promise<string[]> {
  const snapshots = await api.get<unknown[]>(`${labPath(object)}/snapshots`);
  const [keeping, spaced] = [nodes.filter(keepsFiles), nodes.filter(({ name }) => name.includes(' '))];
  const half = links.length - links.filter(isWhole).length;
  const unnameable = nodes.filter(({ name }) => hasRange(name) || isReserved(name));
  const notes = await hasLabFile(api, object, NOTES);
  return [
    ...(keeping.length > 0
      ? [`Disks and other files of nodes are not in it (${named(keeping)}): an archive has them, labwired export LAB.`]
      : []),
    ...(snapshots.length > 0
      ? [`Snapshots are not in it (${snapshots.length}): labwired export LAB --snapshots.`]
      : []),
    ...(half > 0 ? [`Links with less than two ends are not in it (${half}).`] : []),
    ...(notes ? [`The notes (${NOTES}) are not in it: an archive has them, labwired export LAB.`] : []),
    ...(omitted.length > 0
      ? [`Files that are not UTF-8 text are not in it (${listed(omitted)}): an archive has them, labwired export LAB.`]
      : []),
    ...(unnameable.length > 0
      ? [`A lab file cannot have the names of some nodes (${named(unnameable)}): rename these nodes.`]
      : []),
    ...(spaced.length > 0 ? [`Servers leave the blanks out of the names of new nodes (${named(spaced)}).`] : []),
  ];
}

/** The checks that the lab keeps, where its file can have them: their variables are the lab's. */
async function checksText(api: Api, { object }: ServerLab, variables: LabText['variables']) {
  const kept = await readLabFile(api, object, KEPT_CHECKS);
  if (kept === undefined) return { checks: undefined, isLeftOut: false };
  try {
    const { variables: own = {}, checks } = parse(kept) as Pick<LabText, 'variables' | 'checks'>;
    const isLeftOut = Object.entries(own).some(([name, value]) => String(variables?.[name]) !== String(value));
    return { checks: isLeftOut ? undefined : checks, isLeftOut };
  } catch {
    return { checks: undefined, isLeftOut: true };
  }
}

export interface ExportOptions {
  /** Includes console port numbers, to keep them. */
  consoles?: boolean | undefined;
}

export interface Exported {
  text: string;
  /** What the file leaves out, one sentence each. */
  leftOut: string[];
}

/** Exports a lab, which must be open so that its files can be read. */
export async function exportText(api: Api, state: ServerLab, options: ExportOptions = {}): Promise<Exported> {
  const { object, nodes, drawings } = state;
  const links = state.links.filter(isWhole);
  const variables = object['variables'] as { name: string; value?: string }[] | null | undefined;
  const texts: [string, NodeText][] = [];
  const omitted: string[] = [];
  const nodeOptions = { ...options, omits: (file: string) => void omitted.push(file) };
  for (const node of nodes) texts.push([literal(node.name), await nodeText(api, state, node, nodeOptions)]);
  const own = variables ? Object.fromEntries(variables.map(({ name, value = null }) => [name, value])) : undefined;
  const { checks, isLeftOut } = await checksText(api, state, own);
  const lab = said({
    name: literal(object.name),
    settings: said(
      Object.fromEntries(Object.entries(SETTINGS).map(([name, usual]) => [name, unless(object[name] ?? null, usual)])),
    ),
    variables: own,
    nodes: texts.length > 0 ? Object.fromEntries(texts) : undefined,
    links: links.length > 0 ? links.map((link) => linkText(state, link)) : undefined,
    drawings: drawings.length > 0 ? drawings.map(drawingText) : undefined,
    checks,
  }) as unknown as LabText;
  const missing = await leftOut(api, state, omitted);
  if (isLeftOut)
    missing.push(`The checks that the lab keeps are not in it, as their variables are not the lab's (${KEPT_CHECKS}).`);
  const comments = missing.map((sentence) => `# ${harmless(sentence)}\n`).join('');
  return { text: `${schemaHint(SCHEMA_FILE)}\n${comments}${written(lab)}`, leftOut: missing };
}

/** Places on one line each, texts of several lines as they are. */
function written(lab: LabText): string {
  const document = new Document(lab, { aliasDuplicateObjects: false });
  visit(document, {
    Pair(_key, pair) {
      const { key, value } = pair as Pair;
      if (isScalar(key) && key.value === 'at' && typeof value === 'object' && value !== null) {
        (value as { flow?: boolean }).flow = true;
      }
    },
  });
  const top = document.contents;
  if (isMap(top)) for (const { key } of top.items.slice(1)) if (isScalar(key)) key.spaceBefore = true;
  return yamlText(document);
}
