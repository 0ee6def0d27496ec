// The affinity sets: a white glyph on a coloured disc or tile.
import type { AffinityColour, AffinityShape, BuiltinSymbol } from '../../src/controller/symbols/catalogue.ts';
import { GLYPHS } from './glyphs.ts';
import { document, element, gradient, type Markup, placed, stroked } from './svg.ts';

/** Top, bottom and edge of the ground. */
const COLOURS: Record<AffinityColour, readonly [string, string, string]> = {
  blue: ['#3d86d6', '#235fa6', '#1b4c87'],
  gray: ['#76828f', '#515c68', '#404953'],
  green: ['#45a85a', '#2a7d3e', '#206331'],
  red: ['#de5348', '#ae3129', '#8b241e'],
};

const GROUND: Record<AffinityShape, { draw: (paint: Record<string, string | number>) => Markup; glyph: number }> = {
  circle: { draw: (paint) => element('circle', { cx: 30, cy: 30, r: 28.75, ...paint }), glyph: 33 },
  square: {
    draw: (paint) => element('rect', { x: 1.25, y: 1.25, width: 57.5, height: 57.5, rx: 8, ...paint }),
    glyph: 39,
  },
};

export function affinitySymbol({ name, shape, colour }: BuiltinSymbol & { set: 'affinity' }): string {
  const [top, bottom, edge] = COLOURS[colour];
  const { draw, glyph } = GROUND[shape];
  const scale = glyph / 24;
  const start = 30 - glyph / 2;
  return document(
    60,
    60,
    gradient(colour, top, bottom),
    draw({ fill: `url(#${colour})`, stroke: edge, 'stroke-width': 1.5 }),
    placed(start, start, scale, scale, stroked('#ffffff', 1.9, GLYPHS[name])),
  );
}
