// Finds the file's lab on the server.
import type { ProjectObject } from '../../api/objects.ts';
import { notFound } from '../../failures.ts';
import type { Session } from '../frame/session.ts';
import { fileWord, type WantedLab } from '../labfile/model.ts';
import { findLab } from '../labfile/state.ts';

/**
 * The lab with the file's id or name, or the one that was named, such as a copy.
 * @throws Failure if there is none
 */
export async function labOfFile(session: Session, wanted: WantedLab, named?: string): Promise<ProjectObject> {
  if (named !== undefined) return session.labNamed(named);
  const lab = await findLab(session, wanted);
  if (lab) return lab;
  throw notFound(`There is no lab "${wanted.name}" yet: create it with labwired apply ${fileWord(wanted)}`);
}
