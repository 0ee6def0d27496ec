// Names of keys: for users, and as verbs have them.
import { WORDS } from '../words.ts';

export function keyText(key: string): string {
  const last = key.split('+').at(-1) ?? key;
  const text = WORDS.keys.names[last] ?? (last.length === 1 && key !== last ? last.toUpperCase() : last);
  return key.endsWith('+') ? key : `${key.slice(0, key.length - last.length)}${text}`;
}

/** Formats the key of an event as in `Verb.keys`. */
export function keyName({ key, ctrlKey, metaKey, altKey, shiftKey }: KeyboardEvent): string {
  const isNamed = key.length > 1 || key === ' ';
  const shift = shiftKey && (isNamed || ctrlKey || metaKey) ? 'Shift+' : '';
  const name = ctrlKey || metaKey ? key.toLowerCase() : key;
  return `${ctrlKey || metaKey ? 'Ctrl+' : ''}${altKey ? 'Alt+' : ''}${shift}${isNamed ? key : name}`;
}
