// Image references of nodes: found by name, path or checksum, and shown to clients in their form.
import { stat } from 'node:fs/promises';
import { basename, isAbsolute, join, posix } from 'node:path';
import { type ImageKind, imageKind } from '../../api/kinds/kinds.ts';
import type { NodeType } from '../../api/vocabulary.ts';
import { conflict, Failure } from '../../failures.ts';
import { openContainedForRead } from '../../host/files/contained-files.ts';
import { relativeBelow } from '../../host/files/relative-path.ts';
import type { Services } from '../services.ts';
import type { ImagePlace, Images } from './images.ts';

/** An image of a node: its path on this host, and its name for clients. */
export interface Image {
  /** Absolute; empty without an image. */
  readonly path: string;
  /** The name that clients see. */
  readonly shown: string;
  readonly md5sum: string | null;
}

export const NO_IMAGE: Image = { path: '', shown: '', md5sum: null };

/** A node as the search for its images sees it. */
export interface ImageUser {
  type: NodeType;
  /** Name of the error of the node's type, for an unreadable image. */
  exception: string;
  /** Directory of the project, which may contain images, too. */
  project: string;
}

interface ReferenceOptions extends ImageUser {
  images: Images;
  kind: ImageKind;
  /** Whether absolute paths may lie anywhere on this host. */
  local: boolean;
}

/**
 * @param reference name, path within a folder of images, or absolute path (another image of the same file name is
 * accepted, too); empty for no image
 * @param md5sum finds an image that has another name here
 * @throws Failure `image-missing`; `conflict` (`NodeError`) for a path outside the folders
 */
export async function findImage(
  member: string,
  reference: string,
  md5sum: string | null | undefined,
  user: ImageUser,
  { images, config }: Pick<Services, 'images' | 'config'>,
): Promise<Image> {
  if (reference === '') return NO_IMAGE;
  if (/^[A-Za-z]:[\\/]/.test(reference)) throw refusal(member, reference, 'is a path of Windows');
  if (reference.includes('\0')) throw refusal(member, reference, 'is no name of an image');
  const options = { ...user, images, kind: imageKind(user.type), local: config.Server.local };
  const found = isAbsolute(reference) ? await atPath(member, reference, options) : await byName(reference, options);
  const place = found ?? (md5sum ? await byChecksum(md5sum, options) : undefined);
  if (place === undefined) {
    const message = `${member}: this compute has no image ${reference}; upload it with POST /v2/compute/${user.type}/images/${basename(reference)}.`;
    throw new Failure('image-missing', message, { image: posix.normalize(reference) });
  }
  return describe(place, options);
}

async function atPath(member: string, path: string, options: ReferenceOptions): Promise<ImagePlace | undefined> {
  const roots = [...options.images.folders(options.kind), options.project];
  const wanted = posix.normalize(path);
  for (const root of roots) {
    const way = relativeBelow(root, wanted);
    if (way !== undefined) return checked({ root, path: way }, options);
  }
  const isThere = options.local && (await stat(wanted).catch(() => undefined)) !== undefined;
  if (isThere) return checked({ root: '/', path: wanted.slice(1) }, options);
  // Labs from other hosts contain paths of those hosts.
  const here = await byName(basename(wanted), options);
  if (here === undefined && !options.local)
    throw refusal(member, path, 'lies outside of the folders of images, which only local mode allows');
  return here;
}

/** Finds an image at the exact path, or by its file name anywhere below the folders in the path. */
async function byName(reference: string, options: ReferenceOptions): Promise<ImagePlace | undefined> {
  const { images, kind, project } = options;
  const path = posix.normalize(reference.replaceAll('\\', '/'));
  if (path.startsWith('../') || path === '..' || path === '.') return undefined;
  for (const root of [...images.folders(kind), project]) {
    const exact = await checked({ root, path }, options);
    if (exact) return exact;
  }
  return images.search(kind, path, project);
}

async function byChecksum(md5sum: string, { images, kind }: ReferenceOptions): Promise<ImagePlace | undefined> {
  const found = (await images.list(kind)).find((entry) => entry.md5sum === md5sum.toLowerCase());
  if (!found) return undefined;
  return isAbsolute(found.path)
    ? { root: '/', path: found.path.slice(1) }
    : { root: images.folder(kind), path: found.path };
}

/** The place, if a file exists there. Other than regular files are refused. */
async function checked(place: ImagePlace, { exception }: ReferenceOptions): Promise<ImagePlace | undefined> {
  try {
    const { handle } = await openContainedForRead(place.root, place.path);
    await handle.close();
    return place;
  } catch (thrown) {
    if (thrown instanceof Failure && thrown.code === 'not-found') return undefined;
    if (thrown instanceof Failure) throw conflict(thrown.message, { exception, cause: thrown });
    throw thrown;
  }
}

async function describe(place: ImagePlace, { images, kind }: ReferenceOptions): Promise<Image> {
  const path = join(place.root, place.path);
  const own = images.folder(kind);
  const isPlain = !place.path.includes('/') && place.root !== '/';
  const shown = relativeBelow(own, path) ?? (isPlain ? place.path : path);
  return { path, shown, md5sum: await images.checksum(place) };
}

function refusal(member: string, path: string, why: string): Failure {
  return conflict(`${member}: ${JSON.stringify(path)} ${why}.`, { exception: 'NodeError' });
}
