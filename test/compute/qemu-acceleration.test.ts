// Whether KVM runs a machine, on hosts that have /dev/kvm, have none, or forbid it: each is a mount namespace of its own.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { problemOf } from '../../src/compute/emulators/qemu/kvm-probe.ts';
import { until } from '../controller/lab-server.ts';
import { cannotUnshare } from '../host/missing.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { BUSY, noQemu } from './qemu-support.ts';

const skip = cannotUnshare('mount namespaces', '--mount', 'true');
const emulator = join(import.meta.dirname, '../../src/compute/emulators/qemu');
const module = join(emulator, 'acceleration.ts');
const probe = join(emulator, 'kvm-probe.ts');

interface Question {
  /** Shell commands that make `/dev/kvm`, in an empty `/dev`. */
  device: string;
  options?: string;
  emulator?: string;
  /** Members of section `[Qemu]`. */
  config?: object;
}

/** What a user without rights is answered. */
function answer({ device, options = '', emulator = 'qemu-system-x86_64', config = {} }: Question): string {
  const all = { enable_hardware_acceleration: true, require_hardware_acceleration: true, ...config };
  const given = [emulator, options, all].map((value) => JSON.stringify(value)).join(', ');
  const script = `
    const { isAccelerated } = await import(${JSON.stringify(module)});
    process.setgroups([]); process.setgid(65534); process.setuid(65534);
    const told = await isAccelerated(${given}).catch(({ code, exception, message }) => [code, exception, message].join(' '));
    console.log(String(told));`;
  const shell = `mount -t tmpfs tmpfs /dev && { ${device}; } && exec "$0" --input-type=module -e "$1"`;
  const words = ['--mount', 'sh', '-c', shell, process.execPath, script];
  const { status, stdout, stderr } = spawnSync('unshare', words, { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return stdout.trim();
}

const ALLOWED = 'touch /dev/kvm /dev/null && chmod 666 /dev/kvm /dev/null';
/** In place of QEMU: this host need not have KVM. A boot sector that runs ends QEMU with 33. */
const WORKS = `printf '#!/bin/sh\\nexit 33\\n' >/dev/qemu-system-x86_64 && chmod 755 /dev/qemu-system-x86_64`;
const STAND_IN = '/dev/qemu-system-x86_64';
const FORBIDDEN = 'touch /dev/kvm && chmod 600 /dev/kvm';
const ABSENT = 'true';

test('KVM runs a machine where it may', { skip }, () => {
  assert.equal(answer({ device: `${ALLOWED} && ${WORKS}`, emulator: STAND_IN }), 'true');
  for (const options of ['-machine q35,accel=tcg', '-accel tcg,thread=single'])
    assert.equal(answer({ device: ALLOWED, options }), 'false', options);
  assert.equal(answer({ device: ALLOWED, config: { enable_hardware_acceleration: false } }), 'false');
});

test('where it may not, a start is refused with the reason and the way out', { skip }, () => {
  const refused = /^conflict QemuError KVM cannot be used: (.*); set the node's options to "-machine accel=tcg"/;
  const reason = (question: Question): string => refused.exec(answer(question))![1]!;
  assert.equal(reason({ device: FORBIDDEN }), 'this user may not use /dev/kvm');
  assert.equal(reason({ device: ABSENT }), 'this host has no /dev/kvm');
  assert.match(reason({ device: ALLOWED, emulator: 'qemu-system-aarch64' }), /is not for this host's processor/);
});

test('a guest that ends at once shows whether an accelerator runs guests', { skip: noQemu }, async () => {
  const emulator = 'qemu-system-x86_64';
  assert.equal(await problemOf(emulator, 'tcg'), undefined);
  assert.match((await problemOf(emulator, 'tcg', { code: BUSY, limit: 300 })) ?? '', /did not answer within 0.3 s/);
  assert.match((await problemOf(emulator, 'none')) ?? '', /invalid accelerator/);
});

test('the guest ends even if the process that has started it ends first', { skip: noQemu }, async (t) => {
  const directory = await scratchDirectory(t);
  const running = (): string => spawnSync('pgrep', ['-f', `qemu.*${directory}`], { encoding: 'utf8' }).stdout;
  const script = `
    const { problemOf } = await import(${JSON.stringify(probe)});
    void problemOf('qemu-system-x86_64', 'tcg', { code: ${JSON.stringify(BUSY)}, limit: 10_000 });`;
  const env = { ...process.env, TMPDIR: directory };
  const asking = spawn(process.execPath, ['--input-type=module', '-e', script], { env, stdio: 'ignore' });
  await until(() => running() !== '', 'the guest');
  asking.kill('SIGKILL');
  await until(() => running() === '', 'the end of the guest');
});

test('under a /dev/kvm that runs no guests a start is refused, or the processor emulated', {
  skip: skip || noQemu,
}, () => {
  const refused = /KVM cannot be used: a guest does not run under \/dev\/kvm \(.*\); set the node's options to/;
  assert.match(answer({ device: ALLOWED }), refused);
  assert.equal(answer({ device: ALLOWED, config: { require_kvm: false } }), 'false');
});

test('where the settings allow it, the processor is emulated instead', { skip }, () => {
  for (const device of [FORBIDDEN, ABSENT]) {
    assert.equal(answer({ device, config: { require_hardware_acceleration: false } }), 'false');
    assert.equal(answer({ device, config: { require_kvm: false } }), 'false');
    assert.equal(answer({ device, options: '-machine accel=tcg' }), 'false');
  }
});
