// Width of text in terminal columns, and fitting text to a width.

const GRAPHEMES = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** East Asian wide and fullwidth characters, and pictures, by their first character. */
const WIDE =
  /^(?:\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6]|[\u{1f300}-\u{1f64f}\u{20000}-\u{3fffd}])/u;
const UNSEEN = /^\p{M}+$/u;

function graphemes(text: string): string[] {
  return Array.from(GRAPHEMES.segment(text), ({ segment }) => segment);
}

function graphemeWidth(grapheme: string): number {
  if (UNSEEN.test(grapheme)) return 0;
  return WIDE.test(grapheme) || grapheme.includes('\ufe0f') ? 2 : 1;
}

/** Columns of a text without control characters. */
export function textWidth(text: string): number {
  return graphemes(text).reduce((sum, grapheme) => sum + graphemeWidth(grapheme), 0);
}

/** The text, cut to at most `width` columns; where something is missing it ends with "…". */
export function fitted(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  let taken = '';
  let columns = 1;
  for (const grapheme of graphemes(text)) {
    columns += graphemeWidth(grapheme);
    if (columns > width) break;
    taken += grapheme;
  }
  return width < 1 ? '' : `${taken}…`;
}

/** The text padded with spaces to `width` columns. */
export function padded(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - textWidth(text)));
}
