// What the controller and computes agree on about copies of a machine's disks, or of a container's layer: folders of the node's directory.
import * as v from 'valibot';
import { DRIVES, type Drive } from './kinds/qemu.ts';

/** Chunks of the disks by the checksum of their content, and the manifest that says where they belong. */
export const DISK_CHECKPOINT = 'disk-checkpoint';
/** The same on a new host of the node, which makes the disks of it before the next start. */
export const RESTORED_DISKS = 'restored-disks';
export const DISK_MANIFEST = 'manifest.json';
/** In a manifest in place of a checksum: nothing but zeros. */
export const ZEROS = '0';

/** A part is stored under the SHA-256 of its content. */
const PartName = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));
const DiskOf = v.object({
  size: v.number(),
  /** By number: the checksum. */
  chunks: v.record(v.pipe(v.string(), v.regex(/^\d{1,9}$/)), v.union([v.literal(ZEROS), PartName])),
});
/** Of the copy of a machine's disks. */
export const DisksManifest = v.object({
  disks: v.partial(
    v.object(Object.fromEntries(DRIVES.map((drive) => [drive, DiskOf])) as Record<Drive, typeof DiskOf>),
  ),
  /** If the machine was off: inode, size and times of each disk when it was copied. */
  of: v.optional(v.string()),
});
export type DisksManifest = v.InferOutput<typeof DisksManifest>;

/** Of the copy of a container's layer. */
export const LayerManifest = v.object({
  container: v.string(),
  /** The image's id. */
  image: v.string(),
  /** Of all changed files: their sizes, modes, owners and times. */
  state: v.string(),
  deleted: v.array(v.string()),
  /** Of the archive, in this order. */
  parts: v.array(PartName),
});
export type LayerManifest = v.InferOutput<typeof LayerManifest>;

export const CheckpointManifest = v.union([DisksManifest, LayerManifest]);

/** How long (ms) a compute may take for a copy. */
export const CHECKPOINT_MS = 120_000;

/** Of a node: as stored, compressed. */
export const LARGEST_DISKS_BYTES = 256 * 2 ** 20;
export const MOST_CHUNKS = 4_096;

/** Whether a file of a node's directory belongs to a finished copy of its disks, or to one that waits there for the next start. */
export const isOfCheckpoint = (path: string): boolean => OF_CHECKPOINT.test(path);
const OF_CHECKPOINT = new RegExp(`/(?:${DISK_CHECKPOINT}|${RESTORED_DISKS})/([0-9a-f]{64}|${DISK_MANIFEST})$`);

/** Where a file of a copy belongs on the new host of its node. */
export const restoredPath = (path: string): string => path.replace(`/${DISK_CHECKPOINT}/`, `/${RESTORED_DISKS}/`);

/** The parts that a manifest names. */
export function checksumsOf(manifest: v.InferOutput<typeof CheckpointManifest>): ReadonlySet<string> {
  if ('parts' in manifest) return new Set(manifest.parts);
  const names = Object.values(manifest.disks).flatMap((disk) => Object.values(disk?.chunks ?? {}));
  return new Set(names.filter((name) => name !== ZEROS));
}
