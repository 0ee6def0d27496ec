// Drops undefined members: requests and files may omit any of them.

/** The members of an object whose value is not undefined. */
export function defined<T extends object>(members: T): { [Member in keyof T]?: Exclude<T[Member], undefined> } {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [Member in keyof T]?: Exclude<T[Member], undefined> };
}
