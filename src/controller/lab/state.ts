// The states of a project and the allowed transitions.

export type ProjectState = 'closed' | 'opening' | 'opened' | 'exchanging' | 'closing' | 'deleted';

const WAYS: Record<ProjectState, readonly ProjectState[]> = {
  closed: ['opening', 'deleted'],
  opening: ['opened', 'closed'],
  opened: ['exchanging', 'closing'],
  // Its files are replaced by a snapshot's. It is open afterwards, if necessary with the old files; closed if even that
  // fails.
  exchanging: ['opened', 'closed'],
  closing: ['closed'],
  deleted: [],
};

export function isWay(from: ProjectState, to: ProjectState): boolean {
  return WAYS[from].includes(to);
}
