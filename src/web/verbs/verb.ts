// The type of a verb: an action of the user, however it is triggered.
import type { LabContext, PageContext } from '../lab-context.ts';
import type { WORDS } from '../words.ts';

interface Common<Context> {
  /** Unique, such as `node.start`. */
  id: string;
  /** Label; a function if it depends on the selection. */
  words: string | ((context: Context) => string);
  /**
   * `KeyboardEvent.key`, with `Ctrl+` before it if needed. The first one is shown. Active while the map has the focus; with `everywhere`,
   * always.
   */
  keys?: readonly string[];
  /** Submenu of the context menu that holds it. */
  menu?: keyof typeof WORDS.menus;
  /** Shown in menus as one label with a check mark, for what is on or off. */
  check?: { words: string; isOn(context: Context): boolean };
  /** Menus put a separator before it. */
  startsGroup?: boolean;
  /** Whether the selection can ever do it; otherwise it is not offered. */
  suits?(context: Context): boolean;
  /** Whether it can be done now; always, if omitted. */
  enabled?(context: Context): boolean;
  run(context: Context): void;
}

/** A verb for the lab, or for the selection in it. */
export interface LabVerb extends Common<LabContext> {
  scope: 'lab' | 'nodes' | 'link' | 'drawing';
  /** Changes only what this page shows, so it works while the server is unreachable and in a closed lab. */
  isLocal?: boolean;
  /** Whether it only reads from the server, so that viewers may use it, too. */
  isReading?(context: LabContext): boolean;
}

/** One of a list whose verbs have the same scope. */
export type Unscoped = Omit<LabVerb, 'scope'>;

export const inScope = (scope: LabVerb['scope'], verbs: readonly Unscoped[]): readonly LabVerb[] =>
  verbs.map((verb) => ({ ...verb, scope }));

/** A verb of every screen. */
export interface PageVerb extends Common<PageContext> {
  scope: 'everywhere';
}

export type Verb = LabVerb | PageVerb;
