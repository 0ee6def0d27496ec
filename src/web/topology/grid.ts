// The grid that nodes snap to, as an SVG pattern.
import type { ProjectObject } from '../model/server/types.ts';
import { make } from './svg.ts';

/** Extent of the grid in lab pixels around the origin. */
const EXTENT = 20_000;

/** Draws the grid of a project if enabled. */
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
