// A client of the remote framebuffer protocol (VNC), as much of it as it takes to see a picture and press a key: RFC 6143.
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TestContext } from 'node:test';
import { eventually } from '../eventually.ts';

const VERSION = 'RFB 003.008\n';
const NO_PASSWORD = 1;
const RAW = 0;

export class RfbClient {
  readonly #socket: Duplex;
  readonly #chunks: Buffer[] = [];
  /** Something has come, or nothing will any more. */
  #more = Promise.withResolvers<void>();
  width = 0;
  height = 0;

  private constructor(socket: Duplex) {
    this.#socket = socket;
    socket.on('data', (bytes) => {
      this.#chunks.push(bytes);
      this.#more.resolve();
    });
    socket.on('error', () => {});
    socket.on('close', () => this.#more.resolve());
  }

  static async open(t: TestContext, port: number): Promise<RfbClient> {
    const socket = connect(port, '127.0.0.1');
    t.after(() => socket.destroy());
    await once(socket, 'connect');
    return RfbClient.over(socket);
  }

  /** By whatever carries the bytes of the protocol. */
  static async over(socket: Duplex): Promise<RfbClient> {
    const client = new RfbClient(socket);
    await client.#greet();
    return client;
  }

  /** The whole picture as it is now: 4 bytes a pixel. */
  async picture(): Promise<Buffer> {
    const request = Buffer.from([3, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    request.writeUInt16BE(this.width, 6);
    request.writeUInt16BE(this.height, 8);
    this.#socket.write(request);
    const head = await this.#read(4);
    if (head[0] !== 0) throw new Error(`message ${head[0]} instead of a picture`);
    const picture = Buffer.alloc(this.width * this.height * 4);
    for (let left = head.readUInt16BE(2); left > 0; left--) {
      const place = await this.#read(12);
      const [x, y, width, height] = [0, 2, 4, 6].map((at) => place.readUInt16BE(at)) as [
        number,
        number,
        number,
        number,
      ];
      if (place.readInt32BE(8) !== RAW) throw new Error('another encoding than the one that was asked for');
      const pixels = await this.#read(width * height * 4);
      for (let row = 0; row < height; row++) {
        pixels.copy(picture, ((y + row) * this.width + x) * 4, row * width * 4, (row + 1) * width * 4);
      }
    }
    return picture;
  }

  /** Presses a key and lets it go. */
  press(character: string): void {
    for (const down of [1, 0]) {
      const event = Buffer.from([4, down, 0, 0, 0, 0, 0, 0]);
      event.writeUInt32BE(character.charCodeAt(0), 4);
      this.#socket.write(event);
    }
  }

  end(): void {
    this.#socket.destroy();
  }

  async #greet(): Promise<void> {
    const greeting = (await this.#read(12)).toString('latin1');
    if (greeting !== VERSION) throw new Error(`greeted by ${JSON.stringify(greeting)}`);
    this.#socket.write(VERSION);
    const [count = 0] = await this.#read(1);
    const ways = await this.#read(count);
    if (!ways.includes(NO_PASSWORD)) throw new Error(`ways to log in: ${[...ways]}`);
    this.#socket.write(Buffer.from([NO_PASSWORD]));
    if ((await this.#read(4)).readUInt32BE(0) !== 0) throw new Error('the login was refused');
    this.#socket.write(Buffer.from([1])); // others may look, too
    const screen = await this.#read(24);
    [this.width, this.height] = [screen.readUInt16BE(0), screen.readUInt16BE(2)];
    await this.#read(screen.readUInt32BE(20));
    // 32 bits a pixel, 24 of them colour, little-endian.
    this.#socket.write(Buffer.from([0, 0, 0, 0, 32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 16, 8, 0, 0, 0, 0]));
    this.#socket.write(Buffer.from([2, 0, 0, 1, 0, 0, 0, RAW]));
  }

  async #read(length: number): Promise<Buffer> {
    for (;;) {
      const all = Buffer.concat(this.#chunks.splice(0));
      if (all.length >= length) {
        if (all.length > length) this.#chunks.push(all.subarray(length));
        return all.subarray(0, length);
      }
      if (all.length > 0) this.#chunks.push(all);
      if (this.#socket.closed) throw new Error('the connection was closed');
      this.#more = Promise.withResolvers();
      await this.#more.promise;
    }
  }
}

/** Looks again and again until the picture is as it should be. */
export async function see(screen: RfbClient, what: string, fits: (picture: Buffer) => boolean): Promise<Buffer> {
  let picture: Buffer = Buffer.alloc(0);
  await eventually(what, async () => {
    picture = await screen.picture();
    return fits(picture);
  });
  return picture;
}

/** Pixels that are not black. */
export const lit = (picture: Buffer): number => {
  let count = 0;
  for (let at = 0; at < picture.length; at += 4) if ((picture.readUInt32LE(at) & 0xffffff) !== 0) count += 1;
  return count;
};

/** Types until the picture is as it should be: what comes too early is lost. */
export async function type(screen: RfbClient, what: string, fits: (picture: Buffer) => boolean): Promise<void> {
  await see(screen, what, (picture) => {
    if (fits(picture)) return true;
    screen.press('W');
    return false;
  });
}
