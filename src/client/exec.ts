// `labwired node exec`: one line at a node's console, and its answer.
import { StringDecoder } from 'node:string_decoder';
import { setTimeout as sleep } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import type { WebSocket } from 'ws';
import { Failure, messageOf } from '../failures.ts';
import { ConsoleAnswer, promptLike } from './console-answer.ts';
import { usableConsole } from './console-socket.ts';
import type { NodeObject } from './objects.ts';
import { secondsOf } from './seconds.ts';
import type { Session } from './session.ts';
import { WrongUsage } from './wrong-usage.ts';

const USUAL_SECONDS = 30;
/** What the console remembers has come when it has been silent for so long. */
const SETTLED_MS = 300;
const SETTLING_MS = 3_000;
/** A console answers Ctrl+C within that time, if it does at all. */
const INTERRUPTED_MS = 500;
/** An end that is found may be the beginning of more. */
const SURE_MS = 150;
/** So long without a word is an end, too: less where there is no prompt to wait for. Who says what to wait for waits for that. */
const SILENCE_MS = { prompted: 10_000, unprompted: 3_000, until: Number.POSITIVE_INFINITY };

export interface ExecOptions {
  line: string;
  until?: string;
  timeout?: string;
}

/** @throws WrongUsage */
function expressionOf(until: string | undefined): RegExp | undefined {
  try {
    return until === undefined ? undefined : new RegExp(until, 'm');
  } catch (error) {
    throw new WrongUsage(`--until: ${messageOf(error)}`);
  }
}

/** What a console says, piece by piece. */
class Listener {
  #text = '';
  #closed: string | undefined;
  #changed = Promise.withResolvers<void>();

  constructor(socket: WebSocket) {
    const decoder = new StringDecoder('utf8');
    socket.on('message', (data: Buffer) => {
      this.#text += decoder.write(data);
      this.#change();
    });
    socket.on('close', (_code, why) => {
      this.#closed = why.toString() || 'the server closed the connection';
      this.#change();
    });
    socket.resume();
  }

  /** All that came since the last time; waits so long for something. Undefined: nothing came. @throws Failure when nothing can come any more */
  async next(milliseconds: number): Promise<string | undefined> {
    if (this.#text === '' && this.#closed === undefined) {
      const timer = setTimeout(() => this.#change(), Math.max(0, milliseconds));
      await this.#changed.promise;
      clearTimeout(timer);
    }
    const text = this.#text;
    this.#text = '';
    if (text !== '') return text;
    if (this.#closed !== undefined) throw new Failure('unavailable', `The console has ended: ${this.#closed}`);
    return undefined;
  }

  /** All that comes until it is silent for a moment, for some seconds at most. */
  async settle(): Promise<string> {
    const deadline = performance.now() + SETTLING_MS;
    let all = '';
    while (performance.now() < deadline) {
      const text = await this.next(SETTLED_MS);
      if (text === undefined) break;
      all += text;
    }
    return all;
  }

  #change(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers<void>();
  }
}

/**
 * Types the line and prints what comes back: until the prompt is there again, `until` is found, or nothing is said for some seconds.
 * @throws WrongUsage before anything is asked; Failure when the time is over
 */
export async function execute(
  session: Session,
  { line, until: expression, timeout }: ExecOptions,
  find: () => Promise<{ node: NodeObject; path: string }>,
): Promise<void> {
  const until = expressionOf(expression);
  const seconds = secondsOf('--timeout', timeout, USUAL_SECONDS);
  if (session.json) throw new WrongUsage('--json: what a console says is no object of the API; leave it out.');
  if (/[\r\n]/.test(line)) throw new WrongUsage('exec types one line; give several to several commands.');
  const { node, path } = await find();
  usableConsole(session, node);
  const socket = await session.api.socket(path);
  const leave = session.ending.defer(async () => {
    // Ctrl+C here is Ctrl+C there: what was begun does not go on. It must have come there before the connection is cut.
    if (socket.readyState !== socket.OPEN) return;
    socket.send(Buffer.from('\u0003'));
    await Promise.race([new Promise((done) => socket.once('message', done)), sleep(INTERRUPTED_MS)]);
  });
  try {
    const listener = new Listener(socket);
    const type = (text: string): void => socket.send(Buffer.from(`${text}\r`));
    await listener.settle();
    let prompt: RegExp | undefined;
    if (!until) {
      type('');
      prompt = promptLike(
        stripVTControlCharacters(await listener.settle())
          .split(/[\r\n]/)
          .at(-1)!,
      );
    }
    const answer = new ConsoleAnswer({ line, prompt, until });
    type(line);
    const silence = SILENCE_MS[until ? 'until' : prompt ? 'prompted' : 'unprompted'];
    await hear(session, listener, answer, { seconds, silence });
  } finally {
    leave.cancel();
    socket.terminate();
  }
}

async function hear(
  session: Session,
  listener: Listener,
  answer: ConsoleAnswer,
  { seconds, silence }: { seconds: number; silence: number },
): Promise<void> {
  const deadline = performance.now() + seconds * 1000;
  const print = (text: string): void => {
    if (text !== '' && !session.quiet) process.stdout.write(text);
  };
  try {
    for (;;) {
      const left = deadline - performance.now();
      if (left <= 0) {
        throw new Failure(
          'time-out',
          `The answer has not ended within ${seconds} s: give it more time with --timeout, or say where it ends with --until.`,
        );
      }
      const enough = answer.hasEnded ? SURE_MS : silence;
      const text = await listener.next(Math.min(left, enough));
      if (text === undefined) {
        if (enough <= left || answer.hasEnded) return;
        continue;
      }
      answer.receive(text);
      print(answer.take());
    }
  } finally {
    print(answer.rest());
  }
}
