// Limits simultaneous reads and writes of captures: Node has four threads for all file access, and a hanging disk must not block all of
// them.

const MOST = 2;

let busy = 0;
const waiting: (() => void)[] = [];

/** Runs `task` as soon as a slot is free. */
export async function inTurn<Result>(task: () => Promise<Result>): Promise<Result> {
  if (busy < MOST) busy++;
  else await new Promise<void>((resolve) => waiting.push(resolve));
  try {
    return await task();
  } finally {
    const next = waiting.shift();
    if (next === undefined) busy--;
    else next();
  }
}
