// Programs that outlived the daemon: held by the supervisor since the previous run, until their nodes are created again
// and reattach them. Their only record is the one that the supervisor keeps with each, so it is valid as long as the
// program lives.
import * as v from 'valibot';
import type { ComputeEvents } from '../../../api/events.ts';
import { Uuid } from '../../../api/vocabulary.ts';
import { endProgram } from '../../../consoles/terminal.ts';
import type { EventBus } from '../../../events/bus.ts';
import { messageOf } from '../../../failures.ts';
import { log } from '../../../host/log.ts';
import { reapOurs } from '../../../host/processes/child-processes.ts';
import { IncompatibleSupervisor, type ProgramHandle, type SupervisorClient } from '../../../supervisor/client.ts';
import type { PortPool } from '../../ports/pool.ts';
import type { PortOwner } from '../owner.ts';

const UdpPort = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(65_535));

/** The record kept with each program of a node. */
const ProgramRecord = v.object({
  /** The kind of node, and the version of its data. */
  kind: v.string(),
  version: v.number(),
  /** The program's role: empty for the node's own, or the name of an additional one. */
  role: v.optional(v.string(), ''),
  project_id: Uuid,
  node_id: Uuid,
  node_name: v.string(),
  /** As clients see it. */
  command_line: v.string(),
  /** All UDP ports that are reserved for it. */
  udp_ports: v.array(UdpPort),
  /** The kind's data for its own program. */
  data: v.unknown(),
});

export type ProgramRecord = v.InferInput<typeof ProgramRecord>;

/** Data that a kind of node keeps with its programs. */
export interface KeptData {
  /** Increased whenever another release would misunderstand the data. */
  readonly version: number;
  readonly schema: v.GenericSchema;
}

/** Whether no node will claim what the previous run left of this node. */
export type IsOver = (projectId: string, nodeId: string) => boolean;

export interface SurvivingProgram {
  readonly handle: ProgramHandle;
  /** Its `data` matches the schema of the kind. */
  readonly record: v.InferOutput<typeof ProgramRecord>;
}

export interface SurvivingProgramsOptions {
  supervisor: SupervisorClient;
  udp: PortPool;
  events: EventBus<ComputeEvents>;
  instance: string;
  /** By kind of node. */
  kinds: ReadonlyMap<string, KeptData>;
}

export class SurvivingPrograms {
  readonly #options: SurvivingProgramsOptions;
  /** By node and role. */
  readonly #unclaimed = new Map<string, SurvivingProgram>();

  constructor(options: SurvivingProgramsOptions) {
    this.#options = options;
  }

  /** Finds the programs left running by the previous run. Ends all other processes with our token. */
  async start(): Promise<void> {
    const { supervisor, instance } = this.#options;
    const running = await supervisor.join().catch((error: unknown) => {
      if (!(error instanceof IncompatibleSupervisor)) throw error;
      log.error(`${error.message} What it holds is ended.`);
      return [];
    });
    const strange = running.filter((handle) => !this.#add(handle));
    const nodes = new Set([...this.#unclaimed.values()].map(({ record }) => record.node_id));
    const { found, left } = await reapOurs(
      instance,
      ({ pid, nodeId }) => pid === supervisor.pid || nodes.has(nodeId) || strange.some((handle) => handle.pid === pid),
    );
    if (found.length > 0) log.warn('ended processes of a former run', { found: found.length, left: left.length });
    for (const handle of strange) {
      log.warn('cannot reattach a program of the previous run: its record cannot be read', { pid: handle.pid });
      await endProgram(supervisor, handle);
    }
    if (this.#unclaimed.size > 0) log.info('programs of a former run go on', { programs: this.#unclaimed.size });
  }

  #add(handle: ProgramHandle): boolean {
    const { success, output: record } = v.safeParse(ProgramRecord, handle.record);
    if (!success || this.#unclaimed.has(keyOf(record))) return false;
    const kept = this.#options.kinds.get(record.kind);
    if (kept?.version !== record.version) return false;
    if (record.role === '' && !v.is(kept.schema, record.data)) return false;
    const { udp } = this.#options;
    const { project_id: owner, udp_ports: ports } = record;
    // Before any other node can get one of them.
    const reserved = ports.filter((port) => udp.keep(owner, port));
    if (reserved.length < ports.length) {
      for (const port of reserved) udp.release(owner, port);
      return false;
    }
    this.#unclaimed.set(keyOf(record), { handle, record });
    return true;
  }

  /** The kind's data of all unclaimed programs of a project. */
  dataOf(projectId: string, kind: string): unknown[] {
    return [...this.#unclaimed.values()].flatMap(({ record }) =>
      record.project_id === projectId && record.kind === kind && record.role === '' ? [record.data] : [],
    );
  }

  /**
   * Claims the program of a node that is created again, with its reserved ports. `undo` keeps it for another attempt to
   * create the node, or for its end.
   */
  claim(
    { id, project }: Pick<PortOwner, 'id' | 'project'>,
    undo: AsyncDisposableStack | undefined,
    role = '',
  ): SurvivingProgram | undefined {
    const key = keyOf({ node_id: id, role });
    const found = this.#unclaimed.get(key);
    if (found?.record.project_id !== project.id) return undefined;
    this.#unclaimed.delete(key);
    undo?.defer(() => void this.#unclaimed.set(key, found));
    return found;
  }

  /** Whether there is an unclaimed one. */
  has(projectId: string, nodeId: string, role = ''): boolean {
    return this.#unclaimed.get(keyOf({ node_id: nodeId, role }))?.record.project_id === projectId;
  }

  /** Ends the unclaimed programs of nodes that are over. */
  async endUnclaimed(isOver: IsOver): Promise<void> {
    const over = [...this.#unclaimed.values()].filter(({ record }) => isOver(record.project_id, record.node_id));
    for (const { record } of over) this.#unclaimed.delete(keyOf(record));
    await Promise.all(over.map((program) => this.#end(program)));
  }

  async #end({ handle, record }: SurvivingProgram): Promise<void> {
    const { supervisor, udp, events } = this.#options;
    const { node_name: name, project_id: project, udp_ports: ports } = record;
    const message = `${name} ran on while the server was away, but could not be reattached: its program was ended.`;
    log.warn(message, { project, node: record.node_id, pid: handle.pid });
    events.emit('log.warning', { message }, project);
    await endProgram(supervisor, handle).catch((error: unknown) =>
      log.warn('a program stays', { reason: messageOf(error) }),
    );
    for (const port of ports) udp.release(project, port);
  }
}

function keyOf({ node_id, role }: { node_id: string; role: string }): string {
  return `${node_id} ${role}`;
}
