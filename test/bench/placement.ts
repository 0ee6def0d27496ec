// How long the controller takes to choose hosts for the nodes of a lab, and how many of its links are between hosts.
import { place } from '../../src/controller/placement/place.ts';
import { company, host } from '../controller/placement-labs.ts';
import { median, table } from './measure.ts';

const ROUNDS = 5;

const rows = [
  { branches: 20, pcs: 21, hosts: 4, memory: 8_000 },
  { branches: 20, pcs: 21, hosts: 20, memory: 2_000 },
  { branches: 20, pcs: 21, hosts: 200, memory: 1_500 },
].map(({ branches, pcs, hosts: count, memory }) => {
  const lab = company(branches, pcs);
  const hosts = Array.from({ length: count }, (_, index) => host(`h${index}`, { memory: memory + index, load: 8 }));
  const times: number[] = [];
  let used = 0;
  let crossing = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const since = performance.now();
    const solution = place({ hosts, ...lab, sendable: new Set() });
    times.push(performance.now() - since);
    used = new Set([...solution.choices.values()].map((choice) => choice.host)).size;
    crossing = solution.crossing;
  }
  const { nodes, links } = lab;
  return [nodes.length, links.length, count, used, `${Math.round(median(times))} ms`, `${crossing}`].map(String);
});

process.stdout.write(
  `${table([['nodes', 'links', 'hosts', 'of these used', 'time', 'links between hosts'], ...rows])}\n`,
);
