// The socket of an IOU image's ports: one Unix datagram per frame, with a header that names the port. Frames from the image enter as from
// any other device; frames to it leave in runs, as with a UDP socket.

import { rmSync } from 'node:fs';
import { constants } from 'node:os';
import { conflict, messageOf } from '../../failures.ts';
import type { Settings } from '../model.ts';
import { type Attachment, MemoryDevice } from './memory-device.ts';
import type { Sender } from './turn.ts';

const { EAGAIN, ECONNREFUSED, EINTR, ENOBUFS, ENOENT } = constants.errno;

/** The longest frame that an image accepts. */
const MOST_BYTES = 4096;
/** Datagrams read before the next socket's turn. */
const BATCH = 32;
/** Requested socket buffers in bytes. */
const SOCKET_BUFFER_BYTES = 1 << 20;
/** Frames queued for an image that does not read; the kernel itself usually queues 10 (net.unix.max_dgram_qlen). */
const MOST_WAITING = 512;
const RETRY_MS = 1;

const DESTINATION_PORT = 4;
const MESSAGE_DATA = 1;

interface Waiting {
  to: Attachment;
  frame: Buffer;
}

export class IolSocket extends MemoryDevice<'iol-socket'> implements Sender {
  readonly answers = {};
  readonly #retry = this.timer(() => this.#sendWaiting());
  #socket = -1;
  #peer = '';
  #header = Buffer.alloc(8);
  // Slots to send at the end of the turn, and their destinations.
  #slots: number[] = [];
  #numbers: number[] = [];
  #targets: Attachment[] = [];
  #waiting: Waiting[] = [];
  #listed = false;

  /**
   * Called once.
   * @throws Failure `conflict` if the socket cannot be created
   */
  configure({ directory, application, bridge }: Settings<'iol-socket'>): void {
    const path = `${directory}/${bridge}`;
    this.#peer = `${directory}/${application}`;
    this.#header = Buffer.of(application >> 8, application & 255, bridge >> 8, bridge & 255, 0, 0, MESSAGE_DATA, 0);
    const { plane } = this;
    try {
      // The id's lock is ours, so an existing file is a leftover.
      rmSync(path, { force: true });
      const socket = plane.calls.headed.open(path, SOCKET_BUFFER_BYTES);
      plane.watch(socket, this);
      this.#socket = socket;
    } catch (error) {
      throw conflict(`The socket ${path} for frames of IOU cannot be had: ${messageOf(error)}`, {
        cause: error,
      });
    }
  }

  override close(): void {
    super.close();
    if (this.#socket !== -1) this.plane.close(this.#socket);
    this.#socket = -1;
  }

  /** Reads a batch of frames from the image. */
  receive(): void {
    const { calls, turn } = this.plane;
    const { headed } = calls;
    const first = turn.next;
    const count = headed.receive(this.#socket, first, Math.min(BATCH, turn.room));
    if (count <= 0) return;
    turn.adopt(first + count);
    for (let slot = first; slot < first + count; slot++) {
      const length = headed.receivedLength(slot);
      if (length > 0) this.attachmentAt(headed.receivedHeader(slot, DESTINATION_PORT))?.port.fromDevice(slot, length);
    }
  }

  /** A frame to the image is sent at the end of the turn; as it cannot loop back here, it skips the devices' queue. */
  override arrive(to: Attachment, slot: number, length: number): void {
    if (length > MOST_BYTES) {
      to.port.drops.tooLong++;
      return;
    }
    this.#slots.push(slot);
    this.#numbers.push(to.number);
    this.#targets.push(to);
    if (this.#listed) return;
    this.#listed = true;
    this.plane.turn.addSender(this);
  }

  flush(): void {
    this.#listed = false;
    const count = this.#slots.length;
    for (let from = 0; from < count; ) {
      if (this.#waiting.length > 0) this.#wait(from++);
      else from += this.#transmit(from);
    }
    this.#slots.length = 0;
    this.#numbers.length = 0;
    this.#targets.length = 0;
  }

  /** Unused: frames skip the queue, see `arrive`. */
  protected forward(): void {}

  /** Sends, drops or queues the frames from this one on; returns how many are done. */
  #transmit(from: number): number {
    const sent = this.#send(this.#slots, this.#numbers, from);
    if (sent > 0) return sent;
    if (sent === -EINTR) return 0;
    if (sent === -EAGAIN || sent === -ENOBUFS) this.#wait(from);
    else this.#drop(this.#targets[from]!, sent);
    return 1;
  }

  #send(slots: readonly number[], numbers: readonly number[], from: number): number {
    return this.plane.calls.headed.send(this.#socket, this.#peer, this.#header, slots, numbers, from);
  }

  #drop(to: Attachment, errno: number): void {
    // The image has not started yet, or has ended.
    if (errno === -ENOENT || errno === -ECONNREFUSED) to.port.drops.noDevice++;
    else to.port.drops.sendFailed++;
  }

  #wait(from: number): void {
    const to = this.#targets[from]!;
    if (this.#waiting.length >= MOST_WAITING) {
      to.port.drops.sendQueue++;
      return;
    }
    const { calls, turn } = this.plane;
    const slot = this.#slots[from]!;
    this.#waiting.push({ to, frame: turn.copyOf(slot, calls.lengthOf(slot)) });
    if (this.#waiting.length === 1) this.#retry.start(RETRY_MS);
  }

  #sendWaiting(): void {
    const { turn } = this.plane;
    let done = 0;
    while (done < this.#waiting.length && turn.room > 0) {
      const { to, frame } = this.#waiting[done]!;
      const sent = this.#send([turn.place(frame)], [to.number], 0);
      if (sent === -EAGAIN || sent === -ENOBUFS) break;
      if (sent < 0 && sent !== -EINTR && to.index !== -1) this.#drop(to, sent);
      if (sent !== -EINTR) done++;
    }
    this.#waiting.splice(0, done);
    if (this.#waiting.length > 0) this.#retry.start(RETRY_MS);
  }
}
