// Pastes line by line: sends the next line when the node shows a prompt, because busy routers lose input.

const LOOK_MS = 15;
/** Pause after output without a known prompt before the next line is sent. */
const QUIET_MS = 700;
/** Pause before the next line if the node does not answer at all. */
const SILENT_MS = 3_000;

/** The end of a line that asks for input. */
const PROMPT = /[>#$%:?\])]\s*$/;

/** The terminal, as seen by pasting. */
export interface PasteTarget {
  /** False if there is no connection, so that the text is lost. */
  send(text: string): boolean;
  /** Its number changes whenever the connection is lost. */
  readonly connection: { readonly attempt: number };
  /** Lines received so far. */
  readonly lines: number;
  /** Milliseconds since the last output. */
  readonly quiet: number;
  /** The line up to the cursor. */
  readonly cursorLine: string;
}

/**
 * @param progress called with the number of lines sent
 * @returns the number of the first line, from 1, that may be missing because the connection was lost; undefined if all was sent, or it was
 *   aborted
 */
export async function pasteSlowly(
  text: string,
  target: PasteTarget,
  { signal, progress }: { signal: AbortSignal; progress(lines: number): void },
): Promise<number | undefined> {
  const lines = linesOf(text);
  const { attempt } = target.connection;
  const isLost = (): boolean => target.connection.attempt !== attempt;
  // A lost connection accepts lines for a while, so only those with an answer have arrived.
  let answeredLines = 0;
  for (const [index, line] of lines.entries()) {
    if (signal.aborted) return undefined;
    const before = target.lines;
    const isLast = index === lines.length - 1;
    // A last line without a line end is left for the user to complete.
    if (!target.send(isLast && !/[\r\n]$/.test(text) ? line : `${line}\r`)) break;
    progress(index + 1);
    if (isLast) return undefined;
    if (await answered(target, before, () => signal.aborted || isLost())) answeredLines = index + 1;
    if (isLost()) break;
  }
  return answeredLines + 1;
}

/** Without the empty line after a final line end. */
export function linesOf(text: string): string[] {
  const lines = text.split(/\r\n|\r|\n/);
  if (lines.length > 1 && lines.at(-1) === '') lines.pop();
  return lines;
}

/** Waits for the answer to a line. False if none came. */
async function answered(target: PasteTarget, before: number, isEnded: () => boolean): Promise<boolean> {
  const sent = performance.now();
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    if (isEnded()) return false;
    const waited = performance.now() - sent;
    if (target.lines > before) {
      if (PROMPT.test(target.cursorLine) && target.quiet >= LOOK_MS) return true;
      if (Math.min(waited, target.quiet) > QUIET_MS) return true;
    } else if (Math.min(waited, target.quiet) > SILENT_MS) return false;
  }
}
