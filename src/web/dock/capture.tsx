// A capture as a tab of the dock.
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Lab } from '../model/lab/lab.ts';
import { loadPart } from '../model/server/lazy-load.ts';
import { openMerged } from '../verbs/link.ts';
import { WORDS } from '../words.ts';
import { keyOf } from './entries.ts';
import { ownWindow } from './own-window.ts';
import type { PaneProps } from './pane.ts';

type View = ComponentType<{ lab: Lab; linkId: string; title: string; isShown: boolean }>;

export function CapturePane({ context, entry, isShown }: PaneProps<'capture'>) {
  const [View, setView] = useState<View>();
  useEffect(() => {
    // Loaded with the first capture.
    void loadPart(() => import('../capture/capture-view.tsx')).then(({ CaptureView }) => setView(() => CaptureView));
  }, []);
  useEffect(() => {
    const merge = { id: 'merge', words: WORDS.capture.merge, run: () => openMerged(context) };
    context.dock.offer(keyOf(entry), [merge, ownWindow(context.lab.id, `links/${entry.linkId}/capture`)]);
  }, [context, entry]);
  return View ? <View lab={context.lab} linkId={entry.linkId} title={entry.title} isShown={isShown} /> : null;
}
