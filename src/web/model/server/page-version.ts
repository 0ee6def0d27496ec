// Detects that the server has another version of the page, as after an upgrade.
import { signal } from '@preact/signals';
import { serverPage } from './server-page.ts';

/** The page is older than the server. Users reload it themselves, because consoles may hold text. */
export const isOutdated = signal(false);

/** Compares the page with the server's; `away` if the server does not answer. Call after the server was unreachable. */
export async function compareVersion(): Promise<'same' | 'other' | 'away'> {
  const server = await serverPage();
  if (server === 'other') isOutdated.value = true;
  return server;
}
