// The files that a new machine has open before its guest runs: only those that were checked. Other programs than this
// server, such as containers, can replace images between the check and the start.
import { readdir, readlink, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, systemCode } from '../../../failures.ts';
import { log } from '../../../host/log.ts';
import { refusal } from './refusal.ts';

/** @throws Failure `conflict` (`QemuError`) if the program has another file or block device open */
export async function mustHaveOpenOnly(paths: ReadonlySet<string>, pid: number, name: string): Promise<void> {
  const folder = `/proc/${pid}/fd`;
  try {
    for (const number of await readdir(folder)) {
      const found = await stat(join(folder, number)).catch(() => undefined);
      if (!found?.isFile() && !found?.isBlockDevice()) continue;
      const path = (await readlink(join(folder, number))).replace(/ \(deleted\)$/, '');
      if (!paths.has(path) && !path.startsWith('/memfd:'))
        throw refusal(`${name} was not started: one of its images was replaced at this moment; try again.`);
    }
  } catch (error) {
    // A program with more rights than this server does not show its files; one that has ended is reported elsewhere.
    if (!['EACCES', 'EPERM', 'ENOENT', 'ESRCH'].includes(systemCode(error) ?? '')) throw error;
    log.debug('qemu: the open files are unknown', { pid, reason: messageOf(error) });
  }
}
