// Compares the server's version of the page with the loaded one.

/** The name of the first script contains a hash of its content and of all that it may load. */
const FIRST_SCRIPT = /\/assets\/start-[\w-]+\.js/;

/** Fetches the page and compares it; `away` if the server does not answer. */
export async function serverPage(): Promise<'same' | 'other' | 'away'> {
  const own = globalThis.document?.querySelector<HTMLScriptElement>('script[type="module"]')?.src;
  if (!own) return 'same';
  try {
    const response = await fetch('/', { cache: 'no-cache' });
    // A proxy answers for an unreachable server.
    if (!response.ok) return 'away';
    const theirs = FIRST_SCRIPT.exec(await response.text())?.[0];
    return theirs === undefined || own.endsWith(theirs) ? 'same' : 'other';
  } catch {
    return 'away';
  }
}
