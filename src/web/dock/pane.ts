// Props of the component of a dock tab.
import type { LabContext } from '../lab-context.ts';
import type { DockEntry, DockKind } from './entries.ts';

export interface PaneProps<K extends DockKind> {
  context: LabContext;
  entry: DockEntry<K>;
  /** Hidden tabs stay connected. */
  isShown: boolean;
  /** Whether it is the active tab. */
  isActive: boolean;
}
