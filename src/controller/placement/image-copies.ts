// Keeps images that nodes of a cluster use on more hosts than one, so that the nodes can run elsewhere when a host dies.
import { nodeKind } from '../../api/kinds/kinds.ts';
import type { NodeType } from '../../api/vocabulary.ts';
import { messageOf } from '../../failures.ts';
import { log } from '../../host/log.ts';
import type { Compute } from '../computes/compute.ts';
import type { Computes } from '../computes/computes.ts';
import { imagesOf, type MissingImages } from '../computes/missing-images.ts';
import { imagesIn } from '../projects/image-users.ts';
import type { Projects } from '../projects/projects.ts';

export interface ImageCopiesOptions {
  computes: Computes;
  projects: Projects;
  images: MissingImages;
  /** Hosts that are to have each image. */
  copies: number;
}

export class ImageCopies {
  readonly #options: ImageCopiesOptions;
  /** Last reported problem by image. */
  readonly #problems = new Map<string, string>();

  constructor(options: ImageCopiesOptions) {
    this.#options = options;
  }

  /** Sends images that too few hosts have, one after the other. Never rejects. */
  async round(): Promise<void> {
    for (const [type, names] of this.#used()) {
      const hosts = this.#options.computes
        .list()
        .filter(
          ({ place, connected, draining, capabilities }) =>
            place !== undefined && connected && !draining && capabilities.node_types.includes(type),
        );
      if (hosts.length < 2) continue;
      const lists = new Map(await Promise.all(hosts.map(async (host) => [host, await imagesOf(host, type)] as const)));
      for (const name of names) {
        const problem = await this.#keep(type, name, lists).catch(messageOf);
        const key = `${type}/${name}`;
        if (problem !== '' && problem !== this.#problems.get(key))
          log.warn('an image is on too few hosts', { image: name, reason: problem });
        this.#problems.set(key, problem);
      }
    }
  }

  /** Returns why there are fewer copies than wanted; empty if there are enough. */
  async #keep(
    type: NodeType,
    name: string,
    lists: ReadonlyMap<Compute, Awaited<ReturnType<typeof imagesOf>>>,
  ): Promise<string> {
    const having = [...lists].flatMap(([host, list]) =>
      list.filter(({ filename }) => filename === name).map((image) => ({ host, image })),
    );
    const [first] = having;
    if (!first) return '';
    const others = [...lists.keys()].filter((host) => !having.some((one) => one.host === host));
    // Hosts that have another image of the name have no copy, and keep theirs.
    let found = having.filter(({ image }) => image.md5sum === first.image.md5sum).length;
    let problem = '';
    for (const to of others) {
      if (found >= this.#options.copies) break;
      const { host: from, image } = first;
      const failure = await this.#options.images.copy({ from, to, type, image }).then(() => undefined, messageOf);
      if (failure === undefined) {
        log.info('an image was copied, so that its nodes can run there', { image: name, from: from.name, to: to.name });
        found += 1;
      } else problem = `${to.name}: ${failure}`;
    }
    return found >= Math.min(this.#options.copies, lists.size)
      ? ''
      : problem || 'the other hosts have another image of this name';
  }

  /** The images of nodes of open labs on hosts of the cluster, by kind of node. */
  #used(): Map<NodeType, Set<string>> {
    const used = new Map<NodeType, Set<string>>();
    for (const project of this.#options.projects.list()) {
      if (!project.isOpen) continue;
      for (const { type, compute, record } of project.nodes.values()) {
        if (!compute.place || nodeKind(type).images === undefined) continue;
        const names = used.get(type) ?? new Set();
        for (const image of imagesIn(type, record.properties)) names.add(image.slice(type.length + 1));
        used.set(type, names);
      }
    }
    return used;
  }
}
