// What the component of a tab of the dock is given.
import type { LabContext } from '../lab-context.ts';
import type { DockEntry, DockKind } from './entries.ts';

export interface PaneProps<K extends DockKind> {
  context: LabContext;
  entry: DockEntry<K>;
  /** The others live on, hidden. */
  isShown: boolean;
  /** Whether it is the one that is worked in. */
  isActive: boolean;
}
