// VMware's text files: machines (.vmx), their snapshots (.vmsd) and lists of machines, all with lines of `key =
// "value"`.
import { fchown } from 'node:fs';
import { readFile, realpath, stat, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { Failure, systemCode } from '../../../failures.ts';
import { createAtomicFile } from '../../../host/files/atomic-file.ts';
import { refusal } from './vmrun.ts';

/** Members by their names in lower case, in the order of the file. */
export type Pairs = Map<string, string>;

/** Node's names of the encodings that VMware uses. */
const ENCODINGS: Readonly<Record<string, BufferEncoding>> = {
  'utf-8': 'utf8',
  utf8: 'utf8',
  'windows-1252': 'latin1',
  'iso-8859-1': 'latin1',
  'us-ascii': 'latin1',
};

const encodingOf = (name: string | undefined): BufferEncoding => ENCODINGS[name?.trim().toLowerCase() ?? ''] ?? 'utf8';

export function parsePairs(bytes: Buffer): Pairs {
  const head = bytes.toString('latin1').split(/\r?\n/, 2);
  const named = /^\s*\.encoding\s*=\s*"?([^"]*)"?/i.exec((head[0]?.startsWith('#!') ? head[1] : head[0]) ?? '')?.[1];
  const text = bytes.toString(encodingOf(named));
  const pairs: Pairs = new Map();
  for (const line of text.split(/\r?\n/)) {
    const at = line.indexOf('=');
    if (at <= 0 || line.startsWith('#')) continue;
    const value = line.slice(at + 1).trim();
    pairs.set(line.slice(0, at).trim().toLowerCase(), value.replace(/^"(.*)"$/, '$1').trim());
  }
  return pairs;
}

/** @param interpreter program in the first line, as in machines of Linux */
export function pairsText(pairs: Pairs, interpreter?: string): string {
  const lines = [...pairs].map(([key, value]) => `${key} = "${value}"`);
  return [...(interpreter === undefined ? [] : [`#!${interpreter}`]), ...lines, ''].join('\n');
}

/** @throws Failure `conflict` (`VMwareError`) for an unreadable file */
export async function readPairs(path: string): Promise<Pairs> {
  try {
    return parsePairs(await readFile(path));
  } catch (thrown) {
    throw refusal(`${path} cannot be read; give the path of a machine that VMware has.`, thrown);
  }
}

/** Writes the members in the encoding that they specify. See `pairsText`. */
export async function writePairs(path: string, pairs: Pairs, interpreter?: string): Promise<void> {
  const content = Buffer.from(pairsText(pairs, interpreter), encodingOf(pairs.get('.encoding')));
  const place = await realpath(path).catch(() => path);
  const before = await stat(place).catch(() => undefined);
  try {
    await using file = await createAtomicFile(place, before && { mode: before.mode & 0o777 });
    if (before) await chown(file.descriptor, before.uid, before.gid);
    await file.write(content);
    await file.commit();
  } catch (thrown) {
    // The folder, or the file's owner, is another user's.
    if (!before || !isRefused(thrown)) throw thrown;
    await writeFile(place, content);
  }
}

const chown = promisify(fchown);

const isRefused = (thrown: unknown): boolean =>
  systemCode(thrown) === 'EPERM' || (thrown instanceof Failure && thrown.code === 'forbidden');
