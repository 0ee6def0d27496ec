// The states of a project, and the ways between them.

export type ProjectState = 'closed' | 'opening' | 'opened' | 'exchanging' | 'closing' | 'deleted';

const WAYS: Record<ProjectState, readonly ProjectState[]> = {
  closed: ['opening', 'deleted'],
  opening: ['opened', 'closed'],
  opened: ['exchanging', 'closing'],
  // Its files are exchanged for those of a snapshot: it is open afterwards, as it was if need be; closed if not even that succeeds.
  exchanging: ['opened', 'closed'],
  closing: ['closed'],
  deleted: [],
};

export function isWay(from: ProjectState, to: ProjectState): boolean {
  return WAYS[from].includes(to);
}
