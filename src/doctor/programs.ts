// The programs that nodes run, and the native code that is loaded while the server runs.
import { dirname, join } from 'node:path';
import { chooseFrames } from '../compute/emulators/qemu/frames.ts';
import { chooseEngine } from '../compute/emulators/vpcs/engine.ts';
import { VpcsPrograms } from '../compute/emulators/vpcs/program.ts';
import { Failure, messageOf } from '../failures.ts';
import { useAddonDirectory } from '../host/addons.ts';
import { isPackaged } from '../host/assets.ts';
import { loadKoffi } from '../host/koffi.ts';
import { compileFilter } from '../host/libpcap.ts';
import { findProgram } from '../host/programs.ts';
import { CHECK_MS, type Check, missing, ok, warning } from './check.ts';

/** Less than a check may take, so that a program that hangs is named. */
const PROBE_MS = CHECK_MS - 300;

export const vpcs: Check = {
  subject: 'vpcs',
  async examine({ loaded: { config } }) {
    try {
      const program = await chooseEngine(config.VPCS, new VpcsPrograms(undefined, PROBE_MS));
      if (program === undefined) return ok('virtual PCs are the built-in ones');
      return ok(`virtual PCs are run by ${program.path}, version ${program.version}`);
    } catch (thrown) {
      if (!(thrown instanceof Failure)) throw thrown;
      const [problem = '', fix = 'apt install vpcs, or set engine = built-in in section [VPCS]'] =
        thrown.message.split('; ');
      return missing(problem, fix);
    }
  },
};

export const qemu: Check = {
  subject: 'QEMU',
  async examine() {
    // Where it is, not what it says: QEMU takes its time to start on a busy host.
    const program = await findProgram('qemu-system-x86_64');
    if (program === undefined) return ok('not installed: for QEMU machines, apt install qemu-system-x86 qemu-utils');
    const tool = join(dirname(program), 'qemu-img');
    if ((await findProgram(tool)) !== undefined) return ok(`QEMU machines are run by ${program}`);
    return warning(`${program}, but no qemu-img beside it: machines do not start`, 'apt install qemu-utils');
  },
};

/** By what frames of QEMU's guests come and go. */
export const frames: Check = {
  subject: 'QEMU frames',
  async examine({ loaded: { config }, daemon }) {
    if ((await findProgram('qemu-system-x86_64')) === undefined) return undefined;
    try {
      const makers = { server: daemon ?? 'self', makesTaps: true } as const;
      const { by, vhost, reason } = await chooseFrames(config.Qemu.frames, makers);
      if (by === 'udp') return ok(`between guests and cables go by UDP: ${reason}`);
      return ok(`between guests and cables go by TAPs, ${vhost ? 'with' : 'without'} vhost-net`);
    } catch (thrown) {
      if (!(thrown instanceof Failure)) throw thrown;
      const [problem = '', fix = ''] = thrown.message.split('; ');
      return missing(problem, fix);
    }
  },
};

export const libpcap: Check = {
  subject: 'libpcap',
  async examine() {
    try {
      await compileFilter('icmp');
      return ok('links can filter packets by BPF expressions');
    } catch (thrown) {
      return warning(`links cannot filter packets by BPF expressions: ${messageOf(thrown)}`, 'apt install libpcap0.8');
    }
  },
};

export const addons: Check = {
  subject: 'native addons',
  async examine({ addonDirectory }) {
    if (addonDirectory) useAddonDirectory(addonDirectory);
    try {
      loadKoffi();
      await Promise.all([import('sqlite3'), import('node-pty')]);
      return ok(`koffi, node-pty and sqlite3 load${isPackaged() ? ' from this executable' : ''}`);
    } catch (thrown) {
      const fix = isPackaged()
        ? 'set LABWIRE_ADDON_DIR to a directory that can be written and is not mounted noexec'
        : 'npm ci, then npm run addons';
      return missing(messageOf(thrown).split('\n', 1)[0]!, fix);
    }
  },
};
