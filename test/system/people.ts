// People with accounts at a daemon under test.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import type { Daemon } from './daemon.ts';
import { executable } from './executable.ts';

/** Headers of somebody who logs in; the password is that of {@link add} unless it is another. */
export const basic = (user: string, password = `password of ${user}`) => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
});

/** `labwired user ...` on the state directory of this daemon; the password comes as the first line of standard input. */
export function user(daemon: Daemon, words: readonly string[], password = '') {
  const [program, ...first] = executable() as [string, ...string[]];
  const all = [...first, ...words, '--state', daemon.state, '--config', daemon.configFile];
  const { status, stdout, stderr } = spawnSync(program, all, { input: `${password}\n`, encoding: 'utf8' });
  return { status, stdout, stderr };
}

export function add(daemon: Daemon, name: string, role: string): void {
  const { status, stderr } = user(daemon, ['user', 'add', name, '--role', role], `password of ${name}`);
  assert.equal(status, 0, stderr);
}

/** The daemon as somebody who has logged in. */
export function as(daemon: Daemon, headers: Record<string, string>) {
  return (method: string, path: string, body?: unknown) => daemon.ask(method, path, { body, headers });
}

/** The JSON of an answer that tells of no failure. */
export async function made(answer: ReturnType<Daemon['ask']>) {
  const { status, text, json } = await answer;
  assert.ok(status < 300, `${status} ${text}`);
  return json;
}
