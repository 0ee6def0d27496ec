// Copies of values that their owners go on changing.

/** A copy of JSON data as its text would give it back: without members that are undefined, with null for numbers that JSON has not. */
export function jsonCopy<T>(value: T): T {
  return copied(value) as T;
}

function copied(value: unknown): unknown {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((entry) => (entry === undefined ? null : copied(entry)));
  const copy: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) if (member !== undefined) copy[name] = copied(member);
  return copy;
}
