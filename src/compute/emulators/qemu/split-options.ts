// Splits command lines into words as a shell does, and QEMU's options into properties.
import { splitWords as split } from '../../nodes/lifecycle/command-words.ts';

/** @throws Failure `conflict` for a quote that is not closed */
export function splitWords(text: string): string[] {
  return split(text, { member: 'options', exception: 'QemuError' });
}

/** Escapes a value in a list of properties: QEMU reads two commas as one. */
export function escaped(value: string): string {
  return value.replaceAll(',', ',,');
}

/** The properties of a list, in order; one without `=` has only a name. */
export function properties(value: string): { name: string; value: string | undefined }[] {
  return value
    .replaceAll(',,', '\0')
    .split(',')
    .map((part) => {
      const at = part.indexOf('=');
      const name = at < 0 ? part : part.slice(0, at);
      return { name: name.trim(), value: at < 0 ? undefined : part.slice(at + 1).replaceAll('\0', ',') };
    });
}
