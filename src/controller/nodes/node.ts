// A node of a project: its record, the compute's runtime state, and the object that clients see.

import { hostInUrl } from '../../api/host-in-url.ts';
import { ABSENT_MEMBERS } from '../../api/kinds/absent-settings.ts';
import { nodeKind, portsOf, usualProperties } from '../../api/kinds/kinds.ts';
import type { Port } from '../../api/kinds/port.ts';
import type { CustomAdapter, Label, NodeType } from '../../api/vocabulary.ts';
import { conflict } from '../../failures.ts';
import { frozen } from '../../host/values/frozen.ts';
import { Unchanged } from '../../host/values/unchanged.ts';
import type { Compute } from '../computes/compute.ts';

const STATUSES = ['stopped', 'started', 'suspended'] as const;
export type NodeStatus = (typeof STATUSES)[number];

/** A node in the topology file (as in release 2.2.57). */
export interface NodeRecord {
  node_id: string;
  node_type: NodeType;
  compute_id: string;
  template_id: string | null;
  name: string;
  console: number | null;
  console_type: string | null;
  console_auto_start: boolean;
  properties: Record<string, unknown>;
  label: Label;
  x: number;
  y: number;
  z: number;
  locked: boolean;
  width: number;
  height: number;
  symbol: string;
  port_name_format: string;
  port_segment_size: number;
  first_port_name: string | null;
  custom_adapters: CustomAdapter[];
  /** Extensions: see `store/topology/start-order.ts`. */
  start_order?: number;
  start_delay?: number;
}

/** Path of a node on its compute, below /v2/compute. */
export function nodePath(projectId: string, type: string, id: string): string {
  return `/projects/${projectId}/${type}/nodes/${id}`;
}

/** Texts given at creation; from then on they are files of the compute. */
const CREATION_TEXTS = ['startup_config_content', 'private_config_content', 'startup_script'];

/** Members of a compute's node object that are not properties: runtime state and others. */
const RUNTIME = ['status', 'halt_reason', 'command_line', 'node_directory'];
const DROPPED = new Set(['node_id', 'project_id', 'console_host', ...RUNTIME, ...CREATION_TEXTS]);

/** Members of `properties` for the controller only; computes reject them. */
const CONTROLLER_ONLY = new Set([
  'x',
  'y',
  'z',
  'locked',
  'width',
  'height',
  'symbol',
  'label',
  'console_host',
  'port_name_format',
  'first_port_name',
  'port_segment_size',
  'ports',
  'category',
  'console_auto_start',
]);

/** A port on this host that forwards to a node's console. */
export interface ConsoleForward extends Disposable {
  /** The address for clients. */
  readonly host: string;
  readonly port: number;
  /** Number and type of the console on the node's compute. */
  readonly console: number;
  readonly type: string;
}

export class Node {
  readonly projectId: string;
  /** The compute that runs it; changes when the node moves. */
  compute: Compute;
  /** Its host is unreachable or was not queried since: its status is unknown and counts as stopped. */
  lost = false;
  #lastStatus: NodeStatus = 'stopped';
  /** Why it stopped without a request, with the fix; otherwise null. */
  haltReason: string | null = null;
  commandLine: string | null = null;
  directory: string | null = null;
  /** It is being deleted: its compute's notifications are ignored. */
  leaving = false;
  /** It is being restored: if that fails its files are kept further on. */
  returning = false;
  /** Why the compute rejected the node when the lab was opened; it is created there before its first start. */
  absent: string | undefined;
  /** Creates a missing node on its compute. @throws the compute's rejection */
  appear: () => Promise<void> = async () => {};
  /** The compute's notifications during a change of its record, which applies them at its end. */
  inbox: Record<string, unknown>[] | undefined;
  /** Pending starts and reloads on its compute. */
  starting = 0;
  /** Its number, if its kind derives MAC addresses from numbers and once it has one. */
  macNumber: number | undefined;
  /** Whether its compute assigns these numbers itself. */
  countsItself = false;
  startHeaders: () => Record<string, string> = () => ({});
  /** The port on this host for its console, if clients cannot reach its compute's. */
  forward: ConsoleForward | undefined;
  /** Whether it was removed from its lab. */
  isGone = false;
  #endAsked = new AbortController();
  /** The body of a start on its compute, instead of the client's. */
  startBody: (() => object) | undefined;
  /** Whether nodes of its lab may write directly to images of this host. */
  mayWriteImages: () => Promise<boolean> = async () => true;
  /** Whether its compute lets it write directly to its images. */
  #writesImages = false;
  readonly #shown = new Unchanged();
  #record: NodeRecord;
  #ports: readonly Port[] = [];

