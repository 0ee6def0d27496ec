// Calls to the server that this page came from.

import { signal } from '@preact/signals';

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
  const refusal = new Refusal(status, message || `The server answered ${status}.`, {
    request: header('x-request-id') ?? '',
    ...(pause > 0 && { again: Date.now() + pause * 1000 }),
  });
  lastRefusal.value = refusal;
  return refusal;
}

async function call(method: string, path: string, body?: BodyInit, operation?: string): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, {
      method,
      body: body ?? null,
      ...(operation !== undefined && { headers: { 'X-Operation-Id': operation } }),
    });
  } catch {
    throw new Refusal(0, 'The server does not answer.');
  }
  if (response.ok) return response;
  throw answerRefusal(response.status, await response.text(), (name) => response.headers.get(name));
}

/** Paths are below `/v2`. @throws Refusal */
export const api = {
  async get<T>(path: string): Promise<T> {
    return (await (await call('GET', `/v2${path}`)).json()) as T;
  },
  /** A file as text; undefined if it is none, or has more bytes than `most`. */
  async text(path: string, most: number): Promise<string | undefined> {
    const bytes = await (await call('GET', `/v2${path}`)).arrayBuffer();
    if (bytes.byteLength > most) return undefined;
    try {
      const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
      return text.includes('\0') ? undefined : text;
    } catch {
      return undefined;
    }
  },
  /** `operation` is an identifier for the long work that this begins, see `begin`. */
  async post<T>(path: string, body: object = {}, operation?: string): Promise<T> {
    const text = await (await call('POST', `/v2${path}`, JSON.stringify(body), operation)).text();
    return (text === '' ? undefined : JSON.parse(text)) as T;
  },
  async put<T>(path: string, body: object): Promise<T> {
    return (await (await call('PUT', `/v2${path}`, JSON.stringify(body))).json()) as T;
  },
  async delete(path: string): Promise<void> {
    await call('DELETE', `/v2${path}`);
  },
  /** Sends a file as it is. */
  async upload(path: string, file: Blob): Promise<void> {
    await call('POST', `/v2${path}`, file);
  },
};
