// `labwired snapshot`: earlier states of a lab.
import type * as v from 'valibot';
import type { ProjectObject, SnapshotObject } from '../../api/objects.ts';
import type { SnapshotCreate } from '../../api/routes/snapshots.ts';
import { conflict } from '../../failures.ts';
import { quoted } from '../../host/terminal/shell-word.ts';
import { type Noun, verb } from '../frame/command.ts';
import type { Session } from '../frame/session.ts';
import { findNamed } from '../server/find.ts';
import { namesInWords } from '../terminal/counted.ts';
import { inTime } from '../terminal/figures.ts';
import { runs } from './node.ts';

const idOf = ({ snapshot_id }: SnapshotObject): string => snapshot_id;
const pathOf = ({ project_id }: ProjectObject): string => `/v2/projects/${project_id}/snapshots`;

async function find(session: Session, wanted: string): Promise<{ lab: ProjectObject; found: SnapshotObject }> {
  const lab = await session.lab();
  const all = await session.api.get<SnapshotObject[]>(pathOf(lab));
  return { lab, found: findNamed('snapshot', all, (one) => ({ id: idOf(one), name: one.name }), wanted) };
}

/** @throws Failure `conflict` with both ways out */
async function mustBeStopped(session: Session, lab: ProjectObject): Promise<void> {
  if (lab.status !== 'opened') return;
  const running = (await session.nodes(lab)).filter(runs).map(({ name }) => name);
  if (running.length === 0) return;
  throw conflict(
    `${namesInWords(running)} ${running.length === 1 ? 'is' : 'are'} running: add --running to include their state, or stop them with labwired lab stop ${quoted(lab.name)}`,
  );
}

export const snapshot: Noun = {
  name: 'snapshot',
  summary: 'saved states of a lab',
  verbs: [
    verb({
      name: 'list',
      summary: 'lists all snapshots of the lab',
      inLab: true,
      run: async (session) =>
        session.show(await session.api.get<SnapshotObject[]>(pathOf(await session.lab())), idOf, [
          { heading: 'SNAPSHOT', cell: ({ name }) => name },
          { heading: 'MADE', cell: ({ created_at }) => inTime(created_at) },
          { heading: 'ID', cell: idOf },
        ]),
    }),
    verb({
      name: 'create',
      words: ['NAME'],
      summary: 'saves the present state; nodes must be stopped',
      flags: { running: { summary: 'include running nodes with their state' } },
      inLab: true,
      run: async (session, [name], { running }) => {
        const body: v.InferInput<typeof SnapshotCreate> = { name: name, ...(running && { running }) };
        const lab = await session.lab();
        if (!running) await mustBeStopped(session, lab);
        const made = await session.api.post<SnapshotObject>(pathOf(lab), body);
        session.tell(`Snapshot "${made.name}" created: ${made.snapshot_id}`, made.snapshot_id, made);
      },
    }),
    verb({
      name: 'restore',
      words: ['SNAPSHOT'],
      summary: 'restores the saved state; the present one is lost',
      inLab: true,
      run: async (session, [wanted]) => {
        const { lab, found } = await find(session, wanted);
        const now = await session.api.post<ProjectObject>(`${pathOf(lab)}/${found.snapshot_id}/restore`);
        session.tell(`Lab "${lab.name}" is as it was in "${found.name}".`, found.snapshot_id, now);
      },
    }),
    verb({
      name: 'delete',
      words: ['SNAPSHOT'],
      summary: 'deletes the snapshot permanently; the lab stays as it is',
      inLab: true,
      run: async (session, [wanted]) => {
        const { lab, found } = await find(session, wanted);
        await session.api.delete(`${pathOf(lab)}/${found.snapshot_id}`);
        session.tell(`Snapshot "${found.name}" deleted.`, found.snapshot_id);
      },
    }),
  ],
};
