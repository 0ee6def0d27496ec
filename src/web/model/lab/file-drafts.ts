// Text typed into files of labs and nodes that is not saved yet. Kept for the page's lifetime, because an editor goes with the selection.

export interface Draft {
  /** Content of the file when the text was typed. */
  base: string;
  text: string;
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

/** Paths of files with drafts. */
export function draftPaths(): string[] {
  return [...drafts.keys()];
}
