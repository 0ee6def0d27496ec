// A line of the audit trail.
import type { AuditLine } from '../api/objects.ts';

/** Mode of the trail's files: readable only for the server's user. */
export const MODE = 0o600;
/** From this status on nothing was changed. */
export const REFUSED = 400;

/** Undefined for an invalid line. */
export function parsed(text: string): AuditLine | undefined {
  try {
    return JSON.parse(text) as AuditLine;
  } catch {
    return undefined;
  }
}
