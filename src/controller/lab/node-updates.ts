// Changes nodes for clients: checks the request, forwards it to the compute and records the answer.
import { isDeepStrictEqual } from 'node:util';
import { nodeKind, portsOf } from '../../api/kinds/kinds.ts';
import type { NodeUpdate } from '../../api/routes/nodes.ts';
import { requireName } from '../../api/vocabulary.ts';
import { conflict, ignore, invalid, messageOf } from '../../failures.ts';
import { log } from '../../host/log.ts';
import { plainLabel } from '../../store/topology/start-order.ts';
import { ComputeRefusal, mustBeObject } from '../computes/answers.ts';
import type { SymbolSource } from '../nodes/creation.ts';
import { Renaming } from '../nodes/names.ts';
import { lastingProperties, type Node, type NodeRecord, withComputeState, withName } from '../nodes/node.ts';
import { nodeRecord as nodeRecordClaim } from './claims.ts';
import type { LabWriter } from './lab-writer.ts';
import type { NodeRecords, RecordChange } from './node-records.ts';
import type { PendingUpdates } from './pending-updates.ts';
import type { Project } from './project.ts';

/** Members that only the controller stores. */
const OWN_MEMBERS = [
  'x',
  'y',
  'z',
  'locked',
  'port_name_format',
  'first_port_name',
  'port_segment_size',
  'console_auto_start',
  'start_order',
  'start_delay',
] as const;
/** Members that are stored here and sent to the compute. */
const SHARED_MEMBERS = ['console', 'console_type', 'custom_adapters', 'template_id'] as const;
/** Members that a client may repeat but not change. */
const FIXED_MEMBERS = [
  'width',
  'height',
  'status',
  'ports',
  'console_host',
  'project_id',
  'node_directory',
  'command_line',
  'halt_reason',
] as const;

export interface NodeUpdatesOptions {
  records: NodeRecords;
  writer: LabWriter;
  symbols: SymbolSource;
  pendingUpdates: PendingUpdates;
}

export class NodeUpdates {
  readonly #records: NodeRecords;
  readonly #writer: LabWriter;
  readonly #symbols: SymbolSource;
  readonly #pending: PendingUpdates;

  constructor({ records, writer, symbols, pendingUpdates }: NodeUpdatesOptions) {
    this.#records = records;
    this.#writer = writer;
    this.#symbols = symbols;
    this.#pending = pendingUpdates;
  }

  /**
   * Changes a node. If the compute rejects the change, nothing changes.
   * @throws Failure `invalid` for members that are not settable
   */
  update(project: Project, id: string, given: NodeUpdate): Promise<Node> {
    return project.changes.run(nodeRecordClaim(id, given), async () => {
      try {
        return await this.#updateNow(project, id, given);
      } finally {
        await this.#pending.end([id]);
      }
    });
  }

