// Capitals of single strokes, so that no symbol depends on the fonts of whoever shows it.
import { group, type Markup, path, placed } from './svg.ts';

/** Six units high, about four wide. */
const LETTERS: Record<string, { width: number; d: string }> = {
  A: { width: 4.4, d: 'M0 6L2.2 0L4.4 6M0.8 4h2.8' },
  B: { width: 3.8, d: 'M0 0v6h2.2a1.6 1.6 0 0 0 0 -3.2h-2.2M0 0h1.8a1.4 1.4 0 0 1 0 2.8' },
  C: { width: 4, d: 'M4 1A2.3 2.3 0 0 0 0 2.2v1.6A2.3 2.3 0 0 0 4 5' },
  D: { width: 4, d: 'M0 0v6h1.6a2.4 2.4 0 0 0 2.4 -2.4v-1.2a2.4 2.4 0 0 0 -2.4 -2.4z' },
  F: { width: 3.6, d: 'M3.6 0h-3.6v6M0 3h3' },
  I: { width: 0.6, d: 'M0.3 0v6' },
  L: { width: 3.4, d: 'M0 0v6h3.4' },
  M: { width: 4.6, d: 'M0 6v-6l2.3 3.6l2.3 -3.6v6' },
  N: { width: 4, d: 'M0 6v-6l4 6v-6' },
  P: { width: 3.8, d: 'M0 6v-6h2a1.8 1.8 0 0 1 0 3.6h-2' },
  Q: {
    width: 4.2,
    d: 'M2.1 0a2.1 2.1 0 0 1 2.1 2.1v1.8a2.1 2.1 0 0 1 -4.2 0v-1.8a2.1 2.1 0 0 1 2.1 -2.1zM2.6 4.4l1.8 1.8',
  },
  R: { width: 3.9, d: 'M0 6v-6h2a1.7 1.7 0 0 1 0 3.4h-2M2 3.4l1.9 2.6' },
  S: {
    width: 3.7,
    d: 'M3.6 0.9A2 2 0 0 0 1.9 0C0.8 0 0 0.6 0 1.5C0 3.5 3.7 2.5 3.7 4.5C3.7 5.4 2.9 6 1.8 6A2.2 2.2 0 0 1 0 5',
  },
  T: { width: 4, d: 'M0 0h4M2 0v6' },
  V: { width: 4.2, d: 'M0 0l2.1 6l2.1 -6' },
  X: { width: 4, d: 'M0 0l4 6M4 0l-4 6' },
};

const GAP = 2;

/** The word, centred at (x, y), `height` units high, in lines of `line` units. */
export function word(text: string, x: number, y: number, height: number, line = 1.6): Markup {
  const scale = height / 6;
  const letters = [...text].map((letter) => LETTERS[letter]!);
  const width = letters.reduce((sum, letter) => sum + letter.width + GAP, -GAP);
  let at = -width / 2;
  const strokes = letters.map((letter) => {
    const stroke = placed(at, -3, 1, 1, path(letter.d));
    at += letter.width + GAP;
    return stroke;
  });
  return placed(x, y, scale, scale, group({ 'stroke-width': line / scale }, ...strokes));
}
