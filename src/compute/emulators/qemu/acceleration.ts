import { basename } from 'node:path';
import type { Sections } from '../../../config/schema.ts';
import { KVM_DEVICE, kvmDeviceError, kvmProblem } from './kvm-probe.ts';
import { refusal } from './refusal.ts';

const ACCELERATED = /^(?:qemu-system-x86_64|qemu-system-i386|qemu-kvm)/;
/** The user's options request an emulated processor. */
const EMULATED = /(?:^|\s)--?(?:machine|M|accel)[\s=]\S*\btcg\b/;

/** @throws Failure `conflict` (`QemuError`) with the fix if it is required and impossible */
export async function isAccelerated(emulator: string, options: string, config: Sections['Qemu']): Promise<boolean> {
  const wanted = config.enable_kvm ?? config.enable_hardware_acceleration;
  const required = config.require_kvm ?? config.require_hardware_acceleration;
  if (!wanted || EMULATED.test(options)) return false;
  const reason = await kvmUnavailable(emulator);
  if (reason === undefined) return true;
  if (!required) return false;
  const fix = `set the node's options to "-machine accel=tcg", or require_hardware_acceleration = false in section [Qemu], to emulate the processor`;
  throw refusal(`KVM cannot be used: ${reason}; ${fix}.`);
}

/** Undefined if KVM can run machines of this emulator. The first call may briefly run a guest. */
async function kvmUnavailable(emulator: string): Promise<string | undefined> {
  if (!ACCELERATED.test(basename(emulator))) return `${basename(emulator)} is not for this host's processor`;
  const error = await kvmDeviceError();
  if (error !== undefined)
    return error === 'EACCES' ? `this user may not use ${KVM_DEVICE}` : `this host has no ${KVM_DEVICE}`;
  const problem = await kvmProblem(emulator);
  return problem && `a guest does not run under ${KVM_DEVICE} (${problem})`;
}
