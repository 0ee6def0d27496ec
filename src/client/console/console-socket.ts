// Checks whether a console accepts typed lines.
import type { NodeObject } from '../../api/objects.ts';
import { conflict } from '../../failures.ts';
import type { Session } from '../frame/session.ts';

/** @throws Failure if the node's console is graphical, a web page or none */
export function usableConsole({ api }: Session, { name, console_type: type }: NodeObject): void {
  if (type === 'telnet') return;
  const page = api.address.startsWith('unix:') ? "the server's page" : `${api.address}/`;
  throw conflict(
    type === null || type === 'none'
      ? `Node "${name}" has no console.`
      : `The console of "${name}" is of the type ${type}, which no terminal can show: open ${page} in a browser.`,
  );
}
