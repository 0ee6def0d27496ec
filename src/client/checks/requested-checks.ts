// Finds the checks to run and their lab: from the lab's file, from a file of checks alone, or those saved in the lab.
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { stringify } from 'yaml';
import type { ProjectObject } from '../../api/objects.ts';
import { WrongUsage } from '../../commands/wrong-usage.ts';
import { Failure, notFound } from '../../failures.ts';
import { exists } from '../../host/files/exists.ts';
import { quoted } from '../../host/terminal/shell-word.ts';
import type { Session } from '../frame/session.ts';
import type { WantedCheck } from '../labfile/model.ts';
import { besideOf, checksWithin, type OutsideFlag, parseChecks, parseLab } from '../labfile/read.ts';
import { KEPT_CHECKS, labFilePath, readLabFile } from '../labfile/state.ts';
import { textOfFile } from '../terminal/files.ts';
import { labOfFile } from './which-lab.ts';

/** The file that is meant when none is named. */
const USUAL_FILE = 'lab.yaml';
export interface Asked {
  lab: ProjectObject;
  checks: WantedCheck[];
  /** The file, for messages and reports. */
  file: string;
  /** The checks as a file has them that has nothing else. */
  text: string;
  /** The `labwired lab start` argument, quoted for a shell. */
  started: string;
}

/**
 * @param word a file, or the name of a lab that keeps its checks
 * @param flags `lab`: another lab than the one of the file
 * @throws Failure that says where checks can be
 */
export async function askedChecks(
  session: Session,
  word: string | undefined,
  { lab: named, ...flags }: OutsideFlag & { lab?: string } = {},
): Promise<Asked> {
  const file = word ?? USUAL_FILE;
  const isNamed = file === '-' || (word !== undefined && /\.ya?ml$/.test(word));
  const isFile = isNamed || ((await exists(file)) && !(await isFolder(file)));
  if (!isFile) {
    if (word !== undefined && named !== undefined)
      throw new WrongUsage(`There is no file "${word}" with checks for lab "${named}".`);
    return keptChecks(session, await labCalled(session, word ?? named));
  }
  const content = await textOfFile(file);
  const { isAlone, ...within } = checksWithin(content, file);
  if (isAlone) {
    const lab = named === undefined ? await session.lab() : await session.labNamed(named);
    return checksOf(session, lab, content, file);
  }
  const wanted = await parseLab(content, file, besideOf(file, flags));
  if (wanted.checks.length === 0) throw new WrongUsage(`${wanted.file} has no checks: write them below checks.`);
  const lab = await labOfFile(session, wanted, named);
  // A file starts the lab that it names itself, and only a file that `lab start` takes for one.
  const isOwn = named === undefined && /\.ya?ml$/.test(file);
  const started = quoted(isOwn ? file : lab.name);
  return { lab, checks: wanted.checks, file: wanted.file, text: stringify(within), started };
}

/** A folder may be called as a lab is. */
const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (status) => status.isDirectory(),
    () => false,
  );

async function labCalled(session: Session, name: string | undefined): Promise<ProjectObject> {
  if (name === undefined)
    throw notFound(
      `There is no ${USUAL_FILE} here: name a file with checks, or a lab with stored checks (labwired test LAB).`,
    );
  try {
    return await session.labNamed(name);
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'not-found') throw error;
    throw notFound(`There is no file "${name}". ${error.message}`);
  }
}

/** Reads a file of checks alone; its names refer to this lab. */
async function checksOf(session: Session, lab: ProjectObject, text: string, file: string): Promise<Asked> {
  const names = (await session.nodes(lab)).map(({ name }) => name);
  return { lab, checks: await parseChecks(text, file, names), file, text, started: quoted(lab.name) };
}

async function keptChecks(session: Session, lab: ProjectObject): Promise<Asked> {
  const text = await readLabFile(session.api, lab, KEPT_CHECKS);
  if (text === undefined)
    throw notFound(
      `Lab "${lab.name}" has no stored checks: write them below checks: in a file, then labwired test FILE --lab ${quoted(lab.name)} --keep`,
    );
  return checksOf(session, lab, text, `${KEPT_CHECKS} of lab ${lab.name}`);
}

/** For `labwired test LAB`: the lab takes them along, also into archives and copies. */
export async function keepChecks(session: Session, { lab, text }: Asked): Promise<void> {
  const bytes = Buffer.from(text);
  await session.api.upload(labFilePath(lab, KEPT_CHECKS), {
    content: Readable.from([bytes]),
    type: 'application/octet-stream',
    length: bytes.length,
  });
}
