// What a verb is: something that people can do, whichever way they ask for it.
import type { LabContext, PageContext } from '../lab-context.ts';

interface Common<Context> {
  /** Of its own, such as `node.start`. */
  id: string;
  /** What people read; a function if it depends on what is selected. */
  words: string | ((context: Context) => string);
  /** `KeyboardEvent.key`, after `Ctrl+` where that belongs to it. The first one is shown. They count while the map has the focus,
   * those of `everywhere` always. */
  keys?: readonly string[];
  /** Menus part it from what stands before it. */
  startsGroup?: boolean;
  /** Always, if it is left out. */
  enabled?(context: Context): boolean;
  run(context: Context): void;
}

/** A verb of the lab, or of what is selected in it. */
export interface LabVerb extends Common<LabContext> {
  scope: 'lab' | 'nodes' | 'link' | 'drawing';
  /** It changes nothing but what is shown here: it can be used while the server is away, and in a lab that somebody has closed. */
  isLocal?: boolean;
  /** Whether it asks the server, and changes nothing there: it is also for those who may only watch the lab. */
  isReading?(context: LabContext): boolean;
}

/** A verb that every screen knows. */
export interface PageVerb extends Common<PageContext> {
  scope: 'everywhere';
}

export type Verb = LabVerb | PageVerb;
