// The console of a node: one program, any number of clients. All see the same output, the input of all is merged.

import { log } from '../host/log.ts';
import { Scrollback } from '../supervisor/scrollback.ts';

const SCROLLBACK_BYTES = 64 * 1024;
/** Limit of output that waits for one client. A client that exceeds it gets only the end of later output. */
const QUEUE_BYTES = 256 * 1024;
/** A client with this little left to read gets output again. */
const CAUGHT_UP_BYTES = 64 * 1024;
/** How long output may wait for one client without any progress. */
const STALL_MS = 10_000;
const CHECK_MS = 1000;
const CONTROL_C = Buffer.from([3]);

/** A client that watches the console, by any protocol. */
export interface ConsoleClient {
  /** For the log, such as `telnet 192.0.2.1:4242`. */
  readonly description: string;
  /** Takes output for delivery; never blocks. */
  send(output: Buffer): void;
  /** Bytes taken but not yet delivered to the client's connection. */
  readonly queuedBytes: number;
  /** Ends the connection and reports the reason to the client, if its state allows. */
  close(reason: string): void;
}

/** The receiver of the clients' input. */
export interface ConsoleSource {
  /** Name for the log and for clients, such as the node's. */
  readonly name: string;
  /** Passes bytes to the program; false if they were dropped. */
  write(input: Buffer): boolean;
  /** Sets the program's window size, in characters; the latest client's size applies. */
  resize?(columns: number, rows: number): void;
  /** Sends a serial Break. Programs without a serial line get Ctrl+C. */
  sendBreak?(): void;
  /** Called when the last client has left. */
  abandon?(): void;
}

interface Attached {
  client: ConsoleClient;
  /** At the last check: bytes ever queued, and how many of them were delivered. */
  queuedBytes: number;
  deliveredBytes: number;
  /** Bytes of output that were skipped because too much was waiting; undefined while nothing is skipped. */
  skippedBytes: number | undefined;
  /** Time of the last delivery or empty queue (performance.now). */
  deliveredAt: number;
}

/** The actions of an attached client. */
export interface ConsoleAttachment {
  input(bytes: Buffer): void;
  resize(columns: number, rows: number): void;
  sendBreak(): void;
  /** Call this when the client has disconnected. */
  detach(): void;
}

/** Clients of all consoles of this process. */
let clients = 0;

export function consoleClients(): number {
  return clients;
}

export class Console {
  readonly name: string;
  readonly resizable: boolean;
  readonly #source: ConsoleSource;
  readonly #scrollback = new Scrollback(SCROLLBACK_BYTES);
  readonly #clients = new Set<Attached>();
  #check: NodeJS.Timeout | undefined;
  #inputLost = false;

  constructor(source: ConsoleSource) {
    this.name = source.name;
    this.resizable = source.resize !== undefined;
    this.#source = source;
  }

  get clientCount(): number {
    return this.#clients.size;
  }

  /** Delivers the program's output to all present and future clients. */
  output(chunk: Buffer): void {
    this.#scrollback.push(chunk);
    for (const attached of this.#clients) this.#deliver(attached, chunk);
  }

  /** Adds a client, which first gets the scrollback (up to 64 KiB). */
  attach(client: ConsoleClient): ConsoleAttachment {
    const attached: Attached = {
      client,
      queuedBytes: 0,
      deliveredBytes: 0,
      skippedBytes: undefined,
      deliveredAt: performance.now(),
    };
    this.#clients.add(attached);
    clients += 1;
    const earlier = this.#scrollback.snapshot();
    if (earlier.length > 0) this.#send(attached, earlier);
    return {
      input: (bytes) => {
        if (this.#clients.has(attached)) this.#input(bytes);
      },
      resize: (columns, rows) => {
        if (this.#clients.has(attached)) this.#source.resize?.(columns, rows);
      },
      sendBreak: () => {
        if (!this.#clients.has(attached)) return;
        if (this.#source.sendBreak) this.#source.sendBreak();
        else this.#input(CONTROL_C);
      },
      detach: () => this.#detach(attached),
    };
  }

  /** Ends the connections of all clients at once. */
  closeClients(reason: string): void {
    for (const attached of this.#clients) {
      this.#detach(attached);
      attached.client.close(reason);
    }
  }

  #input(bytes: Buffer): void {
    const taken = this.#source.write(bytes);
    if (!taken && !this.#inputLost)
      log.warn('console input dropped: the program does not read it', { console: this.name });
    this.#inputLost = !taken;
  }

  /**
   * The chunk is in the scrollback already. A program may print faster than any client reads; that is no reason to
   * disconnect a client.
   */
  #deliver(attached: Attached, chunk: Buffer): void {
    if (attached.skippedBytes === undefined) this.#send(attached, chunk);
    else {
      attached.skippedBytes += chunk.length;
      this.#catchUp(attached);
    }
  }

  /** Sends a client that is behind the end of the skipped output, once it has read nearly everything that waited. */
  #catchUp(attached: Attached): void {
    const { client, skippedBytes } = attached;
    if (skippedBytes === undefined || client.queuedBytes > CAUGHT_UP_BYTES) return;
    attached.skippedBytes = undefined;
    if (skippedBytes === 0) return;
    const kept = this.#scrollback.snapshot();
    const end = kept.subarray(Math.max(0, kept.length - skippedBytes));
    const lost = skippedBytes - end.length;
    if (lost > 0) this.#send(attached, Buffer.from(`\r\n[${lost} bytes of output left out: they came too fast]\r\n`));
    this.#send(attached, end);
  }

  #send(attached: Attached, chunk: Buffer): void {
    const before = attached.client.queuedBytes;
    if (before === 0) attached.deliveredAt = performance.now();
    attached.client.send(chunk);
    const queued = attached.client.queuedBytes;
    attached.queuedBytes += queued - before;
    if (queued > QUEUE_BYTES) attached.skippedBytes ??= 0;
    if (queued > 0) this.#check ??= setInterval(() => this.#findStalled(), CHECK_MS).unref();
  }

  /** Runs only while data waits. */
  #findStalled(): void {
    const now = performance.now();
    let waiting = false;
    for (const attached of this.#clients) {
      const queued = attached.client.queuedBytes;
      const delivered = attached.queuedBytes - queued;
      if (queued === 0 || delivered > attached.deliveredBytes) {
        attached.deliveredBytes = delivered;
        attached.deliveredAt = now;
      } else if (now - attached.deliveredAt > STALL_MS) {
        this.#drop(attached, `nothing was read for ${STALL_MS / 1000} s`);
        continue;
      }
      this.#catchUp(attached);
      waiting ||= attached.client.queuedBytes > 0;
    }
    if (!waiting) this.#stopChecking();
  }

  #drop(attached: Attached, reason: string): void {
    this.#detach(attached);
    log.info('console client disconnected', { console: this.name, client: attached.client.description, reason });
    attached.client.close(`too slow: ${reason}`);
  }

  #detach(attached: Attached): void {
    if (!this.#clients.delete(attached)) return;
    clients -= 1;
    if (this.#clients.size > 0) return;
    this.#stopChecking();
    this.#source.abandon?.();
  }

  #stopChecking(): void {
    clearInterval(this.#check);
    this.#check = undefined;
  }
}
