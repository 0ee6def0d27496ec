// The check of `labwired doctor` for a program that drives its own machines, such as VBoxManage.
import type { Config } from '../../../config/schema.ts';
import { Failure } from '../../../failures.ts';
import { ok, warning } from '../../../host/values/check-result.ts';
import type { HostCheck } from '../kind.ts';

/**
 * @param find describes the program
 * @param isThere whether any part of it is installed or configured; otherwise it is not reported as missing
 */
export function machineProgramCheck(
  subject: string,
  find: (config: Config) => Promise<string>,
  isThere: (config: Config) => Promise<boolean>,
): HostCheck {
  return {
    subject,
    see: 'other-emulators#virtualbox-vmware-and-traceng',
    async examine(config) {
      if (!(await isThere(config))) return ok(`not installed; optional, needed for ${subject} machines`);
      try {
        return ok(await find(config));
      } catch (thrown) {
        if (!(thrown instanceof Failure)) throw thrown;
        const [problem = '', fix = 'see docs/other-emulators.md'] = thrown.message.split('; ');
        return warning(problem, fix);
      }
    },
  };
}
