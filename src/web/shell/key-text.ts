// Names of keys for users.
import { WORDS } from '../words.ts';

export function keyText(key: string): string {
  const last = key.split('+').at(-1) ?? key;
  const text = WORDS.keys.names[last] ?? (last.length === 1 && key !== last ? last.toUpperCase() : last);
  return key.endsWith('+') ? key : `${key.slice(0, key.length - last.length)}${text}`;
}
