#!/usr/bin/env node
// Gives saved labs of releases 1.0 to 3.0 to a server and compares what it makes of them. No dependencies; Node.js 20 or newer.
//
//   node check.mjs --url http://127.0.0.1:3080 [--user U --password P] [--verbose] [case or case/way ...]
//
// The server has to run on this machine in local mode. README.md says what is compared and what is not.
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as zlib from 'node:zlib';

export const REVISION = 9;
export const WAYS = ['found', 'loaded', 'imported', 'archive'];
const PROJECT_FILE = 'project.gns3';
const ARCHIVE = 'lab.gns3project';

// ---------------------------------------------------------------- the server

export class Server {
  constructor(url, user, password) {
    this.url = url.replace(/\/+$/, '');
    this.headers = user ? { authorization: `Basic ${Buffer.from(`${user}:${password ?? ''}`).toString('base64')}` } : {};
  }

  async ask(method, path, body, { raw = false, timeout = 60_000 } = {}) {
    const headers = { ...this.headers };
    if (body !== undefined) headers['content-type'] = raw ? 'application/octet-stream' : 'application/json';
    const answer = await fetch(`${this.url}/v2${path}`, {
      method,
      headers,
      body: body === undefined ? undefined : raw ? body : JSON.stringify(body),
      signal: AbortSignal.timeout(timeout),
    });
    const text = await answer.text();
    let json;
    try {
      json = text === '' ? undefined : JSON.parse(text);
    } catch {
      json = undefined;
    }
    return { status: answer.status, json, text };
  }

  async get(path) {
    const answer = await this.ask('GET', path);
    if (answer.status !== 200) throw new Error(`GET ${path}: ${answer.status} ${answer.text.slice(0, 200)}`);
    return answer.json;
  }

  /** Version, and the directory in which projects are. */
  async prepare() {
    const { version, local } = await this.get('/version');
    if (local !== true) throw new Error('the server is not in local mode: it does not load projects by their path');
    this.version = version;
    const made = await this.ask('POST', '/projects', { name: `old-projects-${unique()}` });
    if (made.status !== 201) throw new Error(`POST /projects: ${made.status} ${made.text.slice(0, 200)}`);
    this.projects = dirname(made.json.path);
    await this.ask('DELETE', `/projects/${made.json.project_id}`);
    if (!existsSync(this.projects)) throw new Error(`${this.projects} is not on this machine`);
  }

  async reload() {
    await this.ask('POST', '/reload', {});
  }
}

let counter = 0;
const unique = () => `${process.pid.toString(36)}${Date.now().toString(36)}${(counter++).toString(36)}`;
const newUuid = () => crypto.randomUUID();
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

async function until(condition, ms = 4000) {
  const end = Date.now() + ms;
  for (;;) {
    const value = await condition();
    if (value || Date.now() > end) return value;
    await sleep(50);
  }
}

// ---------------------------------------------------------------- the three ways in

/** A copy of the case's files in the projects directory. */
function place(server, directory) {
  const work = join(server.projects, newUuid());
  mkdirSync(work, { recursive: true });
  for (const name of filesOf(directory)) {
    mkdirSync(dirname(join(work, name)), { recursive: true });
    cpSync(join(directory, name), join(work, name));
  }
  return work;
}

const OF_THE_CASE = new Set(['expected.json', 'notes.md']);

function filesOf(directory) {
  const found = [];
  const walk = (folder) => {
    for (const entry of readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) walk(path);
      else found.push(relative(directory, path));
    }
  };
  walk(directory);
  return found.filter((name) => !OF_THE_CASE.has(name));
}

/** What the server knows of it is gone afterwards, whatever it made of it. */
async function remove(server, work, computes) {
  const known = async () => (await server.get('/projects')).filter(({ path }) => resolve(path) === resolve(work));
  for (const { project_id } of await known()) await server.ask('POST', `/projects/${project_id}/close`, {});
  rmSync(work, { recursive: true, force: true });
  if ((await known()).length > 0) {
    await server.reload();
    await until(async () => (await known()).length === 0);
    for (const { project_id } of await known()) await server.ask('DELETE', `/projects/${project_id}`);
  }
  for (const { compute_id } of await server.get('/computes')) {
    if (!computes.has(compute_id)) await server.ask('DELETE', `/computes/${compute_id}`);
  }
}

