// Compares a file's values with the server's; what the file omits is ignored.

/** A value that differs, by its name in the file. */
export interface Difference {
  member: string;
  is: unknown;
  wanted: unknown;
}

type Objects = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Objects =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isEmpty = (value: unknown): boolean => value === undefined || value === null || value === '';
const MAC_ADDRESS = /^([0-9a-f]{2}:){5}[0-9a-f]{2}$|^([0-9a-f]{4}\.){2}[0-9a-f]{4}$/i;

/** Whether the server's value, in its stored form, includes the wanted one. Missing and empty texts are equal. */
export function covers(wanted: unknown, is: unknown): boolean {
  if (isEmpty(wanted)) return isEmpty(is);
  if (Array.isArray(wanted)) {
    return Array.isArray(is) && is.length === wanted.length && wanted.every((one, index) => covers(one, is[index]));
  }
  if (isObject(wanted)) {
    const members = isObject(is) ? is : {};
    return Object.entries(wanted).every(([name, one]) => covers(one, members[name]));
  }
  if (typeof wanted === 'string' && typeof is === 'string' && MAC_ADDRESS.test(wanted)) {
    return wanted.toLowerCase() === is.toLowerCase();
  }
  return wanted === is;
}

/** The members that differ. */
export function differences(prefix: string, wanted: Objects, is: Objects): Difference[] {
  return Object.entries(wanted).flatMap(([name, value]) =>
    value === undefined || covers(value, is[name]) ? [] : [{ member: `${prefix}${name}`, is: is[name], wanted: value }],
  );
}