  /**
   * Finishes changes with a rename, or of nodes on other hosts, that the end of the previous run interrupted; part of
   * opening the lab. Their computes may have made them already. A change that is now rejected is dropped.
   * @returns the nodes' ids, for `endUpdates` once the lab is recorded
   */
  async finishUpdates(project: Project): Promise<readonly string[]> {
    const pending = await this.#pending.of(project.id);
    for (const { id, change } of pending) {
      if (!project.nodes.has(id)) continue;
      await this.#updateNow(project, id, change).catch((error: unknown) => {
        log.warn('an interrupted change of a node is not made', { node: id, error: messageOf(error) });
      });
    }
    return pending.map(({ id }) => id);
  }

  endUpdates(ids: readonly string[]): Promise<void> {
    return this.#pending.end(ids);
  }

  async #updateNow(project: Project, id: string, wanted: NodeUpdate): Promise<Node> {
    const node = project.node(id);
    refuseFixed(node, wanted);
    // A client that repeats the number it sees does not request another port on the node's host.
    const isRepeated = node.forward !== undefined && wanted.console === node.forward.port;
    const given = isRepeated ? { ...wanted, console: node.record.console } : wanted;
    const isRenamed = given.name !== undefined && given.name !== node.name;
    if (isRenamed) requireName(given.name as string);
    if (isRenamed && nodeKind(node.type).fixedNameWhileRunning && node.status !== 'stopped') {
      throw conflict('name: a started router cannot be renamed; stop it first.');
    }
    const renaming = new Renaming(project.names, node.name);
    try {
      const name = isRenamed ? renaming.take(given.name as string) : node.name;
      const change = (record: NodeRecord): NodeRecord => this.#changed(record, given, name);
      // Rejects invalid changes before the compute is called.
      portsOf(change(node.record));
      if (node.absent === undefined && concernsCompute(node.record, given, name)) {
        // What another host has done stays done, also if this server is killed before it is recorded here.
        if (name !== node.name || node.compute.id !== 'local')
          await this.#pending.begin(project.id, id, { ...given, name });
        await this.#updateOnCompute(project, node, given, change, renaming);
      }
      // The compute checks the properties of a missing node when it starts.
      else if (await this.#records.write(project, node, ofAbsent(node, given, change), renaming))
        this.#records.announce('node.updated', node);
      return node;
    } finally {
      renaming.end(node.name);
    }
  }

  /**
   * Sends the change to the compute first. Its notifications meanwhile are applied together with the answer and
   * announced once.
   */
  async #updateOnCompute(
    project: Project,
    node: Node,
    given: NodeUpdate,
    change: (record: NodeRecord) => NodeRecord,
    renaming: Renaming,
  ): Promise<void> {
    const wanted = change(node.record);
    const body = await node.computeBody(given.properties ?? lastingProperties(wanted), wanted);
    const inbox: Record<string, unknown>[] = [];
    node.inbox = inbox;
    let told: readonly Record<string, unknown>[] = [];
    const heard = (): readonly Record<string, unknown>[] => {
      told = [...told, ...inbox.splice(0)];
      return told;
    };
    try {
      const answer = mustBeObject(await node.compute.put(node.path, { body }), `PUT ${node.path}`);
      await this.#records.write(
        project,
        node,
        (record, rename) =>
          [...heard(), answer].reduce(
            (next: NodeRecord, object) => withComputeState(next, object, rename),
            change(record),
          ),
        renaming,
      );
    } catch (error) {
      if (!(error instanceof ComputeRefusal)) await this.#tellAgain(project, node);
      throw error;
    } finally {
      node.inbox = undefined;
      if (inbox.length > 0) await this.#records.follow(project, node, inbox).catch(ignore);
      else if (told.length > 0 && project.nodes.get(node.id) === node) this.#records.announce('node.updated', node);
    }
  }

  /** Rolls back a failed change on the compute and on disk: the compute may have made and announced it already. */
  async #tellAgain(project: Project, node: Node): Promise<void> {
    const body = await node.computeBody(node.lastingProperties);
    await node.compute.put(node.path, { body, connect: false }).catch(ignore);
    await this.#writer.apply(project.record, [{ node: node.record }]).catch(ignore);
  }

  /** The record after the request, with the node's actual name. */
  #changed(record: NodeRecord, given: NodeUpdate, name: string): NodeRecord {
    const next: NodeRecord = { ...record };
    if (given.properties !== undefined && Array.isArray(given.properties['custom_adapters'])) {
      next.custom_adapters = given.properties['custom_adapters'] as NodeRecord['custom_adapters'];
    }
    for (const member of [...OWN_MEMBERS, ...SHARED_MEMBERS]) {
      if (given[member] !== undefined) Object.assign(next, { [member]: given[member] });
    }
    if (given.symbol !== undefined) Object.assign(next, this.#symbols.forNode(given.symbol));
    const renamed = name === next.name ? next : withName(next, name);
    return given.label === undefined ? renamed : { ...renamed, label: { ...plainLabel(given.label), text: name } };
  }
}

/** Adds the properties, which otherwise come with the compute's answer. */
function ofAbsent(
  node: Node,
  { properties = {} }: NodeUpdate,
  change: (record: NodeRecord) => NodeRecord,
): RecordChange {
  if (node.absent === undefined) return change;
  return (record, rename) => withComputeState(change(record), properties, rename);
}

function refuseFixed(node: Node, given: NodeUpdate): void {
  const object = node.json() as Record<string, unknown>;
  for (const member of FIXED_MEMBERS) {
    if (given[member] !== undefined && !isDeepStrictEqual(given[member], object[member])) {
      throw invalid(`${member} is read-only; leave it out.`);
    }
  }
}

/** Whether a change must be sent to the compute. */
function concernsCompute(record: NodeRecord, given: NodeUpdate, name: string): boolean {
  if (given.properties !== undefined || name !== record.name) return true;
  return SHARED_MEMBERS.some(
    (member) => given[member] !== undefined && !isDeepStrictEqual(given[member], record[member]),
  );
}
