// The query of an export as release 3.0.6 has it.
import { invalid } from '../../failures.ts';
import { truthOf } from '../../http/v3/lenient.ts';
import { checkForm, levelProblem } from '../archives/compression.ts';

type Query = Readonly<Record<string, string>>;

/** For the API document. */
export const EXPORT_DEFINITION = {
  query: {
    compression: 'zstd (default), zip, bzip2, lzma or none',
    compression_level: 'Of zip 0 to 9, bzip2 1 to 9, zstd 1 to 22',
    include_images: 'yes: with the images of its nodes',
    include_snapshots: 'yes: with its snapshots',
    reset_mac_addresses: 'yes: without MAC addresses, so that the copy gets its own',
    keep_compute_ids: 'yes: with the computes of its nodes',
  },
  errors: [409, 422],
};

const DEFAULT_COMPRESSION = 'zstd';

/** @throws Failure `invalid` */
export function exportQuery({
  compression = DEFAULT_COMPRESSION,
  compression_level: level,
  ...others
}: Query): Record<string, string> {
  const wanted = { compression, ...(level !== undefined && { compression_level: level }) };
  checkForm(wanted);
  const yes: Record<string, string> = {};
  for (const name of ['include_snapshots', 'include_images', 'reset_mac_addresses', 'keep_compute_ids']) {
    const given = others[name];
    if (given === undefined) continue;
    const truth = truthOf(given);
    if (truth === undefined) throw invalid(`${name}: expected yes or no.`);
    if (truth) yes[name] = 'yes';
  }
  return { ...yes, ...wanted };
}

/** What is wrong with the level for this method. */
export function exportProblem(query: Query): string | undefined {
  return levelProblem({ compression: DEFAULT_COMPRESSION, ...query });
}
