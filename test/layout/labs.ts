// Labs of the shapes that people build, as links between names: trees, rings, fabrics, meshes, and the examples of the documents.
import { fileURLToPath } from 'node:url';
import { readLab } from '../../src/client/labfile/read.ts';
import type { Link } from '../../src/layout/arrange.ts';

export const count = (length: number): number[] => Array.from({ length }, (_, index) => index);
const named = (prefix: string, length: number): string[] => count(length).map((at) => `${prefix}${at}`);
const star = (hub: string, length: number): Link[] => named('PC', length).map((leaf): Link => [hub, leaf]);
const chain = (names: readonly string[]): Link[] => names.slice(1).map((name, at): Link => [names[at]!, name]);
const ring = (names: readonly string[]): Link[] => [...chain(names), [names.at(-1)!, names[0]!]];
const below = (nodes: readonly string[], leaves: number): Link[] =>
  nodes.flatMap((node) => count(leaves).map((leaf): Link => [node, `${node}-${leaf}`]));
const between = (some: readonly string[], others: readonly string[]): Link[] =>
  some.flatMap((one) => others.map((other): Link => [one, other]));
const mesh = (names: readonly string[]): Link[] =>
  names.flatMap((one, at) => names.slice(at + 1).map((other): Link => [one, other]));
/** Each node but the first hangs below one of `branches` others. */
const tree = (length: number, branches: number): Link[] =>
  count(length - 1).map((at): Link => [`N${Math.floor(at / branches)}`, `N${at + 1}`]);
const grid = (rows: number, columns: number): Link[] => [
  ...count(rows).flatMap((row) => chain(named(`R${row}-`, columns))),
  ...count(rows - 1).flatMap((row) => count(columns).map((at): Link => [`R${row}-${at}`, `R${row + 1}-${at}`])),
];
/** Spines that are linked to all leaves, with hosts below each leaf. */
const fabric = (spines: number, leaves: number, hosts: number): Link[] => [
  ...between(named('spine', spines), named('leaf', leaves)),
  ...below(named('leaf', leaves), hosts),
];
const fatTree = (pods: number): Link[] =>
  count(pods).flatMap((pod) => [
    ...count(2).flatMap((at) => between([`pod${pod}-agg${at}`], [`core${2 * at}`, `core${2 * at + 1}`])),
    ...between([`pod${pod}-agg0`, `pod${pod}-agg1`], [`pod${pod}-edge0`, `pod${pod}-edge1`]),
    ...below([`pod${pod}-edge0`, `pod${pod}-edge1`], 2),
  ]);
/** Links to arbitrary nodes, but the same at each run. */
function random(length: number, links: number): Link[] {
  let seed = 7;
  const next = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((seed / 2_147_483_648) * below);
  };
  const tied = count(length - 1).map((at): Link => [`R${next(at + 1)}`, `R${at + 1}`]);
  const more = count(links - length + 1).map((): Link => [`R${next(length)}`, `R${next(length)}`]);
  return [...tied, ...more].filter(([one, other]) => one !== other);
}
/** The links of an example of the documents. */
async function example(name: string): Promise<Link[]> {
  const file = fileURLToPath(new URL(`../../docs/examples/${name}/lab.yaml`, import.meta.url));
  const { links } = await readLab(file, {});
  return links.map(({ ends: [one, other] }): Link => [one.node, other.node]);
}

const routers = (length: number): string[] => named('R', length);

export const LABS: Readonly<Record<string, readonly Link[]>> = {
  'two PCs on a hub': star('Hub', 2),
  'a star of 10': star('SW', 10),
  'a star of 40': star('SW', 40),
  'a chain of 6': chain(routers(6)),
  'a chain of 30': chain(routers(30)),
  'two switches with PCs': [['SW1', 'SW2'], ...below(['SW1', 'SW2'], 4)],
  'a tree of 15, two each': tree(15, 2),
  'a tree of 25': [...between(['R'], named('SW', 4)), ...below(named('SW', 4), 5)],
  'a tree of 40, three each': tree(40, 3),
  'a tree of 200, three each': tree(200, 3),
  'a campus of three floors': [
    ['core', 'dist1'],
    ['core', 'dist2'],
    ...between(['dist1', 'dist2'], named('access', 4)),
    ...below(named('access', 4), 4),
  ],
  'a ring of 4': ring(routers(4)),
  'a ring of 8': ring(routers(8)),
  'a ring of 20': ring(routers(20)),
  'a ring of 6 with PCs': [...ring(routers(6)), ...below(routers(6), 1)],
  'a ring of 8 with stars': [...ring(routers(8)), ...below(routers(8), 3)],
  'two rings that share a router': [...ring(routers(5)), ...ring(['R0', 'S1', 'S2', 'S3'])],
  'a triangle with PCs': [...ring(routers(3)), ...below(routers(3), 1)],
  'a fabric of 2 and 4': fabric(2, 4, 2),
  'a fabric of 4 and 8': fabric(4, 8, 1),
  'a fabric of 2 and 4 in pairs': [...fabric(2, 4, 2), ['spine0', 'spine1'], ['leaf0', 'leaf1'], ['leaf2', 'leaf3']],
  'a fat tree of 4 pods': fatTree(4),
  'a mesh of 5': mesh(routers(5)),
  'a mesh of 8': mesh(routers(8)),
  'a grid of 3 by 4': grid(3, 4),
  'a grid of 5 by 5': grid(5, 5),
  'a network of 20 routers': random(20, 28),
  'a network of 50 routers': random(50, 65),
  'the example ospf-triangle': await example('ospf-triangle'),
  'the example class': await example('class'),
};
