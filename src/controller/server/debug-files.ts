// `POST /v2/debug`: writes the state of the server to files on its own disk, for support. No secrets.
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../failures.ts';
import { writeFileAtomically } from '../../host/files/atomic-file.ts';
import type { Compute } from '../computes/compute.ts';
import type { Project } from '../lab/project.ts';

export interface DebugSubjects {
  version: string;
  computes: readonly Compute[];
  projects: readonly Project[];
}

function controllerReport({ version, computes, projects }: DebugSubjects): string {
  const lines = [
    `API version ${version}`,
    'Computes',
    ...computes.map(({ id, description: { name, host, port }, connected, lastError }) => {
      return `  ${id} ${name} at ${host} port ${port}: ${connected ? 'connected' : `not connected (${lastError ?? 'no error'})`}`;
    }),
    'Projects',
    ...projects.flatMap(({ id, record, state, damaged, nodes, links }) => [
      `  ${id} ${record.name} in ${record.path}: ${damaged === undefined ? state : `damaged (${damaged})`}, ${nodes.size} nodes, ${links.size} links`,
      ...[...nodes.values()].map((node) => `    ${node.type} ${node.name} on ${node.compute.id}: ${node.status}`),
    ]),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

/** A compute's own report, or why there is none. */
async function computeReport(compute: Compute): Promise<string> {
  try {
    return await (await compute.pass('GET', '/debug')).text();
  } catch (error) {
    return `This compute sent no report: ${messageOf(error)}\n`;
  }
}

/** Empties the directory and writes `controller.txt` and a `compute_<id>.txt` for each compute. */
export async function writeDebugFiles(directory: string, subjects: DebugSubjects): Promise<void> {
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await writeFileAtomically(join(directory, 'controller.txt'), controllerReport(subjects));
  for (const compute of subjects.computes) {
    const name = `compute_${compute.id.replaceAll(/[^0-9A-Za-z_-]/g, '_')}.txt`;
    await writeFileAtomically(join(directory, name), await computeReport(compute));
  }
}