/** The projects directory is searched: the file is brought up to date and the project is closed. */
async function found(server, work) {
  await server.reload();
  const listed = await until(async () => (await server.get('/projects')).find(({ path }) => resolve(path) === resolve(work)));
  if (!listed) return { status: 'not found by the reload', message: 'the project is not in the list of projects' };
  const path = join(work, PROJECT_FILE);
  const isNew = () => {
    try {
      return JSON.parse(readFileSync(path, 'utf8')).revision === REVISION;
    } catch {
      return false;
    }
  };
  if (!(await until(isNew, 2000))) return { status: 'not converted', message: listed.damaged ?? '' };
  const topology = JSON.parse(readFileSync(path, 'utf8'));
  const problems = [];
  if (listed.status !== 'closed') problems.push(`the project is ${listed.status}, not closed`);
  for (const kind of ['nodes', 'links', 'drawings']) {
    const { length } = await server.get(`/projects/${listed.project_id}/${kind}`);
    if (length !== topology.topology[kind].length) problems.push(`the API lists ${length} ${kind}, the file has ${topology.topology[kind].length}`);
  }
  return { status: 'found', project: listed, topology, problems };
}

/** POST /projects/load, then closed and opened again. */
async function loaded(server, work) {
  const answer = await server.ask('POST', '/projects/load', { path: join(work, PROJECT_FILE) }, { timeout: 120_000 });
  if (answer.status !== 201) return { status: answer.status, message: answer.json?.message };
  const id = answer.json.project_id;
  const look = async () => ({
    nodes: await server.get(`/projects/${id}/nodes`),
    links: await server.get(`/projects/${id}/links`),
    drawings: await server.get(`/projects/${id}/drawings`),
    computes: (await server.get('/computes')).filter(({ compute_id }) => compute_id !== 'local' && compute_id !== 'vm'),
  });
  const first = await look();
  const problems = [];
  if (answer.json.status !== 'opened') problems.push(`the project is ${answer.json.status}, not opened`);
  const closed = await server.ask('POST', `/projects/${id}/close`, {});
  if (closed.status !== 204) problems.push(`closing it: ${closed.status}`);
  const topology = JSON.parse(readFileSync(join(work, PROJECT_FILE), 'utf8'));
  const opened = await server.ask('POST', `/projects/${id}/open`, {});
  if (opened.status !== 201) problems.push(`opening it again: ${opened.status} ${opened.json?.message ?? ''}`);
  else {
    const again = await look();
    for (const kind of ['nodes', 'links', 'drawings']) {
      if (again[kind].length !== first[kind].length) problems.push(`${again[kind].length} ${kind} after opening again, not ${first[kind].length}`);
    }
  }
  return { status: 201, project: answer.json, topology: { ...topology, topology: first }, problems, api: true };
}

/** POST /projects/{id}/import of an archive: the case's own, or one of the case's files. */
async function imported(server, directory, archive) {
  const entries = archive ? [] : filesOf(directory).map((name) => ({ name: name.replaceAll('\\', '/'), data: readFileSync(join(directory, name)) }));
  const id = newUuid();
  const name = `imported-${unique()}`;
  const work = join(server.projects, id);
  const answer = await server.ask('POST', `/projects/${id}/import?name=${name}`, archive ?? zip(entries), { raw: true, timeout: 120_000 });
  if (answer.status !== 201) return { work, status: answer.status, message: answer.json?.message };
  const project = await server.get(`/projects/${id}`);
  const topology = JSON.parse(readFileSync(join(project.path, project.filename), 'utf8'));
  const problems = [];
  if (project.name !== name || topology.name !== name) problems.push(`the name is ${JSON.stringify([project.name, topology.name])}, not ${name}`);
  if (project.project_id !== id || topology.project_id !== id) problems.push('the identifier of the project is another one');
  if (project.status !== 'closed') problems.push(`the project is ${project.status}, not closed`);
  return { work: project.path, status: 201, project, topology, problems, isImport: true };
}

