// The emulator's control connection: one command per line, answered by lines. Facts: the emulator's line protocol.
import { connect, type Socket } from 'node:net';
import { KeyedLock } from '../../../host/values/keyed-lock.ts';
import { refusal } from './platforms.ts';

/** Stopping a router may take the emulator 10 s. */
const ANSWER_MS = 30_000;
/** An answer contains a configuration of a few hundred KB at most; a longer one is not from an emulator. */
const MOST_CHARACTERS = 8 * 1024 * 1024;

const END = /^([12]\d\d)-(.*)$/;
const INFORMATION = /^(1\d\d) ?(.*)$/;

/** An answer of the emulator. */
export interface Reply {
  /** Of the last line, without its code. */
  text: string;
  /** The lines before it. */
  lines: string[];
}

/** An error answer in the emulator's own words. */
class HypervisorRefusal extends Error {
  /** 200 to 215; the emulator's own numbers. */
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

interface Waiting extends PromiseWithResolvers<Reply> {
  lines: string[];
}

export class Hypervisor {
  readonly #socket: Socket;
  readonly #turns = new KeyedLock();
  #waiting: Waiting | undefined;
  #rest = '';
  /** Why the connection is unusable. */
  #over: string | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setEncoding('utf8').setNoDelay(true);
    socket.on('data', (text: string) => this.#read(text));
    socket.on('error', () => {}); // 'close' follows
    socket.on('close', () => this.#end('its control connection was closed'));
  }

  /** @throws Node's error if nothing listens */
  static async connect(host: string, port: number): Promise<Hypervisor> {
    const socket = connect(port, host);
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', reject);
    });
    return new Hypervisor(socket);
  }

  /**
   * Sends a command. Commands are answered one after the other. Texts are quoted, numbers are not. An empty text at the
   * end is left out, because the emulator ignores it.
   * @param verb module and function, such as `vm start`
   * @throws Failure `conflict` (`DynamipsError`) with the emulator's message
   */
  run(verb: string, words: readonly (string | number)[] = [], limit = ANSWER_MS): Promise<Reply> {
    const line = `${[verb, ...words.filter((word) => word !== '').map(quoted)].join(' ')}\n`;
    return this.#turns.run('command', async () => {
      try {
        return await this.#ask(line, limit);
      } catch (error) {
        if (error instanceof HypervisorRefusal) throw refusal(`Dynamips refused '${verb}': ${error.message}`, error);
        throw refusal(`Dynamips did not do '${verb}': ${(error as Error).message}`, error);
      }
    });
  }

  /** The same; undefined for an error answer. Other failures are thrown. */
  async attempt(verb: string, words: readonly (string | number)[] = [], limit?: number): Promise<Reply | undefined> {
    try {
      return await this.run(verb, words, limit);
    } catch (error) {
      if ((error as Error).cause instanceof HypervisorRefusal) return undefined;
      throw error;
    }
  }

  close(): void {
    this.#end('its control connection was closed');
    this.#socket.destroy();
  }

  async #ask(line: string, limit: number): Promise<Reply> {
    if (this.#over !== undefined) throw new Error(this.#over);
    const waiting: Waiting = { ...Promise.withResolvers<Reply>(), lines: [] };
    this.#waiting = waiting;
    this.#socket.write(line);
    // A late answer would be taken for the answer to another command.
    const late = setTimeout(() => {
      this.#end(`it does not answer within ${limit / 1000} s`);
      this.#socket.destroy();
    }, limit);
    try {
      return await waiting.promise;
    } finally {
      clearTimeout(late);
      this.#waiting = undefined;
    }
  }

  #read(text: string): void {
    this.#rest += text;
    const lines = this.#rest.split('\n');
    this.#rest = lines.pop()!;
    for (const line of lines) this.#take(line.replace(/\r$/, ''));
    if (this.#rest.length > MOST_CHARACTERS) this.#breakOff();
  }

  #take(line: string): void {
    const [, code, text = ''] = END.exec(line) ?? [];
    if (code === undefined) {
      const [, , information] = INFORMATION.exec(line) ?? [];
      if (information === undefined) this.#breakOff();
      else this.#waiting?.lines.push(information);
    } else if (code.startsWith('1')) this.#waiting?.resolve({ text, lines: this.#waiting.lines });
    else this.#waiting?.reject(new HypervisorRefusal(Number(code), text));
  }

  #breakOff(): void {
    this.#end('it does not answer as Dynamips does; set dynamips_path in section [Dynamips] to the dynamips program');
    this.#socket.destroy();
  }

  #end(reason: string): void {
    this.#over ??= reason;
    this.#waiting?.reject(new Error(this.#over));
  }
}

/** @throws Failure `conflict` for a text with a quotation mark, which the protocol cannot escape */
function quoted(word: string | number): string {
  if (typeof word === 'number') return String(word);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they end a command
  if (!/["\u0000\r\n]/.test(word)) return `"${word}"`;
  throw refusal(
    `${JSON.stringify(word)} has a quotation mark or a line break, which Dynamips does not take; rename it.`,
  );
}
