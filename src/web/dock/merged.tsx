// The captures of all links in one list, as a tab of the dock.
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Lab } from '../model/lab/lab.ts';
import { loadPart } from '../model/server/lazy-load.ts';
import { keyOf } from './entries.ts';
import { ownWindow } from './own-window.ts';
import type { PaneProps } from './pane.ts';

export function MergedPane({ context: { lab, dock }, entry, isShown }: PaneProps<'merged'>) {
  const [View, setView] = useState<ComponentType<{ lab: Lab; isShown: boolean }>>();
  useEffect(() => {
    void loadPart(() => import('../capture/merged-view.tsx')).then(({ MergedView }) => setView(() => MergedView));
  }, []);
  useEffect(() => dock.offer(keyOf(entry), [ownWindow(lab.id, 'captures')]), [dock, entry, lab]);
  return View ? <View lab={lab} isShown={isShown} /> : null;
}
