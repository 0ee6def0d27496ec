// Dialogs that any screen may open; loaded on first use.
import { signal } from '@preact/signals';
import type { VNode } from 'preact';
import type { LabQuestion } from '../labs/lab-dialogs.tsx';
import { loadPart } from '../model/server/lazy-load.ts';
import { WORDS } from '../words.ts';
import type { Question } from './confirmation.tsx';
import type { Exported } from './export-dialog.tsx';

export const shownDialog = signal<VNode | undefined>(undefined);

const close = (): void => {
  shownDialog.value = undefined;
};

async function show(load: () => Promise<VNode>): Promise<void> {
  shownDialog.value = await loadPart(load);
}

export function showSnapshots(id: string, name: string): void {
  void show(async () => {
    const { SnapshotsDialog } = await import('./snapshots-dialog.tsx');
    return <SnapshotsDialog id={id} name={name} close={close} />;
  });
}

export function showExport(projects: readonly Exported[]): void {
  void show(async () => {
    const { ExportDialog } = await import('./export-dialog.tsx');
    return <ExportDialog projects={projects} close={close} />;
  });
}

/** Asks for what an action on labs needs: settings, shares, a name, or a confirmation. */
export function showLabQuestion(question: LabQuestion): void {
  void show(async () => {
    const { LabDialogs } = await import('../labs/lab-dialogs.tsx');
    return <LabDialogs question={question} close={close} />;
  });
}

/** Shows the question in a dialog. Resolves to whether to go on. */
export function confirmed(question: Question): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (isConfirmed: boolean): void => {
      close();
      resolve(isConfirmed);
    };
    void show(async () => {
      const { Confirmation } = await import('./confirmation.tsx');
      return <Confirmation {...question} end={end} />;
    });
  });
}

/** Asks before something is deleted. */
export function confirmRemoval(name: string, text: string): Promise<boolean> {
  const verb = WORDS.common.remove;
  return confirmed({ title: `${verb} ${name}`, text, verb });
}
