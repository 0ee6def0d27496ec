// The guest that make.sh makes, and somebody at its console.
import { existsSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import type { Cleanup } from '../cleanup.ts';
import { eventually } from '../eventually.ts';

const MADE = join(import.meta.dirname, 'made');
const FILES = ['vmlinuz', 'initrd.gz'] as const;
/** The same file system with the QEMU guest agent. */
const WITH_AGENT = 'initrd-agent.gz';

/** Why tests that need it do not run here. */
export const noGuest: string | false = unlessMade('initrd.gz');
export const noGuestAgent: string | false = unlessMade(WITH_AGENT);

function unlessMade(name: string): string | false {
  return existsSync(join(MADE, name)) ? false : 'test/guest/make.sh has not made the guest';
}

/** Where the kernel or the file system lies. */
export function guestFile(name: (typeof FILES)[number]): string {
  return join(MADE, name);
}

/** Puts its kernel and its file system into a folder of images. */
export async function copyGuest(images: string, { withAgent = false } = {}): Promise<void> {
  for (const name of FILES) await copyFile(guestFile(name), join(images, name));
  if (withAgent) await copyFile(join(MADE, WITH_AGENT), join(images, 'initrd.gz'));
}

/** The settings of a machine that boots it with an address, such as `10.0.0.1/24`. */
export function guestSettings(address: string) {
  return {
    ...{ ram: 160, adapter_type: 'virtio-net-pci', kernel_image: FILES[0], initrd: FILES[1] },
    kernel_command_line: `console=ttyS0 quiet panic=-1 guest_ip=${address}`,
  };
}

/** Waits in the guest until its card sees the cable, or its end, and says what it sees. */
export function carrier(wanted: 0 | 1): string {
  const file = '/sys/class/net/eth0/carrier';
  return `for i in $(seq 200); do [ $(cat ${file}) = ${wanted} ] && break; sleep 0.1; done; echo carrier $(cat ${file})`;
}

/** Guests take what a busy machine gives them. */
const PATIENCE_MS = 90_000;

const ECHOED = new RegExp([..."do''ne"].join('\\s*'));

/** Somebody at the console of a guest. */
export class Typist {
  readonly socket: Duplex;
  heard = '';

  /** @param at the port of the console on this host, or a connection */
  constructor(t: Cleanup, at: number | Duplex) {
    this.socket = typeof at === 'number' ? connect(at, '127.0.0.1') : at;
    this.socket.on('data', (bytes: Buffer) => {
      this.heard += bytes.toString('latin1');
    });
    this.socket.on('error', () => {});
    t.after(() => void this.socket.destroy());
  }

  /** Waits until something was said since the last call. */
  async until(what: RegExp): Promise<string> {
    const found = await eventually(
      () => `${what}; heard: ${this.heard.slice(-2000)}`,
      () => what.exec(this.heard),
      Boolean,
      PATIENCE_MS,
    );
    this.heard = this.heard.slice(found!.index + found![0].length);
    return found![0];
  }

  /** Runs a command; its answer ends with the words that the shell puts together. */
  async run(command: string): Promise<string> {
    this.heard = '';
    this.socket.write(`${command}; echo do''ne $?\r`);
    // The shell's echo may be broken at any place by the end of a line.
    await this.until(ECHOED);
    return eventually(
      `the end of ${command}`,
      () => this.heard,
      (heard) => /done \d+/.test(heard),
      PATIENCE_MS,
    );
  }
}
