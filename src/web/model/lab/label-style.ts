// Styles as GNS3's clients write them for labels: `font-family: TypeWriter;font-size: 10.0;fill: #000000;`. Only what is known
// here is taken, so that a text of somebody else cannot do anything but look different.
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

/** Black is what clients write who never chose a colour: such a label has the page's, and can be read in the dark, too. */
export const UNCHOSEN_COLOUR = /^#(ff)?000000$/i;
/** How clients call a font that no browser has. */
const TYPEWRITER = /^typewriter$/i;

export function fontFamily(name: string): string {
  return TYPEWRITER.test(name) ? 'ui-monospace, monospace' : `${JSON.stringify(name)}, system-ui, sans-serif`;
}

export function readStyle(text: string | null | undefined): LabelStyle {
  const style: LabelStyle = {};
  for (const [name, value] of partsOf(text)) {
    switch (name) {
      case 'font-family':
        // The default of all clients says nothing about a wish.
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

/** What of a label's style people set. */
export interface LabelLook {
  /** `#rrggbb` */
  colour: string;
  /** In points. */
  size: number;
  isBold: boolean;
  isItalic: boolean;
}

/** What clients write who never chose anything. */
const UNCHOSEN: LabelLook = { colour: '#000000', size: 10, isBold: false, isItalic: false };

/** The parts of a style, in their order; other clients may write anything. */
function partsOf(text: string | null | undefined): Map<string, string> {
  return new Map(
    (text ?? '').split(';').flatMap((entry) => {
      const at = entry.indexOf(':');
      return at > 0 ? [[entry.slice(0, at).trim(), entry.slice(at + 1).trim()] as const] : [];
    }),
  );
}

/** How a label looks; what cannot be read is as if nobody had chosen it. */
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

/** The style with another look, as GNS3's clients write it; what else is in it stays. */
export function restyled(text: string | null | undefined, look: Partial<LabelLook>): string {
  const parts = partsOf(text);
  const set = (name: string, value: string | undefined): void => {
    if (value === undefined) parts.delete(name);
    else parts.set(name, value);
  };
  if (look.colour !== undefined) set('fill', look.colour);
  // With the point: some clients read nothing else.
  if (look.size !== undefined) set('font-size', Number.isInteger(look.size) ? `${look.size}.0` : String(look.size));
  if (look.isBold !== undefined) set('font-weight', look.isBold ? 'bold' : undefined);
  if (look.isItalic !== undefined) set('font-style', look.isItalic ? 'italic' : undefined);
  return [...parts].map(([name, value]) => `${name}: ${value};`).join('');
}

/** How the line of a link is drawn. */
export interface LinkStyle {
  /** `#rrggbb` */
  color?: string;
  width?: number;
  /** As clients number pens: 1 solid, 2 dashed, 3 dotted, 4 dash and dot. */
  type?: number;
}

/** Dashes and gaps by the number of the pen, in widths of the line. */
const PENS: Readonly<Record<number, readonly number[]>> = {
  2: [4, 3],
  3: [1, 2],
  4: [4, 2, 1, 2],
  5: [4, 2, 1, 2, 1, 2],
};

/** Only what is known and in its range; other clients may write anything. */
export function readLinkStyle(given: Record<string, unknown>): LinkStyle {
  const { color, width, type } = given;
  return {
    ...(typeof color === 'string' && /^#[\da-f]{6}$/i.test(color) && { color }),
    ...(typeof width === 'number' && width > 0 && width <= 30 && { width }),
    ...(typeof type === 'number' && type in PENS && { type }),
  };
}

/** For `stroke-dasharray`; empty for a solid line. */
export function dashesOf({ type, width = 2 }: LinkStyle): string {
  return (PENS[type ?? 1] ?? []).map((length) => length * width).join(' ');
}
