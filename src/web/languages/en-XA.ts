// A language for tests and developers: English with accents, a third longer. What is not in it is not among the page's words.
import type { AuditWords } from '../people/audit-words.ts';
import type { Words } from '../words.ts';

const PLAIN = 'AaCcDdEeGgHhIiKkLlNnOoRrSsTtUuWwYyZz';
const ACCENTED = 'ÅåÇçĐđÉéĞğĤĥÎîĶķĻļÑñÖöŔŕŠšŢţÛûŴŵÝýŽž';

/** Names of keys, which the page writes in its own way. */
const KEY = /^((Ctrl|Shift|Alt)\+.+|F\d+|Escape)$/;

function changed(text: string): string {
  if (!/[a-z]{2}/i.test(text) || KEY.test(text)) return text;
  const accented = [...text].map((letter) => ACCENTED[PLAIN.indexOf(letter)] ?? letter).join('');
  return `${accented}${'~'.repeat(Math.ceil(text.length / 3))}`;
}

function changedIn<T>(value: T): T {
  if (typeof value === 'string') return changed(value) as T;
  if (typeof value === 'function') {
    // What is put in is the user's, and stays as it is.
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
