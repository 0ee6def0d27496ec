// A node of a project: what is stored of it, what its compute says of it, and the object that clients see.
import { Failure } from '../../failures.ts';
import { frozen } from '../../host/values/frozen.ts';
import { nodeKind, portsOf, usualProperties } from '../../store/node-kinds/kinds.ts';
import type { Port } from '../../store/node-kinds/port.ts';
import type { CustomAdapter, Label, NodeType } from '../../store/vocabulary.ts';
import type { Compute } from '../computes/compute.ts';

const STATUSES = ['stopped', 'started', 'suspended'] as const;
export type NodeStatus = (typeof STATUSES)[number];

/** What the topology file keeps of a node (as in release 2.2.57). */
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
  /** Beyond the release: see `store/topology/start-order.ts`. */
  start_order?: number;
  start_delay?: number;
}

/** Path of a node on its compute, below /v2/compute. */
export function nodePath(projectId: string, type: string, id: string): string {
  return `/projects/${projectId}/${type}/nodes/${id}`;
}

/** Texts that a node is created with; from then on they are its compute's files. */
const CREATION_TEXTS = ['startup_config_content', 'private_config_content', 'startup_script'];

/** Members of a compute's node object that are no properties: what is said of its run, and more. */
const RUNTIME = ['status', 'halt_reason', 'command_line', 'node_directory'];
const DROPPED = new Set(['node_id', 'project_id', 'console_host', ...RUNTIME, ...CREATION_TEXTS]);

/** Members of `properties` that only the controller understands; computes refuse them. */
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

/** A port of this host that stands for a node's console. */
export interface ConsoleForward extends Disposable {
  /** What clients dial. */
  readonly host: string;
  readonly port: number;
  /** Number and type of the console on the node's compute. */
  readonly console: number;
  readonly type: string;
}

export class Node {
  readonly projectId: string;
  /** Where it is; another one once it was moved. */
  compute: Compute;
  /** Its host cannot be reached, or has not been asked since: what runs there is unknown, and counts as stopped. */
  lost = false;
  #lastStatus: NodeStatus = 'stopped';
  /** Why it stands still without having been asked to, with the fix; null otherwise. */
  haltReason: string | null = null;
  commandLine: string | null = null;
  directory: string | null = null;
  /** It is being deleted: what its compute still says of it counts no more. */
  leaving = false;
  /** Why its compute would not have it when the lab was opened, which knows nothing of it then. It is made before it starts. */
  absent: string | undefined;
  /** Makes one that is absent after all. @throws what its compute has against it still */
  appear: () => Promise<void> = async () => {};
  /** What its compute says of it while a change of its record is under way, which takes it over at its end. */
  inbox: Record<string, unknown>[] | undefined;
  /** Starts and reloads that its compute has been told and has not answered. */
  starting = 0;
  /** Of a kind whose MAC addresses are made of numbers: its number, once it has one. */
  macNumber: number | undefined;
  /** Its compute gives these numbers itself. */
  countsItself = false;
  /** Headers of a start on its compute. */
  startHeaders: () => Record<string, string> = () => ({});
  /** The port of this host that stands for its console, where clients do not reach that of its compute. */
  forward: ConsoleForward | undefined;
  /** It is no part of a lab any more. */
  isGone = false;
  #endAsked = new AbortController();
  /** What its compute is told with a start, in place of what a client says. */
  startBody: (() => object) | undefined;
  /** Whether its lab's nodes may write to the images of this host themselves. */
  mayWriteImages: () => Promise<boolean> = async () => true;
  /** Its compute was told that it writes to its images itself. */
  #writesImages = false;
  #record: NodeRecord;
  #ports: readonly Port[] = [];

  /** The ports are there when the compute has answered of the node. */
  constructor(projectId: string, compute: Compute, record: NodeRecord) {
    this.projectId = projectId;
    this.compute = compute;
    this.#record = frozen(record);
  }

  /** What is stored of the node. It is never changed, but replaced. */
  get record(): NodeRecord {
    return this.#record;
  }

  /** @throws Failure `conflict` for a port name format that cannot be expanded; the node is as it was then */
  set record(record: NodeRecord) {
    // Its compute has not said what it has beside what it was told.
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

  set status(status: NodeStatus) {
    this.#lastStatus = status;
  }

  /** Its compute cannot wire it at present: it does not know the node, or cannot be reached. */
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

  /** It runs as long as it exists, and hinders no export and no duplication. */
  get alwaysRunning(): boolean {
    return nodeKind(this.type).alwaysRuns === true;
  }

  /** Waits for the host of a lost node. @throws Failure `conflict` that names the host when it cannot be reached */
  async reach(): Promise<void> {
    if (this.lost) await this.compute.ready();
  }

  /** Path of this node's routes below /v2/compute. */
  get path(): string {
    return nodePath(this.projectId, this.type, this.id);
  }

  /** Aborted when the node is to stop or to go: what was asked of it before does not start it any more. */
  get endAsked(): AbortSignal {
    return this.#endAsked.signal;
  }

  /** Starts that were asked for are not wanted any more. */
  askEnd(): void {
    this.#endAsked.abort(new Failure('conflict', `${this.name} was stopped before it started.`));
    this.#endAsked = new AbortController();
  }

  /** The node is no part of the lab any more: nothing of it stays on this host. */
  end(): void {
    this.isGone = true;
    this.forward?.[Symbol.dispose]();
  }

  /** The object that clients see (`Node`). */
  json() {
    return {
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
  }

  /** What the compute is told again when it hears of a change: not the texts, whose files the user may have edited since. */
  get lastingProperties(): Record<string, unknown> {
    return lastingProperties(this.#record);
  }

  #consoleHost(): string {
    const host = this.forward?.host ?? this.compute.consoleHost;
    const isPage = this.record.console_type === 'http' || this.record.console_type === 'https';
    return isPage && host.includes(':') ? `[${host}]` : host;
  }

  port(adapter: number, number: number): Port | undefined {
    return this.ports.find((port) => port.adapter_number === adapter && port.port_number === number);
  }

  /** Takes over what the compute says of the node's run, which is kept nowhere; tells whether clients see something else now. */
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
   * The body of a creation or an update on the compute: `properties` and what is said of the node itself. Where the lab's nodes may not
   * write to images, the node gets copies of its own whatever the properties ask for.
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

  /** Gives the node copies of its own before it runs or its disks change, if its lab's nodes may not write to images any more. */
  async protectImages(): Promise<void> {
    if (!this.#writesImages || (await this.mayWriteImages())) return;
    const body = { name: this.name, [nodeKind(this.type).images!.copied!]: true };
    await this.compute.put(this.path, { body });
    this.#writesImages = false;
  }

  /** Whether it runs, and writes to images of this host. */
  get isWritingImages(): boolean {
    return this.#writesImages && this.status !== 'stopped';
  }
}

/** What is stored of a node after its compute has said something of it; `rename` gives the name to use for one that differs. */
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
  return next;
}

/** Under another name, which the label shows, too; where it stood it may no longer fit. */
export function withName(record: NodeRecord, name: string): NodeRecord {
  const { label } = record;
  return name === label.text ? { ...record, name } : { ...record, name, label: { ...label, text: name, x: null } };
}

/** The properties without the texts of the node's creation, whose files the user may have edited since. */
export function lastingProperties({ properties }: NodeRecord): Record<string, unknown> {
  return Object.fromEntries(Object.entries(properties).filter(([member]) => !CREATION_TEXTS.includes(member)));
}

/** What a compute is told of a node. */
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

/** A topology with anything else for a console could not be read again. */
function isPort(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 65535;
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
