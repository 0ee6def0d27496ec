// Positions a lab's nodes by their links: draws each part in several ways and takes the one that is easiest to read. Pure.
import { circle } from './circle.ts';
import { faultsOf } from './count-faults.ts';
import { force } from './force.ts';
import {
  type Box,
  block,
  GAP_X,
  GAP_Y,
  isHierarchy,
  isTree,
  type Link,
  MOST_IN_ROW,
  neighboursOf,
  type Part,
  type Places,
  partsOf,
  rootsOf,
} from './graph.ts';
import { layered } from './layered.ts';
import { around, centreOf, type Point } from './rectangles.ts';
import type { Style } from './style.ts';
import { radialTree, tidyTree } from './tidy-tree.ts';

export type { Box, Link, Places } from './graph.ts';

type Draw = () => Places;

/** Width of a row of unconnected parts. */
const SHELF = 1600;
/** Gaps between ranks: links to the end of a wide row need more, so as not to cross the row. Large parts have wide rows. */
const RANK_GAPS = [GAP_Y, 2.5 * GAP_Y, 5 * GAP_Y];
const gapsOf = ({ boxes }: Part): number[] => (boxes.length > MOST_TO_COMPARE ? RANK_GAPS.slice(-1) : RANK_GAPS);
/** Parts with more nodes are drawn once, as a drawing and the count of its faults take much of a second. */
const MOST_TO_COMPARE = 120;
/** From so many links per node on, layers of a large part have too many crossings. */
const MESHED = 1.2;
/** Rows so many times wider than high are too small to read once they fit a window. */
const FLATTEST = 3;
/** A hierarchy stays in layers in spite of a few crossings, but not if a link runs through a node. */
const MOST_FAULTS = 9;
const MOST_IN_CIRCLE = 48;
const RING_GAP = 160;
/** Lengths of links that push and pull, in sizes of a node. */
const SPREADS = [1, 1.6];

/** The middle of each node, by its key. The whole has its middle at 0, 0. Links to unknown nodes are ignored. */
export function arrange(boxes: readonly Box[], links: readonly Link[], style: Style = 'auto'): Places {
  const neighbours = neighboursOf(boxes, links);
  const byKey = new Map(boxes.map((box) => [box.key, box]));
  const alone = boxes.filter(({ key }) => neighbours.get(key)!.size === 0);
  const parts = partsOf(boxes, neighbours).map((part) => arrangePart(part, style));
  if (alone.length > 0)
    parts.push(new Map(block(alone, MOST_IN_ROW, false).inner.map(({ key, x, y }) => [key, { x, y }])));
  return shelved(parts, byKey);
}

function arrangePart(part: Part, style: Style): Places {
  const { boxes, links } = part;
  const good = isHierarchy(part) ? Math.min(MOST_FAULTS, links.length / 2) : 0;
  const allWays = waysOf(part, style);
  const [only, ...others] = allWays.flat();
  // Counting the faults of a large part takes longer than some drawings.
  if (others.length === 0) return inOrder(boxes, only!());
  let best: { places: Places; faults: number } | undefined;
  for (const ways of allWays) {
    for (const draw of ways) {
      const places = draw();
      const faults = faultsOf({ nodes: boxes.map((box) => ({ ...box, ...places.get(box.key)! })), links });
      if (best === undefined || faults < best.faults) best = { places, faults };
      if (best.faults === 0) break;
    }
    if (best!.faults <= good) break;
  }
  return inOrder(boxes, best!.places);
}

/** Mirrored if the first node would be on the right. */
function inOrder(boxes: readonly Box[], places: Places): Places {
  const middle = (boxes.length - 1) / 2;
  const lean = boxes.reduce((sum, { key }, index) => sum + (index - middle) * places.get(key)!.x, 0);
  return new Map([...places].map(([key, { x, y }]) => [key, { x: lean < 0 ? -x : x, y }]));
}

/** Ways to draw a part, in groups, preferred ones first; within a group most compact first. */
function waysOf(part: Part, style: Style): Draw[][] {
  const { boxes, links } = part;
  const isLarge = boxes.length > MOST_TO_COMPARE;
  const few = (ways: Draw[]): Draw[] => (isLarge ? ways.slice(0, 1) : ways);
  const ways = {
    // dagre draws a tree as the tidy tree does, but takes ten times as long.
    layered: few(isTree(part) ? treeWays(part) : layeredWays(part)),
    tree: few(treeWays(part)),
    circle: [() => circle(part)],
    force: few(forceWays(part)),
  };
  if (style !== 'auto') return [ways[style]];
  if (isLarge && isTree(part)) return [[() => largeTree(part)]];
  if (isLarge) return [links.length > MESHED * boxes.length ? ways.force : ways.layered];
  return [ways.layered, boxes.length > MOST_IN_CIRCLE ? [] : ways.circle, ways.force];
}

/** Roots of trees. The middle of a tree is its natural top, before the busiest node. */
function topsOf(part: Part): Set<string> {
  return new Set(
    rootsOf(part)
      .map(([root]) => root!)
      .toReversed(),
  );
}

function treeWays(part: Part): Draw[] {
  return gapsOf(part).flatMap((gap) => [...topsOf(part)].map((root) => () => tidyTree(part, root, gap)));
}

/** In rows; in rings if these are too flat. */
function largeTree(part: Part): Places {
  const places = treeWays(part)[0]!();
  const { width, height } = edgesOf(places, new Map(part.boxes.map((box) => [box.key, box])));
  const [top] = topsOf(part);
  return width > FLATTEST * height ? radialTree(part, top!) : places;
}

function layeredWays(part: Part): Draw[] {
  return gapsOf(part).flatMap((rankGap) =>
    rootsOf(part).flatMap((roots) => [true, false].map((isLevel) => () => layered(part, { roots, isLevel, rankGap }))),
  );
}

function forceWays(part: Part): Draw[] {
  const root = rootsOf(part)[0]![0]!;
  const starts = [() => radialTree(part, root, RING_GAP), () => circle(part), ...layeredWays(part).slice(0, 2)];
  return SPREADS.flatMap((spread) => starts.map((start) => () => force(part, start(), spread)));
}

/** The parts beside each other, as far as the shelf goes, and then below. */
function shelved(parts: readonly ReadonlyMap<string, Readonly<Point>>[], byKey: ReadonlyMap<string, Box>): Places {
  const placed: Places = new Map();
  let [left, top, bottom] = [0, 0, 0];
  for (const part of parts) {
    const edges = edgesOf(part, byKey);
    if (left > 0 && left + edges.width > SHELF) [left, top] = [0, bottom + GAP_Y];
    for (const [key, { x, y }] of part) placed.set(key, { x: x - edges.x + left, y: y - edges.y + top });
    left += edges.width + 2 * GAP_X;
    bottom = Math.max(bottom, top + edges.height);
  }
  if (placed.size === 0) return placed;
  const middle = centreOf(edgesOf(placed, byKey));
  return new Map(
    [...placed].map(([key, { x, y }]) => [key, { x: Math.round(x - middle.x), y: Math.round(y - middle.y) }]),
  );
}

/** The rectangle around nodes that are given by their middles; some node is given. */
function edgesOf(part: ReadonlyMap<string, Readonly<Point>>, byKey: ReadonlyMap<string, Box>) {
  return around(
    [...part].map(([key, { x, y }]) => {
      const { width, height } = byKey.get(key)!;
      return { x: x - width / 2, y: y - height / 2, width, height };
    }),
  )!;
}
