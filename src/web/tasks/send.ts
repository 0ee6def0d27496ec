// Sends a file by XMLHttpRequest, which tells how far it has come; fetch does not. The browser reads the file piece by piece from the disk.
import { answerRefusal, Refusal } from '../model/server/api.ts';
import { WORDS } from '../words.ts';

export interface Sending {
  /** Below `/v2`. */
  path: string;
  content: Blob;
  headers?: Readonly<Record<string, string>>;
  /** Bytes that have left. */
  sent: (bytes: number) => void;
  signal: AbortSignal;
}

/** The answer. @throws Refusal, of status 0 when the connection broke off or `signal` has ended it */
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
