// The SVG of drawings as GNS3's clients write it: one rectangle, ellipse, line or text in an <svg> of its size. Read without the browser's
// parser, which the page's policy forbids for foreign text. Anything else is shown as an image.
import { type Point, turned } from './geometry.ts';

export interface Border {
  stroke: string;
  strokeWidth: number;
  /** Lengths of dashes and gaps, such as `10 5`; empty for a solid line. */
  dashes: string;
}

export interface Filled extends Border {
  kind: 'rect' | 'ellipse';
  width: number;
  height: number;
  fill: string;
  fillOpacity: number;
  /** Corner radius of a rectangle. */
  radius: number;
  /** Moves what lies in it along. */
  isGroup: boolean;
}

export interface Line extends Border {
  kind: 'line';
  x1: number;
  y1: number;
  x2: number;
  y2: number;
}

export interface TextShape {
  kind: 'text';
  text: string;
  fill: string;
  fillOpacity: number;
  fontFamily: string;
  /** In points. */
  fontSize: number;
  isBold: boolean;
  isItalic: boolean;
  /** As in CSS, such as `underline`; empty for none. The page keeps it, but cannot change it. */
  decoration: string;
}

export type Shape = Filled | Line | TextShape;
type ShapeOf<K extends Shape['kind']> = K extends Filled['kind'] ? Filled : Extract<Shape, { kind: K }>;

const DEFAULTS: { readonly [K in Shape['kind']]: ShapeOf<K> } = (() => {
  const border: Border = { stroke: '#000000', strokeWidth: 2, dashes: '' };
  const filled = { ...border, width: 200, height: 100, fill: '#ffffff', fillOpacity: 1, radius: 0, isGroup: false };
  return {
    rect: { kind: 'rect', ...filled },
    ellipse: { kind: 'ellipse', ...filled },
    line: { kind: 'line', ...border, x1: 0, y1: 0, x2: 200, y2: 0 },
    text: {
      kind: 'text',
      text: 'Text',
      fill: '#000000',
      fillOpacity: 1,
      fontFamily: 'TypeWriter',
      fontSize: 10,
      isBold: true,
      isItalic: false,
      decoration: '',
    },
  } as never;
})();

/** Class of the `<svg>` of a group; other clients ignore it. */
const GROUP = 'group';

/** A new shape with default values. */
export function newShape<K extends Shape['kind']>(kind: K): ShapeOf<K> {
  return { ...DEFAULTS[kind] };
}

/** Shapes that are drawn by dragging. */
export type Drawn = 'rect' | 'ellipse' | 'line';

/** Smallest width and height in pixels. */
export const LEAST_SIZE = 5;

/** A new shape between two points, with its position. `isRegular`: a square, a circle, or a horizontal, vertical or diagonal line. */
export function spanned(kind: Drawn, from: Point, to: Point, isRegular = false): Point & { shape: Filled | Line } {
  let [dx, dy] = [to.x - from.x, to.y - from.y];
  if (isRegular) {
    const size = Math.max(Math.abs(dx), Math.abs(dy));
    const isLine = kind === 'line';
    // Nearly horizontal or vertical lines are straightened.
    dx = isLine && Math.abs(dx) * 2 < size ? 0 : Math.sign(dx || 1) * size;
    dy = isLine && Math.abs(dy) * 2 < size ? 0 : Math.sign(dy || 1) * size;
  }
  const [x, y] = [Math.round(Math.min(from.x, from.x + dx)), Math.round(Math.min(from.y, from.y + dy))];
  const [width, height] = [Math.round(Math.abs(dx)), Math.round(Math.abs(dy))];
  if (kind !== 'line') {
    const size = { width: Math.max(LEAST_SIZE, width), height: Math.max(LEAST_SIZE, height) };
    return { x, y, shape: { ...newShape(kind), ...size } };
  }
  const [x1, y1] = [dx < 0 ? width : 0, dy < 0 ? height : 0];
  return { x, y, shape: { ...newShape('line'), x1, y1, x2: width - x1, y2: height - y1 } };
}

