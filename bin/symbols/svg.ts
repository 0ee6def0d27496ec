// The few words of SVG that the symbols are written in. Attributes only, no style sheets: every viewer of the clients reads those.

/** A piece of SVG markup. */
export type Markup = string;

type Attributes = Record<string, string | number>;

function attributes(values: Attributes): string {
  return Object.entries(values)
    .map(([name, value]) => ` ${name}="${typeof value === 'number' ? Math.round(value * 100) / 100 : value}"`)
    .join('');
}

export function element(name: string, values: Attributes, ...children: Markup[]): Markup {
  return children.length === 0
    ? `<${name}${attributes(values)}/>`
    : `<${name}${attributes(values)}>${children.join('')}</${name}>`;
}

/** Lines and shapes; computed coordinates may have any number of decimals. */
export function path(d: string, values: Attributes = {}): Markup {
  const rounded = d.replaceAll(/\d+\.\d{4,}/g, (number) => String(Math.round(Number(number) * 100) / 100));
  return element('path', { ...values, d: rounded });
}

export function group(values: Attributes, ...children: Markup[]): Markup {
  return element('g', values, ...children);
}

/** Moves, then scales (`sy` is `sx` unless told). */
export function placed(x: number, y: number, sx: number, sy: number, ...children: Markup[]): Markup {
  const round = (value: number): number => Math.round(value * 1000) / 1000;
  return group({ transform: `translate(${round(x)} ${round(y)}) scale(${round(sx)} ${round(sy)})` }, ...children);
}

/** A whole document of this size in pixels. */
export function document(width: number, height: number, ...children: Markup[]): string {
  return element(
    'svg',
    { xmlns: 'http://www.w3.org/2000/svg', width, height, viewBox: `0 0 ${width} ${height}` },
    ...children,
  );
}

/** A fill from one colour at the top to another at the bottom; refer to it as `url(#id)`. */
export function gradient(id: string, top: string, bottom: string): Markup {
  return element(
    'defs',
    {},
    element(
      'linearGradient',
      { id, x1: 0, y1: 0, x2: 0, y2: 1 },
      element('stop', { offset: 0, 'stop-color': top }),
      element('stop', { offset: 1, 'stop-color': bottom }),
    ),
  );
}

/** Lines of the given colour and thickness with round ends, in the units of what they are drawn in. */
export function stroked(colour: string, width: number, ...children: Markup[]): Markup {
  return group(
    {
      fill: 'none',
      stroke: colour,
      'stroke-width': width,
      'stroke-linecap': 'round',
      'stroke-linejoin': 'round',
    },
    ...children,
  );
}
