// A pseudo-language for tests and developers: accented English, a third longer. Text that it does not change bypasses `words.ts`.
import type { AuditWords } from '../people/audit-words.ts';
import type { Words } from '../words.ts';

const PLAIN = 'AaCcDdEeGgHhIiKkLlNnOoRrSsTtUuWwYyZz';
const ACCENTED = 'ÅåÇçĐđÉéĞğĤĥÎîĶķĻļÑñÖöŔŕŠšŢţÛûŴŵÝýŽž';

/** Key names, which the page formats itself. */
const KEY = /^((Ctrl|Shift|Alt)\+.+|F\d+|Escape)$/;

function changed(text: string): string {
  if (!/[a-z]{2}/i.test(text) || KEY.test(text)) return text;
  // The places of inserted values, such as `{lab}`, stay.
  const accented = text.replace(/\{\w+\}|./gsu, (letter) => ACCENTED[PLAIN.indexOf(letter)] ?? letter);
  return `${accented}${'~'.repeat(Math.ceil(text.length / 3))}`;
}

function changedIn<T>(value: T): T {
  if (typeof value === 'string') return changed(value) as T;
  if (typeof value === 'function') {
    // Inserted values are user data and stay unchanged.
    return ((...given: unknown[]) => {
      const marks = given.map((one, at) => (typeof one === 'string' ? `\ue000${at}\ue001` : one));
      const text = changed(value(...marks) as string);
      return text.replace(/\ue000(\d)\ue001/g, (_, at) => String(given[Number(at)]));
    }) as T;
  }
  if (Array.isArray(value)) return value.map(changedIn) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, changedIn(one)])) as T;
}

export const words = (english: Words): Words => changedIn(english);
export const auditWords = (english: AuditWords): AuditWords => changedIn(english);
