// A small picture of a lab's map, drawn from its .gns3 file.

import { around, centreOf, type Rectangle } from '../../layout/rectangles.ts';
import type { Outline } from '../../store/topology/outline.ts';
import { pictureSize } from '../symbols/picture-size.ts';
import type { Symbols } from '../symbols/symbols.ts';

type SymbolFiles = Pick<Symbols, 'read' | 'small'>;

/** Size of the picture, and the free space at its edges. */
const WIDTH = 320;
const HEIGHT = 180;
const MARGIN = 14;

/** Keeps a few nodes from filling the picture. */
const LARGEST_SCALE = 0.75;
/** Symbols below this size (pixels) look the same: the nodes are dots. */
const LEAST_SYMBOL = 11;

/** Bytes of all custom symbols in a picture. */
const MOST_CUSTOM_BYTES = 256 * 1024;

/** Visible on light and on dark ground. */
const LINK_COLOUR = '#8592a0';
const NODE_COLOUR = '#3f83c9';
/** Large text, legible on light and on dark ground. */
const EMPTY = `<text x="${WIDTH / 2}" y="${HEIGHT / 2 + 8}" text-anchor="middle" font-family="sans-serif" font-size="24" fill="#788490">empty</text>`;

export async function thumbnailOf({ nodes, links, drawings }: Outline, symbols: SymbolFiles): Promise<string> {
  const drawn = drawings.map((drawing) => ({ ...drawing, ...sizeOf(drawing.svg), svg: withNamespace(drawing.svg) }));
  const { scale, left, top } = frameOf([...nodes, ...drawn]);
  const centres = nodes.map(({ x, y, width, height }) => ({
    x: tenths((x + width / 2) * scale + left),
    y: tenths((y + height / 2) * scale + top),
  }));
  const lines = new Set(
    links.map(([from, to]) => {
      const [one, other] = [centres[from]!, centres[to]!];
      return `M${one.x} ${one.y}L${other.x} ${other.y}`;
    }),
  );
  const size = Math.max(...nodes.map(({ width }) => width), 0) * scale;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}">`,
    ...drawn.map(
      ({ x, y, rotation, width, height, svg }) =>
        `<image href="${dataAddress(svg)}" width="${width}" height="${height}" transform="translate(${tenths(x * scale + left)} ${tenths(y * scale + top)}) scale(${scale.toFixed(4)}) rotate(${rotation})"/>`,
    ),
    `<path d="${[...lines].join('')}" fill="none" stroke="${LINK_COLOUR}" stroke-width="${size < LEAST_SYMBOL ? 0.5 : 1.2}"/>`,
    ...(nodes.length + drawings.length === 0 ? [EMPTY] : []),
    ...(size < LEAST_SYMBOL ? [dots(centres, size)] : await pictures(nodes, { scale, left, top }, symbols)),
    '</svg>',
  ].join('\n');
}

/** Clients of GNS3 leave the namespace out, without which it is no picture of its own. */
function withNamespace(svg: string): string {
  return svg.replace(/<svg(?![^>]*\sxmlns\s*=)/, '<svg xmlns="http://www.w3.org/2000/svg"');
}

/** The size that a drawing's SVG names; a usual one if it names none. */
function sizeOf(svg: string): { width: number; height: number } {
  const size = pictureSize(Buffer.from(svg));
  return size && size.width > 0 && size.height > 0 ? size : { width: 100, height: 100 };
}

interface Frame {
  scale: number;
  left: number;
  top: number;
}

/** Where the scene lies in the picture: the middle of all boxes in its middle. */
function frameOf(boxes: readonly Rectangle[]): Frame {
  const whole = around(boxes);
  if (!whole) return { scale: 1, left: 0, top: 0 };
  const scale = Math.min(
    (WIDTH - 2 * MARGIN) / Math.max(whole.width, 1),
    (HEIGHT - 2 * MARGIN) / Math.max(whole.height, 1),
    LARGEST_SCALE,
  );
  const middle = centreOf(whole);
  return { scale, left: WIDTH / 2 - middle.x * scale, top: HEIGHT / 2 - middle.y * scale };
}

/** All nodes as one path of round caps, which takes a few bytes for each. */
function dots(centres: readonly { x: number; y: number }[], size: number): string {
  const path = new Set(centres.map(({ x, y }) => `M${x} ${y}h0`));
  const width = Math.max(1.5, Math.min(size, 8)).toFixed(1);
  return `<path d="${[...path].join('')}" stroke="${NODE_COLOUR}" stroke-width="${width}" stroke-linecap="round"/>`;
}

/** The nodes with their symbols, each of which is in the picture once. Large custom pictures are squares. */
async function pictures(nodes: Outline['nodes'], { scale, left, top }: Frame, symbols: SymbolFiles): Promise<string[]> {
  const kinds = [...new Set(nodes.map(({ symbol }) => symbol ?? ''))];
  let room = MOST_CUSTOM_BYTES;
  const shapes: string[] = [];
  for (const [index, symbol] of kinds.entries()) {
    const picture = symbols.read(symbol);
    const custom = 'file' in picture ? await symbols.small(picture.file, room) : undefined;
    room -= custom?.content.length ?? 0;
    const address = 'svg' in picture ? dataAddress(picture.svg) : custom && dataAddress(custom.content, custom.type);
    const shape =
      address === undefined
        ? `<rect x=".1" y=".1" width=".8" height=".8" rx=".15" fill="${NODE_COLOUR}"/>`
        : `<image href="${address}" width="1" height="1"/>`;
    shapes.push(`<g id="s${index}">${shape}</g>`);
  }
  const uses = nodes.map(({ x, y, width, height, symbol }) => {
    const size = Math.max(width, height) * scale;
    const [at, down] = [(x + width / 2) * scale + left - size / 2, (y + height / 2) * scale + top - size / 2];
    const place = `translate(${tenths(at)} ${tenths(down)}) scale(${tenths(size)})`;
    return `<use href="#s${kinds.indexOf(symbol ?? '')}" transform="${place}"/>`;
  });
  return [`<defs>${shapes.join('')}</defs>`, ...uses];
}

/** A picture within the picture, in which nothing runs and nothing is loaded. */
function dataAddress(content: string | Buffer, type = 'image/svg+xml'): string {
  return `data:${type};base64,${Buffer.from(content).toString('base64')}`;
}

function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}
