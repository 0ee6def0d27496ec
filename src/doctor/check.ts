// Defines a check and runs a list of checks in parallel, each with a time limit and independent of the others.
import { setTimeout as sleep } from 'node:timers/promises';
import type { LoadedConfig } from '../config/load.ts';
import { messageOf } from '../failures.ts';
import { type Verdict, warning } from '../host/values/check-result.ts';

export interface Finding extends Verdict {
  subject: string;
  /** Documentation for it: `install#limits`, an argument of `labwired help`. */
  see: string;
}

/** What the checks examine. */
export interface Patient {
  loaded: LoadedConfig;
  /** Process id of the daemon that uses the state directory, if any. */
  daemon: number | undefined;
  /** Directory in which addons may be put down, when one is named. */
  addonDirectory: string | undefined;
}

export interface Check {
  subject: string;
  /** As in a finding. */
  see: string;
  /** Must not change the host. Undefined if there is nothing to examine. */
  examine(patient: Patient): Verdict | undefined | Promise<Verdict | undefined>;
}

/** Milliseconds that one check may take. They run side by side; a busy host needs more than one. */
export const CHECK_MS = 5_000;

async function examined(check: Check, patient: Patient, milliseconds: number): Promise<Verdict | undefined> {
  const tooLong = new AbortController();
  const limit = sleep(milliseconds, undefined, { signal: tooLong.signal }).then(() =>
    warning(`no result within ${milliseconds} ms`, 'try again when the host is less busy'),
  );
  limit.catch(() => {});
  try {
    return await Promise.race([check.examine(patient), limit]);
  } catch (thrown) {
    return warning(`cannot be examined: ${messageOf(thrown)}`, 'run labwired doctor as the user that runs the server');
  } finally {
    tooLong.abort();
  }
}

/** The findings in the order of the checks. */
export async function runChecks(
  checks: readonly Check[],
  patient: Patient,
  milliseconds = CHECK_MS,
): Promise<Finding[]> {
  const verdicts = await Promise.all(checks.map((check) => examined(check, patient, milliseconds)));
  return checks.flatMap(({ subject, see }, index) => {
    const verdict = verdicts[index];
    return verdict ? [{ subject, see, ...verdict }] : [];
  });
}