/** The place and shape after a handle was moved by this way, which is in the drawing's coordinates, before its rotation. */
export function resized(
  { x, y, rotation }: Point & { rotation: number },
  shape: Shape,
  handle: string,
  way: Point,
): Point & { shape: Shape } {
  if (shape.kind === 'text') return { x, y, shape };
  if (shape.kind !== 'line') {
    const width = handle.includes('e') ? Math.max(LEAST_SIZE, shape.width + way.x) : shape.width;
    const height = handle.includes('s') ? Math.max(LEAST_SIZE, shape.height + way.y) : shape.height;
    return { x, y, shape: { ...shape, width, height } };
  }
  const moved = { ...shape };
  if (handle === 'start') Object.assign(moved, { x1: shape.x1 + way.x, y1: shape.y1 + way.y });
  else Object.assign(moved, { x2: shape.x2 + way.x, y2: shape.y2 + way.y });
  // The position is the top left corner, around which a drawing rotates.
  const [left, top] = [Math.min(moved.x1, moved.x2), Math.min(moved.y1, moved.y2)];
  const line = { ...moved, x1: moved.x1 - left, x2: moved.x2 - left, y1: moved.y1 - top, y2: moved.y2 - top };
  const corner = turned({ x: left, y: top }, rotation);
  return { x: x + Math.round(corner.x), y: y + Math.round(corner.y), shape: line };
}

/** The line height of a text, in pixels. */
export function lineHeight({ fontSize }: TextShape): number {
  return pixels(fontSize) * 1.2;
}

export function pixels(points: number): number {
  return (points * 4) / 3;
}

/** Width and height in pixels; an upper estimate for text. */
export function sizeOf(shape: Shape): { width: number; height: number } {
  if (shape.kind === 'line') {
    return { width: Math.max(shape.x1, shape.x2), height: Math.max(shape.y1, shape.y2) };
  }
  if (shape.kind !== 'text') return { width: shape.width, height: shape.height };
  const lines = shape.text.split('\n');
  const longest = Math.max(...lines.map(({ length }) => length), 1);
  return {
    width: Math.ceil(longest * pixels(shape.fontSize) * 0.62),
    height: Math.ceil(lines.length * lineHeight(shape)),
  };
}

interface Element {
  name: string;
  attributes: Map<string, string>;
}

