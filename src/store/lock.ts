// Locks the state directory: one daemon per directory.
import { readFile, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { conflict, Failure, messageOf, outOfSpace, systemCode } from '../failures.ts';
import { throwFileFailure } from '../host/files/atomic-file.ts';
import { connect, requireRegularFiles, settle } from './database.ts';
import { LOCK } from './other-states.ts';

/** How long (ms) to wait for a daemon that is just ending. */
const PATIENCE_MS = 300;

/**
 * Locks the state directory for this process, or refuses with `Failure('conflict')` that names the directory and the
 * holder's pid.
 *
 * The lock is the kernel's on `labwired.lock`, held by an open SQLite transaction: it ends with the process in any
 * case, and child processes do not inherit it. (No other code may open that file: closing any of its descriptors drops
 * the lock of the whole process.) `labwired.pid` is only for the message.
 */
export async function lockStateDirectory(directory: string): Promise<AsyncDisposable> {
  const pidFile = join(directory, 'labwired.pid');
  const path = join(directory, LOCK);
  await requireRegularFiles(path, `${path}-journal`, pidFile);
  const connection = await connect(path, PATIENCE_MS).catch((thrown: unknown) => {
    throw unusable(directory, thrown);
  });
  const close = () => settle((done) => connection.close(done));
  try {
    await settle((done) => connection.exec('BEGIN EXCLUSIVE', done));
    await writeFile(pidFile, `${process.pid}\n`).catch(throwFileFailure(pidFile));
  } catch (thrown) {
    await close();
    if (systemCode(thrown) === 'SQLITE_BUSY') throw await heldByAnother(directory, pidFile);
    if (['SQLITE_NOTADB', 'SQLITE_CORRUPT'].includes(systemCode(thrown) ?? ''))
      throw conflict(`${path} is damaged: delete it, it has nothing to keep`, { cause: thrown });
    throw thrown instanceof Failure ? thrown : unusable(directory, thrown);
  }
  return {
    async [Symbol.asyncDispose]() {
      await unlink(pidFile).catch(() => {});
      await close();
    },
  };
}

async function heldByAnother(directory: string, pidFile: string): Promise<Failure> {
  // The holder writes its pid right after locking: the pid of a killed one is replaced within moments.
  let pid = await livingHolder(pidFile);
  for (let attempt = 0; pid === undefined && attempt < 10; attempt += 1) {
    await sleep(20);
    pid = await livingHolder(pidFile);
  }
  const holder = pid === undefined ? 'another labwired' : `another labwired (pid ${pid})`;
  return conflict(
    `the state directory ${directory} is in use by ${holder}: stop it, or choose another directory with --state`,
  );
}

async function livingHolder(pidFile: string): Promise<number | undefined> {
  const pid = Number.parseInt(await readFile(pidFile, 'utf8').catch(() => ''), 10);
  if (!(pid > 0)) return undefined;
  try {
    process.kill(pid, 0);
  } catch (thrown) {
    if (systemCode(thrown) === 'ESRCH') return undefined;
  }
  return pid;
}

function unusable(directory: string, thrown: unknown): Failure {
  if (systemCode(thrown) === 'SQLITE_FULL') {
    return outOfSpace(`the state directory ${directory} is on a full disk: free some space`, {
      cause: thrown,
    });
  }
  return conflict(
    `the state directory ${directory} cannot be used (${messageOf(thrown)}): make it writable for the user that runs labwired`,
    { cause: thrown },
  );
}
