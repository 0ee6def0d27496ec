import type { Duplex } from 'node:stream';

/** Opens a connection, as `createConnection` of Node's agents. */
export type Dial = (options: unknown, done: (error: unknown) => void) => Duplex | undefined;

/** Reports a failure to dial as Node expects it, rather than by throwing. */
export function dialing(dial: () => Duplex): Dial {
  return (_options, done) => {
    try {
      return dial();
    } catch (error) {
      process.nextTick(done, error);
      return undefined;
    }
  };
}
