// Searches a router's idle-PC value on a compute, in a temporary project (as in release 2.2.57).
import type { IdlePcSearch } from '../../api/routes/computes.ts';
import { KeyedLock } from '../../host/values/keyed-lock.ts';
import { mustBeObject } from '../computes/answers.ts';
import type { Compute } from '../computes/compute.ts';
import type { Nodes } from '../lab/nodes.ts';
import type { Projects } from './projects.ts';

/** Time limit (ms) for the search itself. */
const SEARCH_LIMIT_MS = 240_000;
/** The release's name for the project and the router; clients may know it from events. */
const NAME = 'AUTOIDLEPC';

export class IdlePcSearches {
  readonly #projects: Projects;
  readonly #nodes: Nodes;
  readonly #lock = new KeyedLock();

  constructor({ projects, nodes }: { projects: Projects; nodes: Nodes }) {
    this.#projects = projects;
    this.#nodes = nodes;
  }

  /** One at a time, because their projects have the same name. `signal` cancels the search. */
  async run(
    compute: Compute,
    { platform, image, ram }: IdlePcSearch,
    signal: AbortSignal,
  ): Promise<{ idlepc: unknown }> {
    return this.#lock.run(NAME, async () => {
      // Left by a server that was killed during a search.
      for (const project of this.#projects.list()) {
        if (project.record.name === NAME) await this.#projects.delete(project);
      }
      await using undo = new AsyncDisposableStack();
      const project = await this.#projects.create({ name: NAME });
      undo.defer(() => this.#projects.delete(project));
      const node = await this.#nodes.create(project, compute, {
        compute_id: compute.id,
        name: NAME,
        node_type: 'dynamips',
        properties: { platform, image, ram },
      });
      const path = `${node.path}/auto_idlepc`;
      const found = mustBeObject(await compute.get(path, { limit: SEARCH_LIMIT_MS, signal }), `GET ${path}`);
      return { idlepc: found['idlepc'] };
    });
  }
}
