// Creates and changes SVG elements.
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

/** Sets only changed attributes: setting one costs time, and redraws happen 60 times a second. */
export function set(element: Element, attributes: Attributes): void {
  for (const [key, value] of Object.entries(attributes)) {
    const text = String(value);
    if (element.getAttribute(key) !== text) element.setAttribute(key, text);
  }
}

/** Sets the text if it differs. */
export function write(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** Sets custom properties (`--colour`) that differ; an empty text removes one. */
export function setProperties(element: SVGElement, properties: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(properties)) {
    if (element.style.getPropertyValue(name) !== value) element.style.setProperty(name, value);
  }
}

const layers = new WeakMap<Element, number>();

/** Inserts an element among its siblings by layer, higher ones above. */
export function putAt(parent: Element, element: Element, layer: number): void {
  if (layers.get(element) === layer && element.parentNode === parent) return;
  layers.set(element, layer);
  const last = parent.lastElementChild;
  if (!last || (layers.get(last) ?? 0) <= layer) parent.append(element);
  else parent.insertBefore(element, [...parent.children].find((other) => (layers.get(other) ?? 0) > layer) ?? null);
}

/** A data URL for an image, in which no script can run. */
export function pictureAddress(svg: string): string {
  const named = svg.includes('xmlns=') ? svg : svg.replace('<svg', `<svg xmlns="${SVG}"`);
  return `data:image/svg+xml;charset=utf-8,${encodeURIComponent(named)}`;
}
