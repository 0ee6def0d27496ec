// Lists the users of a compute's images: nodes of all labs, open or closed, and templates.

import { posix } from 'node:path';
import { findNodeKind, IMAGE_KINDS } from '../../api/kinds/kinds.ts';
import type { ImageObject, ImageUser } from '../../api/objects.ts';
import { AUTO_ID } from '../../api/placement.ts';
import { messageOf } from '../../failures.ts';
import { log } from '../../host/log.ts';
import { eachOf } from '../../host/values/each-of.ts';
import type { Templates } from '../templates/templates.ts';
import type { Projects } from './projects.ts';

/** Files of closed labs read at the same time. */
const AT_ONCE = 4;

/** An object with images in its members: a node's properties, or a template. */
interface Naming {
  type: unknown;
  compute: unknown;
  members: object;
  user: ImageUser;
}

export class ImageUsers {
  readonly #projects: Projects;
  readonly #templates: Templates;

  constructor({ projects, templates }: { projects: Projects; templates: Templates }) {
    this.#projects = projects;
    this.#templates = templates;
  }

  /** The users of a compute's images, by emulator and file name: `qemu/disk.qcow2`. */
  async of(computeId: string): Promise<ReadonlyMap<string, ImageUser[]>> {
    const users = new Map<string, ImageUser[]>();
    const add = ({ type, compute, members, user }: Naming): void => {
      // Nodes of a template with `auto` may be on any host.
      if (compute !== computeId && compute !== AUTO_ID && computeId !== AUTO_ID) return;
      for (const image of imagesIn(String(type), members)) {
        const known = users.get(image) ?? [];
        users.set(image, known.includes(user) ? known : [...known, user]);
      }
    };
    for (const template of this.#templates.list()) {
      const { template_type: type, name, compute_id: compute } = template as unknown as Record<string, unknown>;
      add({ type, compute: compute ?? 'local', members: template, user: { kind: 'template', name: String(name) } });
    }
    await eachOf(this.#projects.list(), AT_ONCE, async (project) => {
      const { name, project_id } = project.record;
      for (const { node_type: type, compute_id: compute, name: node, properties } of await this.#nodesOf(project)) {
        const user: ImageUser = { kind: 'node', name: String(node), project_id, project_name: name };
        add({ type, compute, members: Object(properties) as object, user });
      }
    });
    return users;
  }

  /** The images of a compute with their users. `list` returns the images of one emulator. */
  async listed(
    computeId: string,
    list: (emulator: string) => Promise<Record<string, unknown>[]>,
  ): Promise<ImageObject[]> {
    const users = await this.of(computeId);
    const lists = await Promise.all(
      IMAGE_KINDS.map(async ({ type }) =>
        (await list(type)).map((image) => ({
          emulator: type,
          ...(image as unknown as Pick<ImageObject, 'filename' | 'path' | 'md5sum' | 'filesize'>),
          used_by: users.get(`${type}/${String(image['filename'])}`) ?? [],
        })),
      ),
    );
    return lists.flat();
  }

  async #nodesOf(project: ReturnType<Projects['get']>): Promise<Record<string, unknown>[]> {
    if (project.isOpen) return [...project.nodes.values()].map(({ record }) => ({ ...record }));
    if (project.damaged !== undefined) return [];
    try {
      return (await this.#projects.stored(project, 'nodes')).map((node) => ({ ...node }));
    } catch (error) {
      log.warn('cannot read the images of a closed project', { project: project.id, error: messageOf(error) });
      return [];
    }
  }
}

/** The images that members name, by emulator and file name. */
export function imagesIn(type: string, members: object): Set<string> {
  const kind = findNodeKind(type)?.images;
  const named = Object.entries(members).filter(
    (entry): entry is [string, string] => kind?.isReference(entry[0]) === true && typeof entry[1] === 'string',
  );
  const names = named
    .filter(([, image]) => image !== '')
    .map(([, image]) => posix.basename(image.replaceAll('\\', '/')));
  return new Set(names.map((name) => `${type}/${name}`));
}

/** The user's description for an error message. */
export function inWords({ kind, name, project_name: project }: ImageUser): string {
  return kind === 'template' ? `the template "${name}"` : `the node "${name}" of the project "${project}"`;
}
