// Compression methods in zip files (APPNOTE 6.3 of the format, section 4.4.5).
const STORED = 0;
const DEFLATE = 8;
export const BZIP2 = 12;
export const LZMA = 14;
export const ZSTD = 93;

/** The supported methods: the first two are from releases 2.2, all from releases 3.0. */
export const METHODS: ReadonlySet<number> = new Set([STORED, DEFLATE, BZIP2, LZMA, ZSTD]);

const OTHERS: Readonly<Record<number, string>> = { 1: 'shrink', 6: 'implode', 9: 'deflate64', 95: 'xz', 98: 'ppmd' };

export function methodName(method: number): string {
  return OTHERS[method] ?? `method ${method}`;
}
