// The captures of all links in one list, as a tab of the dock.
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Lab } from '../model/lab.ts';
import { loadPart } from '../model/part.ts';
import type { PaneProps } from './pane.ts';

export function MergedPane({ context: { lab }, isShown }: PaneProps<'merged'>) {
  const [View, setView] = useState<ComponentType<{ lab: Lab; isShown: boolean }>>();
  useEffect(() => {
    void loadPart(() => import('../capture/merged-view.tsx')).then(({ MergedView }) => setView(() => MergedView));
  }, []);
  return View ? <View lab={lab} isShown={isShown} /> : null;
}
