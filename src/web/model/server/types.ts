// The members of API objects that the page uses.
import type { LinkObject as AnyLinkObject, LinkEnd } from '../../../api/objects.ts';

export type {
  Directions,
  DrawingObject,
  LabelObject,
  LinkEnd,
  NodeObject,
  PortObject,
  ProjectObject,
  TemplateObject,
} from '../../../api/objects.ts';

/** A link with both ends. */
export interface LinkObject extends AnyLinkObject {
  nodes: [LinkEnd, LinkEnd];
}

/** Impairments of a direction: `delay`, `loss` and others, with their members. */
export type Impairments = Record<string, Record<string, unknown>>;

export interface PresetObject {
  name: string;
  description: string;
  /** Source of its figures. */
  source: string;
  up: Impairments;
  down: Impairments;
}

/** Times in seconds. */
export interface ScheduleObject {
  state: 'none' | 'running' | 'finished' | 'cancelled';
  elapsed?: number;
  round?: number;
  rounds?: number;
  period?: number | null;
  steps?: { at: number; for?: number; forward?: object; backward?: object }[];
}

export interface Message {
  action: string;
  event: Record<string, unknown>;
  sequence?: string;
}
