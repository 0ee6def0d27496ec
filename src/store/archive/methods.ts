// Compression methods in zip files (APPNOTE 6.3 of the format, section 4.4.5).
export const STORE = 0;
export const DEFLATE = 8;
export const BZIP2 = 12;
export const LZMA = 14;
export const ZSTD = 93;

export const LZMA_PROPERTIES_BYTES = 5;

/** The supported methods: the first two are from releases 2.2, all from releases 3.0. */
export const METHODS: ReadonlySet<number> = new Set([STORE, DEFLATE, BZIP2, LZMA, ZSTD]);

const OTHERS: Readonly<Record<number, string>> = { 1: 'shrink', 6: 'implode', 9: 'deflate64', 95: 'xz', 98: 'ppmd' };

export function methodName(method: number): string {
  return OTHERS[method] ?? `method ${method}`;
}

/** The bit of an entry's flags that says that its LZMA stream ends with a marker. */
export const END_MARKER = 0x0002;

/**
 * What stands before an LZMA stream in a zip file: version, size of the properties, and the properties.
 * @param alone the beginning of an LZMA file, which starts with the properties
 */
export function lzmaHead(alone: Buffer): Buffer {
  return Buffer.concat([Buffer.from([9, 20, LZMA_PROPERTIES_BYTES, 0]), alone.subarray(0, LZMA_PROPERTIES_BYTES)]);
}
