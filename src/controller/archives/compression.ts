// The compression that a query of an export asks for.
import { invalid } from '../../failures.ts';
import type { Compression } from '../../store/archive/compressors.ts';

interface Named {
  method: Compression['method'];
  /** The lowest and the highest level, if it has levels. */
  levels?: readonly [number, number];
}

/** By the names that clients use. */
const NAMES: Readonly<Record<string, Named>> = {
  zip: { method: 'deflated', levels: [0, 9] },
  none: { method: 'stored' },
  zstd: { method: 'zstd', levels: [1, 22] },
  bzip2: { method: 'bzip2', levels: [1, 9] },
  lzma: { method: 'lzma' },
};

export interface CompressionQuery {
  compression?: string;
  compression_level?: string;
}

/** @throws Failure `invalid` */
export function compressionOf(query: CompressionQuery): Compression {
  const { compression = 'zip', compression_level: level } = query;
  const { method } = named(compression);
  if (level === undefined) return { method };
  const problem = levelProblem({ compression, compression_level: level });
  if (problem !== undefined) throw invalid(problem);
  return { method, level: levelOf(level) };
}

/** @throws Failure `invalid` */
export function checkForm({ compression = 'zip', compression_level: level }: CompressionQuery): void {
  named(compression);
  if (level !== undefined) levelOf(level);
}

/** What is wrong with the level for this method. */
export function levelProblem({ compression = 'zip', compression_level: level }: CompressionQuery): string | undefined {
  if (level === undefined) return undefined;
  const { levels } = named(compression);
  if (levels === undefined) return `compression_level: ${compression} has no levels.`;
  const [lowest, highest] = levels;
  const wanted = levelOf(level);
  return wanted < lowest || wanted > highest
    ? `compression_level: ${compression} has levels from ${lowest} to ${highest}.`
    : undefined;
}

function named(compression: string): Named {
  const name = compression.toLowerCase();
  if (Object.hasOwn(NAMES, name)) return NAMES[name]!;
  const known = Object.keys(NAMES).map((one) => `"${one}"`);
  throw invalid(`compression: "${compression}" is not supported; use ${known.join(', ')}.`);
}

function levelOf(level: string): number {
  if (/^-?\d{1,9}$/.test(level)) return Number(level);
  throw invalid(`compression_level: expected an integer, got "${level}".`);
}
