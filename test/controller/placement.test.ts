// Where nodes go: a whole lab together if it fits, else divided where few links cross.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { needsOf } from '../../src/controller/placement/host-needs.ts';
import { place } from '../../src/controller/placement/place.ts';
import type { Problem, Solution } from '../../src/controller/placement/problem.ts';
import { company, guest, host, node, router } from './placement-labs.ts';

const solve = (given: Partial<Problem>): Solution =>
  place({ hosts: [host('a'), host('b')], nodes: [], links: [], sendable: new Set(), ...given });

const countOn = ({ choices }: Solution, id: string): number =>
  [...choices.values()].filter((choice) => choice.host === id).length;

test('a lab that fits on one host goes there as a whole, to the host that has its images', () => {
  const lab = company(3, 10);
  const nodes = lab.nodes.map((one) => (one.kind === 'qemu' ? { ...one, images: ['qemu/server.qcow2'] } : one));
  const hosts = [host('a'), host('b', { images: new Set(['qemu/server.qcow2']) })];
  const solution = solve({ hosts, nodes, links: lab.links, sendable: new Set(['qemu/server.qcow2']) });
  assert.equal(countOn(solution, 'b'), nodes.length);
  assert.equal(solution.crossing, 0);
  assert.match(solution.choices.get('PC0-0')!.reason, /all of it fits on B: \d+ MiB of memory needed, 16384 MiB free/);
});

test('a lab that no host can take is cut between its branches: no host has over 45 % of it, few links cross', () => {
  for (const [branches, pcs] of [
    [8, 35],
    [12, 20],
    [20, 21],
  ] as const) {
    const lab = company(branches, pcs);
    const hosts = ['a', 'b', 'c', 'd'].map((id) => host(id, { memory: branches * 400, load: branches * 0.5 }));
    const solution = solve({ hosts, ...lab });
    assert.deepEqual(solution.unplaceable, []);
    for (const { id } of hosts) {
      const part = countOn(solution, id) / lab.nodes.length;
      assert.ok(part <= 0.45, `${branches} branches: ${id} has ${part}`);
      const memory = lab.nodes
        .filter((one) => solution.choices.get(one.id)?.host === id)
        .reduce((sum, one) => sum + one.memory, 0);
      assert.ok(memory <= branches * 400, `${id}: ${memory} MiB`);
    }
    const crossing = solution.crossing / lab.links.length;
    assert.ok(crossing <= 0.15, `${branches} branches: ${crossing} of the links cross`);
  }
});

test('pinned nodes stay, their neighbours go to them, and nodes of the lab need nothing more', () => {
  const nodes = [
    { ...router('R'), pinned: 'b' },
    ...[1, 2, 3].map((index) => node(`PC${index}`)),
    { ...guest('Old', 60_000), pinned: 'b', settled: true },
  ];
  const links = [1, 2, 3].map((index) => ['R', `PC${index}`] as const);
  const solution = solve({ nodes, links });
  assert.equal(countOn(solution, 'b'), 4);
  assert.match(solution.choices.get('R')!.reason, /host B is named/);
  assert.match(solution.choices.get('PC1')!.reason, /other nodes of the lab are on B/);
});

test('a node that only one host can run goes there, and the reason names what the others miss', () => {
  const hosts = [host('a', { kvm: false }), host('b'), host('c', { draining: true }), host('d', { connected: false })];
  const { choices } = solve({ hosts, nodes: [guest('VM')] });
  const { host: chosen, reason } = choices.get('VM')!;
  assert.equal(chosen, 'b');
  assert.match(reason, /only B can run it \(A: KVM is missing; C: .*drained.*; D: .*not connected\)/);
});

