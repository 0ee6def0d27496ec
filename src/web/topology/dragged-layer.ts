// Dragged objects are moved to separate pictures, so that the browser redraws only the links to other objects.
import type { Point } from '../model/lab/geometry.ts';
import { make, putAt } from './svg.ts';

export class Lifted {
  /** Movement of the dragged objects since the server's position, in lab pixels; their elements are drawn without it. */
  offset: Point = { x: 0, y: 0 };
  readonly #moved: SVGSVGElement;
  readonly #groups: Readonly<Record<'border' | 'links' | 'things', SVGGElement>>;
  /** The original place of each element, so that the stacking order stays; links have none. */
  readonly #places = new Map<Element, Comment | undefined>();

  /** `border`: picture for links with one dragged end. `moved`: picture for the dragged objects, with groups in lab coordinates. */
  constructor(border: SVGGElement, moved: SVGGElement) {
    this.#moved = moved.ownerSVGElement!;
    this.#groups = {
      border: make('g', { class: 'links' }, border),
      links: make('g', { class: 'links' }, moved),
      things: make('g', {}, moved),
    };
  }

  get isAny(): boolean {
    return this.#places.size > 0;
  }

  /** Moves an element into a group, at its stacking height. */
  take(group: 'border' | 'links' | 'things', element: Element, height: number): void {
    if (!this.#places.has(element)) {
      const place = group === 'things' ? document.createComment('') : undefined;
      if (place) element.before(place);
      this.#places.set(element, place);
    }
    putAt(this.#groups[group], element, height);
  }

  /** Moves an element back, if it was taken; a link to the others in `parent`. */
  putBack(element: Element, parent?: Element): void {
    const place = this.#places.get(element);
    if (!this.#places.delete(element)) return;
    if (place) place.replaceWith(element);
    else parent?.append(element);
  }

  /** Removes an element for good. */
  remove(element: Element): void {
    this.putBack(element);
    element.remove();
  }

  /** Draws the current movement at this scale. */
  draw(scale: number): void {
    const { isAny } = this;
    if (!isAny) this.offset = { x: 0, y: 0 };
    const { x, y } = this.offset;
    this.#moved.style.transform = isAny ? `translate(${x * scale}px, ${y * scale}px)` : '';
  }
}
