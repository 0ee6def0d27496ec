// The lines that nodes snap to, as a pattern.
import type { ProjectObject } from '../model/server/types.ts';
import { make } from './svg.ts';

/** Pixels of the lab that the grid covers around its middle. */
const EXTENT = 20_000;

/** Draws the grid of a project, if it is to be shown. */
export function drawGrid(group: SVGGElement, project: ProjectObject | undefined): void {
  const size = project?.grid_size ?? 0;
  const wanted = project?.show_grid && size >= 5 ? String(size) : '';
  if (group.dataset['size'] === wanted) return;
  group.dataset['size'] = wanted;
  group.replaceChildren();
  if (wanted === '') return;
  const pattern = make('pattern', { id: 'grid', width: size, height: size, patternUnits: 'userSpaceOnUse' }, group);
  make('path', { d: `M${size} 0H0V${size}` }, pattern);
  make('rect', { x: -EXTENT, y: -EXTENT, width: 2 * EXTENT, height: 2 * EXTENT, fill: 'url(#grid)' }, group);
}
