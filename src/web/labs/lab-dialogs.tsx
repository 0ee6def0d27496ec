// Dialogs about labs: settings, share, duplicate, delete. The input stays until the request succeeds.
import { useMemo } from 'preact/hooks';
import { api } from '../model/server/api.ts';
import type { ProjectObject } from '../model/server/types.ts';
import { forEachNamed } from '../panels/for-each-named.ts';
import { begin } from '../tasks/page-tasks.ts';
import { WORDS } from '../words.ts';
import { Asking } from './asking.tsx';
import { ShareLabs } from './share-labs.tsx';

const words = WORDS.labs;

/** Milliseconds within which the server rejects an invalid request. */
const REFUSAL_MS = 1_000;

export type LabQuestion =
  | { kind: 'settings' | 'duplicate'; project: ProjectObject }
  | { kind: 'share'; projects: readonly ProjectObject[] }
  | {
      kind: 'remove';
      projects: readonly ProjectObject[];
      /** Number of their running nodes. */
      running: number;
    };

interface LabDialogsProps {
  question: LabQuestion;
  close(): void;
}

export function LabDialogs({ question, close }: LabDialogsProps) {
  if (question.kind === 'settings') return <LabSettings project={question.project} close={close} />;
  if (question.kind === 'share') return <ShareLabs projects={question.projects} close={close} />;
  if (question.kind === 'remove') return <RemoveLabs {...question} close={close} />;
  const { project } = question;
  return (
    <Asking
      title={`${WORDS.common.duplicate} ${project.name}`}
      verb={WORDS.common.duplicate}
      close={close}
      submit={(data) =>
        duplicate(project, { name: String(data.get('name')), reset_mac_addresses: data.has('new_macs') })
      }
    >
      <Name value={words.copyOf(project.name)} />
      <label class="switch">
        <input type="checkbox" name="new_macs" defaultChecked /> {WORDS.exporting.macs}
      </label>
    </Asking>
  );
}

/** Labs named in the question; more are counted. */
const MOST_NAMED = 12;

interface RemoveLabsProps {
  projects: readonly ProjectObject[];
  running: number;
  close(): void;
}

function RemoveLabs({ projects, running, close }: RemoveLabsProps) {
  const left = useMemo(() => new Set(projects), [projects]);
  const [{ name }] = projects as readonly [ProjectObject];
  const isOne = projects.length === 1;
  /** Typed if nodes run. */
  const proof = isOne ? name : String(projects.length);
  const names = projects.slice(0, MOST_NAMED).map((project) => project.name);
  return (
    <Asking
      title={`${WORDS.common.remove} ${isOne ? name : words.count(projects.length)}`}
      verb={WORDS.common.remove}
      isDangerous
      close={close}
      submit={(_, closed) => forEachNamed(left, ({ project_id: id }) => api.delete(`/projects/${id}`), closed)}
    >
      <p>{isOne ? words.askRemove(name) : words.askRemoveAll(projects.length)}</p>
      {!isOne && (
        <ul class="named">
          {names.map((each) => (
            <li key={each}>{each}</li>
          ))}
          {projects.length > MOST_NAMED && <li>{words.andMore(projects.length - MOST_NAMED)}</li>}
        </ul>
      )}
      {running > 0 && (
        <label>
          {isOne ? words.typeName(running, name) : words.typeNumber(running, projects.length)}
          <input name="confirmed" required autocomplete="off" pattern={escaped(proof)} title={proof} />
        </label>
      )}
    </Asking>
  );
}

/** Closes the dialog at once unless the server rejects the request immediately; the progress is shown in the task list. */
async function duplicate(
  { project_id: projectId }: ProjectObject,
  wanted: { name: string; reset_mac_addresses: boolean },
): Promise<void> {
  const done = begin({ kind: 'duplicate', name: wanted.name, projectId }, (id) =>
    api.post(`/projects/${projectId}/duplicate`, wanted, id),
  );
  await Promise.race([done, new Promise((resolve) => setTimeout(resolve, REFUSAL_MS))]);
}

/** Escapes text for `pattern`. Browsers compile it with the v flag, and ignore one with an escape that this does not know. */
function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}

function Name({ value }: { value: string }) {
  return (
    <label>
      {WORDS.common.name}
      <input name="name" required autocomplete="off" defaultValue={value} />
    </label>
  );
}

const SWITCHES = ['auto_close', 'auto_open', 'auto_start', 'show_grid', 'snap_to_grid'] as const;
const SIZES = ['scene_width', 'scene_height', 'grid_size', 'drawing_grid_size'] as const;

/** Name, automatic actions, and the sizes of the scene and grids. */
function LabSettings({ project, close }: { project: ProjectObject; close(): void }) {
  const submit = (data: FormData): Promise<unknown> => {
    const given = {
      name: data.get('name'),
      ...Object.fromEntries(SWITCHES.map((member) => [member, data.has(member)])),
      ...Object.fromEntries(SIZES.map((member) => [member, Number(data.get(member))])),
    };
    const changed = Object.entries(given).filter(([member, value]) => project[member as keyof ProjectObject] !== value);
    return changed.length === 0
      ? Promise.resolve()
      : api.put(`/projects/${project.project_id}`, Object.fromEntries(changed));
  };
  return (
    <Asking title={words.settingsOf(project.name)} verb={WORDS.common.save} close={close} submit={submit}>
      <Name value={project.name} />
      <p class="hint">{words.folderHint}</p>
      {SWITCHES.map((member) => (
        <label key={member} class="switch">
          <input type="checkbox" name={member} defaultChecked={project[member]} /> {words.members[member]}
        </label>
      ))}
      <div class="pair">
        {SIZES.map((member) => (
          <label key={member}>
            {words.members[member]}
            <input type="number" name={member} required min={1} max={100_000} defaultValue={project[member]} />
          </label>
        ))}
      </div>
    </Asking>
  );
}
