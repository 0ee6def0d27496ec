// The drawings of the map. Editable ones are SVG shapes; all others are images, in which no script can run.

import { lineHeight, pictureSize, pixels, readShape, type Shape } from '../model/lab/drawing.ts';
import type { Box } from '../model/lab/geometry.ts';
import { fontFamily, UNCHOSEN_COLOUR } from '../model/lab/label-style.ts';
import type { DrawingObject } from '../model/server/types.ts';
import { WORDS } from '../words.ts';
import { LOWEST_UPON_LINKS, type Stage } from './stage.ts';
import { make, pictureAddress, set } from './svg.ts';

interface Known {
  svg: string;
  shape: Shape | undefined;
  size: { width: number; height: number };
}

export class DrawingLayer {
  readonly elements = new Map<string, SVGGElement>();
  readonly #stage: Stage;
  readonly #known = new Map<string, Known>();

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  /** Position and size of a drawing. */
  box(drawing: DrawingObject): Box {
    const { shape, size } = this.#read(drawing);
    return this.#stage.boxOfDrawing(drawing, this.#stage.reshaped.get(drawing.drawing_id)?.shape ?? shape, size);
  }

  draw(id: string): void {
    const { lab, selection } = this.#stage.context;
    const drawing = lab.drawings.get(id);
    let group = this.elements.get(id);
    if (!drawing) {
      if (group) this.#stage.lifted.remove(group);
      this.elements.delete(id);
      this.#known.delete(id);
      return;
    }
    if (!group) {
      group = make('g', { class: 'drawing', role: 'option', id: `drawing-${id}`, 'data-drawing': id });
      const isSelected = selection.value.drawings.includes(id);
      set(group, { 'aria-selected': String(isSelected) });
      group.classList.toggle('selected', isSelected);
      this.elements.set(id, group);
    }
    // On the same layer, nodes are above drawings.
    this.#stage.put(drawing.z < LOWEST_UPON_LINKS ? 'below' : 'things', id, group, drawing.z - 0.5);
    const known = this.#read(drawing);
    const shape = this.#stage.reshaped.get(id)?.shape ?? known.shape;
    const { x, y } = this.#stage.drawnAt(id, this.box(drawing));
    set(group, { transform: `translate(${x} ${y}) rotate(${drawing.rotation})` });
    group.setAttribute('aria-label', this.#described(drawing, shape));
    group.replaceChildren(shape ? shapeElement(shape) : pictureElement(drawing.svg, known.size));
  }

  #described({ locked }: DrawingObject, shape: Shape | undefined): string {
    const { kinds } = WORDS.drawings;
    const what = shape?.kind === 'text' ? `${kinds.text} ${shape.text}` : kinds[shape?.kind ?? 'picture'];
    return locked ? `${what}, ${WORDS.lab.locked}` : what;
  }

  #read(drawing: DrawingObject): Known {
    const found = this.#known.get(drawing.drawing_id);
    if (found?.svg === drawing.svg) return found;
    const known = { svg: drawing.svg, shape: readShape(drawing.svg), size: pictureSize(drawing.svg) };
    this.#known.set(drawing.drawing_id, known);
    return known;
  }
}

function pictureElement(svg: string, size: { width: number; height: number }): SVGElement {
  return make('image', { href: pictureAddress(svg), ...size });
}

/** Colours come from other clients: accept only colours, no styles or URLs. */
function colour(value: string): string {
  return /^(#[\da-f]{3,8}|[a-z]{1,30})$/i.test(value) ? value : 'none';
}

function shapeElement(shape: Shape): SVGElement {
  if (shape.kind === 'text') return textElement(shape);
  const border = {
    stroke: colour(shape.stroke),
    'stroke-width': shape.strokeWidth,
    ...(/^[\d. ]+$/.test(shape.dashes) && { 'stroke-dasharray': shape.dashes }),
  };
  if (shape.kind === 'line') {
    const { x1, y1, x2, y2 } = shape;
    const group = make('g', {});
    make('line', { class: 'hit', x1, y1, x2, y2 }, group);
    make('line', { ...border, x1, y1, x2, y2 }, group);
    return group;
  }
  const filled = { ...border, fill: colour(shape.fill), 'fill-opacity': shape.fillOpacity };
  const { width, height, radius } = shape;
  if (shape.kind === 'rect') return make('rect', { ...filled, width, height, rx: radius, ry: radius });
  return make('ellipse', { ...filled, cx: width / 2, cy: height / 2, rx: width / 2, ry: height / 2 });
}

function textElement(shape: Extract<Shape, { kind: 'text' }>): SVGElement {
  const text = make('text', {
    'fill-opacity': shape.fillOpacity,
    class: UNCHOSEN_COLOUR.test(shape.fill) ? 'plain' : '',
  });
  // Styles override the style sheet; attributes would not.
  Object.assign(text.style, {
    fontFamily: fontFamily(shape.fontFamily),
    fontSize: `${pixels(shape.fontSize)}px`,
    fontWeight: shape.isBold ? 'bold' : '',
    fontStyle: shape.isItalic ? 'italic' : '',
    textDecoration: shape.decoration,
    fill: UNCHOSEN_COLOUR.test(shape.fill) ? '' : colour(shape.fill),
  });
  for (const [index, line] of shape.text.split('\n').entries()) {
    const y = pixels(shape.fontSize) + index * lineHeight(shape);
    make('tspan', { x: 0, y }, text).textContent = line === '' ? ' ' : line;
  }
  return text;
}
