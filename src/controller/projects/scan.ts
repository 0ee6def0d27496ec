// Which projects there are: the .gns3 files below the projects directory, and what the database knows of projects elsewhere.
import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { messageOf } from '../../failures.ts';
import { log } from '../../host/log.ts';
import type { ProjectRecord } from '../../store/projects.ts';
import { fingerprint, readTopologyFile } from '../../store/topology/file.ts';
import { type GivenSettings, newSettings } from './settings.ts';

/** A project that was found; `damaged` says why its file cannot be read. */
export interface FoundProject {
  record: ProjectRecord;
  damaged?: string;
}

const UUID = /^[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}$/i;

/** The projects below a directory, in the order of their names. One that is damaged is listed under its folder's and file's names. */
export async function scanProjects(directory: string, version: string): Promise<FoundProject[]> {
  const folders = await readdir(directory, { withFileTypes: true }).catch(() => []);
  const found: FoundProject[] = [];
  for (const folder of folders.filter((entry) => entry.isDirectory()).sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(directory, folder.name);
    const files = (await readdir(path).catch(() => [])).filter(
      (name) => name.endsWith('.gns3') && !name.startsWith('.'),
    );
    for (const filename of files.sort()) {
      const project = await readProject(path, filename, version);
      const known = found.find(({ record }) => record.project_id === project.record.project_id);
      if (known)
        log.warn('two files hold the same project; the first is used', {
          used: known.record.path,
          ignored: join(path, filename),
        });
      else found.push(project);
    }
  }
  return found;
}

async function readProject(path: string, filename: string, version: string): Promise<FoundProject> {
  try {
    const { topology } = await readTopologyFile(join(path, filename), { version });
    const settings = newSettings(topology.name, topology as GivenSettings);
    return { record: { ...settings, project_id: topology.project_id, path, filename } };
  } catch (error) {
    const reason = messageOf(error);
    log.warn('a project is damaged; it is listed, but does not open', { file: join(path, filename), reason });
    const folder = basename(path);
    const record = {
      ...newSettings(filename.replace(/\.gns3$/, ''), {}),
      project_id: UUID.test(folder) ? folder : nameBasedId(path),
      path,
      filename,
    };
    return { record, damaged: reason };
  }
}

/** An id for a damaged project in a folder that is not named after one: the same each time. */
function nameBasedId(path: string): string {
  return createHash('sha256')
    .update(path)
    .digest('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');
}

/** Whether a project that the database knows still has its file. */
export async function hasFile({ path, filename }: ProjectRecord): Promise<boolean> {
  return (await fingerprint(join(path, filename)).catch(() => undefined)) !== undefined;
}
