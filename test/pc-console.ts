// The console of a virtual PC, as a person at a telnet client has it.
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { TelnetSession } from '../src/consoles/telnet.ts';
import { Failure, messageOf } from '../src/failures.ts';

const CONNECT_MS = 10_000;
const RETRY_MS = 100;
const ANSWER_MS = 20_000;
/** The prompt of before may be followed by another one: only after this long without output is it the last. */
const QUIET_MS = 200;

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
const ESCAPE_SEQUENCES = /\u001b\[[0-?]*[ -/]*[@-~]/g;
const PROMPT = /(?:^|[\r\n])[^\s>]+> ?$/;

/**
 * The lines of a command's answer, without empty ones, once its echo and, at the very end, the next prompt are there. A prompt
 * before the echo is an older one.
 */
export function answerTo(command: string, output: string): string[] | undefined {
  const echo = output.indexOf(command);
  if (echo < 0) return undefined;
  const answer = output.slice(echo + command.length);
  if (!PROMPT.test(answer)) return undefined;
  const lines = answer.replace(PROMPT, '').split(/[\r\n]+/);
  return lines.map((line) => line.trim()).filter((line) => line !== '');
}

export class PcConsole implements Disposable {
  readonly #address: string;
  readonly #socket: Socket;
  #output = '';
  #lost: string | undefined;
  #changed = Promise.withResolvers<void>();

  private constructor(address: string, socket: Socket) {
    this.#address = address;
    this.#socket = socket;
    const session = new TelnetSession({ windowSize: false, greeting: 'labwired demo' });
    socket.on('data', (chunk) => {
      const { data, reply } = session.receive(chunk);
      if (reply.length > 0) socket.write(reply);
      this.#output = (this.#output + data.toString('latin1')).replace(ESCAPE_SEQUENCES, '');
      this.#change();
    });
    socket.on('error', (error) => this.#lose(messageOf(error)));
    socket.on('close', () => this.#lose('the server closed the connection'));
  }

  /**
   * Connects, for which the PC is given some seconds to come up, and waits for its prompt.
   * @throws Failure `unavailable`, `time-out`
   */
  static async open(host: string, port: number): Promise<PcConsole> {
    const address = `console ${host}:${port}`;
    const deadline = performance.now() + CONNECT_MS;
    for (;;) {
      try {
        const console = new PcConsole(address, await connected(host, port));
        console.#socket.write('\r');
        await console.#answer('');
        return console;
      } catch (thrown) {
        if (thrown instanceof Failure) throw thrown;
        if (performance.now() > deadline) {
          throw new Failure('unavailable', `The ${address} cannot be reached: ${messageOf(thrown)}`, { cause: thrown });
        }
        await sleep(RETRY_MS);
      }
    }
  }

  /**
   * Types a command; the lines of its answer, once the prompt is back.
   * @throws Failure `unavailable`, `time-out`
   */
  async command(line: string): Promise<string[]> {
    this.#output = '';
    this.#socket.write(`${line}\r`);
    return this.#answer(line);
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }

  /** Waits until the prompt is the last that was said for a moment. */
  async #answer(command: string): Promise<string[]> {
    const deadline = performance.now() + ANSWER_MS;
    for (;;) {
      if (this.#lost !== undefined) throw this.#failure('unavailable', this.#lost);
      if (performance.now() > deadline) {
        throw this.#failure('time-out', `it shows no prompt after ${ANSWER_MS / 1000} s`);
      }
      const before = this.#output;
      await Promise.race([this.#changed.promise, sleep(QUIET_MS)]);
      const answer = this.#output === before ? answerTo(command, before) : undefined;
      if (answer !== undefined) return answer;
    }
  }

  #change(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers<void>();
  }

  #lose(why: string): void {
    this.#lost ??= why;
    this.#change();
  }

  #failure(code: 'unavailable' | 'time-out', why: string): Failure {
    this.#socket.destroy();
    return new Failure(
      code,
      `The ${this.#address} does not answer: ${why}. Last output: ${this.#output.trim() || 'none'}`,
    );
  }
}

function connected(host: string, port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, timeout: CONNECT_MS }, () => {
      socket.setTimeout(0);
      socket.off('error', reject);
      resolve(socket);
    });
    socket.once('error', reject);
    socket.once('timeout', () => socket.destroy(new Error('no answer')));
  });
}
