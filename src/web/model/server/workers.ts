// Starts the page's workers, whose addresses need the form that the Content Security Policy requires.

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

export function startWorker(name: 'capture' | 'arrange'): Worker {
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
