// Which page the server has now, beside the one that is shown.

/** The name of the script that begins holds the hash of its content, and of all that it may load. */
const FIRST_SCRIPT = /\/assets\/start-[\w-]+\.js/;

/** Asks for the page again, and compares; `away` if the server does not answer. */
export async function serverPage(): Promise<'same' | 'other' | 'away'> {
  const own = globalThis.document?.querySelector<HTMLScriptElement>('script[type="module"]')?.src;
  if (!own) return 'same';
  try {
    const response = await fetch('/', { cache: 'no-cache' });
    // A proxy answers for a server that is away.
    if (!response.ok) return 'away';
    const theirs = FIRST_SCRIPT.exec(await response.text())?.[0];
    return theirs === undefined || own.endsWith(theirs) ? 'same' : 'other';
  } catch {
    return 'away';
  }
}
