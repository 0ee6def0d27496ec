// The header by which a client names its operation, to find it in the list of operations.
import * as v from 'valibot';
import { Uuid } from '../../api/vocabulary.ts';
import { invalid } from '../../failures.ts';

const HEADER = 'X-Operation-Id';

/** @throws Failure `invalid` if it is not a UUID */
export function operationId(headers: Headers): string | undefined {
  const id = headers.get(HEADER) ?? undefined;
  if (id === undefined || v.is(Uuid, id)) return id;
  throw invalid(`${HEADER}: must be a UUID.`);
}
