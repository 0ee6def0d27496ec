// What the devices of the classic set are made of: bodies seen a little from above and from the left, and marks on them.
import { element, group, type Markup, path, placed, stroked } from './svg.ts';

/** Light to dark: what faces up, what faces us, what faces away, the edges. */
export interface Paint {
  top: string;
  front: string;
  side: string;
  edge: string;
}

export const BLUE: Paint = { top: '#9cc6f0', front: '#4384cb', side: '#2d66a6', edge: '#1c4679' };
export const GRAY: Paint = { top: '#eef1f4', front: '#c3cbd4', side: '#98a3af', edge: '#4d5863' };
export const BRICK: Paint = { top: '#efb09a', front: '#cb5d41', side: '#9d432c', edge: '#6d2918' };

/** Colour of the marks on blue and brick. */
export const INK = '#ffffff';
const DARK = '#17365c';

/** A rectangle in pixels. */
export interface Area {
  x: number;
  y: number;
  width: number;
  height: number;
}

const EDGE = 1.2;

function solid(fill: string, { edge }: Paint): Record<string, string | number> {
  return { fill, stroke: edge, 'stroke-width': EDGE, 'stroke-linejoin': 'round' };
}

/** A glyph (a square of 24) centred in the area at `size` pixels, with lines of `line` pixels. */
export function mark(glyph: Markup, area: Area, size: number, line = 1.7, colour = INK): Markup {
  const scale = size / 24;
  const [x, y] = [area.x + (area.width - size) / 2, area.y + (area.height - size) / 2];
  return placed(x, y, scale, scale, stroked(colour, line / scale, glyph));
}

/** A box that fills the area; `more` draws on its front. */
export function box(area: Area, depth: number, paint: Paint, more: (front: Area) => Markup): Markup {
  const half = EDGE / 2;
  const rise = depth * 0.75;
  const front: Area = {
    x: area.x + half,
    y: area.y + half + rise,
    width: area.width - depth - EDGE,
    height: area.height - rise - EDGE,
  };
  const { x, y, width, height } = front;
  return group(
    {},
    path(`M${x} ${y}l${depth} ${-rise}h${width}l${-depth} ${rise}z`, solid(paint.top, paint)),
    path(`M${x + width} ${y}l${depth} ${-rise}v${height}l${-depth} ${rise}z`, solid(paint.side, paint)),
    element('rect', { ...front, ...solid(paint.front, paint) }),
    more(front),
  );
}

/** A round box that fills the area; the solid glyph lies on its top, `more` draws on its front. */
export function drum(area: Area, paint: Paint, top: Markup, more: (front: Area) => Markup = () => ''): Markup {
  const [rx, ry] = [(area.width - EDGE) / 2, area.width * 0.205];
  const [cx, cy] = [area.x + area.width / 2, area.y + EDGE / 2 + ry];
  const height = area.height - EDGE - 2 * ry;
  const flat = (ry / rx) * 0.96;
  const scale = (rx * 1.38) / 24;
  return group(
    {},
    path(
      `M${cx - rx} ${cy}v${height}a${rx} ${ry} 0 0 0 ${2 * rx} 0v${-height}a${rx} ${ry} 0 0 1 ${-2 * rx} 0z`,
      solid(paint.front, paint),
    ),
    element('ellipse', { cx, cy, rx, ry, ...solid(paint.top, paint) }),
    placed(
      cx - 12 * scale,
      cy - 12 * scale * flat,
      scale,
      scale * flat,
      group({ fill: INK, stroke: paint.edge, 'stroke-width': 0.7, 'stroke-linejoin': 'round' }, top),
    ),
    more({ x: cx - rx * 0.7, y: cy + ry - 0.5, width: rx * 1.4, height: height - 0.5 }),
  );
}

/** A screen on its foot; `more` draws on the screen. */
export function screen(area: Area, more: (glass: Area) => Markup): Markup {
  const { x, y, width, height } = area;
  const panel = { x: x + 2, y: y + 1, width: width - 4, height: height * 0.72 };
  const glass = { x: panel.x + 4, y: panel.y + 4, width: panel.width - 8, height: panel.height - 8 };
  const [middle, foot] = [x + width / 2, y + height - 1];
  return group(
    {},
    path(
      `M${middle - 6} ${panel.y + panel.height - 1}h12l2.5 ${foot - panel.y - panel.height - 4}h-17z`,
      solid(GRAY.side, GRAY),
    ),
    path(`M${middle - 17} ${foot}l3 -5.5h28l3 5.5z`, solid(GRAY.front, GRAY)),
    element('rect', { ...panel, rx: 3.5, ...solid(GRAY.front, GRAY) }),
    element('rect', { ...glass, rx: 1.5, fill: DARK, stroke: GRAY.edge, 'stroke-width': 1 }),
    path(
      `M${glass.x + 1} ${glass.y + 1}h${glass.width * 0.62}l${-glass.width * 0.3} ${glass.height - 2}h${-glass.width * 0.32}z`,
      { fill: '#2c5e98', 'fill-opacity': 0.75 },
    ),
    more(glass),
  );
}

/** Courses of bricks on the front of a wall. */
export function bricks({ x, y, width, height }: Area, courses: number): Markup {
  const step = height / courses;
  const long = step * 2.4;
  let d = '';
  for (let course = 0; course < courses; course += 1) {
    if (course > 0) d += `M${x} ${(y + course * step).toFixed(2)}h${width}`;
    for (let at = course % 2 === 0 ? long : long / 2; at < width - 1; at += long) {
      d += `M${(x + at).toFixed(2)} ${(y + course * step).toFixed(2)}v${step.toFixed(2)}`;
    }
  }
  return path(d, { fill: 'none', stroke: '#f7ddd2', 'stroke-width': 1.1 });
}

/** A row of sockets at the lower edge of a front. */
export function sockets({ x, y, width, height }: Area, count: number): Markup {
  const step = (width - 6) / count;
  const squares = Array.from({ length: count }, (_, index) =>
    element('rect', { x: x + 3 + index * step + (step - 4) / 2, y: y + height - 5.5, width: 4, height: 3.2, rx: 0.5 }),
  );
  return group({ fill: DARK }, ...squares);
}

/** The part of a front that sockets leave free. */
export function aboveSockets(front: Area): Area {
  return { ...front, height: front.height - 5 };
}
