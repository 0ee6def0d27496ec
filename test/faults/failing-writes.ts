// Writes that fail on demand: a library that is preloaded into the server counts its writes, fsyncs and renames, and lets one fail.
import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readSync, writeSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';

const project = join(import.meta.dirname, '../..');

export const FAILURES = {
  'an input/output error': constants.errno.EIO,
  'a full disk': constants.errno.ENOSPC,
  'half a write': -1,
} as const;

export type FailureName = keyof typeof FAILURES;

/** The library, built if it is not there; answers its path. */
export function library(): string {
  const path = join(project, 'dist/faults/failing-writes.so');
  mkdirSync(join(path, '..'), { recursive: true });
  execFileSync('cc', ['-shared', '-fPIC', '-O1', '-o', path, join(import.meta.dirname, 'failing-writes.c'), '-ldl']);
  return path;
}

export class FailingWrites {
  readonly environment: Record<string, string>;
  readonly #file: number;

  /** @param control a file for the two sides to talk through; @param directory where writes may fail */
  constructor(control: string, directory: string) {
    this.#file = openSync(control, 'w+');
    writeSync(this.#file, Buffer.alloc(4096));
    this.environment = {
      LD_PRELOAD: library(),
      FAILING_WRITES_CONTROL: control,
      FAILING_WRITES_DIRECTORY: directory,
    };
  }

  close(): void {
    closeSync(this.#file);
  }

  /** Lets the nth call from now on fail. */
  arm(nth: number, failure: FailureName): void {
    this.#put(1, FAILURES[failure]);
    this.#put(2, 0);
    this.#put(0, nth);
  }

  disarm(): void {
    this.#put(0, 0);
  }

  /** Whether a call has failed since {@link arm}. */
  get failed(): boolean {
    return this.#get(2) > 0;
  }

  /** Calls so far. */
  get calls(): number {
    return this.#get(3);
  }

  #put(index: number, value: number): void {
    const bytes = Buffer.alloc(4);
    bytes.writeInt32LE(value);
    writeSync(this.#file, bytes, 0, 4, index * 4);
  }

  #get(index: number): number {
    const bytes = Buffer.alloc(4);
    readSync(this.#file, bytes, 0, 4, index * 4);
    return bytes.readInt32LE();
  }
}
