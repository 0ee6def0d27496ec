// Filters a VNC client's messages to the display when its user may only watch (RFC 6143, and later extensions). Only
// whole messages that select what this client receives are passed on. The display never gets a partial message, and
// does not depend on the length of dropped ones: a client that forges a length confuses only this reader.

/** Versions in which the client chooses the login method. In older ones only the server knows it. */
const VERSION = /^RFB 003\.00[78]\n$/;
const VERSION_BYTES = 12;
/** Bytes of the client's answer by login method. Other methods encrypt what follows, or have no such answer. */
const LOGIN_BYTES: ReadonlyMap<number, number> = new Map([
  [1, 0], // none
  [2, 16], // a password
]);
/** Shared access: a client that requests exclusive access would disconnect all others. */
const SHARED = Uint8Array.of(1);
/** Limit of encodings that a client may list; today's clients list fewer than 40. */
const MOST_ENCODINGS = 1024;

/** A client message: bytes needed to know its length, that length, and whether it is passed on. */
interface MessageKind {
  head: number;
  length(head: DataView): number;
  passes: boolean;
}

const passed = (head: number, length: MessageKind['length'] = () => head): MessageKind => ({
  head,
  length,
  passes: true,
});
const dropped = (head: number, length: MessageKind['length'] = () => head): MessageKind => ({
  head,
  length,
  passes: false,
});

const KINDS: ReadonlyMap<number, MessageKind> = new Map([
  [0, passed(20)], // SetPixelFormat
  [2, passed(4, (head) => 4 + 4 * encodings(head.getUint16(2)))], // SetEncodings
  [3, passed(10)], // FramebufferUpdateRequest
  [4, dropped(8)], // KeyEvent
  [5, dropped(2, (head) => (head.getUint8(1) & 0x80 ? 7 : 6))], // PointerEvent; more than seven buttons take one more byte
  [6, dropped(8, (head) => 8 + Math.abs(head.getInt32(4)))], // ClientCutText; negative length: extended format
  [150, passed(10)], // EnableContinuousUpdates
  [248, passed(9, (head) => 9 + head.getUint8(8))], // ClientFence
  [250, dropped(4)], // shutdown and reset of the machine (xvp)
  [251, dropped(8, (head) => 8 + 16 * head.getUint8(6))], // SetDesktopSize
  [255, dropped(4, qemuLength)], // QEMU's keys and sound
]);

export class UnfitMessage extends Error {}

/** Reads the bytes of one client, split at any point, and returns those to pass on. */
export class WatcherBytes {
  #state: 'version' | 'way' | 'login' | 'init' | 'messages' = 'version';
  #loginBytes = 0;
  /** The beginning of an incomplete message: at most a list of encodings. */
  #held: Uint8Array = new Uint8Array(0);
  /** Bytes of a dropped message that are still to come. */
  #toDrop = 0;

  /** @throws UnfitMessage for unknown messages: its text is for the client, whose connection must be closed */
  take(bytes: Uint8Array): Uint8Array {
    const passing: Uint8Array[] = [];
    let rest = this.#held.length === 0 ? bytes : Buffer.concat([this.#held, bytes]);
    for (;;) {
      const skipped = Math.min(this.#toDrop, rest.length);
      this.#toDrop -= skipped;
      rest = rest.subarray(skipped);
      if (rest.length === 0) break;
      const taken = this.#state === 'messages' ? this.#message(rest, passing) : this.#greeting(rest, passing);
      if (taken === 0) break;
      rest = rest.subarray(taken);
    }
    this.#held = Uint8Array.from(rest);
    const [only] = passing;
    return only && passing.length === 1 ? only : Buffer.concat(passing);
  }

  /** @returns the number of bytes consumed; 0: more are needed */
  #greeting(rest: Uint8Array, passing: Uint8Array[]): number {
    const length = { version: VERSION_BYTES, way: 1, login: this.#loginBytes, init: 1, messages: 0 }[this.#state];
    if (rest.length < length) return 0;
    const piece = rest.subarray(0, length);
    passing.push(this.#state === 'init' ? SHARED : piece);
    if (this.#state === 'version') {
      const version = Buffer.from(piece).toString('latin1');
      if (!VERSION.test(version)) throw new UnfitMessage('Only clients of RFB 3.7 and 3.8 can watch this display.');
      this.#state = 'way';
    } else if (this.#state === 'way') {
      const loginBytes = LOGIN_BYTES.get(piece[0] ?? -1);
      if (loginBytes === undefined)
        throw new UnfitMessage(`A display cannot be watched with security type ${piece[0]}.`);
      this.#loginBytes = loginBytes;
      this.#state = loginBytes === 0 ? 'init' : 'login';
    } else this.#state = this.#state === 'login' ? 'init' : 'messages';
    return length;
  }

  /** Returns the same. A dropped message need not be complete. */
  #message(rest: Uint8Array, passing: Uint8Array[]): number {
    const kind = KINDS.get(rest[0] ?? -1);
    if (!kind)
      throw new UnfitMessage(`Message ${rest[0]} is not known: a display that is watched takes no such thing.`);
    if (rest.length < kind.head) return 0;
    const length = kind.length(new DataView(rest.buffer, rest.byteOffset, rest.byteLength));
    if (!kind.passes) {
      const taken = Math.min(length, rest.length);
      this.#toDrop = length - taken;
      return taken;
    }
    if (rest.length < length) return 0;
    passing.push(rest.subarray(0, length));
    return length;
  }
}

function encodings(count: number): number {
  if (count > MOST_ENCODINGS) throw new UnfitMessage(`${count} encodings: name at most ${MOST_ENCODINGS}.`);
  return count;
}

/** Length of QEMU's own messages, by their type in the second byte. */
function qemuLength(head: DataView): number {
  const kind = head.getUint8(1);
  if (kind === 0) return 12; // a key with its scan code
  if (kind === 1) return head.getUint16(2) === 2 ? 10 : 4; // sound: on, off, its format
  throw new UnfitMessage(`Message ${kind} of QEMU is not known: a display that is watched takes no such thing.`);
}
