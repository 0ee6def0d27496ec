// The application of a server that listens while most of it is still being read.
import type { ServerResponse } from 'node:http';
import type { App } from './app.ts';
import type { WireMessage } from './wire-message.ts';

/** Answers a request by itself; false when it does not, and the application is to be asked. */
export type EarlyAnswer = (request: WireMessage, response: ServerResponse) => boolean;

/** What a listener asks. */
export interface Answering {
  /** Asked first, where there is one. */
  early?: EarlyAnswer;
  /** The application; a promise of it while that is not there. */
  able(): App | Promise<App>;
  /** Whether `target` is that of a WebSocket route; true also while nobody can know, and the application then answers as it is. */
  hasSocket(target: string): boolean;
}

/** Early answers to what can have one; all other requests wait for the application, which then answers everything. */
export class ArrivingApp implements Answering {
  readonly #first: EarlyAnswer | undefined;
  readonly #arrival = Promise.withResolvers<App>();
  #whole: App | undefined;

  constructor(first?: EarlyAnswer) {
    this.#first = first;
  }

  early(request: WireMessage, response: ServerResponse): boolean {
    return this.#whole === undefined && this.#first !== undefined && this.#first(request, response);
  }

  able(): App | Promise<App> {
    return this.#whole ?? this.#arrival.promise;
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
