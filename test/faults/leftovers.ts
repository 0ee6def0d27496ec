// What a server leaves behind that is not whole.
import { readdirSync } from 'node:fs';
import { isTemporaryName } from '../../src/host/files/atomic-file.ts';
import { amidChanges } from '../amid-changes.ts';

/** Names of temporary files anywhere below the directory. */
export function temporaryFiles(directory: string): string[] {
  return amidChanges(() => readdirSync(directory, { recursive: true, withFileTypes: true }))
    .map(({ name }) => name)
    .filter(isTemporaryName);
}