  /** The ports are complete once the compute has answered. */
  constructor(projectId: string, compute: Compute, record: NodeRecord) {
    this.projectId = projectId;
    this.compute = compute;
    this.#record = frozen(record);
  }

  /** The node's record. Never changed, only replaced. */
  get record(): NodeRecord {
    return this.#record;
  }

  /** @throws Failure `conflict` for an invalid port name format; the node stays unchanged */
  set record(record: NodeRecord) {
    // A missing node has no defaults from its compute.
    const usual = this.absent === undefined ? {} : usualProperties(record.node_type);
    this.#ports = frozen(portsOf({ ...record, properties: { ...usual, ...record.properties } }));
    this.#record = frozen(record);
  }

  get ports(): readonly Port[] {
    return this.#ports;
  }

  get status(): NodeStatus {
    return this.lost ? 'stopped' : this.#lastStatus;
  }

  /** Its status, or the one that was known before its host was lost. */
  get lastStatus(): NodeStatus {
    return this.#lastStatus;
  }

  set status(status: NodeStatus) {
    this.#lastStatus = status;
  }

  /** Whether its compute cannot wire it at present, because it does not have the node or is unreachable. */
  get unwirable(): boolean {
    return this.lost || this.absent !== undefined;
  }

  get id(): string {
    return this.record.node_id;
  }

  get name(): string {
    return this.record.name;
  }

  get type(): NodeType {
    return this.record.node_type;
  }

  /** It always runs, and does not prevent exports and duplication. */
  get alwaysRunning(): boolean {
    return nodeKind(this.type).alwaysRuns === true;
  }

  /** Waits for the host of a lost node. @throws Failure `conflict` that names the host when it is unreachable */
  async reach(): Promise<void> {
    if (this.lost) await this.compute.ready();
  }

  /** Path of this node's routes below /v2/compute. */
  get path(): string {
    return nodePath(this.projectId, this.type, this.id);
  }

  /** The path that removes the node there, with its files unless it is being restored. */
  get removal(): string {
    return this.returning ? keepingFiles(this.path) : this.path;
  }

  /** Aborted when the node is about to stop or be deleted: earlier requests do not start it any more. */
  get endAsked(): AbortSignal {
    return this.#endAsked.signal;
  }

  /** Cancels pending starts. */
  askEnd(): void {
    this.#endAsked.abort(conflict(`${this.name} was stopped before it started.`));
    this.#endAsked = new AbortController();
  }

  /** The node was removed from its lab: ends its console forward. */
  end(): void {
    this.isGone = true;
    this.forward?.[Symbol.dispose]();
  }

  /** The object that clients see (`Node`): the same one until something of it changes. */
  json() {
    const object = {
      ...this.record,
      ...(this.forward && { console: this.forward.port }),
      project_id: this.projectId,
      console_host: this.#consoleHost(),
      command_line: this.commandLine,
      node_directory: this.directory,
      status: this.status,
      ...(this.haltReason === null ? {} : { halt_reason: this.haltReason }),
      ...(this.lost && { lost_reason: this.compute.absence }),
      ports: this.ports,
    };
    return this.#shown.of(object) as Readonly<typeof object>;
  }

  /**
   * The properties for an update on the compute: without the creation texts, whose files may have been edited since.
   */
  get lastingProperties(): Record<string, unknown> {
    return lastingProperties(this.#record);
  }

  #consoleHost(): string {
    const host = this.forward?.host ?? this.compute.consoleHost;
    const isPage = this.record.console_type === 'http' || this.record.console_type === 'https';
    return isPage ? hostInUrl(host) : host;
  }

  port(adapter: number, number: number): Port | undefined {
    return this.ports.find((port) => port.adapter_number === adapter && port.port_number === number);
  }

