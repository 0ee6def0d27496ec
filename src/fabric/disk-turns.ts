// How many captures write or read at the same moment: Node has four threads for all files of the process, and a disk that hangs under
// captures must leave some for everybody else.

const MOST = 2;

let busy = 0;
const waiting: (() => void)[] = [];

/** Does `task` when it is its turn. */
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
