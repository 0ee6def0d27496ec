// Values that nobody can change any more.

/** Freezes a JSON value with all that is in it; what is frozen already is taken to be so throughout. */
export function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const member of Object.values(value)) frozen(member);
  return value;
}
