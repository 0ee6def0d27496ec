// Programs that outlived the daemon: what the holder kept from a former life, until the nodes that they belong to are made anew and take
// them back. The only record of them is the one that the holder keeps with each: it is as true and lives as long as the program.
import * as v from 'valibot';
import { endHeld } from '../../consoles/terminal.ts';
import type { EventBus } from '../../events/bus.ts';
import { messageOf } from '../../failures.ts';
import { type Held, type HolderClient, StrangeHolder } from '../../holder/client.ts';
import { log } from '../../host/log.ts';
import { reapOurs } from '../../host/processes.ts';
import { Uuid } from '../../store/vocabulary.ts';
import type { ComputeEvents } from '../events.ts';
import type { PortPool } from '../ports/pool.ts';

const UdpPort = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(65_535));

/** What is kept with a node's program. */
const ProgramRecord = v.object({
  project_id: Uuid,
  node_id: Uuid,
  node_name: v.string(),
  /** As clients are told it. */
  command_line: v.string(),
  /** UDP port of the program, and the one at its cable's end, which it sends to. */
  program_port: UdpPort,
  cable_port: UdpPort,
  /** What tells the node from the others of its project, see the kind of node. */
  number: v.pipe(v.number(), v.integer(), v.minValue(0)),
  /** All ports that are reserved for it, the two above included. */
  udp_ports: v.array(UdpPort),
});

export type ProgramRecord = v.InferOutput<typeof ProgramRecord>;

export interface HeldProgram {
  readonly held: Held;
  readonly record: ProgramRecord;
}

export interface HeldProgramsOptions {
  holder: HolderClient;
  udp: PortPool;
  events: EventBus<ComputeEvents>;
  instance: string;
}

export class HeldPrograms {
  private readonly options: HeldProgramsOptions;
  /** By node. */
  private readonly unclaimed = new Map<string, HeldProgram>();

  constructor(options: HeldProgramsOptions) {
    this.options = options;
  }

  /** Finds what runs on from a former life; whatever else carries our token is ended. */
  async start(): Promise<void> {
    const { holder, instance } = this.options;
    const running = await holder.join().catch((error: unknown) => {
      if (!(error instanceof StrangeHolder)) throw error;
      log.error(`${error.message} What it holds is ended.`);
      return [];
    });
    const strange = running.filter((held) => !this.add(held));
    const { found, left } = await reapOurs(
      instance,
      ({ pid, nodeId }) => pid === holder.pid || this.unclaimed.has(nodeId) || strange.some((held) => held.pid === pid),
    );
    if (found.length > 0) log.warn('ended processes of a former run', { found: found.length, left: left.length });
    for (const held of strange) {
      log.warn('a program of a former run cannot be taken back: its record is not understood', { pid: held.pid });
      await endHeld(holder, held);
    }
    if (this.unclaimed.size > 0) log.info('programs of a former run go on', { programs: this.unclaimed.size });
  }

  private add(held: Held): boolean {
    const { success, output: record } = v.safeParse(ProgramRecord, held.record);
    if (!success || this.unclaimed.has(record.node_id)) return false;
    const { udp } = this.options;
    const { project_id: owner, udp_ports: ports } = record;
    // Before anybody else can be given one of them.
    const kept = ports.filter((port) => udp.keep(owner, port));
    if (kept.length < ports.length) {
      for (const port of kept) udp.release(owner, port);
      return false;
    }
    this.unclaimed.set(record.node_id, { held, record });
    return true;
  }

  /** The numbers of nodes of a project that are still to come. */
  numbers(projectId: string): number[] {
    return [...this.unclaimed.values()]
      .filter(({ record }) => record.project_id === projectId)
      .map(({ record }) => record.number);
  }

  /** The program of a node that is made anew, which is the node's from now on, its reserved ports included. */
  claim(projectId: string, nodeId: string): HeldProgram | undefined {
    const found = this.unclaimed.get(nodeId);
    if (found?.record.project_id !== projectId) return undefined;
    this.unclaimed.delete(nodeId);
    return found;
  }

  /** Ends the programs of projects in which nobody has claimed them. */
  async endUnclaimed(isOver: (projectId: string) => boolean): Promise<void> {
    const over = [...this.unclaimed.values()].filter(({ record }) => isOver(record.project_id));
    for (const { record } of over) this.unclaimed.delete(record.node_id);
    await Promise.all(over.map((program) => this.end(program)));
  }

  private async end({ held, record }: HeldProgram): Promise<void> {
    const { holder, udp, events } = this.options;
    const { node_name: name, project_id: project, udp_ports: ports } = record;
    const message = `${name} ran on while the server was away, but could not be taken back: its program is ended.`;
    log.warn(message, { project, node: record.node_id, pid: held.pid });
    events.emit('log.warning', { message }, project);
    await endHeld(holder, held).catch((error: unknown) => log.warn('a program stays', { reason: messageOf(error) }));
    for (const port of ports) udp.release(project, port);
  }
}
