// Text typed into files of labs and nodes that is not saved yet. Kept for the page's lifetime, because an editor goes with the selection.

export interface Draft {
  /** Content of the file when the text was typed. */
  base: string;
  text: string;
  /** Its node was deleted. Undo may restore it. */
  isOfDeleted?: boolean;
}

/** By the file's path in the API. */
const drafts = new Map<string, Draft>();

export function draftOf(path: string): Draft | undefined {
  return drafts.get(path);
}

/** Forgets the draft if the text is the file's content. */
export function keepDraft(path: string, base: string | undefined, text: string): void {
  if (base === undefined || text === base) drafts.delete(path);
  else drafts.set(path, { base, text });
}

/** The text was written to the file: a draft is what was typed since, also in an editor that is gone. */
export function draftWritten(path: string, text: string): void {
  const draft = drafts.get(path);
  if (draft) keepDraft(path, text, draft.text);
}

/** Forgets drafts of a lab that was deleted, or is no longer shared. */
export function dropDrafts(lab: string): void {
  const files = `${lab}/`;
  for (const path of drafts.keys()) if (path.startsWith(files)) drafts.delete(path);
}

/** Marks drafts of deleted nodes. @param nodes by id */
export function followNodes(lab: string, nodes: ReadonlyMap<string, unknown>): void {
  const ofNodes = `${lab}/nodes/`;
  for (const [path, draft] of drafts) {
    const [id = ''] = path.slice(ofNodes.length).split('/', 1);
    if (path.startsWith(ofNodes)) draft.isOfDeleted = !nodes.has(id);
  }
}

/** Whether text would be lost with the page. */
export function isUnsaved(): boolean {
  return [...drafts.values()].some(({ isOfDeleted }) => !isOfDeleted);
}

/** Paths of files with drafts. */
export function draftPaths(): string[] {
  return [...drafts.keys()];
}
