// A way to a server that can be cut and mended, as networks are.
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

export class Way {
  /** While it is, whoever comes is turned away. */
  isCut = false;
  /** What becomes of the first piece that a client sends, its request as a rule. */
  first: ((piece: Buffer) => Buffer) | undefined;
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;

  /** @param target the server's port on loopback, asked for at each connection; it throws when there is no server */
  constructor(target: () => number) {
    this.#server = createServer((near) => {
      if (this.isCut) {
        near.destroy();
        return;
      }
      const port = portOf(target);
      if (port === undefined) {
        near.destroy();
        return;
      }
      const far = connect(port, '127.0.0.1');
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const) {
        this.#sockets.add(one);
        if (one === near && this.first) this.#changed(near, far, this.first);
        else one.pipe(other);
        one.on('error', () => other.destroy());
        one.on('close', () => {
          this.#sockets.delete(one);
          other.destroy();
        });
      }
    });
  }

  /** Answers its own port on loopback. It is closed when the test ends. */
  async open(t: TestContext): Promise<number> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    t.after(() => {
      this.#server.close();
      this.cut();
    });
    return (this.#server.address() as { port: number }).port;
  }

  #changed(near: Socket, far: Socket, first: (piece: Buffer) => Buffer): void {
    near.once('data', (piece) => {
      far.write(first(piece as Buffer));
      near.pipe(far);
    });
  }

  cut(): void {
    this.isCut = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  mend(): void {
    this.isCut = false;
  }
}

function portOf(target: () => number): number | undefined {
  try {
    return target();
  } catch {
    return undefined;
  }
}
