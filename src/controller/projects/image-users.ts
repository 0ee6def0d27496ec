// Lists the users of a compute's images: nodes of all labs, open or closed, of their snapshots, deleted nodes that can be
// restored, and templates. A lab that cannot be read may use every image.

import { join, posix } from 'node:path';
import { findNodeKind, IMAGE_KINDS } from '../../api/kinds/kinds.ts';
import type { ImageObject, ImageUser } from '../../api/objects.ts';
import { AUTO_ID } from '../../api/placement.ts';
import { conflict, messageOf } from '../../failures.ts';
import { eachOf } from '../../host/values/each-of.ts';
import type { ProjectRecord } from '../../store/projects.ts';
import type { Project } from '../lab/project.ts';
import type { Templates } from '../templates/templates.ts';
import type { Projects } from './projects.ts';
import { hasFile } from './scan.ts';

/** Files of closed labs read at the same time. */
const AT_ONCE = 4;
/** How many users of an image, or labs, a message names. */
const MOST_NAMED = 3;

/** Images by emulator and file name, `qemu/disk.qcow2`, that nodes of a compute name. */
export interface NamedImages {
  compute: unknown;
  images: Iterable<string>;
}

/** A snapshot with what its nodes name. */
export interface SnapshotImages {
  name: string;
  named: readonly NamedImages[];
}

interface ImageUsersOptions {
  projects: Projects;
  templates: Templates;
  /** @throws when a snapshot cannot be read */
  snapshots: (project: Project) => Promise<readonly SnapshotImages[]>;
}

export class ImageUsers {
  readonly #options: ImageUsersOptions;

  constructor(options: ImageUsersOptions) {
    this.#options = options;
  }

  /** The users of a compute's images. */
  async of(computeId: string): Promise<ImageUses> {
    const uses = new ImageUses();
    const add = ({ compute, images }: NamedImages, user: ImageUser): void => {
      // Nodes of a template with `auto` may be on any host.
      if (compute === computeId || compute === AUTO_ID || computeId === AUTO_ID) uses.add(images, user);
    };
    for (const template of this.#options.templates.list()) {
      const { template_type: type, name, compute_id: compute } = template as unknown as Record<string, unknown>;
      const named = { compute: compute ?? 'local', images: imagesIn(String(type), template) };
      add(named, { kind: 'template', name: String(name) });
    }
    for (const record of await this.#options.projects.missing())
      uses.unknown.push({ name: record.name, project_id: record.project_id, reason: missing(record) });
    await eachOf(this.#options.projects.list(), AT_ONCE, async (project) => {
      const { name: project_name, project_id } = project.record;
      try {
        for (const node of await this.#nodesOf(project))
          add(namedBy(node), { kind: 'node', name: String(node.name), project_id, project_name });
        for (const record of project.deleted.records())
          add(namedBy(record), { kind: 'deleted_node', name: record.name, project_id, project_name });
        for (const { name, named } of await this.#options.snapshots(project)) {
          const user: ImageUser = { kind: 'snapshot', name, project_id, project_name };
          for (const one of named) add(one, user);
        }
      } catch (error) {
        if (project.state === 'deleted') return;
        uses.unknown.push({ name: project_name, project_id, reason: messageOf(error) });
      }
    });
    return uses;
  }

  /** The images of a compute with their users. `list` returns the images of one emulator. */
  async listed(
    computeId: string,
    list: (emulator: string) => Promise<Record<string, unknown>[]>,
  ): Promise<ImageObject[]> {
    const uses = await this.of(computeId);
    const lists = await Promise.all(
      IMAGE_KINDS.map(async ({ type }) =>
        (await list(type)).map((image) => ({
          emulator: type,
          ...(image as unknown as Pick<ImageObject, 'filename' | 'path' | 'md5sum' | 'filesize'>),
          used_by: uses.of(type, String(image['filename'])),
        })),
      ),
    );
    return lists.flat();
  }

  async #nodesOf(project: Project): Promise<readonly Naming[]> {
    await project.settled();
    if (!(await hasFile(project.record))) throw conflict(missing(project.record));
    if (project.isOpen) return [...project.nodes.values()].map(({ record }) => record);
    return this.#options.projects.stored(project, 'nodes');
  }
}

function missing({ path, filename }: ProjectRecord): string {
  return `${join(path, filename)} is missing or cannot be read`;
}

/** The users of a compute's images, as far as they are known. */
export class ImageUses {
  readonly unknown: UnknownLab[] = [];
  readonly #users = new Map<string, ImageUser[]>();

  add(images: Iterable<string>, user: ImageUser): void {
    for (const image of images) {
      const known = this.#users.get(image) ?? [];
      // All images of a user are added at once.
      if (known.at(-1) !== user) known.push(user);
      this.#users.set(image, known);
    }
  }

  of(emulator: string, filename: string): ImageUser[] {
    return this.#users.get(`${emulator}/${filename}`) ?? [];
  }

  /**
   * @param sees whether the client may read this lab; others are only counted
   * @throws Failure `conflict` if the image is used, or may be; `member` names it in the message
   */
  requireUnused(member: string, emulator: string, filename: string, sees: Sees): void {
    const users = this.of(emulator, posix.basename(filename));
    if (users.length > 0) {
      const named = someOf(users, { sees, inWords, kind: 'nodes or snapshots' });
      throw conflict(`${member}: ${filename} is used by ${named}; delete or change them first.`);
    }
    if (this.unknown.length === 0) return;
    throw conflict(
      `${member}: ${filename} may be used by labs that cannot be read: ${this.unread(sees)}. Make their files readable, or delete these labs; POST /v2/reload forgets labs whose folder is gone.`,
    );
  }

  /** The labs that cannot be read, in words. */
  unread(sees: Sees): string {
    const inWords = ({ name, reason }: UnknownLab): string => `"${name}" (${reason})`;
    return someOf(this.unknown, { sees, inWords, kind: 'labs' });
  }
}

/** A lab that cannot be read, and why. */
interface UnknownLab {
  name: string;
  project_id: string;
  reason: string;
}

/** Whether a client may read the lab with this id; undefined is no lab. */
export type Sees = (of: { project_id?: string }) => boolean;

function someOf<One extends { project_id?: string }>(
  all: readonly One[],
  { sees, inWords, kind }: { sees: Sees; inWords: (one: One) => string; kind: string },
): string {
  const seen = all.filter(sees);
  const [more, hidden] = [seen.length - MOST_NAMED, all.length - seen.length];
  return [
    ...(seen.length > 0 ? [seen.slice(0, MOST_NAMED).map(inWords).join(', ')] : []),
    ...(more > 0 ? [`${more} more`] : []),
    ...(hidden > 0 ? [`${kind} that you cannot see (${hidden})`] : []),
  ].join(' and ');
}

/** A node of an open lab, a file or a snapshot. */
interface Naming {
  node_type: unknown;
  compute_id: unknown;
  name: unknown;
  properties?: unknown;
}

export function namedBy({ node_type: type, compute_id: compute, properties }: Naming): NamedImages {
  return { compute, images: imagesIn(String(type), Object(properties) as object) };
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
function inWords({ kind, name, project_name: project }: ImageUser): string {
  if (kind === 'template') return `the template "${name}"`;
  if (kind === 'snapshot') return `the snapshot "${name}" of the project "${project}"`;
  if (kind === 'node') return `the node "${name}" of the project "${project}"`;
  return `the deleted node "${name}" of the project "${project}" (which can be restored for an hour, or until the lab is closed)`;
}
