import type { BuiltinSymbol } from './catalogue.ts';

/** The symbol as an SVG document of exactly its size. */
export function drawSymbol({ size: { width, height } }: BuiltinSymbol): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"></svg>`;
}
