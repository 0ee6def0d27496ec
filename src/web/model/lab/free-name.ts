// The default name of a new lab or snapshot.

/** The first name with a number that is not taken. */
export function freeName(named: (number: number) => string, taken: readonly string[]): string {
  const all = new Set(taken);
  let number = 1;
  while (all.has(named(number))) number += 1;
  return named(number);
}
