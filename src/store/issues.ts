// Describes a schema's validation errors in words.
import * as v from 'valibot';

const LENGTHS: Readonly<Record<string, string>> = { min_length: 'at least', max_length: 'at most' };

/** Names the member (`root` for the whole value), the mistake and the expected value. */
export function describeIssue(issue: v.BaseIssue<unknown>, root: string): string {
  const place = v.getDotPath(issue) ?? root;
  if (issue.type === 'union' && issue.issues?.length) {
    const forms = new Set(issue.issues.map((alternative) => describeIssue(alternative, root)));
    return `${place}: fits none of the accepted forms: ${[...forms].join('; or ')}`;
  }
  if (issue.expected === 'never') return `${place}: is not a member of this object; remove it`;
  if (issue.received === 'undefined') return `${place}: is required (${issue.expected})`;
  const limit = LENGTHS[issue.type];
  if (limit !== undefined && (typeof issue.input === 'string' || Array.isArray(issue.input))) {
    const [one, many] = typeof issue.input === 'string' ? ['character', 'characters'] : ['entry', 'entries'];
    return `${place}: expected ${limit} ${issue.requirement} ${issue.requirement === 1 ? one : many}, received ${issue.input.length}`;
  }
  const pattern = issue.requirement instanceof RegExp ? ` (must match ${issue.requirement})` : '';
  const rule = issue.type === 'custom' ? issue.message : (issue.expected ?? issue.message);
  // Valibot's own words for a rule without ours.
  const expected = rule.replace(/^Invalid ([\w -]+): Received .*$/s, 'a valid $1');
  return `${place}: expected ${expected}, received ${issue.received}${pattern}`;
}
