// Immutable values.

/** Freezes a JSON value deeply. Frozen parts are assumed to be deeply frozen. */
export function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const member of Object.values(value)) frozen(member);
  return value;
}
