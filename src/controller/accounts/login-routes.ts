// Logging in as clients of release 3.0.6 do: with a form or JSON, for a token.
import type * as v from 'valibot';
import { ACCESS_ROUTES, type Credentials } from '../../api/routes/access.ts';
import { unauthorized } from '../../failures.ts';
import type { Authentication } from '../../http/access/authentication.ts';
import { readFormBody } from '../../http/app/body.ts';
import type { HttpRoute, RouteRequest } from '../../http/app/route.ts';
import { v3RoutesOf } from '../../http/v3/form.ts';
import type { LastUses } from './last-uses.ts';

const { route } = v3RoutesOf(ACCESS_ROUTES);

export interface LoginParts {
  authentication: Authentication;
  logins: LastUses;
}

export function loginRoutes({ authentication, logins }: LoginParts): HttpRoute[] {
  const logIn = async ({ body, client }: RouteRequest<string, v.InferOutput<typeof Credentials>>): Promise<object> => {
    const decision = await authentication.logIn({ user: body.username, password: body.password }, client.address);
    if (decision.kind === 'wrong') throw unauthorized('The name or the password is wrong, or the account is locked.');
    if (decision.kind === 'later') return tooMany(decision.wait);
    if (decision.account !== undefined) logins.used(decision.account);
    return { access_token: decision.token, token_type: 'bearer' };
  };
  return [
    route('POST /v3/access/users/authenticate', logIn),
    route('POST /v3/access/users/login', logIn, {
      read: readFormBody,
      type: 'application/x-www-form-urlencoded',
    }),
  ];
}

function tooMany(wait: number): Response {
  const seconds = Math.ceil(wait / 1000);
  return new Response(JSON.stringify({ message: `Too many wrong passwords. Try again in ${seconds} s.` }), {
    status: 429,
    headers: { 'Retry-After': String(seconds), 'Content-Type': 'application/json' },
  });
}
