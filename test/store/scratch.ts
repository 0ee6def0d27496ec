// Places for tests that need a disk of their own.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, openSync, writeSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Cleanup } from '../cleanup.ts';

/** A directory that is removed after the test. */
export async function scratchDirectory(t: Cleanup): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'labwire-test-'));
  // Hooks run in the order in which they are added: what uses the directory may still write to it.
  t.after(() => rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 }));
  return directory;
}

/** A folder with a file at a path that is longer than a system call takes. It is made from within. */
export async function makeDeepFolder(path: string): Promise<void> {
  const inner = `${path}-inner`;
  await mkdir(path);
  await writeFile(join(path, 'file'), 'deep');
  for (let level = 0; level < 25; level += 1) {
    await rename(path, inner);
    await mkdir(path);
    await rename(inner, join(path, 'd'.repeat(250)));
  }
}

/** A small file system of its own (`ramfs` has neither a size nor direct I/O), or undefined after the test was skipped because mounting is not allowed here. */
export async function scratchFileSystem(
  t: TestContext,
  size: string,
  type: 'tmpfs' | 'ramfs' = 'tmpfs',
): Promise<string | undefined> {
  const directory = await mkdtemp(join(tmpdir(), 'labwire-test-'));
  try {
    execFileSync('mount', ['-t', type, '-o', `size=${size}`, type, directory], { stdio: 'pipe' });
  } catch (error) {
    await rm(directory, { recursive: true });
    t.skip(
      `mounting a file system is not allowed here (${error instanceof Error ? error.message.split('\n')[1] : error})`,
    );
    return undefined;
  }
  t.after(async () => {
    execFileSync('umount', ['--lazy', directory]);
    await rm(directory, { recursive: true });
  });
  return directory;
}

/** Writes a file until its file system is full to the last page. */
export function fill(path: string): void {
  const file = openSync(path, 'w');
  try {
    for (;;) writeSync(file, Buffer.alloc(4096));
  } catch (error) {
    assert.equal((error as NodeJS.ErrnoException).code, 'ENOSPC');
  } finally {
    closeSync(file);
  }
}

export function remountReadOnly(directory: string): void {
  execFileSync('mount', ['-o', 'remount,ro', directory]);
}

/** A `Failure` of this code whose message fits. */
export function failure(code: string, message: RegExp = /./): (error: unknown) => boolean {
  return (error) => {
    if (error instanceof Error && error.name === 'Failure' && (error as Error & { code: string }).code === code) {
      if (message.test(error.message)) return true;
      throw new Error(`the message does not fit ${message}: ${error.message}`);
    }
    throw error;
  };
}
