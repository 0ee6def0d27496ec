// Checks the configuration: the files read and their warnings.
import { stat } from 'node:fs/promises';
import { ignoreMissing } from '../failures.ts';
import { quoted } from '../host/terminal/shell-word.ts';
import { commands, ok, type Remedy, warning } from '../host/values/check-result.ts';
import type { Check, Patient } from './check.ts';

const READABLE_BY_ALL = 0o004;

async function readableByAll(files: readonly string[]): Promise<string | undefined> {
  for (const file of files) if (((await stat(file)).mode & READABLE_BY_ALL) !== 0) return file;
  return undefined;
}

/** Keeps the file readable for the server's user, who owns the state directory. */
async function closing(file: string, state: string): Promise<Remedy> {
  const [own, server] = await Promise.all([stat(file), stat(state).catch(ignoreMissing)]);
  if (server === undefined || server.uid === own.uid) return commands(`chmod o-r ${quoted(file)}`);
  return commands(`chgrp --reference=${quoted(state)} ${quoted(file)}`, `chmod g+r,o-r ${quoted(file)}`);
}

export const configuration: Check = {
  subject: 'configuration',
  see: 'configuration#configuration',
  async examine({ loaded: { config, files, warnings } }: Patient) {
    const read = files.length === 0 ? 'no file: defaults, flags and variables' : files.join(', ');
    if (warnings.length > 0) return warning(`${read}; ${warnings.join('; ')}`, 'remove these keys, or correct them');
    const open = config.Server.password === '' ? undefined : await readableByAll(files);
    if (open !== undefined)
      return warning(`${open} holds a password and everybody may read it`, await closing(open, config.state));
    return ok(read);
  },
};
