// What can be done with all selected labs, in a bar over the lower edge of the list.
import type { Signal } from '@preact/signals';
import { whyNotChange } from '../model/account/permissions.ts';
import type { LabRow } from '../model/lab/lab-rows.ts';
import type { ProjectObject } from '../model/server/types.ts';
import { Button } from '../panels/button.tsx';
import { forEachNamed } from '../panels/for-each-named.ts';
import { showExport, showLabQuestion } from '../tasks/dialogs.tsx';
import { WORDS } from '../words.ts';
import { type Attempt, closeLab, mayShare, openLab } from './lab-parts.tsx';

const words = WORDS.labs;

interface SelectionBarProps {
  labs: readonly LabRow[];
  selected: Signal<ReadonlySet<string>>;
  attempt: Attempt;
}

export function SelectionBar({ labs, selected, attempt }: SelectionBarProps) {
  const projects = labs.map(({ project }) => project);
  const changeable = labs.filter(({ project }) => whyNotChange(project.project_id) === '');
  const sound = changeable.map(({ project }) => project).filter(({ damaged }) => !damaged);
  const shareable = projects.filter((project) => !project.damaged && mayShare(project));
  const exportable = projects.filter(({ damaged }) => !damaged);
  const running = changeable.reduce((sum, { figures }) => sum + (figures?.running ?? 0), 0);
  /** For all labs it applies to, which the button counts if these are not all. */
  const button = (verb: string, those: readonly ProjectObject[], run: () => void, isDangerous = false) =>
    those.length > 0 && (
      <button type="button" class={isDangerous ? 'danger' : undefined} onClick={run}>
        {verb}
        {those.length < projects.length && ` (${those.length})`}
      </button>
    );
  const change = (
    verb: string,
    status: ProjectObject['status'],
    task: (project: ProjectObject) => Promise<unknown>,
  ) => {
    const those = sound.filter((project) => project.status === status);
    return button(verb, those, () => void attempt(verb, () => forEachNamed(new Set(those), task)));
  };
  const removed = changeable.map(({ project }) => project);
  return (
    <div class="selection" role="toolbar" aria-label={WORDS.common.actions}>
      <span role="status">{words.selected(labs.length)}</span>
      {change(WORDS.common.open, 'closed', openLab)}
      {change(WORDS.common.close, 'opened', closeLab)}
      {button(WORDS.sharing.share, shareable, () => showLabQuestion({ kind: 'share', projects: shareable }))}
      {button(words.export, exportable, () => showExport(exportable))}
      {button(
        WORDS.common.remove,
        removed,
        () => showLabQuestion({ kind: 'remove', projects: removed, running }),
        true,
      )}
      <Button
        class="quiet"
        onClick={() => {
          selected.value = new Set();
        }}
        text={WORDS.lab.leave}
      />
    </div>
  );
}
