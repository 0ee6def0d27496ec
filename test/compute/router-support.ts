import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { Hypervisor } from '../../src/compute/emulators/dynamips/hypervisor.ts';
import { findProgram } from '../../src/host/processes/program-path.ts';
import { eventually } from '../eventually.ts';
import { freePort } from '../fabric/peers.ts';
import { type Lab, type Settings, startLab } from './support.ts';

const SOURCES = join(import.meta.dirname, '../guest/router');
/** Another one than the installed one. */
const PROGRAM = process.env['LABWIRE_TEST_DYNAMIPS'] ?? 'dynamips';
const TOOLS = ['mips-linux-gnu-as', 'mips-linux-gnu-ld', 'powerpc-linux-gnu-as', 'powerpc-linux-gnu-ld'];
const DIRECTORIES = '/usr/local/bin:/usr/bin:/bin:/usr/games:/usr/sbin:/usr/local/sbin';

/** Why tests that need the real program do not run here. */
export const noDynamips: string | false =
  (await findProgram(PROGRAM, DIRECTORIES)) === undefined
    ? 'dynamips is not installed, and LABWIRE_TEST_DYNAMIPS names none'
    : (await Promise.all(TOOLS.map((tool) => findProgram(tool)))).includes(undefined)
      ? 'binutils for MIPS and PowerPC are not installed'
      : false;

export type Image = 'c3600' | 'c7200' | 'c37xx' | 'c2600' | 'c1700';

/** Where each platform has its console's UART: see the sources. */
const SYMBOLS: Record<Image, Record<string, number>> = {
  c3600: { UART: 0, STATUS: 0xbe840028, DATA: 0xbe840000 },
  c7200: { UART: 0, STATUS: 0xbe84040c, DATA: 0xbe84041c },
  c37xx: { UART: 1, STATUS: 0x62100028, DATA: 0x62100000 },
  c2600: { UART_HIGH: 0xffe0 },
  c1700: { UART_HIGH: 0x6805 },
};

/** What the images say when they have started. */
export const READY = 'A router of the tests is ready.';

/** Assembles an image into the directory, with so many more bytes of content; answers its name. */
export async function makeImage(directory: string, image: Image, moreBytes = 0): Promise<string> {
  const name = `${image}.image`;
  const isMips = 'STATUS' in SYMBOLS[image];
  const tool = isMips ? 'mips-linux-gnu' : 'powerpc-linux-gnu';
  const symbols = Object.entries(SYMBOLS[image]).flatMap(([symbol, value]) => ['--defsym', `${symbol}=${value}`]);
  const scratch = await mkdtemp(join(tmpdir(), 'labwire-image-'));
  try {
    const object = join(scratch, 'image.o');
    const source = join(SOURCES, isMips ? 'mips.s' : 'powerpc.s');
    execFileSync(`${tool}-as`, [
      isMips ? '-EB' : '-mbig',
      ...(isMips ? ['-mno-shared'] : []),
      ...symbols,
      source,
      '-o',
      object,
    ]);
    const objects = [object];
    if (moreBytes > 0) {
      await writeFile(join(scratch, 'more'), randomBytes(moreBytes));
      await writeFile(join(scratch, 'more.s'), `.text\n.incbin "${join(scratch, 'more')}"\n`);
      objects.push(join(scratch, 'more.o'));
      execFileSync(`${tool}-as`, [isMips ? '-EB' : '-mbig', join(scratch, 'more.s'), '-o', objects[1]!]);
    }
    const script = ['-T', join(SOURCES, 'image.ld'), '-m', isMips ? 'elf32btsmip' : 'elf32ppc'];
    execFileSync(`${tool}-ld`, [...script, '-EB', '-e', '_start', ...objects, '-o', join(directory, name)]);
  } finally {
    await rm(scratch, { recursive: true });
  }
  return name;
}

export interface Routers {
  lab: Lab;
  /** Path of the project below `/v2/compute`, and its directory. */
  project: string;
  directory: string;
  /** Folder of images. */
  images: string;
}

/** A compute with a project, and the images. */
export async function routers(t: TestContext, made: readonly Image[], settings: Settings = {}): Promise<Routers> {
  const lab = await startLab(t, { dynamips_path: PROGRAM, ...settings });
  const project = await lab.project();
  const directory = lab.directoryOf(project);
  const images = join(lab.config.Server.images_path, 'IOS');
  await mkdir(images, { recursive: true });
  for (const image of made) await makeImage(images, image);
  return { lab, project, directory, images };
}

/** A new router of 32 MB, or another size; answers its path below `/v2/compute`. */
export async function router(
  { lab, project }: Routers,
  platform: string,
  image: Image,
  more: object = {},
): Promise<string> {
  return lab.node(project, 'dynamips', { name: 'R1', platform, image: `${image}.image`, ram: 64, ...more });
}

/** A connection to an emulator, beside the server's. */
export async function emulatorOf(t: TestContext, pid: number): Promise<Hypervisor> {
  const words = readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0');
  const [, port] = words[words.indexOf('-H') + 1]!.split(':');
  const hypervisor = await Hypervisor.connect('127.0.0.1', Number(port));
  t.after(() => hypervisor.close());
  return hypervisor;
}

/** Takes the cable of a port away from the router and gives it to a socket: what that sends is as if the router had sent it. */
export async function sender(t: TestContext, emulator: Hypervisor, [slot, number]: [number, number]) {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  t.after(() => socket.close());
  const raw = await freePort();
  await emulator.run('nio create_udp', ['raw', raw, '127.0.0.1', socket.address().port]);
  await emulator.run('vm slot_disable_nio', ['R1', slot, number]);
  await emulator.run('vm slot_remove_nio_binding', ['R1', slot, number]);
  await emulator.run('nio_bridge create', ['middle']);
  for (const nio of ['raw', `cable_${slot}_${number}`]) await emulator.run('nio_bridge add_nio', ['middle', nio]);
  return (frame: Buffer) => socket.send(frame, raw, '127.0.0.1');
}

/** A client of a console that reads until it has seen a text. */
export class Typist {
  text = '';
  readonly socket: Socket;

  constructor(t: TestContext, port: number) {
    this.socket = connect(port, '127.0.0.1');
    this.socket.on('error', () => {});
    this.socket.on('data', (chunk) => {
      this.text += chunk.toString('latin1');
    });
    t.after(() => this.socket.destroy());
  }

  async sees(text: string): Promise<void> {
    await eventually(
      () => `${text}; seen: ${JSON.stringify(this.text)}`,
      () => this.text.includes(text),
    );
  }
}
