// Finds the node of this compute that uses an image.
import { posix } from 'node:path';
import type { ImageKind } from '../../api/kinds/kinds.ts';

interface Owner {
  name: string | null;
  nodes(): Iterable<{ type: string; name: string; describe(): object }>;
}

/** The first node that uses the image, in words; undefined if none does. */
export function userOf(
  projects: { list(): readonly Owner[] },
  { type, isReference }: ImageKind,
  filename: string,
): string | undefined {
  const wanted = posix.basename(filename);
  for (const project of projects.list()) {
    for (const node of project.nodes()) {
      if (node.type !== type) continue;
      const names = Object.entries(node.describe()).some(
        ([property, value]) => isReference(property) && typeof value === 'string' && posix.basename(value) === wanted,
      );
      if (names) return `the node "${node.name}" of the project "${project.name}"`;
    }
  }
  return undefined;
}
