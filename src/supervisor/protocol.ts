// What the daemon and the supervisor of its programs say to each other: frames over a Unix socket. A frame is its length (of what
// follows), its type, the number of the terminal that it is about (0: none), and its content: JSON, or bytes of the terminal.
// A supervisor may be older or newer than the daemon that finds it, so the form of frames, HELLO, WELCOME's `protocol` and the numbers of
// both never change; everything else may with the number of the protocol.

/** Counted up whenever a daemon and a supervisor of different numbers would misunderstand each other. */
export const PROTOCOL = 1;

/** Protocols of supervisors that this daemon understands. */
export const UNDERSTOOD: readonly number[] = [1];

export const FRAME = {
  /** daemon -> supervisor: { protocol, instance } */
  hello: 1,
  /** StartRequest */
  start: 2,
  /** bytes for the program */
  input: 3,
  /** { columns, rows } */
  resize: 4,
  /** { signal }: to the program and what it started */
  signal: 5,
  /** Send what is kept of its output, then what comes, then its exit. */
  follow: 6,
  /** The exit is known: nothing need be kept of this terminal. */
  forget: 7,
  /** supervisor -> daemon: Welcome */
  welcome: 65,
  /** { pid } */
  started: 66,
  /** { reason }: the program could not be started */
  failed: 67,
  /** bytes from the program */
  output: 68,
  /** { bytes }: so much input has gone to the program, or nowhere since it has ended */
  taken: 69,
  /** ProgramExit, after all output */
  exit: 70,
} as const;

export type FrameType = (typeof FRAME)[keyof typeof FRAME];

export interface StartRequest {
  /** Absolute path. */
  program: string;
  arguments: readonly string[];
  directory: string;
  environment: Readonly<Record<string, string>>;
  columns: number;
  rows: number;
  timerSlackMilliseconds: number;
  /** Its terminal passes bytes unchanged and echoes nothing. A supervisor of an older release does not know of it. */
  raw?: boolean;
  /** File that its output is added to; the program has no terminal then. A supervisor of an older release gives it one all the same. */
  log?: string;
  /** Names of TAPs that are made for it, as its descriptors from 3 on: only for a supervisor that says that it makes them. */
  taps?: readonly string[];
  /** Kept with the terminal and told to the next daemon, word for word: all that it needs to take the program back. */
  record: object;
}

export interface ProgramExit {
  /** Exit code; 0 when a signal ended the program. */
  code: number;
  /** Name of the signal. */
  signal?: string;
}

/** A terminal as the supervisor tells a daemon that has just come. */
export interface ProgramState {
  id: number;
  pid: number;
  record: unknown;
  /** When the program has ended and no daemon has heard of it. */
  exit?: ProgramExit;
}

export interface Welcome {
  protocol: number;
  /** Of the supervisor. */
  pid: number;
  terminals: ProgramState[];
  /** It makes TAPs for programs; one of an older release does not. */
  makesTaps?: true;
}

const HEADER_BYTES = 9;
/** No frame is larger; what is says that the other side is something else. */
const MOST_BYTES = 4 * 1024 * 1024;

/** A frame as it goes over the socket. */
export function frame(type: FrameType, id: number, content: object | Uint8Array = Buffer.alloc(0)): Buffer {
  const bytes = content instanceof Uint8Array ? content : Buffer.from(JSON.stringify(content));
  const whole = Buffer.allocUnsafe(HEADER_BYTES + bytes.length);
  whole.writeUInt32LE(HEADER_BYTES - 4 + bytes.length, 0);
  whole.writeUInt8(type, 4);
  whole.writeUInt32LE(id, 5);
  whole.set(bytes, HEADER_BYTES);
  return whole;
}

export interface Frame {
  type: number;
  id: number;
  content: Buffer;
}

/** The object that a frame holds. @throws when it holds none */
export function objectIn({ content }: Frame): Record<string, unknown> {
  const value: unknown = JSON.parse(content.toString('utf8'));
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new Error('a frame without an object');
}

/** Puts the parts in which frames arrive together again. */
export class FrameReader {
  #rest: Buffer = Buffer.alloc(0);

  /** The frames that are complete by now. @throws when this is no stream of frames */
  *read(part: Buffer): Generator<Frame> {
    this.#rest = this.#rest.length === 0 ? part : Buffer.concat([this.#rest, part]);
    while (this.#rest.length >= HEADER_BYTES) {
      const length = this.#rest.readUInt32LE(0);
      if (length < HEADER_BYTES - 4 || length > MOST_BYTES) throw new Error(`a frame of ${length} bytes`);
      if (this.#rest.length < 4 + length) return;
      const content = this.#rest.subarray(HEADER_BYTES, 4 + length);
      const found = { type: this.#rest.readUInt8(4), id: this.#rest.readUInt32LE(5), content };
      this.#rest = this.#rest.subarray(4 + length);
      yield found;
    }
  }
}
