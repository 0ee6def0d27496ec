// Checks an IOU image: whether this host can run it, missing libraries, and its help text.
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { messageOf } from '../../../failures.ts';
import { childEnvironment } from '../../../host/processes/child-processes.ts';
import { runProgram } from '../../../host/processes/run-program.ts';
import { refusals } from '../../nodes/exception-name.ts';
import { type Elf, NoProgram, readElf } from './elf.ts';

const LIMIT_MS = 10_000;
/** Linux's loaders. No other loader is run to find libraries: an image could name its own program. */
const LOADERS = /^\/lib(?:32|64|x32)?\/(?:[\w-]+\/)?ld-linux[\w.-]*\.so\.\d+$/;
/** Debian packages with the libraries that images need most. */
const PACKAGES = { 32: 'libc6:i386 and libssl1.1:i386', 64: 'libc6 and libssl3' } as const;

/** Facts from an image's help. */
export interface ImageHelp {
  /** KiB */
  nvram: number | undefined;
  /** MiB */
  ram: number | undefined;
  keepalives: boolean;
}

export const refusal = refusals('IOUError');

/**
 * Checks that the image can be run, without running it.
 * @throws Failure `conflict` (`IOUError`) that names what is missing
 */
export async function mustRun(path: string): Promise<void> {
  if (path === '') throw refusal('path: the node has no image; name one that was uploaded.');
  const found = await stat(path).catch(() => undefined);
  if (!found?.isFile()) throw refusal(`path: there is no image ${path} any more; upload it again.`);
  let elf: Elf;
  try {
    elf = await readElf(path);
  } catch (thrown) {
    const why = thrown instanceof NoProgram ? thrown.message : messageOf(thrown);
    throw refusal(`path: ${path} is no IOU image (${why}); upload a whole image for Linux on x86.`, thrown);
  }
  await access(path, constants.X_OK).catch((cause: unknown) => {
    throw refusal(`path: ${path} may not be run: chmod +x ${path}.`, cause);
  });
  await mustHaveLibraries(path, elf);
}

async function mustHaveLibraries(path: string, { bits, interpreter }: Elf): Promise<void> {
  if (interpreter === undefined) return;
  const fix = `install them (Debian: apt install ${PACKAGES[bits]})`;
  if (!(await stat(interpreter).catch(() => undefined))) {
    throw refusal(`path: ${basename(path)} is a ${bits}-bit program, whose loader ${interpreter} is not here; ${fix}.`);
  }
  const missing = await missingLibraries(path, interpreter);
  if (missing.length > 0) throw refusal(`path: ${basename(path)} needs ${missing.join(', ')}, not found here; ${fix}.`);
}

/** Names of the libraries that the system's loader does not find. Nothing of the image is run. */
async function missingLibraries(path: string, interpreter: string): Promise<string[]> {
  if (!LOADERS.test(interpreter)) return [];
  const run = await runProgram(interpreter, ['--list', path], { limit: LIMIT_MS }).catch(() => undefined);
  const lines = `${run?.output ?? ''}\n${run?.errors ?? ''}`.split('\n');
  const found = lines.flatMap(
    (line) => /^\s*(\S+) => not found/.exec(line)?.[1] ?? /: ([^\s:]+): cannot open shared/.exec(line)?.[1] ?? [],
  );
  return [...new Set(found)];
}

function parseHelp(text: string): ImageHelp {
  const number = (pattern: RegExp): number | undefined => {
    const found = pattern.exec(text)?.[1];
    return found === undefined ? undefined : Number(found);
  };
  return {
    nvram: number(/-n <n>\s+Size of nvram in Kb \(default ([0-9]+)KB\)/),
    ram: number(/-m <n>\s+Megabytes of router memory \(default ([0-9]+)MB\)/),
    keepalives: /-l\s+Enable Layer 1 keepalive messages/.test(text),
  };
}

const known = new Map<string, { stamp: string; help: Promise<ImageHelp> }>();

/** The image's help, read once per state of the file unless reading fails. Empty for an image that cannot be run. */
export async function imageHelp(path: string): Promise<ImageHelp> {
  const found = await stat(path).catch(() => undefined);
  const stamp = `${found?.mtimeMs} ${found?.size} ${found?.mode}`;
  const before = known.get(path);
  if (before?.stamp === stamp) return before.help;
  const help = askForHelp(path);
  known.set(path, { stamp, help });
  return help;
}

async function askForHelp(path: string): Promise<ImageHelp> {
  try {
    await readElf(path);
    await access(path, constants.X_OK);
    const { errors } = await runProgram(path, ['-h'], { environment: childEnvironment(), limit: LIMIT_MS });
    return parseHelp(errors);
  } catch (error) {
    if (!(error instanceof NoProgram)) known.delete(path);
    // Its start will report the error.
    return parseHelp('');
  }
}
