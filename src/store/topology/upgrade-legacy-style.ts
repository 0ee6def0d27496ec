// Converts fonts and colours of 1.x, which are Qt's texts, to SVG.
import { isObject, type JsonObject } from '../json.ts';
import { integer, rotation, text } from './upgrade-legacy-values.ts';

export interface Paint {
  /** `#rrggbb` */
  color: string;
  /** 0 to 1. */
  opacity: number;
}

export interface Font {
  family: string;
  /** Points. */
  size: number;
  bold: boolean;
  italic: boolean;
  underlined: boolean;
  struck: boolean;
}

/** From this weight on a Qt font is bold. */
const BOLD = 63;

/** A Qt colour: `#rrggbb`, or `#aarrggbb` with the opacity first. */
export function paintOf(value: unknown, otherwise: Paint): Paint {
  const [, opacity, color] = /^#([0-9a-f]{2})?([0-9a-f]{6})$/i.exec(String(value)) ?? [];
  if (color === undefined) return otherwise;
  const share = opacity === undefined ? 1 : Math.round((Number.parseInt(opacity, 16) / 255) * 100) / 100;
  return { color: `#${color.toLowerCase()}`, opacity: share };
}

/** A Qt font: family, points, pixels, hint, weight, italic, underlined, struck out, and further unused fields. */
export function fontOf(value: unknown): Font {
  const [family, points, , , weight, italic, underlined, struck] = typeof value === 'string' ? value.split(',') : [];
  const size = Number(points);
  return {
    family: text(family?.replaceAll(/[^\w .-]/g, ''), 'TypeWriter'),
    size: size > 0 && size < 1000 ? size : 10,
    bold: weight === undefined || Number(weight) >= BOLD,
    italic: italic === '1',
    underlined: underlined === '1',
    struck: struck === '1',
  };
}

export const BLACK: Paint = { color: '#000000', opacity: 1 };

/** Font and colour as SVG attributes, without defaults. */
export function presentation(font: Font, { color, opacity }: Paint): [name: string, value: string][] {
  const decorations = [font.underlined && 'underline', font.struck && 'line-through'].filter(Boolean).join(' ');
  const properties = {
    'font-family': font.family,
    'font-size': decimal(font.size),
    'font-weight': font.bold ? 'bold' : '',
    'font-style': font.italic ? 'italic' : '',
    'text-decoration': decorations,
    fill: color,
    'fill-opacity': decimal(opacity),
  };
  return Object.entries(properties).filter(([, value]) => value !== '');
}

/** As in the release: always with a fraction. */
export function decimal(value: number): string {
  return Number.isInteger(value) ? `${value}.0` : String(value);
}

/** A label of a node or a port, if any; its position stays. */
export function labelOf(old: unknown): JsonObject | undefined {
  if (!isObject(old) || typeof old['text'] !== 'string') return undefined;
  const style = presentation(fontOf(old['font']), paintOf(old['color'], BLACK));
  return {
    text: old['text'],
    style: style.map(([name, value]) => `${name}: ${value};`).join(''),
    x: integer(old['x'], 0),
    y: integer(old['y'], 0),
    rotation: rotation(old['rotation']),
  };
}
