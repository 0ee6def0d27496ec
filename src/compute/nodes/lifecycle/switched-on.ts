// Records which nodes without a supervised program are on, and the data that the next run of this process needs. Nodes
// that run within this process are switched on again from their files; machines of other programs, such as VirtualBox,
// may still run. Neither applies after a restart of the host, since programs do not come back then either.
import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { Uuid } from '../../../api/vocabulary.ts';
import { messageOf } from '../../../failures.ts';
import { log } from '../../../host/log.ts';
import type { Documents } from '../../../store/documents.ts';
import type { PortPool } from '../../ports/pool.ts';
import type { IsOver } from './surviving-programs.ts';

const KIND = 'switched-on';

/** The kind's own data stands beside these members. */
const Entry = v.looseObject({
  project_id: Uuid,
  /** All ports reserved for it. */
  udp_ports: v.optional(v.array(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(65_535))), []),
  /** The boot of the host in which it was switched on. */
  boot: v.string(),
});

type Entry = v.InferOutput<typeof Entry>;

interface Owner {
  readonly id: string;
  readonly project: { readonly id: string };
}

export class SwitchedOn {
  readonly #documents: Documents;
  readonly #udp: PortPool;
  /** The host's present boot. */
  readonly #boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
  /** From the previous run, by node. */
  readonly #unclaimed = new Map<string, Entry>();

  constructor(documents: Documents, udp: PortPool) {
    this.#documents = documents;
    this.#udp = udp;
  }

  async start(): Promise<void> {
    for (const { id, body } of await this.#documents.list(KIND)) {
      const { success, output } = v.safeParse(Entry, body);
      if (success && output.boot === this.#boot) {
        // Before any other node can get one of them.
        for (const port of output.udp_ports) this.#udp.keep(output.project_id, port);
        this.#unclaimed.set(id, output);
      } else await this.remove(id);
    }
  }

  /** Entries of nodes that are not created yet, if they match the schema of their kind. */
  left<Schema extends v.GenericSchema>(
    schema: Schema,
    isWanted: IsOver,
  ): { nodeId: string; projectId: string; data: v.InferOutput<Schema> }[] {
    return [...this.#unclaimed].flatMap(([nodeId, entry]) => {
      const { success, output: data } = v.safeParse(schema, entry);
      return success && isWanted(entry.project_id, nodeId) ? [{ nodeId, projectId: entry.project_id, data }] : [];
    });
  }

  /** Claims the entry of a node that was on and is created again, with its ports, unless `undo` is disposed. */
  claim<Schema extends v.GenericSchema>(
    { id, project }: Owner,
    schema: Schema,
    undo: AsyncDisposableStack,
  ): v.InferOutput<Schema> | undefined {
    const entry = this.#unclaimed.get(id);
    const { success, output } = v.safeParse(schema, entry);
    if (entry?.project_id !== project.id || !success) return undefined;
    this.#unclaimed.delete(id);
    undo.defer(() => void this.#unclaimed.set(id, entry));
    return output;
  }

  /** Records that a node is on. If recording fails the node stays on. */
  async add({ id, project }: Owner, data: object, udpPorts: readonly number[] = []): Promise<void> {
    const entry: Entry = { ...data, project_id: project.id, udp_ports: [...udpPorts], boot: this.#boot };
    await this.#documents.put(KIND, id, entry).catch(complain);
  }

  async remove(nodeId: string): Promise<void> {
    await this.#documents.delete(KIND, nodeId).catch(complain);
  }

  /** Removes the unclaimed entries of nodes that are over. */
  async forgetUnclaimed(isOver: IsOver): Promise<void> {
    for (const [id, entry] of [...this.#unclaimed]) {
      if (!isOver(entry.project_id, id)) continue;
      this.#unclaimed.delete(id);
      for (const port of entry.udp_ports) this.#udp.release(entry.project_id, port);
      await this.remove(id);
    }
  }
}

function complain(error: unknown): void {
  log.warn('which nodes are on cannot be noted', { reason: messageOf(error) });
}
