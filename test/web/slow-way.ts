// A way to the server that can be slow, and can be cut: what a browser has between itself and a lab host.
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { Transform } from 'node:stream';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

export class SlowWay {
  /** Bytes a second to the server; Infinity lets all through at once. */
  rate = Number.POSITIVE_INFINITY;
  /** The same from the server. */
  rateBack = Number.POSITIVE_INFINITY;
  /** Nobody gets through. */
  isCut = false;
  port = 0;
  readonly #open = new Set<Socket>();
  readonly #server = createServer((near) => this.#join(near));
  readonly #target: number;

  private constructor(target: number) {
    this.#target = target;
  }

  /** A way to a port of this host; it ends with the test. */
  static async to(t: TestContext, port: number): Promise<SlowWay> {
    const way = new SlowWay(port);
    way.#server.listen(0, '127.0.0.1');
    await once(way.#server, 'listening');
    way.port = (way.#server.address() as { port: number }).port;
    t.after(() => {
      way.cut();
      way.#server.close();
    });
    return way;
  }

  /** Ends what goes over it, and lets nothing through until `mend`. */
  cut(): void {
    this.isCut = true;
    for (const socket of this.#open) socket.destroy();
  }

  mend(): void {
    this.isCut = false;
  }

  #join(near: Socket): void {
    near.on('error', () => {});
    if (this.isCut) return void near.destroy();
    const far = connect(this.#target, '127.0.0.1');
    far.on('error', () => near.destroy());
    for (const socket of [near, far]) {
      this.#open.add(socket);
      socket.on('close', () => {
        this.#open.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    near.pipe(this.#paced(() => this.rate)).pipe(far);
    far.pipe(this.#paced(() => this.rateBack)).pipe(near);
  }

  #paced(rate: () => number): Transform {
    return new Transform({
      transform(chunk: Buffer, _encoding, done) {
        const bytesPerSecond = rate();
        if (bytesPerSecond === Number.POSITIVE_INFINITY) done(null, chunk);
        else
          void sleep((chunk.length / bytesPerSecond) * 1000, undefined, { ref: false }).then(() => done(null, chunk));
      },
    });
  }
}
