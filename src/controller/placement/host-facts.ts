// Asks the hosts what a placement depends on: memory, processors, disk, KVM, kinds of nodes, images.
import { NODE_KINDS } from '../../api/kinds/kinds.ts';
import { messageOf } from '../../failures.ts';
import { log } from '../../host/log.ts';
import type { Compute } from '../computes/compute.ts';
import type { Computes } from '../computes/computes.ts';
import type { Host, Needs, PlacedNode } from './problem.ts';

/** How long (ms) facts are used again, for many nodes that are created one after another. */
const KEPT_MS = 2_000;
const LIMIT_MS = 10_000;

/** Load that one processor takes: most nodes are idle most of the time. */
const LOAD_PER_PROCESSOR = 2;
/** Assumed of hosts that do not report their processors, as those of the release. */
const ASSUMED_PROCESSORS = 4;

const MIB = 1024 * 1024;

type Members = Record<string, unknown>;

/** Needs of nodes that are on a host, beyond what it shows as used. */
export type Committed = ReadonlyMap<string, Pick<Needs, 'memory' | 'load'>>;

export class HostFacts {
  readonly #computes: Computes;
  readonly #kept = new Map<string, { at: number; answer: Promise<unknown> }>();

  constructor(computes: Computes) {
    this.#computes = computes;
  }

  /** Forgets what was asked before. */
  refresh(): void {
    this.#kept.clear();
  }

  /** All hosts, with what matters for these nodes; `committed` is subtracted. */
  async hosts(nodes: readonly PlacedNode[], committed: Committed): Promise<Host[]> {
    const hosts = await Promise.all(this.#computes.list().map((compute) => this.#host(compute, nodes, committed)));
    const members = new Set(this.#computes.list().flatMap(({ id, place }) => (place ? [id] : [])));
    const inCluster = new Set(hosts.flatMap(({ id, images }) => (members.has(id) ? [...images] : [])));
    return hosts.map((host) => (members.has(host.id) ? { ...host, inCluster } : host));
  }

  async #host(compute: Compute, nodes: readonly PlacedNode[], committed: Committed): Promise<Host> {
    const { connected, draining, capabilities } = compute;
    const kinds = new Set(capabilities.node_types);
    const used = new Set(nodes.map(({ kind }) => kind));
    const accelerated = NODE_KINDS.find(
      (kind) => kind.accelerationRoute && used.has(kind.type) && kinds.has(kind.type),
    );
    const imageKinds = new Set(nodes.flatMap(({ images }) => images.map((image) => image.split('/')[0]!)));
    const ask = (path: string): Promise<unknown> => (connected ? this.#ask(compute, path) : Promise.resolve(undefined));
    const needsInterfaces = nodes.some(({ interfaces }) => interfaces.length > 0);
    const [statistics, reasons, machines, interfaces, ...images] = await Promise.all([
      ask('/statistics?processors=yes'),
      ask('/node_types/hindrances'),
      accelerated?.accelerationRoute ? ask(accelerated.accelerationRoute) : undefined,
      needsInterfaces ? ask('/network/interfaces') : undefined,
      ...[...imageKinds]
        .filter((kind) => kinds.has(kind))
        .map(async (kind) => [kind, await ask(`/${kind}/images`)] as const),
    ]);
    const load = (statistics ?? {}) as Members;
    const number = (name: string): number => (typeof load[name] === 'number' ? load[name] : 0);
    const processors = number('processors') || undefined;
    const there = committed.get(compute.id) ?? { memory: 0, load: 0 };
    return {
      id: compute.id,
      name: compute.name,
      connected: connected && statistics !== undefined,
      draining,
      kinds,
      unavailable: new Map(
        listOf(reasons).flatMap(({ node_type: type, hindrance }) =>
          typeof hindrance === 'string' ? [[String(type), hindrance] as const] : [],
        ),
      ),
      memory: number('memory_free') / MIB - there.memory,
      processors,
      load: (processors ?? ASSUMED_PROCESSORS) * LOAD_PER_PROCESSOR - there.load,
      kvm: listOf((machines as Members | undefined)?.['kvm']).length > 0,
      images: new Set(
        images.flatMap(([kind, list]) => listOf(list).map((one) => `${kind}/${String(one['filename'])}`)),
      ),
      diskPercent: number('disk_usage_percent'),
      interfaces: new Set(listOf(interfaces).map(({ name }) => String(name))),
    };
  }

  /** An answer of a host; undefined if it has none, as hosts of the release to extensions. */
  async #ask(compute: Compute, path: string): Promise<unknown> {
    const key = `${compute.id} ${path}`;
    const known = this.#kept.get(key);
    if (known && performance.now() - known.at < KEPT_MS) return known.answer;
    const answer = compute.get(path, { connect: false, limit: LIMIT_MS }).catch((error: unknown) => {
      log.debug('placement: a host does not answer', { compute: compute.id, path, error: messageOf(error) });
      return undefined;
    });
    this.#kept.set(key, { at: performance.now(), answer });
    return answer;
  }
}

function listOf(value: unknown): Members[] {
  return Array.isArray(value) ? (value as Members[]) : [];
}
