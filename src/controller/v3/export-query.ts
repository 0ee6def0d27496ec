// The query of an export as release 3.0.6 has it.
import { Failure } from '../../failures.ts';
import { truthOf } from '../../http/v3/lenient.ts';
import { checkForm, levelProblem } from '../archives/compression.ts';

type Query = Readonly<Record<string, string>>;

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
    if (truth === undefined) throw new Failure('invalid', `${name}: expected yes or no.`);
    if (truth) yes[name] = 'yes';
  }
  return { ...yes, ...wanted };
}

/** What is wrong with the level for this method. */
export function exportProblem(query: Query): string | undefined {
  return levelProblem({ compression: DEFAULT_COMPRESSION, ...query });
}