const TAG = /<([\w:]+)((?:\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>/y;
const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

function decode(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w+));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return ENTITIES[name] ?? whole;
    const code = Number.parseInt(decimal ?? hex, decimal === undefined ? 16 : 10);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

function encode(text: string): string {
  return text.replace(/[<>&"]/g, (sign) => `&${Object.entries(ENTITIES).find(([, value]) => value === sign)![0]};`);
}

/** Parses the tag at this offset; also returns where it ends. */
function tagAt(text: string, at: number): { element: Element; isEmpty: boolean; end: number } | undefined {
  TAG.lastIndex = at;
  const found = TAG.exec(text);
  if (!found) return undefined;
  const attributes = new Map<string, string>();
  for (const [, name, , double, single] of found[2]!.matchAll(/([\w:.-]+)\s*=\s*("([^"]*)"|'([^']*)')/g)) {
    attributes.set(name!, decode(double ?? single ?? ''));
  }
  return { element: { name: found[1]!, attributes }, isEmpty: found[3] === '/', end: TAG.lastIndex };
}

/** The size from the first tag of an image; 100 × 100 if it has none. */
export function pictureSize(svg: string): { width: number; height: number } {
  const { attributes } = tagAt(svg, svg.indexOf('<svg'))?.element ?? { attributes: new Map<string, string>() };
  const size = (name: string): number =>
    Math.min(Math.max(Number.parseFloat(attributes.get(name) ?? '') || 100, 1), 20_000);
  return { width: size('width'), height: size('height') };
}

/** The only shape of an image; undefined if it has other or unknown content. */
export function readShape(svg: string): Shape | undefined {
  const text = svg.trim().replace(/^<\?xml[^>]*\?>\s*/, '');
  const outer = tagAt(text, 0);
  if (outer?.element.name !== 'svg' || outer.isEmpty || !isPlain(outer.element)) return undefined;
  const start = outer.end + (/^\s*/.exec(text.slice(outer.end))?.[0].length ?? 0);
  const inner = tagAt(text, start);
  if (!inner) return undefined;
  const { name, attributes } = inner.element;
  const rest = inner.isEmpty ? ['', text.slice(inner.end)] : splitAt(text.slice(inner.end), `</${name}>`);
  if (!rest || rest[0]!.includes('<') || rest[1]!.trim() !== '</svg>') return undefined;
  const isGroup = outer.element.attributes.get('class') === GROUP;
  return shapeOf(name, attributes, { text: decode(rest[0]!), isGroup });
}

/** Whether an `<svg>` says no more than is written again. */
function isPlain({ attributes }: Element): boolean {
  return [...attributes].every(([name, value]) => OUTER.has(name) && (name !== 'class' || value === GROUP));
}

function splitAt(text: string, separator: string): [string, string] | undefined {
  const at = text.indexOf(separator);
  return at < 0 ? undefined : [text.slice(0, at), text.slice(at + separator.length)];
}

/** Attributes of the `<svg>` around a shape. */
const OUTER = new Set(['xmlns', 'width', 'height', 'class']);

/** Known attributes. A shape with others is shown as an image, because editing would lose them. */
const KNOWN = new Set(
  (
    'x y x1 y1 x2 y2 cx cy rx ry width height fill fill-opacity stroke stroke-width stroke-dasharray ' +
    'font-family font-size font-weight font-style text-decoration'
  ).split(' '),
);

function shapeOf(
  name: string,
  attributes: ReadonlyMap<string, string>,
  { text, isGroup }: { text: string; isGroup: boolean },
): Shape | undefined {
  if ([...attributes.keys()].some((key) => !KNOWN.has(key))) return undefined;
  const number = (key: string, otherwise: number): number => {
    const value = Number.parseFloat(attributes.get(key) ?? '');
    return Number.isFinite(value) ? value : otherwise;
  };
  const border: Border = {
    stroke: attributes.get('stroke') ?? 'none',
    strokeWidth: number('stroke-width', 1),
    dashes: (attributes.get('stroke-dasharray') ?? '').replaceAll(/[\s,]+/g, ' ').replace(/^none$/, ''),
  };
  const filling = { fill: attributes.get('fill') ?? '#000000', fillOpacity: number('fill-opacity', 1) };
  if ((name === 'rect' || name === 'text') && (number('x', 0) !== 0 || number('y', 0) !== 0)) return undefined;
  if (name === 'rect') {
    if (number('rx', number('ry', 0)) !== number('ry', number('rx', 0))) return undefined;
    const size = { width: number('width', 0), height: number('height', 0), radius: number('rx', number('ry', 0)) };
    return { kind: 'rect', ...border, ...filling, ...size, isGroup };
  }
  if (name === 'ellipse') {
    // Other clients may round one of them.
    if (['x', 'y'].some((axis) => Math.abs(number(`c${axis}`, 0) - number(`r${axis}`, 0)) > 1)) return undefined;
    const size = { width: number('rx', 0) * 2, height: number('ry', 0) * 2, radius: 0, isGroup };
    return { kind: 'ellipse', ...border, ...filling, ...size };
  }
  if (name === 'line') {
    return {
      kind: 'line',
      ...border,
      x1: number('x1', 0),
      y1: number('y1', 0),
      x2: number('x2', 0),
      y2: number('y2', 0),
    };
  }
  if (name !== 'text') return undefined;
  return {
    kind: 'text',
    text,
    ...filling,
    fontFamily: attributes.get('font-family') ?? 'TypeWriter',
    fontSize: number('font-size', 10),
    isBold: attributes.get('font-weight') === 'bold',
    isItalic: attributes.get('font-style') === 'italic',
    decoration: (attributes.get('text-decoration') ?? '').replace(/^none$/, ''),
  };
}

export const isGroup = (shape: Shape | undefined): shape is Filled =>
  shape !== undefined && 'isGroup' in shape && shape.isGroup;

/** Writes a shape as SVG. */
export function writeShape(shape: Shape): string {
  const { width, height } = sizeOf(shape);
  const group = isGroup(shape) ? ` class="${GROUP}"` : '';
  return `<svg height="${height}" width="${width}"${group}>${inner(shape)}</svg>`;
}

function inner(shape: Shape): string {
  if (shape.kind === 'text') {
    const { decoration } = shape;
    const style = [
      shape.isBold ? ' font-weight="bold"' : '',
      shape.isItalic ? ' font-style="italic"' : '',
      decoration === '' ? '' : ` text-decoration="${encode(decoration)}"`,
    ].join('');
    const font = `font-family="${encode(shape.fontFamily)}" font-size="${shape.fontSize}"${style}`;
    return `<text fill="${encode(shape.fill)}" fill-opacity="${shape.fillOpacity}" ${font}>${encode(shape.text)}</text>`;
  }
  const dashes = shape.dashes === '' ? '' : ` stroke-dasharray="${encode(shape.dashes).replaceAll(' ', ', ')}"`;
  const border = `stroke="${encode(shape.stroke)}" stroke-width="${shape.strokeWidth}"${dashes}`;
  if (shape.kind === 'line') {
    return `<line ${border} x1="${shape.x1}" x2="${shape.x2}" y1="${shape.y1}" y2="${shape.y2}" />`;
  }
  const filling = `fill="${encode(shape.fill)}" fill-opacity="${shape.fillOpacity}" ${border}`;
  if (shape.kind === 'rect') {
    const corners = shape.radius > 0 ? ` rx="${shape.radius}" ry="${shape.radius}"` : '';
    return `<rect ${filling} width="${shape.width}" height="${shape.height}"${corners} />`;
  }
  const [rx, ry] = [shape.width / 2, shape.height / 2];
  return `<ellipse ${filling} cx="${rx}" cy="${ry}" rx="${rx}" ry="${ry}" />`;
}
