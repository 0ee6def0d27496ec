// Hex dump and text view of bytes.
export const LINE_BYTES = 16;

export const hex = (byte: number): string => byte.toString(16).padStart(2, '0');
export const letter = (byte: number): string => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : '.');

/** Lines of 16 bytes with offset, hex and text. @param at offset of the first byte */
export function dump(bytes: Uint8Array, at: number): string {
  const lines: string[] = [];
  for (let from = 0; from < bytes.length; from += LINE_BYTES) {
    const line = bytes.subarray(from, from + LINE_BYTES);
    const digits = Array.from(line, hex)
      .join(' ')
      .padEnd(LINE_BYTES * 3 - 1);
    lines.push(`${(at + from).toString(16).padStart(8, '0')}  ${digits}  ${Array.from(line, letter).join('')}\n`);
  }
  return lines.join('');
}

/** Decodes UTF-8. Keeps line ends and tabs; other control characters become dots. */
export function asText(bytes: Uint8Array): string {
  const text = new TextDecoder('utf-8').decode(bytes);
  return Array.from(text.replaceAll('\r\n', '\n'), (character) =>
    /[\p{Cc}]/u.test(character) && character !== '\n' && character !== '\t' ? '.' : character,
  ).join('');
}
