// Tests whether KVM runs guests here. On some hosts, mainly nested ones, /dev/kvm exists but guests stop at their first
// instructions, or never run.
import { constants } from 'node:fs';
import { access, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf, systemCode } from '../../../failures.ts';
import { runProgram } from '../../../host/processes/run-program.ts';

export const KVM_DEVICE = '/dev/kvm';
/** A working guest ends in a fraction of it, also on a busy host. Less than what the doctor allows a check. */
const LIMIT_MS = 4_000;
/**
 * mov al, 0x10; out 0xf4, al; hlt: ends QEMU by its device isa-debug-exit, once the firmware has started the boot
 * sector.
 */
const CODE = [0xb0, 0x10, 0xe6, 0xf4, 0xf4];
/** Of a QEMU that the boot sector has ended. */
const EXIT_CODE = (0x10 << 1) | 1;

/** Why this process may not use the device: `ENOENT`, `EACCES` ...; undefined if it may. */
export function kvmDeviceError(): Promise<string | undefined> {
  return access(KVM_DEVICE, constants.R_OK | constants.W_OK).then(() => undefined, systemCode);
}

const known = new Map<string, Promise<string | undefined>>();

/**
 * Why KVM does not run guests of this emulator; undefined if it does. Tested once per run of this process, with a guest
 * that ends at once.
 */
export function kvmProblem(emulator: string): Promise<string | undefined> {
  const found = known.get(emulator) ?? problemOf(emulator, 'kvm');
  known.set(emulator, found);
  return found;
}

/** @param accelerator of QEMU: `kvm`, `tcg` */
export async function problemOf(
  emulator: string,
  accelerator: string,
  { code = CODE, limit = LIMIT_MS }: { code?: readonly number[]; limit?: number } = {},
): Promise<string | undefined> {
  const directory = await mkdtemp(join(tmpdir(), 'labwire-kvm-'));
  try {
    const image = Buffer.alloc(512);
    Buffer.from(code).copy(image);
    image.writeUInt16LE(0xaa55, 510);
    const path = join(directory, 'boot.img');
    await writeFile(path, image);
    const words = [
      ...['-machine', `pc,accel=${accelerator}`, '-m', '16', '-nodefaults', '-no-user-config', '-display', 'none'],
      ...['-device', 'isa-debug-exit,iobase=0xf4,iosize=0x04', '-no-reboot', '-boot', 'order=a'],
      ...['-drive', `if=floppy,format=raw,readonly=on,file=${path}`],
    ];
    // timeout(1) ends the guest even if this process ends first, as the doctor may.
    const bounded = ['--signal=KILL', `${Math.ceil(limit / 1000) + 1}`, emulator, ...words];
    const { code: ended, output, errors } = await runProgram('timeout', bounded, { limit });
    if (ended === EXIT_CODE) return undefined;
    const said = `${errors}\n${output}`.split('\n').find((line) => line.trim() !== '');
    return said?.trim().slice(0, 200) ?? `QEMU ended with exit code ${ended}`;
  } catch (error) {
    return messageOf(error);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
