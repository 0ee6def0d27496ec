// Label styles as GNS3's clients write them: `font-family: TypeWriter;font-size: 10.0;fill: #000000;`. Only known properties are read, so
// foreign text can change nothing but the look.
import { pixels } from './drawing.ts';

export interface LabelStyle {
  fontFamily?: string;
  /** In pixels. */
  fontSize?: number;
  fontWeight?: 'bold';
  fontStyle?: 'italic';
  fill?: string;
  fillOpacity?: number;
}

/** Black is the default of all clients. Such labels use the page's colour, which is readable in dark mode, too. */
export const UNCHOSEN_COLOUR = /^#(ff)?000000$/i;
/** The clients' name for a font that browsers do not have. */
const TYPEWRITER = /^typewriter$/i;

export function fontFamily(name: string): string {
  return TYPEWRITER.test(name) ? 'ui-monospace, monospace' : `${JSON.stringify(name)}, system-ui, sans-serif`;
}

export function readStyle(text: string | null | undefined): LabelStyle {
  const style: LabelStyle = {};
  for (const [name, value] of partsOf(text)) {
    switch (name) {
      case 'font-family':
        // The clients' default font was not chosen by the user.
        if (!TYPEWRITER.test(value)) style.fontFamily = fontFamily(value);
        break;
      case 'font-size': {
        const points = Number.parseFloat(value);
        if (points >= 4 && points <= 200 && points !== 10) style.fontSize = pixels(points);
        break;
      }
      case 'font-weight':
        if (value === 'bold') style.fontWeight = 'bold';
        break;
      case 'font-style':
        if (value === 'italic') style.fontStyle = 'italic';
        break;
      case 'fill':
        if (/^#[\da-f]{6}$/i.test(value) && !UNCHOSEN_COLOUR.test(value)) style.fill = value;
        break;
      case 'fill-opacity': {
        const share = Number.parseFloat(value);
        if (share >= 0 && share < 1) style.fillOpacity = share;
      }
    }
  }
  return style;
}

/** The parts of a label's style that users can set. */
export interface LabelLook {
  /** As `#rrggbb`. */
  colour: string;
  /** In points. */
  size: number;
  isBold: boolean;
  isItalic: boolean;
}

/** The default style of all clients. */
const UNCHOSEN: LabelLook = { colour: '#000000', size: 10, isBold: false, isItalic: false };

/** The properties of a style, in order; other clients may write anything. */
function partsOf(text: string | null | undefined): Map<string, string> {
  return new Map(
    (text ?? '').split(';').flatMap((entry) => {
      const at = entry.indexOf(':');
      return at > 0 ? [[entry.slice(0, at).trim(), entry.slice(at + 1).trim()] as const] : [];
    }),
  );
}

/** The look of a label; unreadable properties get their defaults. */
export function lookOf(text: string | null | undefined): LabelLook {
  const parts = partsOf(text);
  const [colour = '', size] = [parts.get('fill'), Number.parseFloat(parts.get('font-size') ?? '')];
  return {
    colour: /^#[\da-f]{6}$/i.test(colour) ? colour : UNCHOSEN.colour,
    size: size >= 4 && size <= 200 ? size : UNCHOSEN.size,
    isBold: parts.get('font-weight') === 'bold',
    isItalic: parts.get('font-style') === 'italic',
  };
}

/** Writes a style with changes, as GNS3's clients do; other properties stay. */
export function restyled(text: string | null | undefined, look: Partial<LabelLook>): string {
  const parts = partsOf(text);
  const set = (name: string, value: string | undefined): void => {
    if (value === undefined) parts.delete(name);
    else parts.set(name, value);
  };
  if (look.colour !== undefined) set('fill', look.colour);
  // With a decimal point, because some clients require it.
  if (look.size !== undefined) set('font-size', Number.isInteger(look.size) ? `${look.size}.0` : String(look.size));
  if (look.isBold !== undefined) set('font-weight', look.isBold ? 'bold' : undefined);
  if (look.isItalic !== undefined) set('font-style', look.isItalic ? 'italic' : undefined);
  return [...parts].map(([name, value]) => `${name}: ${value};`).join('');
}

/** The style of a link's line. */
export interface LinkStyle {
  /** As `#rrggbb`. */
  color?: string;
  width?: number;
  /** Pen number of the clients: 1 solid, 2 dashed, 3 dotted, 4 dash-dot. */
  type?: number;
}

/** Dashes and gaps by pen number, in line widths. */
const PENS: Readonly<Record<number, readonly number[]>> = {
  2: [4, 3],
  3: [1, 2],
  4: [4, 2, 1, 2],
  5: [4, 2, 1, 2, 1, 2],
};

/** Keeps only known and valid values; other clients may write anything. */
export function readLinkStyle(given: Record<string, unknown>): LinkStyle {
  const { color, width, type } = given;
  return {
    ...(typeof color === 'string' && /^#[\da-f]{6}$/i.test(color) && { color }),
    ...(typeof width === 'number' && width > 0 && width <= 30 && { width }),
    ...(typeof type === 'number' && type in PENS && { type }),
  };
}

/** The value of `stroke-dasharray`; empty for a solid line. */
export function dashesOf({ type, width = 2 }: LinkStyle): string {
  return (PENS[type ?? 1] ?? []).map((length) => length * width).join(' ');
}
