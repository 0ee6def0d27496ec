// Windows about a lab that any screen may ask for; loaded when the first one is shown.
import { signal } from '@preact/signals';
import type { VNode } from 'preact';
import { isOutdated } from '../model/version.ts';

export const shownDialog = signal<VNode | undefined>(undefined);

const close = (): void => {
  shownDialog.value = undefined;
};

/** A part that is not there any more belongs to another release. */
async function show(load: () => Promise<VNode>): Promise<void> {
  try {
    shownDialog.value = await load();
  } catch {
    isOutdated.value = true;
  }
}

export function showSnapshots(id: string, name: string): void {
  void show(async () => {
    const { SnapshotsDialog } = await import('./snapshots-dialog.tsx');
    return <SnapshotsDialog id={id} name={name} close={close} />;
  });
}

export function showExport(id: string, name: string): void {
  void show(async () => {
    const { ExportDialog } = await import('./export-dialog.tsx');
    return <ExportDialog id={id} name={name} close={close} />;
  });
}
