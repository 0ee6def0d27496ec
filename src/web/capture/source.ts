// Reads one capture from its socket: frames, the server's figures, and the state of the connection.

import { sentenceOf } from '../model/server/sentence.ts';
import { openSocket } from '../model/server/sockets.ts';
import { type Clock, type Frame, FrameReader } from './frames.ts';
import type { CaptureState, ServerFigures, SourceAddress } from './messages.ts';

const PAUSE_MS = 2000;
/** Close code of the server for an ended capture. */
const ENDED = 1000;

export interface SourceListener {
  /** Reading starts from the beginning, also after a reconnect: earlier frames come again. Until then they stay. */
  begun: () => void;
  frames: (frames: readonly Frame[]) => void;
  /** The figures or the connection changed. */
  changed: () => void;
}

export class Source {
  readonly address: SourceAddress;
  connection: CaptureState['connection'] = 'connecting';
  /** Why it has ended or cannot be read. */
  reason = '';
  server: ServerFigures | undefined;
  #hasBegun = false;
  #start: number;
  /** A capture has started that follows the one that is read, whose end is not known yet. */
  #isFollowed = false;
  readonly #number: number;
  readonly #clock: Clock;
  readonly #listener: SourceListener;

  constructor(address: SourceAddress, number: number, clock: Clock, listener: SourceListener) {
    this.address = address;
    this.#start = address.start;
    this.#number = number;
    this.#clock = clock;
    this.#listener = listener;
    void this.#connect();
  }

  /** @param ending why the former capture has ended, which stays the reason if none follows */
  async #connect(ending?: string): Promise<void> {
    const { begun, frames, changed } = this.#listener;
    const reader = new FrameReader(this.#clock, this.#number);
    this.connection = 'connecting';
    if (this.#hasBegun) changed();
    else begun();
    const socket = await openSocket(this.address.path, this.address.query).catch(() => undefined);
    if (!socket) {
      if (ending === undefined) this.#lost('');
      else this.#ended(ending);
      return;
    }
    this.connection = 'open';
    this.reason = '';
    if (this.#hasBegun) begun();
    this.#hasBegun = true;
    changed();
    socket.onmessage = ({ data }) => {
      if (typeof data === 'string') {
        this.server = JSON.parse(data) as ServerFigures;
        changed();
        return;
      }
      let read: Frame[];
      try {
        read = reader.push(new Uint8Array(data as ArrayBuffer));
      } catch (error) {
        socket.onclose = null;
        socket.close();
        this.#ended(sentenceOf(error));
        return;
      }
      frames(read);
    };
    socket.onclose = ({ code, reason }) => {
      if (code === ENDED) this.#ended(reason);
      else this.#lost(reason);
    };
  }

  /** Reads the capture with this start, once the former one has ended: news of both come in any order. */
  again(start: number): void {
    if (start === this.#start) return;
    this.#start = start;
    this.#isFollowed = this.connection === 'open';
    if (this.connection === 'ended') void this.#connect();
  }

  #ended(reason: string): void {
    this.connection = 'ended';
    this.reason = reason;
    const isFollowed = this.#isFollowed;
    this.#isFollowed = false;
    if (isFollowed) void this.#connect(reason);
    else this.#listener.changed();
  }

  /** Retries after a pause. */
  #lost(reason: string): void {
    this.connection = 'lost';
    this.reason = reason;
    this.#listener.changed();
    setTimeout(() => void this.#connect(), PAUSE_MS);
  }
}
