// A listener at one of the daemon's notification streams.
import type { TestContext } from 'node:test';
import { type Daemon, eventually } from './daemon.ts';

export interface Notification {
  action: string;
  // biome-ignore lint/suspicious/noExplicitAny: events are looked into by tests, member by member
  event: any;
}

export class Listener {
  /** What came so far, without pings. */
  readonly messages: Notification[] = [];

  /** Begins to listen; resolves when the stream has begun. It ends with the test. */
  static async at(t: TestContext, daemon: Daemon, path: string): Promise<Listener> {
    const listener = new Listener();
    const abort = new AbortController();
    t.after(() => abort.abort());
    const { body, status } = await fetch(daemon.url + path, { signal: abort.signal });
    if (status !== 200) throw new Error(`GET ${path}: ${status}`);
    const begun = Promise.withResolvers<void>();
    listener.#follow(body!, begun.resolve).catch(() => {});
    await begun.promise;
    return listener;
  }

  async #follow(body: ReadableStream<Uint8Array>, begun: () => void): Promise<void> {
    let rest = '';
    for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop()!;
      for (const line of lines) {
        const message = JSON.parse(line) as Notification;
        if (message.action !== 'ping') this.messages.push(message);
      }
      begun();
    }
  }

  /** Waits for a message with this action whose event fits; gives the event. */
  async sees(
    action: string,
    fits: (event: Notification['event']) => boolean = () => true,
    milliseconds?: number,
  ): Promise<Notification['event']> {
    const find = () => this.messages.find((message) => message.action === action && fits(message.event));
    const found = await eventually(
      `${action} among ${this.messages.map((m) => m.action)}`,
      find,
      Boolean,
      milliseconds,
    );
    return found!.event;
  }
}
