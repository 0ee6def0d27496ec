// The query of an export as release 3.0.6 has it.
import { Failure } from '../../failures.ts';
import { truthOf } from '../../http/v3/lenient.ts';

/** The methods of compression, with their highest levels; all but `none` are served as zip. */
const LEVELS: Readonly<Record<string, readonly [number, number] | undefined>> = {
  none: undefined,
  zip: [0, 9],
  bzip2: [1, 9],
  lzma: undefined,
  zstd: [1, 22],
};

/** @throws Failure `invalid` */
export function exportQuery(query: Readonly<Record<string, string>>): Record<string, string> {
  const { compression = 'zstd', compression_level: level, ...others } = query;
  if (!Object.hasOwn(LEVELS, compression))
    throw new Failure('invalid', `compression: expected one of ${Object.keys(LEVELS).join(', ')}.`);
  if (level !== undefined && !/^-?\d+$/.test(level))
    throw new Failure('invalid', 'compression_level: expected an integer.');
  const yes: Record<string, string> = {};
  for (const name of ['include_snapshots', 'include_images', 'reset_mac_addresses', 'keep_compute_ids']) {
    const given = others[name];
    if (given === undefined) continue;
    const truth = truthOf(given);
    if (truth === undefined) throw new Failure('invalid', `${name}: expected yes or no.`);
    if (truth) yes[name] = 'yes';
  }
  return { ...yes, compression: compression === 'none' ? 'none' : 'zip' };
}

/** What is wrong with the level for this method. */
export function levelProblem({
  compression = 'zstd',
  compression_level: level,
}: Readonly<Record<string, string>>): string | undefined {
  if (level === undefined) return undefined;
  const bounds = LEVELS[compression];
  if (bounds === undefined) return `compression_level: ${compression} has no levels.`;
  return Number(level) < bounds[0] || Number(level) > bounds[1]
    ? `compression_level: ${compression} has levels from ${bounds[0]} to ${bounds[1]}.`
    : undefined;
}
