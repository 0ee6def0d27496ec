// Calls to the server that this page came from.

import { signal } from '@preact/signals';
import { WORDS } from '../../words.ts';

interface RefusalDetails {
  /** What the server's log calls the request; empty where it did not answer. */
  request?: string;
  /** Milliseconds of `Date.now()` from which on it may be asked again. */
  again?: number;
}

/** A refusal, with the server's own sentence. */
export class Refusal extends Error {
  /** Of HTTP; 0 where the server did not answer. */
  readonly status: number;
  readonly request: string;
  readonly again: number | undefined;

  constructor(status: number, message: string, { request = '', again }: RefusalDetails = {}) {
    super(message);
    this.status = status;
    this.request = request;
    this.again = again;
  }
}

/** The refusal that came last: where its sentence is shown its number can be copied. */
export const lastRefusal = signal<Refusal | undefined>(undefined);

/**
 * The refusal that an answer is, from its text and headers; it becomes the last one.
 */
export function answerRefusal(status: number, text: string, header: (name: string) => string | null): Refusal {
  let message = '';
  try {
    message = String(JSON.parse(text).message ?? '');
  } catch {
    // Not one of the API's answers: the status is all that can be told.
  }
  const pause = Number(header('retry-after'));
  const refusal = new Refusal(status, message || WORDS.message.answered(status), {
    request: header('x-request-id') ?? '',
    ...(pause > 0 && { again: Date.now() + pause * 1000 }),
  });
  lastRefusal.value = refusal;
  return refusal;
}

/** Requests that have waited long for an answer, as far as nothing else on the page tells of them. */
export const unanswered = signal(0);

const LONG_MS = 10_000;
const waiting = new Set<AbortController>();

/** Gives up all that wait for an answer: who has asked is told so, and can ask again. What was asked for may be done all the same. */
export function stopWaiting(): void {
  for (const abort of [...waiting]) abort.abort();
}

interface Calling {
  body?: BodyInit;
  /** Of long work, whose task says how far it is. */
  operation?: string | undefined;
}

/** The whole answer, for `read` to make something of. @throws Refusal */
async function call<T>(
  method: string,
  path: string,
  read: (response: Response) => Promise<T>,
  { body, operation }: Calling = {},
): Promise<T> {
  const abort = new AbortController();
  const late =
    operation === undefined
      ? setTimeout(() => {
          waiting.add(abort);
          unanswered.value = waiting.size;
        }, LONG_MS)
      : undefined;
  try {
    const response = await fetch(path, {
      method,
      body: body ?? null,
      signal: abort.signal,
      ...(operation !== undefined && { headers: { 'X-Operation-Id': operation } }),
    });
    if (!response.ok) throw answerRefusal(response.status, await response.text(), (name) => response.headers.get(name));
    return await read(response);
  } catch (error) {
    if (error instanceof Refusal) throw error;
    if (abort.signal.aborted) throw new Refusal(0, WORDS.message.gaveUp);
    // An answer that is none of the API's: something between here and the server has given it.
    if (error instanceof SyntaxError) throw new Refusal(0, WORDS.message.notOurs);
    throw new Refusal(0, WORDS.message.noAnswer);
  } finally {
    clearTimeout(late);
    waiting.delete(abort);
    unanswered.value = waiting.size;
  }
}

const text = (response: Response): Promise<string> => response.text();
const object = async (response: Response): Promise<unknown> => {
  const content = await text(response);
  return content === '' ? undefined : JSON.parse(content);
};

/** Paths are below `/v2`. @throws Refusal */
export const api = {
  async get<T>(path: string): Promise<T> {
    return (await call('GET', `/v2${path}`, object)) as T;
  },
  /** A file as text; undefined if it is none, or has more bytes than `most`. */
  async text(path: string, most: number): Promise<string | undefined> {
    const bytes = await call('GET', `/v2${path}`, (response) => response.arrayBuffer());
    if (bytes.byteLength > most) return undefined;
    try {
      const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
      return text.includes('\0') ? undefined : text;
    } catch {
      return undefined;
    }
  },
  /** Asks for a file whose content the browser is to have: whether the server would send it. */
  async mustHave(path: string): Promise<void> {
    await call('GET', `/v2${path}`, async (response) => response.body?.cancel());
  },
  /** `operation` is an identifier for the long work that this begins, see `begin`. */
  async post<T>(path: string, body: object = {}, operation?: string): Promise<T> {
    return (await call('POST', `/v2${path}`, object, { body: JSON.stringify(body), operation })) as T;
  },
  async put<T>(path: string, body: object): Promise<T> {
    return (await call('PUT', `/v2${path}`, object, { body: JSON.stringify(body) })) as T;
  },
  async delete(path: string): Promise<void> {
    await call('DELETE', `/v2${path}`, text);
  },
  /** Sends a file as it is. */
  async upload(path: string, file: Blob): Promise<void> {
    await call('POST', `/v2${path}`, text, { body: file });
  },
};
