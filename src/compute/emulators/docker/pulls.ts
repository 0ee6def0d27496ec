// Pulls images from a registry: one at a time, with progress for all waiting clients, until one cancels.
import { once } from 'node:events';
import type { Operation } from '../../../events/operations.ts';
import { type Failure, notFound } from '../../../failures.ts';
import { type Engine, refusal } from './engine.ts';

/** Delay between two messages about one layer. */
const PROGRESS_MS = 1000;

export interface Pull {
  readonly image: string;
  /** The last progress message. */
  readonly progress: string;
}

interface Running {
  image: string;
  progress: string;
  readonly layers: LayerSizes;
  /** Operations of the waiting clients. */
  readonly operations: Set<Operation>;
  readonly cancel: AbortController;
  readonly done: Promise<void>;
}

interface Line {
  id?: string;
  status?: string;
  progress?: string;
  progressDetail?: { current?: number; total?: number };
  error?: string;
}

export class Pulls {
  readonly #engine: Engine;
  readonly #running = new Map<string, Running>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  list(): Pull[] {
    return [...this.#running.values()].map(({ image, progress }) => ({ image, progress }));
  }

  /**
   * Pulls the image. A call for an image that is being pulled waits for that pull.
   * @param tell receives progress messages
   * @param operation of the client; cancelling it cancels the pull for all
   * @throws Failure `conflict` (`DockerError`) with the Engine's reason, or when cancelled
   */
  async pull(image: string, tell: (message: string) => void, operation: Operation): Promise<void> {
    operation.check();
    const before = this.#running.get(image);
    if (before) return await follow(before, operation);
    const cancel = new AbortController();
    const { promise: done, resolve, reject } = Promise.withResolvers<void>();
    const layers = new LayerSizes();
    const running: Running = { image, progress: 'waiting', layers, operations: new Set(), cancel, done };
    this.#running.set(image, running);
    const turn = this.#last.then(() => this.#bring(running, tell));
    this.#last = turn.catch(() => {});
    turn.then(resolve, reject).finally(() => this.#running.delete(image));
    await follow(running, operation);
  }

  /** @throws Failure `not-found` if the image is not being pulled */
  async cancel(image: string): Promise<void> {
    const running = this.#running.get(image);
    if (!running) throw notFound(`image: ${image} is not being pulled.`);
    running.cancel.abort();
    await running.done.catch(() => {});
  }

  async #bring(running: Running, tell: (message: string) => void): Promise<void> {
    const { image, cancel } = running;
    const cancelled = (): Failure => refusal(`Docker: the pull of ${image} was cancelled.`);
    if (cancel.signal.aborted) throw cancelled();
    try {
      await this.#follow(running, tell);
    } catch (error) {
      throw cancel.signal.aborted ? cancelled() : error;
    }
  }

  async #follow(running: Running, tell: (message: string) => void): Promise<void> {
    const { image, cancel } = running;
    tell(`Pulling image ${image} from its registry`);
    const path = `images/create?fromImage=${encodeURIComponent(image)}`;
    const answer = await this.#engine.stream('POST', path, { signal: cancel.signal });
    const told = new Map<string, number>();
    let rest = '';
    let error: string | undefined;
    answer.on('data', (bytes: Buffer) => {
      const lines = `${rest}${bytes.toString()}`.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (line.trim() === '') continue;
        const { id = '', status = '', progress, progressDetail = {}, error: failed } = JSON.parse(line) as Line;
        error ??= failed;
        running.layers.told(id, status, progressDetail);
        const { done, total } = running.layers;
        for (const operation of running.operations) operation.set(done, total, 'bytes');
        if (progress === undefined) continue;
        running.progress = `${id}: ${progress}`;
        const now = performance.now();
        if (now - (told.get(id) ?? -Infinity) < PROGRESS_MS) continue;
        told.set(id, now);
        tell(`Pulling image ${image}: ${running.progress}`);
      }
    });
    await once(answer, 'end', { signal: cancel.signal });
    if (error !== undefined) throw refusal(`Docker: ${image} cannot be pulled: ${error}`);
    tell(`Pulled image ${image}`);
  }
}

/** Waits for a pull that several callers may share. */
async function follow(running: Running, operation: Operation): Promise<void> {
  const cancel = (): void => running.cancel.abort();
  running.operations.add(operation);
  operation.signal.addEventListener('abort', cancel);
  try {
    await running.done;
  } finally {
    running.operations.delete(operation);
    operation.signal.removeEventListener('abort', cancel);
  }
}

interface Layer {
  done: number;
  total: number;
}

/** The Engine reports layer by layer, each when its download starts. */
class LayerSizes {
  readonly #layers = new Map<string, Layer>();

  /** Processes one line of the Engine about a layer. Unpacking has lines of the same form and is not counted. */
  told(id: string, status: string, { current = 0, total = 0 }: { current?: number; total?: number }): void {
    const known = this.#layers.get(id);
    if (status === 'Downloading' && total > 0) this.#layers.set(id, { done: current, total });
    else if (known && (status === 'Download complete' || status === 'Pull complete')) known.done = known.total;
  }

  /** Bytes downloaded. */
  get done(): number {
    return this.#layers.values().reduce((sum, { done }) => sum + done, 0);
  }

  /** Bytes of all layers known so far. */
  get total(): number {
    return this.#layers.values().reduce((sum, { total }) => sum + total, 0);
  }
}
