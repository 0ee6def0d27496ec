// The symbols that nodes are drawn with: the built-in ones, and those of the custom folder.
import type { Stats } from 'node:fs';
import { isAbsolute, posix, relative } from 'node:path';
import { Failure } from '../../failures.ts';
import { type BuiltinSymbol, builtinSymbol, builtinSymbols, FALLBACK_ID, type SymbolSize } from './catalogue.ts';
import { CustomFolder, isCustomId } from './custom-folder.ts';
import { drawSymbol } from './draw.ts';

/** A symbol as it is listed. */
export interface SymbolEntry {
  symbol_id: string;
  filename: string;
  theme: string;
  builtin: boolean;
}

/** Where a picture is: a built-in symbol, drawn when asked for, or a file below the custom folder. */
export type Picture = { svg: string } | { file: string };

export interface SymbolsOptions {
  /** The custom folder, made at start if it is missing. */
  directory: string;
}

type Found = { builtin: BuiltinSymbol } | { custom: string; stat: Stats };

export class Symbols {
  /** The custom folder. */
  readonly directory: string;
  readonly #folder: CustomFolder;

  constructor({ directory }: SymbolsOptions) {
    this.directory = directory;
    this.#folder = new CustomFolder(directory);
  }

  async start(): Promise<void> {
    await this.#folder.start();
  }

  /** All symbols, sorted by theme. */
  async list(): Promise<SymbolEntry[]> {
    const builtins = [...builtinSymbols()].map(({ id, file, theme }) => entry(id, file, theme, true));
    const custom = (await this.#folder.ids()).map((id) => entry(id, posix.basename(id), 'Custom symbols', false));
    return [...builtins, ...custom];
  }

  /**
   * What a node that asks for this symbol is drawn with: its id, and its size in pixels. None, and one whose file is no
   * picture, become the computer; an unknown one keeps its id and takes the size of what stands in for it. One look at the
   * file system at most, and none for built-in symbols.
   */
  forNode(symbol: string | null | undefined): { symbol: string } & SymbolSize {
    const id = this.#relativeId(symbol ?? FALLBACK_SYMBOL);
    const size = this.dimensions(id);
    if (size !== undefined && size.width > 0 && size.height > 0) return { symbol: id, ...size };
    return { symbol: FALLBACK_SYMBOL, ...this.size(FALLBACK_ID) };
  }

  /** Width and height that a node with this symbol has, in pixels. */
  size(id: string): SymbolSize {
    const { width, height } = this.forNode(id);
    return { width, height };
  }

  /** Width and height of the picture that stands for this id; 0×0 if its kind is unknown; undefined if it is a broken one. */
  dimensions(id: string): SymbolSize | undefined {
    const found = this.#find(id);
    return 'builtin' in found ? found.builtin.size : this.#folder.size(found.custom, found.stat);
  }

  /** Whether there is a picture of exactly this id. */
  has(id: string): boolean {
    return this.#exact(id) !== undefined;
  }

  /** The picture that stands for this id; for an unknown one that is the computer. */
  read(id: string): Picture {
    const found = this.#find(id);
    return 'builtin' in found ? { svg: drawSymbol(found.builtin) } : { file: found.custom };
  }

  /**
   * The file below the custom folder that a picture uploaded under this id goes to: of the id only the last part counts.
   * @throws Failure `invalid` if that is no name for a symbol
   */
  uploadName(id: string): string {
    const name = posix.basename(plainId(id));
    if (isCustomId(name) && !name.includes('\\')) return name;
    throw new Failure('invalid', 'symbol_id: give the file a name such as router.svg, that does not begin with a dot');
  }

  #find(id: string): Found {
    return (
      this.#exact(id) ??
      this.#exact(plainId(id)) ??
      this.#exact(`:/symbols/classic/${posix.basename(plainId(id))}`) ??
      this.#exact(FALLBACK_ID)!
    );
  }

  #exact(id: string): Found | undefined {
    const builtin = builtinSymbol(id);
    if (builtin !== undefined) return { builtin };
    const stat = this.#folder.find(id);
    return stat && { custom: id, stat };
  }

  /** Topologies of other programs hold absolute paths: of those below the custom folder the rest counts, of others the last part. */
  #relativeId(symbol: string): string {
    if (!isAbsolute(symbol)) return symbol;
    const below = relative(this.directory, symbol);
    return below === '' || below.startsWith('..') ? posix.basename(symbol) : below;
  }
}

/** The fallback in the spelling that clients know. */
const FALLBACK_SYMBOL = ':/symbols/computer.svg';

function entry(symbol_id: string, filename: string, theme: string, builtin: boolean): SymbolEntry {
  return { symbol_id, filename, theme, builtin };
}

/** The id without percent-encoding: some clients encode it once more than the address asks for. */
function plainId(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}
