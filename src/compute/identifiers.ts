// Identifiers in the paths of compute routes (as in release 2.2.57).
import { invalid } from '../failures.ts';

/**
 * Rejects texts that are not a UUID (32 hexadecimal digits, dashes optional). Look-ups use the given spelling.
 * @throws Failure `invalid`
 */
export function mustBeUuid(name: 'project_id' | 'node_id', value: string): string {
  if (/^[0-9a-fA-F]{32}$/.test(value.replaceAll('-', ''))) return value;
  throw invalid(`${name}: "${value}" is not a UUID; use the identifier that creating it answered.`);
}
