// The server's side of the telnet protocol, without sockets: RFC 854 and the options binary (856), echo (857),
// suppress-go-ahead (858) and window size (1073).

const IAC = 255;
const DONT = 254;
const DO = 253;
const WONT = 252;
const WILL = 251;
const SB = 250;
const AYT = 246;
const INTERRUPT = 244;
const BREAK = 243;
const SE = 240;

const BINARY = 0;
const ECHO = 1;
const SGA = 3;
const NAWS = 31;

/** What we offer: our echo, no go-aheads, all 256 byte values. */
const OUR_OPTIONS: ReadonlySet<number> = new Set([ECHO, SGA, BINARY]);

const CR = 13;
const LF = 10;
const NUL = 0;
const ETX = 3;

/** Longest subnegotiation that is kept; the rest is skipped. */
const SUBNEGOTIATION_BYTES = 64;

export interface TelnetOptions {
  /** Ask for the client's window size. */
  windowSize: boolean;
  /** Answer to AYT ("are you there?"). */
  greeting: string;
}

/** In characters. */
export interface WindowSize {
  columns: number;
  rows: number;
}

/** The result of one piece of input. */
export interface TelnetInput {
  /** Keystrokes. */
  data: Buffer;
  /** Encoded answer to the client. */
  reply: Buffer;
  /** The client's last window size, if it sent one. */
  windowSize: WindowSize | undefined;
}

/** Encodes output for the connection: byte 255 is doubled. */
export function escapeTelnet(output: Buffer): Buffer {
  let count = 0;
  for (let at = output.indexOf(IAC); at >= 0; at = output.indexOf(IAC, at + 1)) count++;
  if (count === 0) return output;
  const escaped = Buffer.allocUnsafe(output.length + count);
  let to = 0;
  for (const byte of output) {
    escaped[to++] = byte;
    if (byte === IAC) escaped[to++] = IAC;
  }
  return escaped;
}

/** What a chunk leads to. `isThere`: that this server is there is said already. */
interface Output {
  reply: number[];
  isThere: boolean;
  windowSize: WindowSize | undefined;
}

type State = 'data' | 'carriage-return' | 'command' | 'option' | 'subnegotiation' | 'subnegotiation-command';

/** One connection. Input may be split at any byte. */
export class TelnetSession {
  readonly #greeting: Buffer;
  /** Options that are on, or will be unless the client refuses: what we do (WILL) and what the client does (DO). */
  readonly #ours = new Set(OUR_OPTIONS);
  readonly #theirs = new Set([BINARY]);
  readonly #acceptable = new Set([BINARY, SGA]);
  /** Options that we proposed and the client has not answered yet. */
  readonly #proposed = new Set<string>();
  #state: State = 'data';
  #verb = 0;
  #clientIsBinary = false;
  #subnegotiation: number[] = [];

  constructor({ windowSize, greeting }: TelnetOptions) {
    this.#greeting = Buffer.from(`\r\n[${greeting}]\r\n`);
    if (windowSize) {
      this.#theirs.add(NAWS);
      this.#acceptable.add(NAWS);
    }
  }

  /** The server's first message. */
  start(): Buffer {
    const words: number[] = [];
    for (const option of this.#ours) words.push(...this.#propose(WILL, option));
    for (const option of this.#theirs) words.push(...this.#propose(DO, option));
    return Buffer.from(words);
  }

  #propose(verb: number, option: number): number[] {
    this.#proposed.add(`${verb} ${option}`);
    return [IAC, verb, option];
  }

  receive(chunk: Buffer): TelnetInput {
    // Fast path: most input is plain.
    if (this.#state === 'data' && !chunk.includes(IAC) && (this.#clientIsBinary || !chunk.includes(CR))) {
      return { data: chunk, reply: Buffer.alloc(0), windowSize: undefined };
    }
    const data: number[] = [];
    const out: Output = { reply: [], isThere: false, windowSize: undefined };
    for (const byte of chunk) this.#take(byte, data, out);
    return { data: Buffer.from(data), reply: Buffer.from(out.reply), windowSize: out.windowSize };
  }

  #take(byte: number, data: number[], out: Output): void {
    switch (this.#state) {
      case 'carriage-return':
        this.#state = 'data';
        // Without binary mode Enter is sent as CR NUL or CR LF (RFC 854, page 11); a terminal expects CR.
        if (byte === NUL || byte === LF) return;
        this.#takeData(byte, data);
        return;
      case 'data':
        this.#takeData(byte, data);
        return;
      case 'command':
        this.#takeCommand(byte, data, out);
        return;
      case 'option':
        this.#state = 'data';
        out.reply.push(...this.#negotiate(this.#verb, byte));
        return;
      case 'subnegotiation':
        if (byte === IAC) this.#state = 'subnegotiation-command';
        else this.#keep(byte);
        return;
      case 'subnegotiation-command':
        if (byte === IAC) {
          this.#keep(byte);
          this.#state = 'subnegotiation';
          return;
        }
        // The client left out SE: treat this as a command.
        this.#state = 'data';
        out.windowSize = this.#windowSize() ?? out.windowSize;
        if (byte !== SE) this.#takeCommand(byte, data, out);
    }
  }

  #takeData(byte: number, data: number[]): void {
    if (byte === IAC) {
      this.#state = 'command';
      return;
    }
    data.push(byte);
    if (byte === CR && !this.#clientIsBinary) this.#state = 'carriage-return';
  }

  #takeCommand(byte: number, data: number[], out: Output): void {
    this.#state = 'data';
    switch (byte) {
      case IAC:
        data.push(IAC);
        return;
      case WILL:
      case WONT:
      case DO:
      case DONT:
        this.#verb = byte;
        this.#state = 'option';
        return;
      case SB:
        this.#subnegotiation = [];
        this.#state = 'subnegotiation';
        return;
      case AYT:
        // Once a chunk: a client that asks a million times at once would cost seconds of the processor.
        if (!out.isThere) out.reply.push(...this.#greeting);
        out.isThere = true;
        return;
      case INTERRUPT:
      case BREAK:
        data.push(ETX);
        return;
      default: // no operation, go ahead, data mark …: ignored
    }
  }

  /** Answers only changes of options, so that the two sides never answer each other for ever (RFC 854, page 3). */
  #negotiate(verb: number, option: number): number[] {
    const theirs = verb === WILL || verb === WONT;
    const [current, possible] = theirs ? [this.#theirs, this.#acceptable] : [this.#ours, OUR_OPTIONS];
    const [agree, refuse] = theirs ? [DO, DONT] : [WILL, WONT];
    const on = verb === WILL || verb === DO;
    const isAnswer = this.#proposed.delete(`${agree} ${option}`);
    if (theirs && option === BINARY) this.#clientIsBinary = on;
    if (!on) return current.delete(option) && !isAnswer ? [IAC, refuse, option] : [];
    if (current.has(option)) return [];
    if (!possible.has(option)) return [IAC, refuse, option];
    current.add(option);
    return [IAC, agree, option];
  }

  #keep(byte: number): void {
    if (this.#subnegotiation.length < SUBNEGOTIATION_BYTES) this.#subnegotiation.push(byte);
  }

  /** The window size in the subnegotiation, if any. Zero means that the client does not know its size (RFC 1073). */
  #windowSize(): WindowSize | undefined {
    const said = Buffer.from(this.#subnegotiation);
    if (said[0] !== NAWS || said.length !== 5 || !this.#theirs.has(NAWS)) return undefined;
    const [columns, rows] = [said.readUInt16BE(1), said.readUInt16BE(3)];
    return columns > 0 && rows > 0 ? { columns, rows } : undefined;
  }
}