test('a cloud goes to a host that has the interfaces of its linked ports', () => {
  const kinds = new Set(['cloud']);
  const hosts = [
    host('a', { kinds, interfaces: new Set(['eth0']) }),
    host('b', { kinds, interfaces: new Set(['lan']) }),
  ];
  const mapping = ['eth0', 'lan'].map((name) => ({ type: 'ethernet', interface: name }));
  const interfaces = (linked?: ReadonlySet<number>) => needsOf('cloud', { ports_mapping: mapping }, linked).interfaces;
  assert.deepEqual([interfaces(), interfaces(new Set())], [['eth0', 'lan'], []]);
  const cloud = (id: string, port: number) => node(id, { kind: 'cloud', interfaces: interfaces(new Set([port])) });
  const nodes = [cloud('one', 0), cloud('two', 1), node('both', { kind: 'cloud', interfaces: interfaces() })];
  const { choices, unplaceable } = place({ hosts, nodes, links: [], sendable: new Set() });
  assert.deepEqual([choices.get('one')?.host, choices.get('two')?.host], ['a', 'b']);
  assert.deepEqual(
    unplaceable.map(({ node: id, missing }) => [id, missing.map(({ reason }) => reason)]),
    [['both', ['there is no network interface lan', 'there is no network interface eth0']]],
  );
});

test('a node that no host can run is reported with what is missing on each, and the others are placed', () => {
  const hosts = [
    host('a'),
    host('b', { processors: 2, memory: 64_000 }),
    host('c', { kinds: new Set(['vpcs']) }),
    host('d', { memory: 64_000, unavailable: new Map([['qemu', 'QEMU is not installed']]) }),
    host('e', { memory: 64_000, diskPercent: 97 }),
  ];
  const big = { ...guest('Big', 32_768), processors: 4 };
  const { choices, unplaceable } = solve({ hosts, nodes: [big, node('PC')] });
  assert.ok(choices.has('PC'));
  assert.deepEqual(
    unplaceable.map(({ name, missing }) => [name, missing.map(({ reason }) => reason)]),
    [
      [
        'Big',
        [
          '32832 MiB of memory needed, 16384 MiB free',
          '4 processors needed, 2 there',
          'it does not run nodes of the kind qemu',
          'qemu is unavailable: QEMU is not installed',
          'its disk is 97 % full',
        ],
      ],
    ],
  );
  const { unplaceable: without } = solve({ nodes: [{ ...guest('VM'), images: ['qemu/x.img'] }] });
  assert.equal(without[0]!.missing[0]!.reason, 'the image qemu/x.img is missing');
});

test('memory is never exceeded: nodes that no longer fit beside the others are reported', () => {
  const nodes = Array.from({ length: 5 }, (_, index) => guest(`VM${index}`, 7000));
  const { choices, unplaceable } = solve({ nodes });
  assert.equal(choices.size, 4);
  assert.equal(unplaceable.length, 1);
  assert.match(unplaceable[0]!.missing[0]!.reason, /other nodes of the lab need the memory/);
});

test('thousands of nodes take no longer than a part of the lease, whether or not they fit', () => {
  const count = 4_000;
  const ids = Array.from({ length: count }, (_, index) => `N${index}`);
  const tree = ids.slice(1).map((id, index) => [id, ids[index >> 1]!] as const);
  const mesh = ids.flatMap((id, at) => [1, 61].map((step) => [id, ids[(at * (step + 1) + step) % count]!] as const));
  const star = ids.slice(1).map((id) => [id, ids[0]!] as const);
  for (const [name, links] of Object.entries({ tree, mesh, star }))
    for (const [hosts, part] of [
      [4, 0.6],
      [20, 0.6],
      [20, 1.3],
    ] as const) {
      const memory = (64_000 * hosts * part) / count;
      const nodes = ids.map((id) => node(id, { memory }));
      const all = Array.from({ length: hosts }, (_, index) => host(`h${index}`, { memory: 64_000, load: 100 }));
      // Of the processor: other programs may have it meanwhile.
      const since = process.cpuUsage();
      const { unplaceable } = place({ hosts: all, nodes, links, sendable: new Set() });
      const milliseconds = Math.round(process.cpuUsage(since).user / 1_000);
      assert.equal(unplaceable.length > 0, part > 1);
      assert.ok(milliseconds < 3_000, `${name} on ${hosts} hosts: ${milliseconds} ms`);
    }
});

test('without hosts, nodes or links there is nothing to do, and nothing fails', () => {
  assert.equal(solve({}).choices.size, 0);
  assert.equal(solve({ hosts: [], nodes: [node('PC')] }).unplaceable.length, 1);
  assert.equal(solve({ nodes: [node('PC')], links: [['PC', 'gone']] }).crossing, 0);
});
