// Checks the requirements of routers on this host.
import { Failure } from '../../../failures.ts';
import { findProgram } from '../../../host/processes/program-path.ts';
import { missing, ok, warning } from '../../../host/values/check-result.ts';
import { type HostCheck, PROBE_MS } from '../../nodes/kind.ts';
import { findDynamips } from './program.ts';

const USUAL = 'dynamips';

export const program: HostCheck = {
  subject: 'Dynamips',
  see: 'dynamips#routers-of-dynamips',
  async examine({ Dynamips: { dynamips_path: configured } }) {
    if (configured === USUAL && (await findProgram(USUAL)) === undefined) {
      return ok('not installed: for routers, apt install dynamips (of the component non-free)');
    }
    try {
      const { path, version } = await findDynamips(configured, PROBE_MS);
      return ok(`routers are run by ${path}, version ${version}`);
    } catch (thrown) {
      if (!(thrown instanceof Failure)) throw thrown;
      const [problem = '', fix = 'apt install dynamips'] = thrown.message.split('; ');
      return configured === USUAL ? warning(problem, fix) : missing(problem, fix);
    }
  },
};
