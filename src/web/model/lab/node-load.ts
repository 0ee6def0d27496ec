// CPU and memory of a lab's nodes, read every few seconds while they are shown.
import { signal } from '@preact/signals';
import { type LoadFigures, NodeLoads } from '../../../api/node-loads.ts';
import type { HostLoad } from '../../../api/objects.ts';
import { inNumbers } from '../../language.ts';
import { bytesInWords } from '../browser/byte-sizes.ts';
import { api } from '../server/api.ts';

const INTERVAL_MS = 3_000;

export class LoadOfNodes {
  /** By node; those without a process of their own are missing. */
  readonly figures = signal<ReadonlyMap<string, LoadFigures>>(new Map());
  readonly #labId: string;
  #loads = new NodeLoads();
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(labId: string) {
    this.#labId = labId;
  }

  watch(): void {
    if (this.#timer !== undefined) return;
    this.#timer = setInterval(() => document.visibilityState === 'visible' && void this.#read(), INTERVAL_MS);
    void this.#read();
  }

  stop(): void {
    if (this.#timer === undefined) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#loads = new NodeLoads();
    this.figures.value = new Map();
  }

  async #read(): Promise<void> {
    const timer = this.#timer;
    try {
      const hosts = await api.get<HostLoad[]>(`/statistics?nodes=${this.#labId}`);
      if (timer === undefined || timer !== this.#timer) return;
      const nodes = hosts.flatMap(({ statistics }) => statistics?.nodes ?? []);
      this.#loads.take(nodes, performance.now());
      this.figures.value = new Map(nodes.map(({ node_id: id }) => [id, this.#loads.of(id)]));
    } catch {
      // Retried with the next reading; a lost connection is shown elsewhere.
    }
  }
}

/** Of one processor, then the memory: `12 %`, `34 MiB`. */
export function loadInWords({ cpu_usage_percent: cpu, memory_bytes: memory }: LoadFigures): [string, string] {
  return [cpu === null ? '' : `${inNumbers(cpu, cpu < 10 ? 1 : 0)} %`, memory === null ? '' : bytesInWords(memory)];
}
