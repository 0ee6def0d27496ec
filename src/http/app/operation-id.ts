// How a client names the operation that its request begins, so that it knows it again in the list of all.
import * as v from 'valibot';
import { Failure } from '../../failures.ts';
import { Uuid } from '../../store/vocabulary.ts';

const HEADER = 'X-Operation-Id';

/** @throws Failure `invalid` for what is no UUID */
export function operationId(headers: Headers): string | undefined {
  const id = headers.get(HEADER) ?? undefined;
  if (id === undefined || v.is(Uuid, id)) return id;
  throw new Failure('invalid', `${HEADER}: must be a UUID.`);
}
