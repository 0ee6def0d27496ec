// Where tests find the interfaces of nodes: in the network namespace of a server, if it has one.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Link, links } from '../src/host/network/kernel-interfaces.ts';
import { inNetworkOfAny } from '../src/host/system-calls.ts';

/** The process that keeps the namespace of the server with this state directory. */
export function keeperOf(state: string): number | undefined {
  const file = join(state, 'node-network');
  return existsSync(file) ? Number(readFileSync(file, 'latin1')) : undefined;
}

/** The interfaces beside those of this server's nodes, too, if it has no namespace. */
export function nodeLinks(state: string): Link[] {
  return inNetworkOfAny(keeperOf(state), links);
}

/** Runs a program there and gives what it prints. */
export function runAmongNodes(state: string, ...words: string[]): string {
  const keeper = keeperOf(state);
  const command = keeper === undefined ? words : ['nsenter', '-t', `${keeper}`, '-n', ...words];
  return execFileSync(command[0]!, command.slice(1), { encoding: 'utf8' });
}
