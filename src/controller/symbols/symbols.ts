// The symbols of nodes: built-in ones and those of the custom folder.
import type { Stats } from 'node:fs';
import { extname, isAbsolute, posix, relative } from 'node:path';
import type { SymbolEntry } from '../../api/routes/symbols.ts';
import { Failure, invalid } from '../../failures.ts';
import { asset } from '../../host/files/assets.ts';
import { openContainedForRead } from '../../host/files/contained-files.ts';
import { type BuiltinSymbol, builtinSymbol, builtinSymbols, FALLBACK_ID, type SymbolSize } from './catalogue.ts';
import { CustomFolder, isCustomId } from './custom-folder.ts';

/** A picture: the SVG of a built-in symbol, or a file below the custom folder. */
export type Picture = { svg: Buffer<ArrayBuffer> } | { file: string };

export interface SymbolsOptions {
  /** The custom folder, created at start if missing. */
  directory: string;
}

/** Width and height of a node at most, whatever size its picture states, so that labs can be drawn and arranged. */
const MOST_PIXELS = 10_000;

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
   * The id and size (pixels) of a node's symbol. Without a symbol, or with a file that is not a picture, it is the
   * computer. An unknown symbol keeps its id and gets the fallback's size. At most one access to the file system, none
   * for built-in symbols.
   */
  forNode(symbol: string | null | undefined): { symbol: string } & SymbolSize {
    const id = this.#relativeId(symbol ?? FALLBACK_SYMBOL);
    const size = this.dimensions(id);
    if (size !== undefined && size.width > 0 && size.height > 0) return { symbol: id, ...bounded(size) };
    return { symbol: FALLBACK_SYMBOL, ...this.size(FALLBACK_ID) };
  }

  /** Width and height (pixels) of a node with this symbol. */
  size(id: string): SymbolSize {
    const { width, height } = this.forNode(id);
    return { width, height };
  }

  /**
   * Width and height of this id's picture or its fallback; 0×0 for an unknown format; undefined for a damaged picture.
   */
  dimensions(id: string): SymbolSize | undefined {
    const found = this.#find(id);
    return 'builtin' in found ? found.builtin.size : this.#folder.size(found.custom, found.stat);
  }

  /** Whether there is a picture with exactly this id. */
  has(id: string): boolean {
    return this.#exact(id) !== undefined;
  }

  /** The picture for this id; the computer for an unknown id. */
  read(id: string): Picture {
    const found = this.#find(id);
    return 'builtin' in found ? { svg: builtinPicture(found.builtin) } : { file: found.custom };
  }

  /** A custom picture with its media type; undefined if it has more than `most` bytes, is no picture, or is gone. */
  async small(file: string, most: number): Promise<{ content: Buffer; type: string } | undefined> {
    const { lookup } = await import('mime-types');
    const type = lookup(extname(file)) || '';
    if (!type.startsWith('image/')) return undefined;
    try {
      const { handle, stat } = await openContainedForRead(this.directory, file);
      await using _ = handle;
      return stat.size <= most ? { content: await handle.readFile(), type } : undefined;
    } catch (thrown) {
      if (thrown instanceof Failure) return undefined;
      throw thrown;
    }
  }

  /**
   * The file name below the custom folder for an upload with this id: the last part of the id.
   * @throws Failure `invalid` if that is not a valid symbol name
   */
  uploadName(id: string): string {
    const name = posix.basename(plainId(id));
    if (isCustomId(name) && !name.includes('\\')) return name;
    throw invalid('symbol_id: give the file a name such as router.svg, that does not begin with a dot');
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

  /**
   * Topologies of other programs have absolute paths: below the custom folder the rest is used, elsewhere the last
   * part.
   */
  #relativeId(symbol: string): string {
    if (!isAbsolute(symbol)) return symbol;
    const below = relative(this.directory, symbol);
    return below === '' || below.startsWith('..') ? posix.basename(symbol) : below;
  }
}

/** The fallback's id as clients know it. */
const FALLBACK_SYMBOL = ':/symbols/computer.svg';

function builtinPicture({ id }: BuiltinSymbol): Buffer<ArrayBuffer> {
  const svg = asset(id.slice(':/'.length));
  if (!svg) throw new Error(`src/assets has no picture of ${id}`);
  return svg;
}

function entry(symbol_id: string, filename: string, theme: string, builtin: boolean): SymbolEntry {
  return { symbol_id, filename, theme, builtin };
}

/** The id without percent-encoding: some clients encode it twice. */
function plainId(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}

function bounded({ width, height }: SymbolSize): SymbolSize {
  const share = Math.min(1, MOST_PIXELS / Math.max(width, height));
  return { width: Math.max(1, Math.round(width * share)), height: Math.max(1, Math.round(height * share)) };
}
