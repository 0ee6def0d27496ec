// What a small picture of a lab needs of its file.
import type { Topology } from '../../api/topology.ts';
import { parseTopologyBytes } from './document.ts';

export interface Outline {
  nodes: { x: number; y: number; width: number; height: number; symbol: string | null }[];
  /** Each link as the indexes of its two nodes. */
  links: [from: number, to: number][];
  drawings: { x: number; y: number; rotation: number; svg: string }[];
}

/** For nodes of files that do not have the symbol's size. */
const USUAL_SIZE = 60;

/** More drawings, or longer ones, would make the picture larger than it is useful. */
const MOST_DRAWINGS = 40;
const MOST_CHARACTERS = 4_096;

/** The outline of the content of a .gns3 file. */
export function parseOutline(bytes: Uint8Array): Outline {
  return outlineOf(parseTopologyBytes(bytes).topology);
}

function outlineOf({ topology: { nodes, links, drawings } }: Topology): Outline {
  const indexes = new Map(nodes.map(({ node_id: id }, index) => [id, index]));
  return {
    nodes: nodes.map(({ x = 0, y = 0, width, height, symbol = null }) => ({
      x,
      y,
      width: width || USUAL_SIZE,
      height: height || USUAL_SIZE,
      symbol,
    })),
    links: links.flatMap(({ nodes: ends = [] }) => {
      const [from, to] = ends.map(({ node_id: id }) => indexes.get(id));
      return from === undefined || to === undefined ? [] : [[from, to] as [number, number]];
    }),
    drawings: drawings
      .toSorted((one, other) => (one.z ?? 0) - (other.z ?? 0))
      .flatMap(({ x = 0, y = 0, rotation, svg = '' }) =>
        svg.trimStart().startsWith('<') && svg.length <= MOST_CHARACTERS
          ? [{ x, y, rotation: rotation ?? 0, svg }]
          : [],
      )
      .slice(0, MOST_DRAWINGS),
  };
}
