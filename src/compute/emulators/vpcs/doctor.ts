// Checks the requirements of virtual PCs on this host.
import { Failure } from '../../../failures.ts';
import { missing, ok } from '../../../host/values/check-result.ts';
import { AccountsFile } from '../../../store/accounts.ts';
import { type HostCheck, PROBE_MS } from '../../nodes/kind.ts';
import { chooseEngine } from './engine.ts';
import { VpcsPrograms } from './program.ts';

export const program: HostCheck = {
  subject: 'vpcs',
  see: 'vpcs#the-program',
  async examine(config) {
    try {
      const program = await chooseEngine(
        config.VPCS,
        await new AccountsFile(config.state).isShared(),
        new VpcsPrograms(undefined, PROBE_MS),
      );
      if (program === undefined) return ok('virtual PCs are the built-in ones');
      return ok(`virtual PCs are run by ${program.path}, version ${program.version}`);
    } catch (thrown) {
      if (!(thrown instanceof Failure)) throw thrown;
      const [problem = '', fix = 'apt install vpcs, or set engine = built-in in section [VPCS]'] =
        thrown.message.split('; ');
      return missing(problem, { words: fix, commands: fix.includes('apt install vpcs') ? ['apt install vpcs'] : [] });
    }
  },
};
