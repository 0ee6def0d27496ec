// Types one line at a node's console and collects its output, or only listens. Used by `node exec` and by a lab's waits and checks.
import { StringDecoder } from 'node:string_decoder';
import { setTimeout as sleep } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import type { WebSocket } from 'ws';
import { timedOut, unavailable } from '../../failures.ts';
import type { Session } from '../frame/session.ts';
import { ConsoleAnswer, plain, promptLike } from './console-answer.ts';

/** The console's history is complete after this silence. */
const SETTLED_MS = 300;
const SETTLING_MS = 3_000;
/** How long (ms) a console may take to react to Ctrl+C. */
const INTERRUPTED_MS = 500;
/** An end that is found may be the beginning of more. */
const SURE_MS = 150;
/** The output ends after this silence: sooner without a prompt to wait for, never if the user says what to wait for. */
const SILENCE_MS = { prompted: 10_000, unprompted: 3_000, named: Number.POSITIVE_INFINITY };
/** Characters of console output that are searched. */
const KEPT = 131_072;
/** Characters of a console's last line that a failure shows. */
const MOST_SHOWN = 60;

/** Collects a console's output. */
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

  /**
   * The output since the last call, waiting this long for some. Undefined: none.
   * @throws Failure if the console has ended
   */
  async next(milliseconds: number): Promise<string | undefined> {
    if (this.#text === '' && this.#closed === undefined) {
      const timer = setTimeout(() => this.#change(), Math.max(0, milliseconds));
      await this.#changed.promise;
      clearTimeout(timer);
    }
    const text = this.#text;
    this.#text = '';
    if (text !== '') return text;
    if (this.#closed !== undefined) throw unavailable(`The console has ended: ${this.#closed}`);
    return undefined;
  }

  /** Collects output until a short silence, for some seconds at most. */
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

export interface Talk {
  line: string;
  /** Where the answer ends; without it at the next prompt. */
  until?: RegExp | undefined;
  /** The expected prompt; if not given, it is found out first. */
  prompt?: RegExp | undefined;
  /** How long it may take. */
  seconds: number;
  /** Receives the output as it comes. */
  hear(text: string): void;
  /** Whether to interrupt the command on the node on timeout. */
  interrupts?: boolean;
}

async function interrupt(socket: WebSocket): Promise<void> {
  if (socket.readyState !== socket.OPEN) return;
  socket.send(Buffer.from('\u0003'));
  // It must be delivered before the connection is closed.
  await Promise.race([new Promise((done) => socket.once('message', done)), sleep(INTERRUPTED_MS)]);
}

/**
 * Types a line at a console and collects the output until the prompt returns, `until` is found, or nothing comes for some seconds.
 * @param path of the console's WebSocket
 * @throws Failure `time-out`; `unavailable` if the console ends
 */
export async function talk(session: Pick<Session, 'api' | 'ending'>, path: string, options: Talk): Promise<void> {
  const { line, until } = options;
  const socket = await session.api.socket(path);
  // Ctrl+C here also interrupts the command on the node.
  const leave = session.ending.defer(() => interrupt(socket));
  try {
    const listener = new Listener(socket);
    const type = (text: string): void => socket.send(Buffer.from(`${text}\r`));
    await listener.settle();
    let { prompt } = options;
    const isNamed = prompt !== undefined || until !== undefined;
    if (!isNamed) {
      type('');
      prompt = promptLike(
        stripVTControlCharacters(await listener.settle())
          .split(/[\r\n]/)
          .at(-1)!,
      );
    }
    const answer = new ConsoleAnswer({ line, prompt, until });
    type(line);
    const silence = SILENCE_MS[isNamed ? 'named' : prompt ? 'prompted' : 'unprompted'];
    await hearAnswer(listener, answer, options, silence);
  } catch (error) {
    if (options.interrupts) await interrupt(socket);
    throw error;
  } finally {
    leave.cancel();
    socket.terminate();
  }
}

async function hearAnswer(
  listener: Listener,
  answer: ConsoleAnswer,
  { seconds, hear }: Talk,
  silence: number,
): Promise<void> {
  const deadline = performance.now() + seconds * 1000;
  let said = '';
  try {
    for (;;) {
      const left = deadline - performance.now();
      if (left <= 0) {
        const last = lastWords(plain(said)).slice(0, MOST_SHOWN);
        throw timedOut(
          `The answer has not ended within ${seconds} s${last === '' ? '; the console is silent' : `; its last line is "${last}"`}: give it more time with --timeout, or say where it ends with --prompt or --until.`,
        );
      }
      const enough = answer.hasEnded ? SURE_MS : silence;
      const text = await listener.next(Math.min(left, enough));
      if (text === undefined) {
        if (enough <= left || answer.hasEnded) return;
        continue;
      }
      said = (said + text).slice(-KEPT);
      answer.receive(text);
      hear(answer.take());
    }
  } finally {
    hear(answer.rest());
  }
}

/**
 * Listens to a console until a text is found; earlier output counts if the console still has it.
 * @returns the line that matched; undefined on timeout
 * @throws Failure `unavailable` if the console ends
 */
export async function listenFor(
  session: Session,
  path: string,
  { wanted, seconds }: { wanted: RegExp; seconds: number },
): Promise<{ line: string | undefined; last: string }> {
  const socket = await session.api.socket(path);
  const leave = session.ending.defer(() => socket.terminate());
  const deadline = performance.now() + seconds * 1000;
  let came = '';
  try {
    const listener = new Listener(socket);
    for (;;) {
      const said = plain(came);
      const line = lineWith(said, wanted);
      if (line !== undefined) return { line, last: lastWords(said) };
      const left = deadline - performance.now();
      if (left <= 0) return { line: undefined, last: lastWords(said) };
      came = (came + ((await listener.next(left)) ?? '')).slice(-KEPT);
    }
  } finally {
    leave.cancel();
    socket.terminate();
  }
}

/** The whole line in which it is found first. */
export function lineWith(text: string, wanted: RegExp): string | undefined {
  const found = wanted.exec(text);
  if (!found) return undefined;
  const end = text.indexOf('\n', found.index);
  return text.slice(text.lastIndexOf('\n', found.index - 1) + 1, end === -1 ? undefined : end).trim();
}

/** The last line that is not empty. */
export function lastWords(text: string): string {
  return (
    text
      .split('\n')
      .map((line) => line.trim())
      .findLast((line) => line !== '') ?? ''
  );
}
