// The right to a modifying request, checked until its body has arrived and its work is done.
import type { Progress } from '../../host/values/progress.ts';
import type { Admissions, Lasting } from './open-connections.ts';

/** The body of a request. The right is confirmed before its end, so that a late body has no effect. */
function confirmed(body: ReadableStream<Uint8Array>, right: StandingRight): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream(
    {
      start(controller) {
        right.signal.addEventListener('abort', () => {
          controller.error(right.signal.reason);
          void reader.cancel().catch(() => {});
        });
      },
      async pull(controller) {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        await right.confirm();
        controller.close();
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

export class StandingRight implements Disposable {
  readonly #admissions: Admissions;
  readonly #holder: Pick<Lasting, 'tag' | 'check'>;
  readonly #ended = new AbortController();
  readonly #over: () => void;

  constructor(admissions: Admissions, holder: Pick<Lasting, 'tag' | 'check'>) {
    this.#admissions = admissions;
    this.#holder = holder;
    this.#over = admissions.watch({ ...holder, end: (reason) => this.#ended.abort(reason) });
  }

  /** Aborted with a Failure when the right is lost. */
  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  /** @throws Failure `forbidden`, `not-found` */
  confirm(): Promise<void> {
    return this.#admissions.confirm(this.#holder);
  }

  body(stream: ReadableStream<Uint8Array> | null): ReadableStream<Uint8Array> | null {
    return stream && confirmed(stream, this);
  }

  /** Progress of the request's work, which is cancelled with the right. */
  get progress(): Progress {
    const check = (): void => this.signal.throwIfAborted();
    const nothing = (): void => {};
    return { signal: this.signal, check, commit: check, expect: nothing, advance: nothing, say: nothing };
  }

  [Symbol.dispose](): void {
    this.#over();
  }
}
