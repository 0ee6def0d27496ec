// Starts the page's workers, whose addresses need the form that the Content Security Policy requires.
import { pauseAfter, rested } from './backoff.ts';

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

/** Starts a worker. Its script may not come while the network changes, as any part of the page: then another worker is started. */
export function startWorker<To, From>(name: 'capture' | 'arrange', received: (message: From) => void): PageWorker<To> {
  let posted: To[] | undefined = [];
  let isStopped = false;
  const start = (attempt: number): Worker => {
    const started = made(name);
    started.onmessage = ({ data }: MessageEvent<From>) => {
      posted = undefined;
      received(data);
    };
    started.onerror = async ({ message }) => {
      // An error of a script that has come has a message.
      if (message || !posted) return;
      await rested(pauseAfter(attempt));
      if (isStopped) return;
      worker = start(attempt + 1);
      for (const one of posted) worker.postMessage(one);
    };
    return started;
  };
  let worker = start(1);
  return {
    post: (message) => {
      posted?.push(message);
      worker.postMessage(message);
    },
    stop: () => {
      isStopped = true;
      worker.terminate();
    },
  };
}