  /**
   * Applies the compute's runtime state, which is never stored. Returns whether it changes the object that clients see.
   */
  applyRuntime(object: Record<string, unknown>): boolean {
    const before = [this.status, this.haltReason, this.commandLine, this.directory, this.lost];
    this.lost = false;
    if (isStatus(object['status'])) {
      this.status = object['status'];
      this.haltReason = textOrNull(object['halt_reason']);
    }
    if ('command_line' in object) this.commandLine = textOrNull(object['command_line']);
    if ('node_directory' in object) this.directory = textOrNull(object['node_directory']);
    const after = [this.status, this.haltReason, this.commandLine, this.directory, this.lost];
    return after.some((value, index) => value !== before[index]);
  }

  /**
   * The body to create or update the node on its compute. Where the lab's nodes may not write to images, the node gets
   * copies of its own whatever the properties say.
   */
  async computeBody(
    properties: Readonly<Record<string, unknown>>,
    record = this.#record,
  ): Promise<Record<string, unknown>> {
    const body = computeBody(record, properties);
    const { copied } = nodeKind(this.type).images ?? {};
    if (copied === undefined || body[copied] !== false) return body;
    if (!(await this.mayWriteImages())) return { ...body, [copied]: true };
    this.#writesImages = true;
    return body;
  }

  /**
   * Gives the node its own copies of images before it runs or its disks change, if its lab's nodes may no longer write
   * to images.
   */
  async protectImages(): Promise<void> {
    if (!this.#writesImages || (await this.mayWriteImages())) return;
    const body = { name: this.name, [nodeKind(this.type).images!.copied!]: true };
    await this.compute.put(this.path, { body });
    this.#writesImages = false;
  }

  /** Whether it is running and writes to images of this host. */
  get isWritingImages(): boolean {
    return this.#writesImages && this.status !== 'stopped';
  }
}

/** The record after an answer or notification of the compute; `rename` returns the name to use for a different one. */
export function withComputeState(
  record: NodeRecord,
  object: Record<string, unknown>,
  rename: (name: string) => string,
): NodeRecord {
  let next: NodeRecord = { ...record, properties: { ...record.properties } };
  for (const [member, value] of Object.entries(object)) {
    if (DROPPED.has(member)) continue;
    if (member === 'name') {
      if (typeof value === 'string' && value !== record.name) next = withName(next, rename(value));
    } else if (member === 'console') next.console = isPort(value) ? value : null;
    else if (member === 'console_type') next.console_type = textOrNull(value);
    else next.properties[member] = value;
  }
  // A whole object omits these at their default.
  if ('node_id' in object) for (const member of ABSENT_MEMBERS) if (!(member in object)) delete next.properties[member];
  return next;
}

/**
 * The record with another name, also in the label. A label that showed the old name loses its x position, as it may no
 * longer fit.
 */
export function withName(record: NodeRecord, name: string): NodeRecord {
  const { label } = record;
  return name === label.text ? { ...record, name } : { ...record, name, label: { ...label, text: name, x: null } };
}

/** The properties without the creation texts, whose files may have been edited since. */
export function lastingProperties({ properties }: NodeRecord): Record<string, unknown> {
  return Object.fromEntries(Object.entries(properties).filter(([member]) => !CREATION_TEXTS.includes(member)));
}

/** Path of the deletion of a node whose compute keeps the files. */
export function keepingFiles(path: string): string {
  return `${path}?keep=yes`;
}

/** A node's properties and members for its compute. */
function computeBody(record: NodeRecord, properties: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const body: Record<string, unknown> = { ...properties, name: record.name };
  if (record.console !== null) body['console'] = record.console;
  if (record.console_type !== null && !nodeKind(record.node_type).withoutConsoleType) {
    body['console_type'] = record.console_type;
  }
  if (record.custom_adapters.length > 0) body['custom_adapters'] = record.custom_adapters;
  for (const [member, value] of Object.entries(body)) {
    const empty =
      value === null || (typeof value === 'object' && Object.keys(value).length === 0 && !Array.isArray(value));
    if (empty || CONTROLLER_ONLY.has(member)) delete body[member];
  }
  return body;
}

function isStatus(value: unknown): value is NodeStatus {
  return STATUSES.some((status) => status === value);
}

/** A topology with an invalid console port could not be read again. */
function isPort(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 65535;
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
