// Terminal streams of the Engine: of a container's first process, and of additional programs in it.
import type { Duplex } from 'node:stream';
import { Console } from '../../../consoles/console.ts';
import { messageOf } from '../../../failures.ts';
import { log } from '../../../host/log.ts';
import type { Engine } from './engine.ts';

/** Limit of input that waits for a program that does not read. */
const INPUT_BYTES = 256 * 1024;
/** Delay before an ended shell starts again. */
const AGAIN_MS = 300;
/** Characters of output kept for messages. */
const LAST_CHARACTERS = 4096;

/**
 * Keys at which the Engine ends a terminal stream: a sequence that no user types, in place of Ctrl+P Ctrl+Q. It holds the
 * first one back until the next key. For NUL no user sees that.
 */
const DETACH_KEYS = 'ctrl-@,ctrl-^,ctrl-@,ctrl-_,ctrl-@,ctrl-^,ctrl-@,ctrl-_';

/** The terminal of a container's first process, as a console. */
export class AttachedConsole {
  readonly console: Console;
  readonly #engine: Engine;
  readonly #container: string;
  #stream: Duplex | undefined;
  #window: [columns: number, rows: number] | undefined;
  #last = '';

  constructor(engine: Engine, container: string, name: string) {
    this.#engine = engine;
    this.#container = container;
    this.console = new Console({
      name,
      write: (bytes) => written(this.#stream, bytes),
      resize: (columns, rows) => {
        this.#window = [columns, rows];
        void this.resizeAgain();
      },
    });
  }

  get lastOutput(): string {
    return Buffer.from(this.#last, 'latin1').toString();
  }

  /** Connects it to the container, which may not run yet. */
  async open(): Promise<void> {
    const query = `stream=1&stdin=1&stdout=1&stderr=1&detachKeys=${encodeURIComponent(DETACH_KEYS)}`;
    const stream = await this.#engine.hijack(`containers/${this.#container}/attach?${query}`);
    this.close();
    this.#stream = stream;
    stream.on('data', (bytes: Buffer) => this.#said(bytes));
    stream.on('error', () => {}); // The Engine is away, or the container has ended: its events report that
  }

  /** Call this after each start of the container: its terminal is a new one. */
  async resizeAgain(): Promise<void> {
    if (this.#window) await resized(this.#engine, `containers/${this.#container}`, ...this.#window);
  }

  /** Reads output from before the connection, if the Engine has kept it. */
  async replay(lines: number): Promise<void> {
    const answer = await this.#engine.stream(
      'GET',
      `containers/${this.#container}/logs?stdout=1&stderr=1&tail=${lines}`,
      { limit: 10_000 },
    );
    for await (const bytes of answer) this.#said(bytes as Buffer);
  }

  close(): void {
    this.#stream?.destroy();
    this.#stream = undefined;
  }

  #said(bytes: Buffer): void {
    this.#last = `${this.#last}${bytes.toString('latin1')}`.slice(-LAST_CHARACTERS);
    this.console.output(bytes);
  }
}

/** A shell in the container as a console: started for its first client, and again when it has ended. */
export class ShellConsole extends Console {
  readonly #shell: Shell;

  constructor(engine: Engine, container: string, name: string) {
    const shell = new Shell(engine, container);
    super({ name, write: (bytes) => shell.write(bytes), resize: (columns, rows) => shell.resize(columns, rows) });
    this.#shell = shell;
    shell.said = (bytes) => this.output(bytes);
    shell.isWanted = () => this.clientCount > 0;
  }

  override attach(client: Parameters<Console['attach']>[0]): ReturnType<Console['attach']> {
    const attachment = super.attach(client);
    void this.#shell.start();
    return attachment;
  }

  stop(): void {
    this.#shell.stop();
  }
}

class Shell {
  said: (bytes: Buffer) => void = () => {};
  isWanted: () => boolean = () => false;
  readonly #engine: Engine;
  readonly #container: string;
  #starting: Promise<void> | undefined;
  #stream: Duplex | undefined;
  #early = Buffer.alloc(0);
  #id = '';
  #window: [number, number] | undefined;
  #isOver = false;

  constructor(engine: Engine, container: string) {
    this.#engine = engine;
    this.#container = container;
  }

  async start(): Promise<void> {
    if (this.#isOver) return;
    this.#starting ??= this.#run().catch((error: unknown) => {
      this.#starting = undefined;
      this.said(Buffer.from(`\r\n[no shell: ${messageOf(error)}]\r\n`));
    });
    await this.#starting;
  }

  /** Input that arrives before the shell has started waits. */
  write(bytes: Buffer): boolean {
    if (this.#stream) return written(this.#stream, bytes);
    this.#early = Buffer.concat([this.#early, bytes]).subarray(0, INPUT_BYTES);
    void this.start();
    return this.#early.length < INPUT_BYTES;
  }

  resize(columns: number, rows: number): void {
    this.#window = [columns, rows];
    if (this.#id !== '') void resized(this.#engine, `exec/${this.#id}`, columns, rows);
  }

  stop(): void {
    this.#isOver = true;
    this.#stream?.destroy();
  }

  async #run(): Promise<void> {
    const terminal = { AttachStdin: true, AttachStdout: true, AttachStderr: true, Tty: true };
    const { Id: id } = await this.#engine.call<{ Id: string }>('POST', `containers/${this.#container}/exec`, {
      body: {
        ...terminal,
        DetachKeys: DETACH_KEYS,
        Env: ['TERM=vt100'],
        Cmd: ['/gns3/bin/busybox', 'sh'],
      },
    });
    const stream = await this.#engine.hijack(`exec/${id}/start`, { Detach: false, Tty: true });
    this.#id = id;
    this.#stream = stream;
    stream.on('data', (bytes: Buffer) => this.said(bytes));
    stream.write(this.#early);
    this.#early = Buffer.alloc(0);
    stream.on('error', () => {});
    stream.on('close', () => {
      this.#stream = undefined;
      this.#starting = undefined;
      // A client that leaves the shell gets a new one, after a delay, to avoid a busy loop.
      const timer = setTimeout(() => this.isWanted() && void this.start(), AGAIN_MS);
      timer.unref();
    });
    if (this.#window) this.resize(...this.#window);
  }
}

function written(stream: Duplex | undefined, bytes: Buffer): boolean {
  if (!stream?.writable || stream.writableLength + bytes.length > INPUT_BYTES) return false;
  stream.write(bytes);
  return true;
}

async function resized(engine: Engine, path: string, columns: number, rows: number): Promise<void> {
  try {
    await engine.call('POST', `${path}/resize?h=${rows}&w=${columns}`);
  } catch (error) {
    // It has ended meanwhile, or does not run yet.
    log.debug('a terminal keeps its size', { reason: messageOf(error) });
  }
}