/** Which of these types of nodes the server's own compute does not run: told by itself, or when it is asked to make one. */
async function missingTypes(server, types) {
  const local = (await server.get('/computes')).find(({ compute_id }) => compute_id === 'local');
  const told = local?.capabilities?.node_types ?? [];
  const missing = types.filter((type) => !told.includes(type));
  const { json: project } = await server.ask('POST', '/projects', { name: `old-projects-${unique()}` });
  for (const node_type of types.filter((type) => !missing.includes(type))) {
    const body = { name: 'Probe', node_type, compute_id: 'local', properties: {} };
    const { status, json } = await server.ask('POST', `/projects/${project.project_id}/nodes`, body);
    if (status === 409 && /does not run/.test(json?.message ?? '')) missing.push(node_type);
  }
  await server.ask('DELETE', `/projects/${project.project_id}`);
  return missing;
}

/** Images that a lab needs to be opened: small files with the first bytes of real ones. */
export async function giveImages(server, images) {
  for (const { emulator, name, hex, length } of images ?? []) {
    const data = Buffer.alloc(length);
    Buffer.from(hex, 'hex').copy(data);
    await server.ask('POST', `/computes/local/${emulator}/images/${name}`, data, { raw: true });
  }
}

/** Gives a case to the server by one way; answers the normal form of what it made of it. */
export async function run(server, directory, way) {
  const archive = way === 'archive' ? readFileSync(join(directory, ARCHIVE)) : undefined;
  const raw = archive ?? readFileSync(join(directory, PROJECT_FILE));
  const computes = new Set((await server.get('/computes')).map(({ compute_id }) => compute_id));
  const isImport = way === 'imported' || way === 'archive';
  let work = isImport ? undefined : place(server, directory);
  try {
    const got = isImport ? await imported(server, directory, archive) : await (way === 'found' ? found : loaded)(server, work);
    work ??= got.work;
    const result = { status: got.status, ...(got.message !== undefined && { message: got.message }) };
    if (got.topology === undefined) {
      if (way === 'loaded') result.kept = [PROJECT_FILE, ...readdirSync(work).filter((name) => name.startsWith(`${PROJECT_FILE}.backup`))].some((name) => raw.equals(readFileSync(join(work, name))));
      return result;
    }
    const old = parse(raw);
    const names = new Map(got.topology.topology.nodes.map(({ node_id, name }) => [node_id, name]));
    return { ...result, problems: got.problems, ...labOf(got, old), ...diskOf(work, raw, way, old, names) };
  } finally {
    if (work) await remove(server, work, computes);
  }
}

