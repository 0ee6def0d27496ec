// Starts the page's workers, whose addresses need the form that the Content Security Policy requires.
import { loadPart } from './lazy-load.ts';

/** URLs of the workers' scripts, set by the bundler. */
declare const CAPTURE_WORKER: string;
declare const ARRANGE_WORKER: string;

interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL(address: string): string },
  ): { createScriptURL(address: string): string };
}

let policy: { createScriptURL(address: string): string } | undefined;

function made(name: 'capture' | 'arrange'): Worker {
  const address = name === 'capture' ? CAPTURE_WORKER : ARRANGE_WORKER;
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
  policy ??= trustedTypes?.createPolicy('labwire', {
    createScriptURL: (wanted) => {
      if (wanted !== CAPTURE_WORKER && wanted !== ARRANGE_WORKER) throw new TypeError('not a script of this page');
      return wanted;
    },
  });
  return new Worker(policy?.createScriptURL(address) ?? address, { type: 'module' });
}

export interface PageWorker<To> {
  post(message: To): void;
  stop(): void;
}

/** Starts a worker. If its script does not load, it is started again, like any part of the page. */
export function startWorker<To, From>(name: 'capture' | 'arrange', received: (message: From) => void): PageWorker<To> {
  let posted: To[] | undefined = [];
  let worker: Worker | undefined;
  let isStopped = false;
  const start = (): Promise<void> =>
    new Promise((resolve, reject) => {
      if (isStopped) return resolve();
      const started = made(name);
      worker = started;
      started.onmessage = ({ data }: MessageEvent<From>) => {
        posted = undefined;
        resolve();
        received(data);
      };
      // If the script did not load, the error has no message.
      started.onerror = ({ message }) => {
        if (!message) reject(new Error(`The worker ${name} did not load.`));
      };
      for (const one of posted ?? []) started.postMessage(one);
    });
  void loadPart(start);
  return {
    post: (message) => {
      posted?.push(message);
      worker?.postMessage(message);
    },
    stop: () => {
      isStopped = true;
      worker?.terminate();
    },
  };
}
