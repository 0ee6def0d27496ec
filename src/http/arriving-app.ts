// The application of a server that listens while most of it is still being read.
import type { App } from './app.ts';

/** What a listener asks. */
export interface Answering {
  /** The application for this request; a promise of it while that is not there. `target` is path and query as they stood on the wire. */
  able(method: string, target: string): App | Promise<App>;
  /** Whether `target` is that of a WebSocket route; true also while nobody can know, and the application then answers as it is. */
  hasSocket(target: string): boolean;
}

/** A small application answers its own routes at once; all other requests wait for the whole one, which then answers everything. */
export class ArrivingApp implements Answering {
  readonly #first: App | undefined;
  readonly #arrival = Promise.withResolvers<App>();
  #whole: App | undefined;

  constructor(first?: App) {
    this.#first = first;
  }

  able(method: string, target: string): App | Promise<App> {
    return this.#whole ?? (this.#first?.has(method, target) ? this.#first : this.#arrival.promise);
  }

  hasSocket(target: string): boolean {
    return this.#whole?.hasSocket(target) ?? true;
  }

  /** To be called once. */
  arrived(whole: App): void {
    this.#whole = whole;
    this.#arrival.resolve(whole);
  }
}
