// Labs and hosts for placements, as people have them.
import type { Host, PlacedNode, Problem } from '../../src/controller/placement/problem.ts';

export function host(id: string, more: Partial<Host> = {}): Host {
  return {
    id,
    name: id.toUpperCase(),
    connected: true,
    draining: false,
    kinds: new Set(['vpcs', 'qemu', 'docker', 'ethernet_switch']),
    unavailable: new Map(),
    memory: 16_384,
    processors: 8,
    load: 16,
    kvm: true,
    interfaces: new Set(),
    images: new Set(),
    diskPercent: 20,
    ...more,
  };
}

export function node(id: string, more: Partial<PlacedNode> = {}): PlacedNode {
  return {
    id,
    name: id,
    kind: 'vpcs',
    memory: 2,
    processors: 1,
    load: 0.02,
    kvm: false,
    images: [],
    interfaces: [],
    ...more,
  };
}

export const router = (id: string): PlacedNode => node(id, { kind: 'docker', memory: 128, load: 0.25 });
export const guest = (id: string, memory = 1024): PlacedNode =>
  node(id, { kind: 'qemu', memory: memory + 64, load: 0.5, kvm: true });

/** Branches of a company: in each a router, two switches, PCs and a server; the routers form a ring. */
export function company(branches: number, pcs: number): Pick<Problem, 'nodes' | 'links'> {
  const nodes: PlacedNode[] = [];
  const links: [string, string][] = [];
  const routers = Array.from({ length: branches }, (_, index) => router(`R${index}`));
  for (const [index, { id }] of routers.entries()) {
    const switches = ['a', 'b'].map((letter) => node(`S${index}${letter}`, { kind: 'ethernet_switch', load: 0.01 }));
    nodes.push(...switches, guest(`Server${index}`));
    for (const one of switches) links.push([id, one.id]);
    links.push([`Server${index}`, switches[0]!.id], [id, `R${(index + 1) % branches}`]);
    for (let pc = 0; pc < pcs; pc += 1) {
      nodes.push(node(`PC${index}-${pc}`));
      links.push([`PC${index}-${pc}`, switches[pc % 2]!.id]);
    }
  }
  // As in a lab that people have built: in no order.
  return { nodes: [...routers, ...nodes], links };
}
