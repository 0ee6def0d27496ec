// Checks data against a valibot schema; a refusal names the member and what would fit.
import * as v from 'valibot';
import { Failure } from '../../failures.ts';
import { describeIssue } from '../../store/issues.ts';

/** Any schema whose check is synchronous. */
export type Schema = v.GenericSchema<unknown, unknown>;

/**
 * The value as the schema sees it.
 * @throws Failure `invalid`, listing every member that does not fit.
 */
export function validated<S extends Schema>(schema: S, value: unknown): v.InferOutput<S> {
  const result = v.safeParse(schema, value, { abortPipeEarly: true });
  if (result.success) return result.output;
  throw new Failure(
    'invalid',
    `Invalid request: ${result.issues.map((issue) => describeIssue(issue, 'body')).join('; ')}`,
  );
}
