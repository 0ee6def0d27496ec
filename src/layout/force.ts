// Draws a part by d3-force: links pull, nodes push each other away. Best for meshes. Pure.
import {
  forceCollide,
  forceLink,
  forceManyBody,
  forceSimulation,
  forceX,
  forceY,
  type SimulationNodeDatum,
} from 'd3-force';
import { GAP_X, type Part, type Places } from './graph.ts';
import type { Point } from './rectangles.ts';

interface Body extends SimulationNodeDatum {
  key: string;
  x: number;
  y: number;
  radius: number;
}

/** Steps of the simulation for a small part; a large one gets fewer, so that 1,000 nodes take less than a second. */
const STEPS = 300;
const STEPS_OF_ALL_NODES = 60_000;

/**
 * @param start where the nodes are at first: from a good one few links cross
 * @param spread how long links are, in sizes of a node: longer ones pass nodes more easily
 */
export function force({ boxes, links }: Part, start: ReadonlyMap<string, Readonly<Point>>, spread: number): Places {
  const bodies = boxes.map(({ key, width, height }): Body => {
    const { x, y } = start.get(key)!;
    return { key, x, y, radius: Math.hypot(width, height) / 2 };
  });
  const room = 2 * Math.max(...bodies.map(({ radius }) => radius));
  const simulation = forceSimulation(bodies)
    .force(
      'links',
      forceLink<Body, { source: string; target: string }>(links.map(([source, target]) => ({ source, target })))
        .id(({ key }) => key)
        .distance(spread * room + GAP_X / 2),
    )
    .force('apart', forceManyBody().strength(-8 * spread * room))
    .force(
      'room',
      forceCollide<Body>(({ radius }) => radius + GAP_X / 4),
    )
    .force('x', forceX(0).strength(0.02))
    .force('y', forceY(0).strength(0.02))
    .stop();
  const steps = Math.min(STEPS, Math.ceil(STEPS_OF_ALL_NODES / bodies.length));
  simulation.alphaDecay(1 - simulation.alphaMin() ** (1 / steps)).tick(steps);
  return new Map(bodies.map(({ key, x, y }) => [key, { x, y }]));
}
