// What a server leaves behind that is not whole.
import { execFileSync } from 'node:child_process';
import { isTemporaryName } from '../../src/host/files/atomic-file.ts';

/** Names of temporary files anywhere below the directory. */
export function temporaryFiles(directory: string): string[] {
  return execFileSync('find', [directory, '-printf', '%f\\n'], { encoding: 'utf8' })
    .split('\n')
    .filter(isTemporaryName);
}
