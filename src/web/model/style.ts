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
  for (const entry of (text ?? '').split(';')) {
    const at = entry.indexOf(':');
    const value = entry.slice(at + 1).trim();
    switch (at > 0 ? entry.slice(0, at).trim() : '') {
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
