// Uploads a file by XMLHttpRequest, which reports progress, unlike fetch. The browser reads the file from disk piece by piece.
import { answerRefusal, Refusal } from '../model/server/api.ts';
import { WORDS } from '../words.ts';

export interface Sending {
  /** Path below `/v2`. */
  path: string;
  content: Blob;
  headers?: Readonly<Record<string, string>>;
  /** Called with the number of bytes sent. */
  sent: (bytes: number) => void;
  signal: AbortSignal;
}

/** Returns the answer. @throws Refusal, of status 0 if the connection was lost or aborted by `signal` */
export function send<T>({ path, content, headers = {}, sent, signal }: Sending): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const request = new XMLHttpRequest();
  request.open('POST', `/v2${path}`);
  for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
  request.upload.onprogress = ({ loaded }) => sent(loaded);
  request.onload = () => {
    const { status, responseText: text } = request;
    if (status >= 300) return reject(answerRefusal(status, text, (name) => request.getResponseHeader(name)));
    try {
      resolve(text === '' ? (undefined as T) : JSON.parse(text));
    } catch {
      reject(new Refusal(0, WORDS.message.notOurs));
    }
  };
  const cut = (): void => reject(new Refusal(0, WORDS.message.brokeOff));
  request.onerror = cut;
  request.onabort = cut;
  signal.addEventListener('abort', () => request.abort());
  if (signal.aborted) cut();
  else request.send(content);
  return promise;
}
