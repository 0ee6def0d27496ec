// Whether the server has another page meanwhile, as after an upgrade.
import { signal } from '@preact/signals';

/** The page is older than the server: it is to be loaded again, by people, as consoles may hold text. */
export const isOutdated = signal(false);

/** The name of the first script holds the hash of its content, and of all that it may load. */
function firstScript(html: string): string | undefined {
  return /\/assets\/start-[\w-]+\.js/.exec(html)?.[0];
}

/** Asks for the page again, and compares; `away` if the server does not answer. To be called when the server was away. */
export async function compareVersion(): Promise<'same' | 'other' | 'away'> {
  const own = globalThis.document?.querySelector<HTMLScriptElement>('script[type="module"]')?.src;
  if (!own) return 'same';
  try {
    const response = await fetch('/', { cache: 'no-cache' });
    // A proxy answers for a server that is away.
    if (!response.ok) return 'away';
    const theirs = firstScript(await response.text());
    if (theirs === undefined || own.endsWith(theirs)) return 'same';
    isOutdated.value = true;
    return 'other';
  } catch {
    return 'away';
  }
}
