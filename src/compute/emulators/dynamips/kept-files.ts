// Files that a router's emulator leaves in the node's directory, and which of them are removed with the node.
import { createHash } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { namesIn } from '../../../host/files/directories.ts';
import type { PlatformName } from './platforms.ts';

/** Only used while the router runs. */
const TEMPORARY = /(_lock|_log\.txt|_rommon_vars)$|^ilt_|^dynamips_log\.txt$/;
const DISKS = /_(disk0|disk1|slot0|slot1|nvram|flash0|flash1|rom|bootflash|ssa)$/;

/** Removes files of no further use, and the disks if the user wants that. */
export async function removeFiles(directory: string, prefix: string, disks: boolean): Promise<void> {
  for (const name of await namesIn(directory)) {
    const isDisk = name.startsWith(prefix) && DISKS.test(name);
    if (TEMPORARY.test(name) || (disks && isDisk)) await rm(join(directory, name), { force: true });
  }
}

/** The file with a router's configuration. */
export function memoryFile(platform: PlatformName, id: number): string {
  const name = ['c2691', 'c3725', 'c3745'].includes(platform) ? 'rom' : 'nvram';
  return `${platform}_i${id}_${name}`;
}

/** Polls a file and reports when its content has changed. */
export class FileWatch {
  readonly #path: string;
  readonly #changed: () => Promise<void>;
  readonly #timer: NodeJS.Timeout;
  #fingerprint: string | undefined;
  #look: Promise<void>;

  constructor(path: string, milliseconds: number, changed: () => Promise<void>) {
    this.#path = path;
    this.#changed = changed;
    this.#look = this.#read().then((fingerprint) => {
      this.#fingerprint = fingerprint;
    });
    this.#timer = setInterval(() => {
      this.#look = this.#look.then(() => this.#lookAgain());
    }, milliseconds).unref();
  }

  /** Ends it; resolves when no report will follow. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#look;
  }

  async #lookAgain(): Promise<void> {
    const fingerprint = await this.#read();
    if (fingerprint === undefined || fingerprint === this.#fingerprint) return;
    this.#fingerprint = fingerprint;
    await this.#changed();
  }

  async #read(): Promise<string | undefined> {
    const content = await readFile(this.#path).catch(() => undefined);
    return content && createHash('md5').update(content).digest('hex');
  }
}
