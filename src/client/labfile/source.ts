// A file parsed as YAML, with the place of each value.
import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import { LabFileMistakes, type Place } from './file-mistakes.ts';

/** Keys and indices from the whole to a value. */
export type Path = readonly (string | number)[];

export interface Source {
  value: unknown;
  /** The place of the value, or of its key; for a missing value that of its nearest existing parent. */
  placeOf(path: Path, of?: 'key'): Place;
}

/** An alias may repeat something, but not so often that a small file fills the memory. */
const MOST_ALIASES = 100;

/** @throws LabFileMistakes where it is no YAML */
export function readSource(file: string, text: string): Source {
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter, merge: true, prettyErrors: false, uniqueKeys: true });
  const placeAt = (offset: number): Place => {
    const { line, col } = counter.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const mistakes = [...document.errors, ...document.warnings].map(({ pos, message, code }) => ({
    ...placeAt(pos[0]),
    message: explained(code, message),
  }));
  if (mistakes.length > 0) throw new LabFileMistakes(file, mistakes);
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: MOST_ALIASES });
  } catch (error) {
    throw new LabFileMistakes(file, [{ line: 1, column: 1, message: `${(error as Error).message}.` }]);
  }
  const placeOf = (path: Path, of?: 'key'): Place => {
    let node: unknown = document.contents;
    let offset = (node as Node | null)?.range?.[0] ?? 0;
    for (const [index, step] of path.entries()) {
      if (isAlias(node)) node = node.resolve(document);
      if (isMap(node)) {
        const pair = node.items.find(({ key }) => String(isScalar(key) ? key.value : key) === String(step));
        if (!pair) break;
        const asKey = of === 'key' && index === path.length - 1;
        const isEmpty = pair.value === null || (isScalar(pair.value) && pair.value.value === null);
        node = asKey || isEmpty ? pair.key : pair.value;
      } else if (isSeq(node)) node = node.items[Number(step)];
      else break;
      offset = (node as Node | undefined)?.range?.[0] ?? offset;
    }
    return placeAt(offset);
  };
  return { value, placeOf };
}

const EXPLAINED: Readonly<Record<string, string>> = {
  TAB_AS_INDENT: 'a tab cannot indent a line in YAML; use blanks.',
  DUPLICATE_KEY: 'this name stands here twice; YAML takes each once. Remove one of them.',
  BAD_INDENT: 'this line is not indented like its neighbours.',
  MISSING_CHAR: 'a quote, bracket or colon is missing here.',
  MULTILINE_IMPLICIT_KEY: 'a colon with a blank behind it is missing, or the line is not indented like its neighbours.',
};

function explained(code: string, message: string): string {
  const [, kind, bracket] = /^Flow (map|sequence).* end with a (.)/.exec(message) ?? [];
  if (bracket !== undefined)
    return `"${bracket}" is missing: the ${kind === 'map' ? 'object' : 'list'} above is not closed. (${message})`;
  const known = EXPLAINED[code];
  return known === undefined ? `it is no YAML: ${message}` : `${known} (${message})`;
}
