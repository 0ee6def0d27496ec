// The styles of layouts, without the libraries that draw them. Pure.

/** `auto` takes what is easiest to read. */
export const STYLES = ['auto', 'layered', 'tree', 'circle', 'force'] as const;
export type Style = (typeof STYLES)[number];

export function isStyle(name: string): name is Style {
  return STYLES.some((style) => style === name);
}
