// What a hand holds lies in a picture of its own meanwhile: the browser moves that, and paints nothing anew but the links at its border.
import type { Point } from '../model/lab/geometry.ts';
import { make, putAt } from './svg.ts';

export class Lifted {
  /** Where what is held was moved to, in pixels of the lab from where the server has it; its elements are drawn without that. */
  offset: Point = { x: 0, y: 0 };
  readonly #moved: SVGSVGElement;
  readonly #border: SVGSVGElement;
  readonly #groups: Readonly<Record<'border' | 'links' | 'things', SVGGElement>>;
  /** Where each element is to be put back, so that the order of the map stays what it is. */
  readonly #places = new Map<Element, Comment>();

  /** `border` is the picture for links of which one end is held, `moved` that for what is held, with groups for the lab's places in them. */
  constructor(border: SVGGElement, moved: SVGGElement) {
    this.#border = border.ownerSVGElement!;
    this.#moved = moved.ownerSVGElement!;
    this.#groups = {
      border: make('g', { class: 'links' }, border),
      links: make('g', { class: 'links' }, moved),
      things: make('g', {}, moved),
    };
  }

  /** Puts an element into one of the groups, at its height there. */
  take(group: 'border' | 'links' | 'things', element: Element, height: number): void {
    if (!this.#places.has(element)) {
      const place = document.createComment('');
      element.before(place);
      this.#places.set(element, place);
    }
    putAt(this.#groups[group], element, height);
  }

  /** Puts an element back where it was, if it was taken. */
  putBack(element: Element): void {
    this.#places.get(element)?.replaceWith(element);
    this.#places.delete(element);
  }

  /** The element is of no use any more. */
  remove(element: Element): void {
    this.putBack(element);
    element.remove();
  }

  /** Moves what is held to where it is now, at this scale. Only for this time these pictures are layers of their own, which take memory. */
  draw(scale: number): void {
    const isAny = this.#places.size > 0;
    if (!isAny) this.offset = { x: 0, y: 0 };
    for (const picture of [this.#border, this.#moved]) picture.classList.toggle('lifted', isAny);
    const { x, y } = this.offset;
    this.#moved.style.transform = isAny ? `translate(${x * scale}px, ${y * scale}px)` : '';
  }
}
