// Draws a part as a circle. Pure.
import { GAP_X, type Part, type Places } from './graph.ts';

/** A circle with neighbours side by side where possible; a node linked to all others is in the middle. */
export function circle({ boxes, neighbours }: Part): Places {
  const hubs = boxes.filter(({ key }) => neighbours.get(key)!.size === boxes.length - 1);
  const middle = hubs.length === 1 ? hubs[0] : undefined;
  const order = new Set<string>();
  // Depth first without recursion, which a chain of thousands would not survive.
  const next = boxes.map(({ key }) => key).toReversed();
  for (let key = next.pop(); key !== undefined; key = next.pop()) {
    if (key === middle?.key || order.has(key)) continue;
    order.add(key);
    next.push(...[...neighbours.get(key)!].toReversed());
  }
  const step = Math.max(...boxes.map(({ width, height }) => Math.max(width, height))) + GAP_X;
  const radius = Math.max(1.5 * step, (step * order.size) / (2 * Math.PI));
  const places: Places = new Map(middle && [[middle.key, { x: 0, y: 0 }]]);
  for (const [index, key] of [...order].entries()) {
    const angle = (2 * Math.PI * index) / order.size - Math.PI / 2;
    places.set(key, { x: radius * Math.cos(angle), y: radius * Math.sin(angle) });
  }
  return places;
}
