// Validates data with valibot schemas; errors name the member and the expected value.
import * as v from 'valibot';
import type { Schema } from '../../api/routes/definition.ts';
import { invalid } from '../../failures.ts';
import { describeIssue } from '../../store/issues.ts';

/**
 * The validated value.
 * @throws Failure `invalid` that lists all invalid members
 */
export function validated<S extends Schema>(schema: S, value: unknown): v.InferOutput<S> {
  const result = v.safeParse(schema, value, { abortPipeEarly: true });
  if (result.success) return result.output;
  throw invalid(`Invalid request: ${result.issues.map((issue) => describeIssue(issue, 'body')).join('; ')}`);
}
