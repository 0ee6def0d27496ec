import { dirname, join } from 'node:path';
import type { Config } from '../../../config/schema.ts';
import { Failure } from '../../../failures.ts';
import { findProgram } from '../../../host/processes/program-path.ts';
import { commands, missing, ok, warning } from '../../../host/values/check-result.ts';
import { Images } from '../../images/images.ts';
import type { HostCheck } from '../../nodes/kind.ts';
import { findFirmware } from './firmware.ts';
import { chooseFrames } from './frames.ts';
import { KVM_DEVICE, kvmDeviceError, kvmProblem } from './kvm-probe.ts';
import { IMAGE_KIND } from './settings.ts';

const EMULATOR = 'qemu-system-x86_64';

export const programs: HostCheck = {
  subject: 'QEMU',
  see: 'qemu#from-an-image-to-a-guest',
  async examine() {
    // Only finds it without running it: QEMU is slow to start on a busy host.
    const program = await findProgram(EMULATOR);
    if (program === undefined) return ok('not installed: for QEMU machines, apt install qemu-system-x86 qemu-utils');
    const tool = join(dirname(program), 'qemu-img');
    if ((await findProgram(tool)) !== undefined) return ok(`QEMU machines are run by ${program}`);
    return warning(`${program}, but no qemu-img beside it: machines do not start`, commands('apt install qemu-utils'));
  },
};

export async function unavailableReason(): Promise<string | undefined> {
  if ((await findProgram(EMULATOR)) !== undefined) return undefined;
  return 'QEMU is not installed: apt install qemu-system-x86 qemu-utils.';
}

/** The transport of guests' frames. */
export const frames: HostCheck = {
  subject: 'QEMU frames',
  see: 'qemu#frames',
  async examine(config, daemon) {
    if ((await findProgram(EMULATOR)) === undefined) return undefined;
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

/** A program that only some machines need: reported if QEMU is installed, and no fault if missing. */
function optional(subject: string, find: (config: Config) => Promise<string | undefined>, what: string): HostCheck {
  return {
    subject,
    see: 'qemu#settings',
    async examine(config) {
      if ((await findProgram(EMULATOR)) === undefined) return undefined;
      const path = await find(config);
      return ok(path ?? `not installed; optional, ${what}`);
    },
  };
}

export const extras: readonly HostCheck[] = [
  optional('cpulimit', () => findProgram('cpulimit'), 'needed for cpu_throttling of machines: apt install cpulimit'),
  optional('mtools', () => findProgram('mcopy'), 'needed for configuration disks of machines: apt install mtools'),
  optional(
    'OVMF',
    (config) => findFirmware(new Images(config).folder(IMAGE_KIND)),
    'needed for machines with UEFI: apt install ovmf',
  ),
  optional('swtpm', () => findProgram('swtpm'), 'needed for machines with a TPM: apt install swtpm'),
];

export const kvm: HostCheck = {
  subject: KVM_DEVICE,
  see: 'qemu#from-an-image-to-a-guest',
  async examine(config) {
    const error = await kvmDeviceError();
    const program = await findProgram(EMULATOR);
    const problem = error === undefined && program !== undefined ? await kvmProblem(program) : undefined;
    if (error === undefined && problem === undefined)
      return ok(
        program === undefined
          ? 'there'
          : 'there, and a guest ran under it: QEMU machines run at the speed of this host',
      );
    const found =
      problem !== undefined
        ? `there, but a guest does not run under it (${problem})`
        : error === 'ENOENT'
          ? 'not there'
          : 'there, but not for this user';
    const { require_kvm, require_hardware_acceleration, enable_kvm, enable_hardware_acceleration } = config.Qemu;
    const isWanted = enable_kvm ?? enable_hardware_acceleration;
    const isRequired = isWanted && (require_kvm ?? require_hardware_acceleration);
    if (!isRequired) return ok(`${found}: QEMU machines are emulated`);
    const way =
      problem !== undefined
        ? 'switch nested virtualisation off or mend it on the host below'
        : error === 'ENOENT'
          ? 'switch virtualisation on in the firmware'
          : 'add this user to the group kvm';
    const fix = `${way}, or set require_hardware_acceleration = false in section [Qemu]`;
    return warning(`${found}: QEMU machines do not start unless their options say -machine accel=tcg`, fix);
  },
};
