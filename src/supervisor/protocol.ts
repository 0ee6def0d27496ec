// The protocol between the daemon and the supervisor of its programs: frames over a Unix socket. A frame is its length
// (of the rest), its type, the number of its terminal (0: none), and its content: JSON, or bytes of the terminal. The
// supervisor may be older or newer than the daemon. So the form of frames, HELLO, WELCOME's `protocol` and the type
// numbers of both never change; everything else may change with the protocol number.

/** Increased whenever a daemon and a supervisor of different numbers would misunderstand each other. */
export const PROTOCOL = 1;

/** Protocols of supervisors that this daemon supports. */
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
  /** { signal }: for the program and its children */
  signal: 5,
  /** Send the kept output, then new output, then the exit. */
  follow: 6,
  /** The exit is known: drop this terminal. */
  forget: 7,
  /** supervisor -> daemon: Welcome */
  welcome: 65,
  /** { pid } */
  started: 66,
  /** { reason }: the program could not be started */
  failed: 67,
  /** bytes from the program */
  output: 68,
  /** { bytes }: so much input was written to the program, or dropped because it has ended */
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
  /** The terminal passes bytes unchanged, without echo. Supervisors of older releases ignore this. */
  raw?: boolean;
  /**
   * File to append the output to, instead of a terminal. Supervisors of older releases start a terminal all the same.
   */
  log?: string;
  /** Names of TAPs to create for it, as its descriptors from 3 on. Only for a supervisor that announces `makesTaps`. */
  taps?: readonly string[];
  /**
   * Id of the process in whose network namespace the TAPs are created. Supervisors of older releases create them in
   * their own.
   */
  tapNetwork?: number;
  /** Kept with the terminal and sent unchanged to the next daemon, which reattaches the program with it. */
  record: object;
}

const HEADER_BYTES = 9;
/** The largest valid frame for the supervisor. A larger one means that the other side is another program. */
const MOST_BYTES = 4 * 1024 * 1024;
/** The same for the daemon: a welcome has the records of all programs. */
export const MOST_FOR_DAEMON_BYTES = 256 * 1024 * 1024;

/** Encodes a frame for the socket. */
export function frame(type: FrameType, id: number, content: object | Uint8Array = Buffer.alloc(0)): Buffer {
  const bytes = content instanceof Uint8Array ? content : Buffer.from(JSON.stringify(content));
  const whole = Buffer.allocUnsafe(HEADER_BYTES + bytes.length);
  whole.writeUInt32LE(HEADER_BYTES - 4 + bytes.length, 0);
  whole.writeUInt8(type, 4);
  whole.writeUInt32LE(id, 5);
  whole.set(bytes, HEADER_BYTES);
  return whole;
}

/** Whether the supervisor accepts a frame, which ends the connection otherwise, and with it all programs. */
export const isAccepted = (whole: Buffer): boolean => whole.length - 4 <= MOST_BYTES;

export interface Frame {
  type: number;
  id: number;
  content: Buffer;
}

/** The JSON object in a frame. @throws if there is none */
export function objectIn({ content }: Frame): Record<string, unknown> {
  const value: unknown = JSON.parse(content.toString('utf8'));
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new Error('a frame without an object');
}

/** Assembles frames from the pieces in which they arrive. */
export class FrameReader {
  readonly #most: number;
  #rest: Buffer = Buffer.alloc(0);

  constructor(mostBytes = MOST_BYTES) {
    this.#most = mostBytes;
  }

  /** The complete frames so far. @throws if the data is not a stream of frames */
  *read(part: Buffer): Generator<Frame> {
    this.#rest = this.#rest.length === 0 ? part : Buffer.concat([this.#rest, part]);
    while (this.#rest.length >= HEADER_BYTES) {
      const length = this.#rest.readUInt32LE(0);
      if (length < HEADER_BYTES - 4 || length > this.#most) throw new Error(`a frame of ${length} bytes`);
      if (this.#rest.length < 4 + length) return;
      const content = this.#rest.subarray(HEADER_BYTES, 4 + length);
      const found = { type: this.#rest.readUInt8(4), id: this.#rest.readUInt32LE(5), content };
      this.#rest = this.#rest.subarray(4 + length);
      yield found;
    }
  }
}
