// Checks data against a valibot schema; a refusal names the member and what would fit.
import * as v from 'valibot';
import { Failure } from '../failures.ts';

/** Any schema whose check is synchronous. */
export type Schema = v.GenericSchema<unknown, unknown>;

function describe(issue: v.BaseIssue<unknown>): string {
  const place = v.getDotPath(issue) ?? '';
  if (issue.type === 'union' && issue.issues?.length) {
    // The alternative that came furthest tells most: one that failed only in its members, not in its kind.
    return `${place || 'body'}: fits none of the accepted forms: ${[...new Set(issue.issues.map(describe))].join('; or ')}`;
  }
  if (issue.expected === 'never') return `${place}: is not a member of this object; remove it`;
  if (issue.received === 'undefined') return `${place || 'body'}: is required (${issue.expected})`;
  return `${place || 'body'}: expected ${issue.expected ?? issue.message}, received ${issue.received}${
    issue.requirement instanceof RegExp ? ` (must match ${issue.requirement})` : ''
  }`;
}

/**
 * The value as the schema sees it.
 * @throws Failure `invalid`, listing every member that does not fit.
 */
export function validated<S extends Schema>(schema: S, value: unknown): v.InferOutput<S> {
  const result = v.safeParse(schema, value, { abortPipeEarly: true });
  if (result.success) return result.output;
  throw new Failure('invalid', `Invalid request: ${result.issues.map(describe).join('; ')}`);
}
