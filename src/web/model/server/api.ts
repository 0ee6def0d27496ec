// Calls to the server that this page came from.

import { signal } from '@preact/signals';
import { WORDS } from '../../words.ts';

interface RefusalDetails {
  /** Id of the request in the server's log; empty if the server did not answer. */
  request?: string;
  /** Earliest time for a retry, in milliseconds of `Date.now()`. */
  again?: number;
}

/** An error answer, with the server's message. */
export class Refusal extends Error {
  /** HTTP status; 0 if the server did not answer. */
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

/** Without an answer of the server, or with one of a proxy instead: what was requested may be done all the same. */
export function isUnanswered(error: unknown): error is Refusal {
  return error instanceof Refusal && [0, 408, 502, 503, 504].includes(error.status);
}

/** The last error; its request id can be copied where the message is shown. */
export const lastRefusal = signal<Refusal | undefined>(undefined);

/** Makes an error answer from text and headers, and records it as the last one. */
export function answerRefusal(status: number, text: string, header: (name: string) => string | null): Refusal {
  let message = '';
  try {
    message = String(JSON.parse(text).message ?? '');
  } catch {
    // Not an answer of the API: only the status is known.
  }
  const pause = Number(header('retry-after'));
  const refusal = new Refusal(status, message || WORDS.message.answered(status), {
    request: header('x-request-id') ?? '',
    ...(pause > 0 && { again: Date.now() + pause * 1000 }),
  });
  lastRefusal.value = refusal;
  return refusal;
}

/** Requests without an answer for a long time; operations with a task are not counted. */
export const unanswered = signal(0);

const LONG_MS = 10_000;
const waiting = new Set<AbortController>();

/** Aborts the late requests. The callers get an error and can try again; the server may still carry them out. */
export function stopWaiting(): void {
  for (const abort of [...waiting]) abort.abort();
}

interface Calling {
  body?: BodyInit;
  /** Id of a long operation, whose task shows the progress. */
  operation?: string | undefined;
}

/** Sends a request and reads the answer with `read`. @throws Refusal */
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
    // Not an answer of the API: a proxy between here and the server sent it.
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
  /** A file as text; undefined if it is not text or larger than `most` bytes. */
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
  /** Checks that the server would send a file that the browser is to download. */
  async mustHave(path: string): Promise<void> {
    await call('GET', `/v2${path}`, async (response) => response.body?.cancel());
  },
  /** `operation` is the id of the long operation that this starts, see `begin`. */
  async post<T>(path: string, body: object = {}, operation?: string): Promise<T> {
    return (await call('POST', `/v2${path}`, object, { body: JSON.stringify(body), operation })) as T;
  },
  async put<T>(path: string, body: object): Promise<T> {
    return (await call('PUT', `/v2${path}`, object, { body: JSON.stringify(body) })) as T;
  },
  /** Gives the answer, mostly undefined. */
  delete(path: string): Promise<unknown> {
    return call('DELETE', `/v2${path}`, object);
  },
  /** Sends a file unchanged. */
  async upload(path: string, file: Blob): Promise<void> {
    await call('POST', `/v2${path}`, text, { body: file });
  },
};
