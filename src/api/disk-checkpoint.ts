// What the controller and computes agree on about copies of a machine's disks, or of a container's layer: folders of the node's directory.

/** Chunks of the disks by the checksum of their content, and the manifest that says where they belong. */
export const DISK_CHECKPOINT = 'disk-checkpoint';
/** The same on a new host of the node, which makes the disks of it before the next start. */
export const RESTORED_DISKS = 'restored-disks';
export const DISK_MANIFEST = 'manifest.json';
/** In a manifest in place of a checksum: nothing but zeros. */
export const ZEROS = '0';

/** Of a node: as stored, compressed. */
export const LARGEST_DISKS_BYTES = 256 * 2 ** 20;
export const MOST_CHUNKS = 4_096;

/** Whether a file of a node's directory belongs to a finished copy of its disks, or to one that waits there for the next start. */
export const isOfCheckpoint = (path: string): boolean => OF_CHECKPOINT.test(path);
const OF_CHECKPOINT = new RegExp(`/(?:${DISK_CHECKPOINT}|${RESTORED_DISKS})/([0-9a-f]{64}|${DISK_MANIFEST})$`);

/** The chunks that a manifest names: those of disks, or of a container's layer. */
export function checksumsOf({
  disks = {},
  parts = [],
}: {
  disks?: Record<string, { chunks: Record<string, string> } | undefined> | undefined;
  parts?: string[] | undefined;
}) {
  const names = Object.values(disks).flatMap((disk) => Object.values(disk?.chunks ?? {}));
  return new Set([...names, ...parts].filter((name) => name !== ZEROS));
}
