// Machines of a compute, with the real QEMU. Without a guest a machine stays in its BIOS, which is enough for most of its life.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { chooseFrames } from '../../src/compute/emulators/qemu/frames.ts';
import { findProgram } from '../../src/host/processes/program-path.ts';
import { type ProgramRun, runProgram } from '../../src/host/processes/run-program.ts';
import { type Lab, programsOf, type Settings, startLab } from './support.ts';

/** Why tests that need the real programs do not run here. */
export const noQemu: string | false =
  (await findProgram('qemu-system-x86_64')) === undefined || (await findProgram('qemu-img')) === undefined
    ? 'qemu-system-x86_64 and qemu-img are not both installed'
    : false;

const { by, reason } = await chooseFrames('automatic', { server: 'self', makesTaps: true });

/** Why frames of guests do not go by TAPs here. */
export const noTaps: string | false = by === 'tap' ? false : `frames of guests cannot go by TAPs here: ${reason}`;

/** The smallest machine that starts; its processor is emulated, wherever the test runs. */
export const SMALL = { platform: 'x86_64', ram: 16, options: '-machine accel=tcg', process_priority: 'normal' };

export interface Machines {
  lab: Lab;
  /** Path of the project below `/v2/compute`, and its directory. */
  project: string;
  directory: string;
  /** What the processes carry. */
  instance: string;
  /** Folder of images. */
  images: string;
}

export async function machines(t: TestContext, settings: Settings = {}): Promise<Machines> {
  const instance = randomUUID();
  const lab = await startLab(t, { instance, ...settings });
  const project = await lab.project();
  const directory = lab.directoryOf(project);
  const images = join(lab.config.Server.images_path, 'QEMU');
  await mkdir(images, { recursive: true });
  return { lab, project, directory, instance, images };
}

export async function qemuImg(...words: string[]): Promise<ProgramRun> {
  const run = await runProgram('/usr/bin/qemu-img', words);
  assert.equal(run.code, 0, run.errors);
  return run;
}

/** Images of a boot sector with the given code, in x86 machine language of 16 bits. */
export async function bootSector(folder: string, name: string, ...code: number[]): Promise<void> {
  const image = Buffer.alloc(1024 * 1024);
  Buffer.from(code).copy(image);
  image.writeUInt16LE(0xaa55, 510);
  await writeFile(join(folder, name), image);
}

/** `jmp $`: all that a processor gives. */
export const BUSY = [0xeb, 0xfe];
/** mov dx, 0x505; mov al, 1; out dx, al; jmp $: tells the device pvpanic that the guest has panicked. */
export const PANIC = [0xba, 0x05, 0x05, 0xb0, 0x01, 0xee, ...BUSY];
/** Clears the screen at the first key, and shows those that follow (BIOS interrupts 16h and 10h). */
export const TYPEWRITER = [
  ...[0xb4, 0x00, 0xcd, 0x16, 0xb8, 0x03, 0x00, 0xcd, 0x10],
  ...[0xb4, 0x00, 0xcd, 0x16, 0xb4, 0x0e, 0xcd, 0x10, 0xeb, 0xf6],
];

/** The one of a machine, among those beside it. */
export function machineOf(instance: string): number {
  const found = programsOf(instance).filter(({ pid }) => readlinkSync(`/proc/${pid}/exe`).includes('qemu-system'));
  assert.equal(found.length, 1);
  return found[0]!.pid;
}

/** Makes images of 1 MiB. */
export async function disk(folder: string, ...names: string[]): Promise<void> {
  for (const name of names) await qemuImg('create', '-q', '-f', 'qcow2', join(folder, name), '1M');
}

export async function rubbish(folder: string, name: string, content: string | Buffer): Promise<void> {
  await writeFile(join(folder, name), content);
}
