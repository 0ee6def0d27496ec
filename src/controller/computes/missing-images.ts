// Uploads images that are missing on a compute and present on this server when a node needs them (as in release 2.2.57).
import { posix } from 'node:path';
import { nodeKind } from '../../api/kinds/kinds.ts';
import type { NodeType } from '../../api/vocabulary.ts';
import { log } from '../../host/log.ts';
import type { Announcer } from '../events.ts';
import { answerJson, ComputeRefusal } from './answers.ts';
import type { Compute } from './compute.ts';
import type { Computes } from './computes.ts';

/** The most missing images per node: a machine has four disks, a CD and a kernel. */
const ROUNDS = 6;

export interface Need {
  compute: Compute;
  type: NodeType;
  projectId: string;
}

export class MissingImages {
  readonly #computes: Computes;
  readonly #announcer: Announcer;

  constructor({ computes, announcer }: { computes: Computes; announcer: Announcer }) {
    this.#computes = computes;
    this.#announcer = announcer;
  }

  /**
   * Runs `work`, and again after each upload of an image that is missing on the compute.
   * @throws the error of `work` if this server does not have the image either
   */
  async supply<T>(need: Need, work: () => Promise<T>): Promise<T> {
    const sent = new Set<string>();
    for (;;) {
      try {
        return await work();
      } catch (error) {
        const missing = error instanceof ComputeRefusal ? error.missingImage : undefined;
        if (missing === undefined || sent.has(missing) || sent.size === ROUNDS) throw error;
        if (!(await this.#send(need, missing))) throw error;
        sent.add(missing);
      }
    }
  }

  /**
   * The local compute finds and sends the image: whatever path a remote compute names, only images leave this host.
   * @returns whether the image is present here
   */
  async #send({ compute, type, projectId }: Need, missing: string): Promise<boolean> {
    const name = posix.basename(missing.replaceAll('\\', '/'));
    const ours = this.#computes.list().find(({ id }) => id === 'local');
    if (!ours || ours === compute || nodeKind(type).images === undefined || name === '') return false;
    const path = `/${type}/images/${encodeURIComponent(name)}`;
    const image = await ours.pass('GET', path);
    if (image.status !== 200) return false;
    this.#tell(projectId, `The compute ${compute.name} misses the image ${name}: uploading it.`);
    const answer = await compute.pass('POST', path, { body: image.body ?? new Blob([]).stream() });
    await answerJson(answer, `POST ${path}`);
    this.#tell(projectId, `The image ${name} is on the compute ${compute.name} now.`);
    return true;
  }

  #tell(projectId: string, message: string): void {
    log.info(message, { project: projectId });
    this.#announcer.project.emit('log.info', { message }, projectId);
  }
}
