// Looks at folders that a server changes meanwhile.

const MOST_TIMES = 1_000;

/** The answer of a look in which no file or folder went away between its listing and its opening; looks again until then. */
export function amidChanges<T>(look: () => T): T {
  for (let time = 1; ; time++) {
    try {
      return look();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || time === MOST_TIMES) throw error;
    }
  }
}
