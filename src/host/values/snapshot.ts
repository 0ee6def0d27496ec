// Copies of values that their owners still change.

/**
 * A frozen copy of JSON data, with the members that its text would have: undefined ones are left out. The owner may
 * change the value afterwards.
 */
export function snapshot<T>(value: T): T {
  return copied(value) as T;
}

function copied(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return Object.freeze(value.map((entry) => (entry === undefined ? null : copied(entry))));
  const copy: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) if (member !== undefined) copy[name] = copied(member);
  return Object.freeze(copy);
}
