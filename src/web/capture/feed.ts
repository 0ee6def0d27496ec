// A list of captures as signals, fed by its worker.
import { signal } from '@preact/signals';
import { startWorker } from '../model/server/workers.ts';
import type { CaptureState, FrameDetails, FromWorker, Row, SourceAddress, ToWorker } from './messages.ts';
import type { StreamObject } from './streams/follower.ts';

export class CaptureFeed {
  readonly state = signal<CaptureState | undefined>(undefined);
  /** What is wrong with the filter. */
  readonly wrong = signal('');
  /** Rows by index. Those of an earlier generation stay until the new ones arrive, so that the list does not flicker. */
  readonly rows = signal<ReadonlyMap<number, Row>>(new Map());
  readonly frame = signal<FrameDetails | undefined>(undefined);
  /** The followed stream, as read so far. */
  readonly stream = signal<StreamObject | undefined>(undefined);
  readonly #worker = startWorker<ToWorker, FromWorker>('capture', (message) => this.#received(message));
  #generation = 0;

  /** Reads these captures into one list, sorted by time. Captures that are already open continue. */
  open(sources: readonly SourceAddress[]): void {
    this.#worker.post({ kind: 'open', sources });
  }

  stop(): void {
    this.#worker.stop();
  }

  filter(text: string): void {
    this.#worker.post({ kind: 'filter', text });
  }

  /** Requests rows; they arrive asynchronously in `rows`. */
  ask(from: number, count: number): void {
    this.#worker.post({ kind: 'rows', from, count });
  }

  choose(id: number): void {
    this.#worker.post({ kind: 'frame', id });
  }

  /** Reassembles the TCP stream that a frame belongs to. */
  follow(id: number): void {
    this.#worker.post({ kind: 'stream', id });
  }

  leaveStream(): void {
    this.stream.value = undefined;
    this.#worker.post({ kind: 'stream', id: undefined });
  }

  #received(message: FromWorker): void {
    if (message.kind === 'state') {
      this.#generation = message.state.generation;
      this.state.value = message.state;
    } else if (message.kind === 'filter') this.wrong.value = message.message;
    else if (message.kind === 'frame') this.frame.value = message.frame;
    else if (message.kind === 'stream') this.stream.value = message.stream;
    else if (message.generation === this.#generation) {
      this.rows.value = new Map(
        message.rows.map((row, index) => [Math.max(message.from, this.state.value?.gone ?? 0) + index, row]),
      );
    }
  }
}