function parse(raw) {
  try {
    const value = JSON.parse(raw.toString('utf8'));
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}

// ---------------------------------------------------------------- the normal form

const PROJECT_DEFAULTS = {
  auto_start: false, auto_open: false, auto_close: true, scene_width: 2000, scene_height: 1000, zoom: 100, show_layers: false,
  snap_to_grid: false, show_grid: false, grid_size: 75, drawing_grid_size: 25, show_interface_labels: false, variables: null, supplier: null,
};
const NODE_MEMBERS = [
  'name', 'node_type', 'console', 'console_type', 'console_auto_start', 'template_id', 'symbol', 'x', 'y', 'z', 'locked', 'label',
  'port_name_format', 'port_segment_size', 'first_port_name', 'custom_adapters', 'properties',
];
const NODE_DEFAULTS = {
  console: null, console_type: 'none', console_auto_start: false, template_id: null, z: 1, locked: false, first_port_name: null,
  port_name_format: 'Ethernet{0}', port_segment_size: 0,
};
const IOU_DEFAULTS = { port_name_format: 'Ethernet{segment0}/{port0}', port_segment_size: 4 };

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const isEmpty = (value) => value === null || value === undefined || (Array.isArray(value) && value.length === 0) || (isObject(value) && Object.keys(value).length === 0);

function without(object, defaults) {
  return Object.fromEntries(Object.entries(object).filter(([key, value]) => value !== undefined && !(key in defaults && JSON.stringify(value) === JSON.stringify(defaults[key]))));
}

function labOf({ project, topology, api = false, isImport = false }, old) {
  const oldIds = new Set();
  const collect = (value) => {
    if (Array.isArray(value)) value.forEach(collect);
    else if (isObject(value)) Object.values(value).forEach(collect);
    else if (typeof value === 'string' && /^[0-9a-f-]{36}$/i.test(value)) oldIds.add(value);
  };
  collect(old);
  const { nodes, links, drawings, computes } = topology.topology;
  const computeNames = new Map(computes.filter(({ compute_id }) => compute_id !== 'local' && compute_id !== 'vm').map(({ compute_id, name }) => [compute_id, name]));
  const settings = Object.fromEntries(Object.keys(PROJECT_DEFAULTS).map((key) => [key, (api ? project : topology)[key]]));
  const dropped = isImport ? ['auto_start', 'auto_open', 'auto_close'] : [];
  const names = new Map(nodes.map((node, i) => [node.node_id, nodes.filter(({ name }) => name === node.name).length > 1 ? `${node.name}#${i}` : node.name]));
  return {
    project: {
      ...(isImport ? {} : { name: project.name, project_id: oldIds.has(project.project_id) ? project.project_id : '(new)' }),
      ...without(Object.fromEntries(Object.entries(settings).filter(([key]) => !dropped.includes(key))), PROJECT_DEFAULTS),
    },
    // An import deals the nodes out anew.
    computes: isImport ? [] : computes
      .filter(({ compute_id }) => compute_id !== 'local' && compute_id !== 'vm')
      .map(({ name, host, port, protocol }) => ({ name, host, port, protocol })),
    nodes: nodes.map((node) => nodeOf(withoutMachine(node, old), { api, isImport, oldIds, computeNames })),
    links: links.map((link) => linkOf(link, names, oldIds, isImport)),
    drawings: drawings.map((drawing) => drawingOf(drawing, oldIds, isImport)),
  };
}

/** A cloud without the interfaces that the lab does not name: a cloud without any is given those of the machine. */
function withoutMachine(node, old) {
  if (node.node_type !== 'cloud' || !Array.isArray(node.properties?.ports_mapping)) return node;
  const named = JSON.stringify(old);
  const ofTheMachine = node.properties.ports_mapping.filter(({ type, interface: name }) => type === 'ethernet' && !named.includes(name));
  const names = new Set(ofTheMachine.map(({ name }) => name));
  const kept = (ports) => ports?.filter(({ name }) => !names.has(name));
  return { ...node, ports: kept(node.ports), properties: { ...node.properties, ports_mapping: kept(node.properties.ports_mapping) } };
}

function nodeOf(node, { api, isImport, oldIds, computeNames }) {
  const picked = Object.fromEntries(NODE_MEMBERS.map((key) => [key, node[key] === null && key === 'console_type' ? 'none' : node[key]]));
  // Ports are given anew where they are taken.
  if (api) picked.console = undefined;
  if (isEmpty(picked.custom_adapters)) picked.custom_adapters = undefined;
  const { label, properties, ...rest } = without(picked, { ...NODE_DEFAULTS, ...(node.node_type === 'iou' && IOU_DEFAULTS) });
  return {
    ...rest,
    ...idOf('node_id', node, oldIds, isImport),
    ...(!isImport && { compute: computeNames.get(node.compute_id) ?? (/^[0-9a-f-]{36}$/.test(node.compute_id) ? '(unknown)' : node.compute_id) }),
    ...(label && { label: labelOf(label) }),
    properties: propertiesOf(node),
    ...(api && { status: node.status, ports: node.ports.map(({ name, adapter_number, port_number }) => `${name} ${adapter_number}/${port_number}`) }),
  };
}

/** Properties that depend on the machine, or on a counter. */
const OF_THE_MACHINE = new Set(['interfaces', 'mac_address', 'mac_addr', 'remote_console_host', 'remote_console_port', 'remote_console_type', 'usage', 'application_id', 'md5sum']);

function propertiesOf(node) {
  const properties = { ...node.properties };
  if (Array.isArray(properties.ports_mapping)) {
    properties.ports_mapping = properties.ports_mapping.map((port) => (node.node_type === 'cloud' || node.node_type === 'nat' ? { ...port, port_number: undefined } : port));
    if (node.node_type === 'cloud') properties.ports_mapping.sort((a, b) => (a.name < b.name ? -1 : 1));
    if (node.node_type === 'nat') delete properties.ports_mapping;
  }
  // The one port of a NAT is not stored.
  if (node.node_type === 'nat') delete properties.ports;
  for (const [key, value] of Object.entries(properties)) if (isEmpty(value) || value === '' || OF_THE_MACHINE.has(key)) delete properties[key];
  return JSON.parse(JSON.stringify(properties));
}

function labelOf(label) {
  return without({ ...label, style: typeof label.style === 'string' ? styleOf(label.style) : label.style }, { rotation: 0, x: null, style: null });
}

const SVG_DEFAULTS = { 'font-style': 'normal', 'font-weight': 'normal', 'fill-opacity': 1, 'text-decoration': 'none' };

/** 10 and 10.0 are the same, and so are #ABCDEF and #abcdef. */
function textOf(value) {
  return /^\s*-?\d+(\.\d+)?\s*$/.test(value) ? Number(value) : value.trim().replace(/\s+/g, ' ').replace(/^#[0-9a-f]+$/i, (color) => color.toLowerCase());
}

function styleOf(style) {
  const pairs = style.split(';').map((part) => part.split(':')).filter(([key]) => key.trim() !== '');
  return without(Object.fromEntries(pairs.map(([key, ...value]) => [key.trim(), textOf(value.join(':'))])), SVG_DEFAULTS);
}

/** Identifiers of the old file; new ones are told of imports only, where all have to be new. */
function idOf(key, object, oldIds, isImport) {
  if (oldIds.has(object[key])) return { [key]: object[key] };
  return isImport ? { [key]: '(new)' } : {};
}

function linkOf(link, names, oldIds, isImport) {
  const ends = (link.nodes ?? []).map((end) => {
    const at = `${names.get(end.node_id) ?? '(nowhere)'} ${end.adapter_number}/${end.port_number}`;
    // Without a label of its own an end is called by its numbers.
    const own = end.label && !/^\d+\/\d+$/.test(end.label.text);
    return { at, ...(own && { label: labelOf(end.label) }) };
  });
  ends.sort((a, b) => (a.at < b.at ? -1 : 1));
  return {
    ends,
    ...idOf('link_id', link, oldIds, isImport),
    ...(!isEmpty(link.filters) && { filters: link.filters }),
    ...(!isEmpty(link.link_style) && { link_style: link.link_style }),
    ...(link.suspend && { suspend: true }),
  };
}

function drawingOf(drawing, oldIds, isImport) {
  return {
    x: drawing.x ?? 0,
    y: drawing.y ?? 0,
    z: drawing.z ?? 2,
    ...(drawing.rotation && { rotation: drawing.rotation }),
    ...(drawing.locked && { locked: true }),
    ...idOf('drawing_id', drawing, oldIds, isImport),
    svg: svgOf(drawing.svg ?? '<svg></svg>'),
  };
}

export function svgOf(text) {
  if (!text.includes('<svg')) return { picture: text };
  const data = /href="data:image\/[^;]*;base64,([^"]*)"/.exec(text);
  if (data) return { image: hash(Buffer.from(data[1].replace(/\s/g, ''), 'base64')) };
  const root = xml(text);
  if (root === undefined) return { broken: text };
  return root;
}

