// Which links a project's archives and copies have.
import type { NodeKindFacts } from '../../api/kinds/kind.ts';
import { NODE_KINDS } from '../../api/kinds/kinds.ts';
import type { ContainedEntry } from '../../host/files/contained-tree.ts';
import type { LinkRules } from '../../store/archive/names.ts';

const typesWith = (fact: 'linksLeadInside' | 'linksToImage'): string =>
  NODE_KINDS.filter((kind: NodeKindFacts) => kind[fact])
    .map(({ type }) => type)
    .join('|');

const CONTAINER_FILE = new RegExp(`^project-files/(${typesWith('linksLeadInside')})/[^/]+/.`);
const IMAGE_LINK = new RegExp(`^project-files/(${typesWith('linksToImage')})/[^/]+/[^/]+$`);

export const LINK_RULES: LinkRules = {
  mayBeAbsolute: (name) => CONTAINER_FILE.test(name),
  isMadeAgain: (name) => IMAGE_LINK.test(name),
};

/** Whether an entry of a project's directory is a running node's link to its image. */
export function isImageLink(entry: ContainedEntry): boolean {
  return entry.kind === 'link' && entry.target.startsWith('/') && LINK_RULES.isMadeAgain(entry.path);
}
