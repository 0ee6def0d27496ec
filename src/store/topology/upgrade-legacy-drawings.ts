// Converts ellipses, rectangles, notes and pictures of 1.x to drawings: small SVG texts, or names of picture files.
import { posix } from 'node:path';
import type { JsonObject } from '../json.ts';
import { BLACK, decimal, fontOf, type Paint, paintOf, presentation } from './upgrade-legacy-style.ts';
import { integer, objects, rotation, text } from './upgrade-legacy-values.ts';

const WHITE: Paint = { color: '#ffffff', opacity: 1 };
/**
 * Dashes by pen style; 1 is a solid line. The texts are fixed: clients compare them as a whole and draw anything else
 * as a solid line.
 */
const DASHES: Record<number, string> = { 2: '25, 25', 3: '5, 25', 4: '5, 25, 25', 5: '25, 25, 5, 25, 5' };
const NO_PEN = 0;

/** Shapes are behind nodes, texts in front of them. */
const SHAPE_LAYER = 0;
const TEXT_LAYER = 2;

export interface LegacyDrawings {
  drawings: JsonObject[];
  pictures: string[];
}

export function legacyDrawings(topology: JsonObject, newId: () => string): LegacyDrawings {
  const place = (old: JsonObject, layer: number, svg: string): JsonObject => ({
    drawing_id: newId(),
    x: integer(old['x'], 0),
    y: integer(old['y'], 0),
    z: integer(old['z'], layer),
    rotation: rotation(old['rotation']),
    svg,
  });
  const shapes = (kind: string, draw: (width: number, height: number) => string): JsonObject[] =>
    objects(topology[kind]).map((old) => place(old, SHAPE_LAYER, shape(old, draw)));
  const shown = objects(topology['images']).filter(({ path }) => typeof path === 'string' && pictureName(path) !== '');
  return {
    drawings: [
      ...shapes(
        'ellipses',
        (width, height) => `<ellipse cx="${width / 2}" cy="${height / 2}" rx="${width / 2}" ry="${height / 2}"`,
      ),
      ...shapes('rectangles', (width, height) => `<rect width="${width}" height="${height}"`),
      ...objects(topology['notes']).map((old) => place(old, TEXT_LAYER, note(old))),
      ...shown.map((old) => place(old, SHAPE_LAYER, pictureName(String(old['path'])))),
    ],
    pictures: shown.map(({ path }) => String(path)),
  };
}

/** File name of a picture in any folder. */
export function pictureName(path: string): string {
  return posix.basename(path.replaceAll('\\', '/'));
}

function shape(old: JsonObject, draw: (width: number, height: number) => string): string {
  const width = Math.max(1, integer(old['width'], 100));
  const height = Math.max(1, integer(old['height'], 100));
  const fill = paintOf(old['color'], WHITE);
  const outline = `${draw(width, height)} fill="${fill.color}" fill-opacity="${decimal(fill.opacity)}"${pen(old)}/>`;
  return svg(width, height, outline);
}

function pen(old: JsonObject): string {
  const style = integer(old['border_style'], 1);
  if (style === NO_PEN) return '';
  const width = Math.max(0, integer(old['border_width'], 2));
  const { color } = paintOf(old['border_color'], BLACK);
  const dashes = DASHES[style];
  return ` stroke-width="${width}" stroke="${color}"${dashes ? ` stroke-dasharray="${dashes}"` : ''}`;
}

function note(old: JsonObject): string {
  const content = text(old['text'], '');
  const font = fontOf(old['font']);
  const lines = content.split('\n');
  // Estimated with a typewriter's letter width; clients measure for themselves.
  const width = Math.max(1, Math.ceil(Math.max(...lines.map(({ length }) => length)) * font.size * 0.8));
  const height = Math.max(1, Math.ceil(lines.length * font.size * 1.6));
  const attributes = presentation(font, paintOf(old['color'], BLACK)).map(([name, value]) => ` ${name}="${value}"`);
  return svg(width, height, `<text${attributes.join('')}>${escaped(content)}</text>`);
}

function svg(width: number, height: number, content: string): string {
  return `<svg width="${width}" height="${height}">${content}</svg>`;
}

function escaped(content: string): string {
  const signs: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  return (
    content
      .replaceAll(/[&<>"]/g, (sign) => signs[sign] as string)
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what XML cannot hold
      .replaceAll(/[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, '')
  );
}
