// A server that several people log in to, for tests of the page.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Role } from '../../src/api/accounts.ts';
import { basicHeader } from '../../src/http/access/authentication.ts';
import { AccountsFile } from '../../src/store/accounts.ts';
import '../cheap-passwords.ts';
import type { Credentials } from './credentials.ts';
import { type Served, serve } from './served.ts';

export const OLGA = { user: 'olga', password: 'password of olga' };
export const BOB = { user: 'bob', password: 'password of bob' };
export const EVE = { user: 'eve', password: 'password of eve' };

export interface People extends Served {
  /** Calls the API as somebody. */
  as(who: Credentials): (method: string, path: string, body?: object) => Promise<Record<string, string>>;
}

/** A server with the admin ada, the users bob and eve, and the observer olga. */
export async function people(t: TestContext): Promise<People> {
  const served = await serve(t, { withPassword: true });
  const file = new AccountsFile(served.daemon.state);
  const roles: readonly [Credentials, Role][] = [
    [OLGA, 'observer'],
    [BOB, 'user'],
    [EVE, 'user'],
  ];
  for (const [{ user: name, password }, role] of roles) await file.add([{ name, role, password }], ['ada']);
  const as =
    (who: Credentials): ReturnType<People['as']> =>
    async (method, path, body) => {
      const headers = { Authorization: basicHeader(who) };
      const content = body && JSON.stringify(body);
      const answer = await fetch(`${served.daemon.url}${path}`, { method, headers, ...(content && { body: content }) });
      const text = await answer.text();
      assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${text}`);
      return text === '' ? {} : JSON.parse(text);
    };
  return { ...served, as };
}
