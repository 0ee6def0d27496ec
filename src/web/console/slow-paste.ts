// Pasting line by line: the next line goes when the node asks for it. Routers lose what comes while they work.

const LOOK_MS = 15;
/** A node that has answered and says no more, without a prompt that is known as one. */
const QUIET_MS = 700;
/** A node that does not answer at all. */
const SILENT_MS = 3_000;

/** What the end of a line that asks for input looks like. */
const PROMPT = /[>#$%:?\])]\s*$/;

/** The terminal as pasting sees it. */
export interface PasteTarget {
  send(text: string): void;
  /** Lines that came so far. */
  readonly lines: number;
  /** Milliseconds since something came. */
  readonly quiet: number;
  /** The line up to the cursor. */
  readonly cursorLine: string;
}

/** @param progress told the number of lines that were sent */
export async function pasteSlowly(
  text: string,
  target: PasteTarget,
  { signal, progress }: { signal: AbortSignal; progress(lines: number): void },
): Promise<void> {
  const lines = linesOf(text);
  for (const [index, line] of lines.entries()) {
    if (signal.aborted) return;
    const before = target.lines;
    const isLast = index === lines.length - 1;
    // What does not end with a line end waits to be completed by hand.
    target.send(isLast && !/[\r\n]$/.test(text) ? line : `${line}\r`);
    progress(index + 1);
    if (!isLast) await answered(target, before, signal);
  }
}

/** Without the empty one after a last line end. */
export function linesOf(text: string): string[] {
  const lines = text.split(/\r\n|\r|\n/);
  if (lines.length > 1 && lines.at(-1) === '') lines.pop();
  return lines;
}

async function answered(target: PasteTarget, before: number, signal: AbortSignal): Promise<void> {
  const sent = performance.now();
  while (!signal.aborted) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    const waited = performance.now() - sent;
    if (target.lines > before) {
      if (PROMPT.test(target.cursorLine) && target.quiet >= LOOK_MS) return;
      if (Math.min(waited, target.quiet) > QUIET_MS) return;
    } else if (Math.min(waited, target.quiet) > SILENT_MS) return;
  }
}
