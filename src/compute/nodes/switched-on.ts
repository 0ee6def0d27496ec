// Nodes that run within this process, without a program that could outlive it: which of them were on. The next life of the process
// switches them on again, as their files say; after a restart of the host it does not, as programs do not come back then either.
import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { messageOf } from '../../failures.ts';
import { log } from '../../host/log.ts';
import type { Documents } from '../../store/documents.ts';
import { Uuid } from '../../store/vocabulary.ts';

const KIND = 'switched-on';

const Entry = v.object({
  project_id: Uuid,
  /** What tells the node from the others of its project, see the kind of node. */
  number: v.pipe(v.number(), v.integer(), v.minValue(0)),
  /** Of the host's life in which it was switched on. */
  boot: v.string(),
});

type Entry = v.InferOutput<typeof Entry>;

export class SwitchedOn {
  readonly #documents: Documents;
  /** Of the host's present life. */
  readonly #boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
  /** Of the former life, by node. */
  readonly #unclaimed = new Map<string, Entry>();

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  async start(): Promise<void> {
    for (const { id, body } of await this.#documents.list(KIND)) {
      const { success, output } = v.safeParse(Entry, body);
      if (success && output.boot === this.#boot) this.#unclaimed.set(id, output);
      else await this.remove(id);
    }
  }

  /** The numbers of nodes of a project that are still to come. */
  numbers(projectId: string): number[] {
    return [...this.#unclaimed.values()].filter(({ project_id: id }) => id === projectId).map(({ number }) => number);
  }

  /** The number of a node that was on, and is made again. */
  claim(projectId: string, nodeId: string): number | undefined {
    const entry = this.#unclaimed.get(nodeId);
    if (entry?.project_id !== projectId) return undefined;
    this.#unclaimed.delete(nodeId);
    return entry.number;
  }

  /** The node could not be made after all. */
  unclaim(projectId: string, nodeId: string, number: number): void {
    this.#unclaimed.set(nodeId, { project_id: projectId, number, boot: this.#boot });
  }

  /** Notes that a node is on. That this cannot be noted is no reason to switch it off. */
  async add(nodeId: string, { projectId, number }: { projectId: string; number: number }): Promise<void> {
    const entry: Entry = { project_id: projectId, number, boot: this.#boot };
    await this.#documents.put(KIND, nodeId, entry).catch(complain);
  }

  async remove(nodeId: string): Promise<void> {
    await this.#documents.delete(KIND, nodeId).catch(complain);
  }

  /** Forgets nodes of projects in which nobody has claimed them. */
  async forgetUnclaimed(isOver: (projectId: string) => boolean): Promise<void> {
    for (const [id, entry] of [...this.#unclaimed]) {
      if (!isOver(entry.project_id)) continue;
      this.#unclaimed.delete(id);
      await this.remove(id);
    }
  }
}

function complain(error: unknown): void {
  log.warn('which nodes are on cannot be noted', { reason: messageOf(error) });
}
