// Making and changing elements of the map.
const SVG = 'http://www.w3.org/2000/svg';

export type Attributes = Readonly<Record<string, string | number>>;

export function make<K extends keyof SVGElementTagNameMap>(
  name: K,
  attributes: Attributes,
  parent?: Element,
): SVGElementTagNameMap[K] {
  const element = document.createElementNS(SVG, name);
  set(element, attributes);
  parent?.append(element);
  return element;
}

export function set(element: Element, attributes: Attributes): void {
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
}

const layers = new WeakMap<Element, number>();

/** Puts an element among the others of its parent by its layer: higher ones upon lower ones. */
export function putAt(parent: Element, element: Element, layer: number): void {
  if (layers.get(element) === layer && element.parentNode === parent) return;
  layers.set(element, layer);
  const last = parent.lastElementChild;
  if (!last || (layers.get(last) ?? 0) <= layer) parent.append(element);
  else parent.insertBefore(element, [...parent.children].find((other) => (layers.get(other) ?? 0) > layer) ?? null);
}

/** A shape for the browser that shows a picture as it is: what is in it can run nothing. */
export function pictureAddress(svg: string): string {
  const named = svg.includes('xmlns=') ? svg : svg.replace('<svg', `<svg xmlns="${SVG}"`);
  return `data:image/svg+xml;charset=utf-8,${encodeURIComponent(named)}`;
}
