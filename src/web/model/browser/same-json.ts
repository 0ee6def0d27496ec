// Compares JSON values.

/** Missing members equal null. */
export function isSame(one: unknown, other: unknown): boolean {
  if ((one ?? null) === (other ?? null)) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const keys = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...keys].every((key) => isSame((one as never)[key], (other as never)[key]));
}
