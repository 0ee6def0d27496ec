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
  /** Open, or being opened. */
  #stream: { ended: AbortController; opened: Promise<void> } | undefined;
  /** While the Engine is away: the containers whose events may be missed. */
  #missed: Set<string> | undefined;

  /** @param label marks the containers to follow */
  constructor(engine: Engine, label: string) {
    this.#engine = engine;
    this.#label = label;
  }

  /** Follows a container; resolves when no later event will be missed. */
  async follow(container: string, listener: Listener): Promise<void> {
    this.#listeners.set(container, listener);
    try {
      await this.#opened();
    } catch (error) {
      this.unfollow(container);
      throw error;
    }
  }

  unfollow(container: string): void {
    this.#listeners.delete(container);
    this.#missed?.delete(container);
    if (this.#listeners.size > 0) return;
    this.#stream?.ended.abort();
    this.#stream = undefined;
    this.#missed = undefined;
  }

  /** Opens the stream, unless it is open or an attempt is under way: then that is waited for. */
  #opened(): Promise<void> {
    if (this.#stream) return this.#stream.opened;
    const ended = new AbortController();
    const opened = this.#open(ended);
    this.#stream = { ended, opened };
    return opened;
  }

  async #open(ended: AbortController): Promise<void> {
    const filters = encodeURIComponent(JSON.stringify({ type: ['container'], label: [this.#label] }));
    try {
      const stream = await this.#engine.stream('GET', `events?filters=${filters}`, { signal: ended.signal });
      void this.#read(stream, ended);
    } catch (error) {
      if (this.#stream?.ended === ended) this.#stream = undefined;
      throw error;
    }
    if (this.#stream?.ended !== ended) return;
    const missed = this.#missed ?? [];
    this.#missed = undefined;
    for (const container of missed) this.#listeners.get(container)?.('engine-back', undefined);
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
    if (this.#stream?.ended !== ended) return;
    this.#stream = undefined;
    this.#missed = new Set(this.#listeners.keys());
    await this.#comeBack();
  }

  #tell({ Action: action = '', id = '', Actor }: Told): void {
    if (action !== 'die' && action !== 'pause' && action !== 'unpause') return;
    const exitCode = Actor?.Attributes?.exitCode;
    this.#listeners.get(id)?.(action, exitCode === undefined ? undefined : Number(exitCode));
  }

  /** Tries until the stream is open again. A container that is followed meanwhile may be faster. */
  async #comeBack(): Promise<void> {
    while (this.#missed) {
      await sleep(RETRY_MS);
      if (this.#missed) await this.#opened().catch(() => {});
    }
  }
}
