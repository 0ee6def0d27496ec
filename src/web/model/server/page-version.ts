// Whether the server has another page meanwhile, as after an upgrade.
import { signal } from '@preact/signals';
import { serverPage } from './server-page.ts';

/** The page is older than the server: it is to be loaded again, by people, as consoles may hold text. */
export const isOutdated = signal(false);

/** Asks for the page again, and compares; `away` if the server does not answer. To be called when the server was away. */
export async function compareVersion(): Promise<'same' | 'other' | 'away'> {
  const server = await serverPage();
  if (server === 'other') isOutdated.value = true;
  return server;
}
