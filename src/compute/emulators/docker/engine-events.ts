// The Engine's events about our containers: ended, paused, resumed; and that the Engine itself was away.
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../../failures.ts';
import { log } from '../../../host/log.ts';
import type { Engine } from './engine.ts';

/** Delay between two attempts to reach an absent Engine. */
const RETRY_MS = 250;

export type ContainerEvent = 'die' | 'pause' | 'unpause' | 'engine-back';
export type Listener = (event: ContainerEvent, exitCode: number | undefined) => void;

interface Told {
  Action?: string;
  id?: string;
  Actor?: { Attributes?: { exitCode?: string } };
}

export class EngineEvents {
  readonly #engine: Engine;
  readonly #label: string;
  readonly #listeners = new Map<string, Listener>();
  /** Of the open stream; undefined while nothing is followed. */
  #ended: AbortController | undefined;
  #opening: Promise<void> | undefined;

  /** @param label marks the containers to follow */
  constructor(engine: Engine, label: string) {
    this.#engine = engine;
    this.#label = label;
  }

  /** Follows a container; resolves when no later event will be missed. */
  async follow(container: string, listener: Listener): Promise<void> {
    this.#listeners.set(container, listener);
    this.#opening ??= this.#open();
    try {
      await this.#opening;
    } catch (error) {
      this.unfollow(container);
      throw error;
    }
  }

  unfollow(container: string): void {
    this.#listeners.delete(container);
    if (this.#listeners.size > 0) return;
    this.#ended?.abort();
    this.#ended = undefined;
    this.#opening = undefined;
  }

  async #open(): Promise<void> {
    const ended = new AbortController();
    this.#ended = ended;
    const filters = encodeURIComponent(JSON.stringify({ type: ['container'], label: [this.#label] }));
    try {
      const stream = await this.#engine.stream('GET', `events?filters=${filters}`, { signal: ended.signal });
      void this.#read(stream, ended);
    } catch (error) {
      if (this.#ended === ended) this.#opening = undefined;
      throw error;
    }
  }

  async #read(stream: AsyncIterable<Buffer>, ended: AbortController): Promise<void> {
    try {
      let rest = '';
      for await (const bytes of stream) {
        const lines = `${rest}${bytes.toString()}`.split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) if (line.trim() !== '') this.#tell(JSON.parse(line) as Told);
      }
    } catch (error) {
      if (!ended.signal.aborted) log.warn('the Docker Engine went away', { reason: messageOf(error) });
    }
    if (this.#ended === ended) await this.#comeBack(ended);
  }

  #tell({ Action: action = '', id = '', Actor }: Told): void {
    if (action !== 'die' && action !== 'pause' && action !== 'unpause') return;
    const exitCode = Actor?.Attributes?.exitCode;
    this.#listeners.get(id)?.(action, exitCode === undefined ? undefined : Number(exitCode));
  }

  /** Waits for the Engine, then lets all listeners check their containers. */
  async #comeBack(ended: AbortController): Promise<void> {
    while (this.#ended === ended) {
      await sleep(RETRY_MS);
      if (this.#ended !== ended) return;
      this.#opening = this.#open();
      try {
        await this.#opening;
        for (const listener of [...this.#listeners.values()]) listener('engine-back', undefined);
        return;
      } catch {
        // Not yet. The attempt has replaced our mark by its own.
        this.#ended = ended;
      }
    }
  }
}
