// Reads width and height from the first bytes of a picture: GIF, PNG, JPEG, SVG (as in release 2.2.57).
import type { SymbolSize } from './catalogue.ts';

/** The size for data of an unknown format. */
const UNKNOWN: SymbolSize = { width: 0, height: 0 };

/** Pixels per unit at 90 dots per inch. */
const PIXELS: Record<string, number> = { '': 1, px: 1, pt: 1.25, pc: 15, mm: 3.543307, cm: 35.43307, in: 90 };

/** The size in pixels; 0×0 for an unknown format; undefined for an unreadable SVG. */
export function pictureSize(data: Buffer): SymbolSize | undefined {
  if (data.length < 10) return UNKNOWN;
  const magic = data.toString('latin1', 0, 8);
  if (magic.startsWith('GIF87a') || magic.startsWith('GIF89a')) {
    return { width: data.readUInt16LE(6), height: data.readUInt16LE(8) };
  }
  if (magic === '\x89PNG\r\n\x1a\n') {
    return data.length < 24 ? UNKNOWN : { width: data.readUInt32BE(16), height: data.readUInt32BE(20) };
  }
  if (magic.startsWith('\xff\xd8')) return jpegSize(data);
  const start = data
    .toString('latin1', 0, 256)
    .replace(/^\xef\xbb\xbf/, '')
    .trimStart();
  if (/^<(\?xml|svg|!--|!DOCTYPE\s+svg)/.test(start)) return svgSize(data.toString().replace(/^\uFEFF/, ''));
  return UNKNOWN;
}

/** Walks from marker to marker to the frame header (ITU-T T.81, annex B). */
function jpegSize(data: Buffer): SymbolSize {
  for (let at = 2; at + 9 <= data.length; ) {
    if (data[at] !== 0xff) return UNKNOWN;
    const marker = data[at + 1]!;
    if (marker === 0xff) {
      at += 1; // fill byte
    } else if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)) {
      return { width: data.readUInt16BE(at + 7), height: data.readUInt16BE(at + 5) };
    } else {
      at += 2 + data.readUInt16BE(at + 2);
    }
  }
  return UNKNOWN;
}

/** Allowed before the root element: blanks, declarations, comments, the document type. */
const PROLOG = /\s+|<\?.*?\?>|<!--.*?-->|<!DOCTYPE\s[^[>]*(?:\[[^\]]*\]\s*)?>/sy;
const ROOT = /<((?:[\w-]+:)?svg)((?:\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>/y;
const ATTRIBUTE = /([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;

/** Reads only the root element; the rest is only checked for being complete. */
function svgSize(text: string): SymbolSize | undefined {
  let at = 0;
  for (PROLOG.lastIndex = 0; PROLOG.test(text); at = PROLOG.lastIndex);
  ROOT.lastIndex = at;
  const root = ROOT.exec(text);
  if (root === null) return undefined;
  const [, name = '', attributes = '', closed] = root;
  if (closed === '' && text.lastIndexOf(`</${name}`) < ROOT.lastIndex) return undefined;
  const values = new Map(
    [...attributes.matchAll(ATTRIBUTE)].map(([, key, double, single]) => [key, double ?? single ?? '']),
  );
  const box = (values.get('viewBox') ?? '')
    .trim()
    .split(/[\s,]+/)
    .map(Number);
  const width = lengthInPixels(values.get('width') ?? '100%', box[2]);
  const height = lengthInPixels(values.get('height') ?? '100%', box[3]);
  return width === undefined || height === undefined ? undefined : { width, height };
}

function lengthInPixels(value: string, whole: number | undefined): number | undefined {
  const [, digits, unit = ''] = /^\s*\+?((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*([a-z]*|%)\s*$/.exec(value) ?? [];
  const factor = unit === '%' ? (whole ?? Number.NaN) / 100 : PIXELS[unit];
  const pixels = Number(digits) * (factor ?? Number.NaN);
  return Number.isFinite(pixels) && pixels >= 0 ? roundHalfToEven(pixels) : undefined;
}

/** 2.5 -> 2, 3.5 -> 4: the release rounds sizes and label positions this way. */
export function roundHalfToEven(value: number): number {
  const floor = Math.floor(value);
  if (value - floor !== 0.5) return Math.round(value);
  return floor % 2 === 0 ? floor : floor + 1;
}
