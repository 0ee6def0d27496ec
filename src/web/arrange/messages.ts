// Messages between the panel that arranges nodes and its worker.
import type { PlacedNode } from '../../layout/arrange-nodes.ts';
import type { Style } from '../../layout/style.ts';
import type { Point } from '../model/lab/geometry.ts';

export interface ArrangeRequest {
  nodes: readonly PlacedNode[];
  /** Ids of the nodes at both ends. */
  links: readonly (readonly [string, string])[];
  style: Style;
}

export interface ArrangeResult {
  style: Style;
  /** New top left corners by node id. */
  places: ReadonlyMap<string, Point>;
}