/** Elements, attributes and texts; enough for the drawings of clients. */
function xml(source) {
  const stack = [{ children: [] }];
  const tokens = /<\?[^>]*\?>|<!--[\s\S]*?-->|<!\[CDATA\[[\s\S]*?\]\]>|<\/([\w:.-]+)\s*>|<([\w:.-]+)((?:\s+[\w:.-]+\s*=\s*(?:"[^"]*"|'[^']*'))*)\s*(\/?)>|([^<]+)/g;
  let at = 0;
  for (const match of source.matchAll(tokens)) {
    if (match.index !== at) return undefined;
    at += match[0].length;
    const top = stack.at(-1);
    if (match[1] !== undefined) {
      if (stack.length < 2 || top.full !== match[1]) return undefined;
      stack.pop();
    } else if (match[2] !== undefined) {
      const element = { full: match[2], tag: match[2].replace(/^.*:/, ''), children: [], text: '', attributes: {} };
      for (const [, name, double, single] of match[3].matchAll(/([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g)) {
        if (!name.startsWith('xmlns')) element.attributes[name.replace(/^.*:/, '')] = textOf(unescaped(double ?? single));
      }
      top.children.push(element);
      if (match[4] === '') stack.push(element);
    } else if (match[5] !== undefined && 'text' in top) top.text += unescaped(match[5]);
  }
  if (at !== source.length || stack.length !== 1 || stack[0].children.length !== 1) return undefined;
  const clean = ({ tag, attributes, children, text }, isRoot) => {
    const kept = without(attributes, SVG_DEFAULTS);
    // Clients read whole numbers, or take the size of the whole.
    if (tag === 'ellipse') for (const key of ['cx', 'cy', 'rx', 'ry']) if (typeof kept[key] === 'number') kept[key] = Math.trunc(kept[key]);
    // Clients measure texts themselves.
    if (isRoot && children.some((child) => child.tag === 'text')) {
      delete kept.width;
      delete kept.height;
    }
    return {
      [tag]: Object.fromEntries(Object.entries(kept).sort(([a], [b]) => (a < b ? -1 : 1))),
      ...(tag === 'text' && { content: text }),
      ...(children.length > 0 && { children: children.map((child) => clean(child, false)) }),
    };
  };
  return clean(stack[0].children[0], true);
}

function unescaped(text) {
  const named = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };
  return text.replace(/&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi, (whole, hex, decimal, name) =>
    hex ? String.fromCodePoint(Number.parseInt(hex, 16)) : decimal ? String.fromCodePoint(Number(decimal)) : (named[name] ?? whole),
  );
}

const hash = (data) => createHash('sha256').update(data).digest('hex').slice(0, 16);

/** What emulators write as soon as a lab is open. */
const AT_WORK = /\.log$|_(log|stdout)\.txt$|_lock$|^project-files\/dynamips\/ilt_|^project-files\/tmp\//;

/** Files beside the project's own: contents by hash, archives by their entries. */
function diskOf(work, raw, way, old, names) {
  const files = {};
  for (const path of filesOf(work)) {
    const name = path.replaceAll('\\', '/');
    if (name.endsWith('.gns3') || /\.gns3\.backup\d*$/.test(name)) continue;
    if (way === 'loaded' && AT_WORK.test(name)) continue;
    // Folders of nodes are called by the node's name here.
    files[name.replace(/^(project-files\/[\w-]+\/)([0-9a-f-]{36})\//, (whole, start, id) => (names.has(id) ? `${start}{${names.get(id)}}/` : whole))] = name.endsWith('.gns3project') ? entriesOf(join(work, path)) : hash(readFileSync(join(work, path)));
  }
  const disk = { files };
  const revision = old.revision ?? 0;
  if (revision < REVISION && way !== 'imported') {
    const backup = join(work, `${PROJECT_FILE}.backup${revision}`);
    disk.backup = existsSync(backup) ? (raw.equals(readFileSync(backup)) ? 'the old file' : 'another file') : 'none';
  }
  return disk;
}

// ---------------------------------------------------------------- zip

const crc32 = zlib.crc32 ?? ((data) => {
  let crc = ~0;
  for (const byte of data) {
    crc ^= byte;
    for (let i = 0; i < 8; i++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
});

function zip(entries) {
  const parts = [];
  const central = [];
  let offset = 0;
  for (const { name, data } of entries) {
    const path = Buffer.from(name, 'utf8');
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(0x800, 2);
    common.writeUInt16LE(0x21, 8);
    common.writeUInt32LE(crc32(data), 10);
    common.writeUInt32LE(data.length, 14);
    common.writeUInt32LE(data.length, 18);
    common.writeUInt16LE(path.length, 22);
    const local = Buffer.concat([Buffer.from('504b0304', 'hex'), common, path, data]);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE((0o100644 << 16) >>> 0, 6);
    tail.writeUInt32LE(offset, 10);
    central.push(Buffer.from('504b01021403', 'hex'), common, tail, path);
    parts.push(local);
    offset += local.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, directory, end]);
}

/** Names in an archive, and the name in its project file. */
function entriesOf(path) {
  const data = readFileSync(path);
  let end = data.length - 22;
  while (end >= 0 && data.readUInt32LE(end) !== 0x06054b50) end--;
  if (end < 0) return { broken: data.length };
  const names = [];
  let project;
  let at = data.readUInt32LE(end + 16);
  for (let i = data.readUInt16LE(end + 10); i > 0; i--) {
    const length = data.readUInt16LE(at + 28);
    const name = data.toString('utf8', at + 46, at + 46 + length);
    if (!name.endsWith('/')) names.push(name);
    if (name === PROJECT_FILE) {
      const start = data.readUInt32LE(at + 42);
      const from = start + 30 + data.readUInt16LE(start + 26) + data.readUInt16LE(start + 28);
      const packed = data.subarray(from, from + data.readUInt32LE(at + 20));
      project = JSON.parse((data.readUInt16LE(at + 10) === 8 ? zlib.inflateRawSync(packed) : packed).toString('utf8'));
    }
    at += 46 + length + data.readUInt16LE(at + 30) + data.readUInt16LE(at + 32);
  }
  return { entries: names.sort(), ...(project && { nodes: project.topology?.nodes?.length ?? 0 }) };
}

// ---------------------------------------------------------------- the comparison

const show = (value) => {
  const text = JSON.stringify(value);
  return text === undefined ? 'nothing' : text.length > 110 ? `${text.slice(0, 110)}...` : text;
};

/** `{"$any": [...]}` is any of these values; `{"$gone": true}` has to be missing. */
export function differences(got, want, path = '', out = [], extras = () => true) {
  if (isObject(want) && Array.isArray(want.$any)) {
    const tried = want.$any.map((one) => differences(got, one, path, [], extras));
    out.push(...tried.reduce((best, one) => (one.length < best.length ? one : best)));
    return out;
  }
  if (isObject(want) && want.$gone) {
    if (got !== undefined) out.push(`${path} should be gone (${show(got)})`);
    return out;
  }
  if (typeof want === 'number' && typeof got === 'number' && !Number.isInteger(want)) {
    if (Math.abs(want - got) > 0.006) out.push(`${path} is ${got}, not ${want}`);
    return out;
  }
  if (isObject(want) && isObject(got)) {
    for (const key of Object.keys(want)) differences(got[key], want[key], `${path}/${key}`, out, extras);
    for (const key of Object.keys(got)) if (!(key in want) && !extras(path, key, got[key])) out.push(`${path}/${key} is unexpected (${show(got[key])})`);
  } else if (Array.isArray(want) && Array.isArray(got)) {
    if (got.length !== want.length) out.push(`${path} has ${got.length} items, not ${want.length}`);
    else want.forEach((value, i) => differences(got[i], value, `${path}[${i}]`, out, extras));
  } else if (got !== want && !(isEmpty(got) && isEmpty(want))) out.push(`${path} is ${show(got)}, not ${show(want)}`);
  return out;
}

/** Each item of one list with the one that is most like it of the other. */
function matched(got, want, path, out, compare, kind) {
  if (got.length !== want.length) {
    out.push(`${path}: ${got.length} ${kind}, not ${want.length}`);
    return;
  }
  const left = got.map((_, i) => i);
  want.forEach((value, i) => {
    let best;
    for (const j of left) {
      const found = compare(got[j], value, `${path}[${value?.name ?? i}]`);
      // The one of that name, if there is one.
      const distance = found.length + (value?.name !== undefined && value.name !== got[j]?.name ? 1000 : 0);
      if (best === undefined || distance < best.distance) best = { j, found, distance };
    }
    left.splice(left.indexOf(best.j), 1);
    out.push(...best.found);
  });
}

/** Properties that 3.0 writes and 2.2 does not know: they may be kept or left out. */
const NEW_IN_3 = /^(compute_id|usage|qemu_path|maxcpus|ethertype|hd[a-d]_disk_image_backed)$/;

/** Differences between what a server made of a case and one form of what is expected. */
export function compare(got, want, old) {
  if (want.refused) return compareRefusal(got, want);
  const out = [...(got.problems ?? [])];
  if (got.status !== want.status) return [`status ${got.status}, not ${want.status}${got.message ? ` (${String(got.message).slice(0, 200)})` : ''}`];
  differences(got.project, want.project, '/project', out, () => false);
  matched(got.computes, want.computes, '/computes', out, (a, b, path) => differences(a, b, path, [], () => false), 'computes');
  const oldProperties = (old.topology?.nodes ?? []).flatMap((node) => Object.keys(node?.properties ?? {}));
  // A server may tell more properties; not those that the old file had and that the conversion takes away.
  const nodeExtras = (path, key) =>
    key === 'node_id' || (key === 'ethertype' && /\/ports_mapping\[\d+\]$/.test(path)) || (/\/properties$/.test(path) && (NEW_IN_3.test(key) || !oldProperties.includes(key)));
  matched(got.nodes, want.nodes, '/nodes', out, (a, b, path) => differences(a, b, path, [], nodeExtras), 'nodes');
  compareLinks(got.links, want.links, out);
  matched(got.drawings, want.drawings, '/drawings', out, (a, b, path) => differences(a, b, path, [], () => false), 'drawings');
  differences(got.files, want.files, '/files', out, (path, key) => path === '/files' && AT_WORK.test(key) && !(key in (want.files ?? {})));
  if (want.backup && got.backup !== want.backup) out.push(`the backup is ${got.backup}, not ${want.backup}`);
  return out;
}

function compareLinks(got, want, out) {
  if (isObject(want) && want.$any) {
    const tried = want.$any.map((one) => {
      const found = [];
      compareLinks(got, one, found);
      return found;
    });
    out.push(...tried.reduce((best, one) => (one.length < best.length ? one : best)));
    return;
  }
  const labels = (path, key) => key === 'label' && /\/ends\[\d\]$/.test(path);
  matched(got, want, '/links', out, (a, b, path) => differences(a, b, path, [], labels), 'links');
}

/** A refusal says why, with a status of the 4xx; the recorded one will do, too. */
function compareRefusal(got, want) {
  if (typeof got.status !== 'number' || got.status < 400) return [`status ${got.status}, but it should be refused (${[want.refused].flat().join(' or ')})`];
  const out = [];
  if (got.status >= 500 && ![want.refused].flat().includes(got.status)) out.push(`refused with ${got.status}, not ${want.refused}`);
  if (got.status < 500 && (typeof got.message !== 'string' || got.message.length < 8)) out.push(`refused without a reason (${show(got.message)})`);
  if (got.kept === false) out.push('the file was changed although it was refused, and there is no copy of it');
  return out;
}

/** Any of the forms will do; the differences to the nearest one. */
export function judge(got, expected, old) {
  return [expected].flat().map((want) => compare(got, want, old)).reduce((best, one) => (one.length < best.length ? one : best));
}

// ---------------------------------------------------------------- the program

export function casesBelow(directory) {
  return readdirSync(directory).filter((name) => [PROJECT_FILE, ARCHIVE].some((file) => existsSync(join(directory, name, file))) && statSync(join(directory, name)).isDirectory()).sort();
}

async function main(args) {
  const options = { url: 'http://127.0.0.1:3080', directory: dirname(fileURLToPath(import.meta.url)) };
  const wanted = [];
  while (args.length > 0) {
    const word = args.shift();
    const option = /^--(url|user|password|directory)$/.exec(word);
    if (option) options[option[1]] = args.shift();
    else if (word === '--verbose') options.verbose = true;
    else if (word.startsWith('-')) throw new Error(`unknown option ${word}`);
    else wanted.push(word.replace(/\/$/, ''));
  }
  const server = new Server(options.url, options.user, options.password);
  await server.prepare();
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const names = casesBelow(options.directory).filter((name) => wanted.length === 0 || wanted.some((word) => basename(word) === name || word.split('/')[0] === name));
  for (const name of names) {
    const directory = join(options.directory, name);
    const expected = JSON.parse(readFileSync(join(directory, 'expected.json'), 'utf8'));
    const old = existsSync(join(directory, PROJECT_FILE)) ? parse(readFileSync(join(directory, PROJECT_FILE))) : {};
    const failures = [];
    const lacking = expected.needs ? await missingTypes(server, expected.needs) : [];
    if (lacking.length > 0) {
      counts.skipped++;
      console.log(`skip ${name}: ${expected.title} (the server makes no ${lacking.join(', ')} nodes)`);
      continue;
    }
    await giveImages(server, expected.images);
    for (const way of WAYS) {
      if (expected[way] === undefined) continue;
      const named = wanted.filter((word) => word.startsWith(`${name}/`));
      if (named.length > 0 && !named.includes(`${name}/${way}`)) continue;
      try {
        failures.push(...judge(await run(server, directory, way), expected[way], old).map((text) => `${way}: ${text}`));
      } catch (error) {
        failures.push(`${way}: ${error.message}`);
      }
    }
    counts[failures.length === 0 ? 'passed' : 'failed']++;
    console.log(`${failures.length === 0 ? 'ok  ' : 'FAIL'} ${name}: ${expected.title}`);
    for (const text of options.verbose ? failures : failures.slice(0, 8)) console.log(`       ${text}`);
    if (!options.verbose && failures.length > 8) console.log(`       and ${failures.length - 8} more (--verbose)`);
  }
  console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
  return counts.failed === 0 && counts.passed > 0 ? 0 : 1;
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  main(process.argv.slice(2)).then(
    (code) => process.exit(code),
    (error) => {
      console.error(`check: ${error.message}`);
      process.exit(2);
    },
  );
}
