// Middleware before all routes, in this order: guard, cross-origin headers, authentication.
import type { MiddlewareHandler } from 'hono';
import type { RouteDefinition } from '../../api/routes/definition.ts';
import { forbidden, unauthorized } from '../../failures.ts';
import type { AppEnvironment } from '../app/app.ts';
import { pagesForPeople } from '../app/error-pages.ts';
import { isV3, renderFailure } from '../app/errors.ts';
import { targetOf } from '../app/target.ts';
import { POLICY_VIOLATION } from '../sockets/message-socket.ts';
import { v3Failure } from '../v3/form.ts';
import { type Authentication, tooManyGuesses, unauthorizedResponse } from './authentication.ts';
import { type GuardRules, hostName, refusal } from './guard.ts';
import { localUser, needsNoPassword } from './local-peers.ts';
import { LogoutRequests } from './logout-requests.ts';
import { CLIENT_HEADER, isPassed, passedClient } from './passed-connections.ts';
import { TrustedProxies } from './proxies.ts';
import { Tickets, ticketOf } from './tickets.ts';

/** Origins of web clients in release 2.2.57, listed in its documentation. */
export const DOCUMENTED_ORIGINS = [
  'http://127.0.0.1:3080',
  'http://localhost:3080',
  'http://127.0.0.1:4200',
  'http://localhost:4200',
  'http://gns3.github.io',
  'https://gns3.github.io',
];

/** Excluded on a host with accounts: on a connection without TLS an attacker could serve a page of such an origin. */
export const isWithoutTls = (origin: string): boolean => !origin.startsWith('https:');

const METHODS = 'DELETE,GET,POST,PUT';

export interface GateOptions {
  /** The current rules; a function if they can change. */
  rules: GuardRules | (() => Promise<GuardRules>);
  authentication: Authentication | undefined;
  /** Used if authentication is on. */
  tickets?: Tickets;
  proxies?: TrustedProxies;
  /** The definition of a route; undefined without one: what is none in release 3.0.6 is refused without a login, too. */
  definitionAt?: (method: string, path: string) => RouteDefinition | undefined;
  /** Whether other hosts may pass requests on even if this server needs no password. */
  passedWithoutPassword?: boolean;
}

type Gatekeeper = MiddlewareHandler<{ Bindings: AppEnvironment }>;

/** Refuses requests from foreign pages and to foreign host names with 403. */
function guard(rules: GateOptions['rules'], proxies: TrustedProxies): Gatekeeper {
  return async (context, next) => {
    const { socket } = context.env.incoming ?? {};
    const { remoteAddress, encrypted: secure = false } = socket ?? {};
    const user = localUser(socket);
    const address = remoteAddress ?? (user === undefined ? 'this process' : `user ${user}`);
    const passed = passedClient(socket, context.req.header(CLIENT_HEADER));
    const client = passed ?? proxies.client({ address, secure }, (name) => context.req.header(name));
    context.env.client = { address: client.address, identity: undefined };
    const current = typeof rules === 'function' ? await rules() : rules;
    const reason = refusal(
      {
        method: context.req.method,
        path: context.req.path,
        host: context.req.header('host'),
        origin: context.req.header('origin'),
        secFetchSite: context.req.header('sec-fetch-site'),
        secFetchMode: context.req.header('sec-fetch-mode'),
        secFetchDest: context.req.header('sec-fetch-dest'),
        secure: client.secure,
      },
      passed ? withHost(current, context.req.header('host')) : current,
    );
    if (reason !== undefined) {
      const failure = forbidden(reason);
      return isV3(context.req.path) ? v3Failure(failure, undefined) : renderFailure(failure);
    }
    await next();
    return;
  };
}

/** The host that passes a request on has compared its names. */
function withHost(rules: GuardRules, header: string | undefined): GuardRules {
  return { ...rules, hosts: [...rules.hosts, hostName(header ?? '') ?? ''] };
}

/** Lets pages of allowed origins read responses. Origins are named, so credentials never meet a wildcard. */
const crossOrigin: MiddlewareHandler = async (context, next) => {
  const origin = context.req.header('origin');
  // Without Origin release 3.0.6 has no such method.
  if (context.req.method === 'OPTIONS' && (origin !== undefined || !isV3(context.req.path))) {
    if (origin === undefined) return new Response('403: Forbidden', { status: 403 });
    return new Response(null, {
      status: 200,
      headers: {
        'Access-Control-Allow-Origin': origin,
        'Access-Control-Allow-Credentials': 'true',
        'Access-Control-Allow-Methods': METHODS,
        'Access-Control-Allow-Headers': context.req.header('access-control-request-headers') ?? '',
        'Access-Control-Max-Age': '0',
        Vary: 'Origin',
      },
    });
  }
  await next();
  if (origin === undefined || context.res.status === 101) return;
  context.res.headers.set('Access-Control-Allow-Origin', origin);
  context.res.headers.set('Access-Control-Allow-Credentials', 'true');
  context.res.headers.append('Vary', 'Origin');
  return;
};

/** Headers of browsers and proxies: with one of them the client is not the process at the other end of the local socket. */
const OF_OTHERS =
  /^(?:origin|referer|sec-fetch-.*|via|forwarded|x-forwarded.*|x-(?:real|client|original|cluster-client).*|true-client-ip|cf-.*|x-envoy-.*)$/;

function isOfOthers(headers: Headers): boolean {
  return [...headers.keys()].some((name) => OF_OTHERS.test(name));
}

/** The token in the query of an address of release 3.0.6. */
export function tokenInAddress(target: string): string | undefined {
  const search = target.indexOf('?');
  return search < 0 ? undefined : (new URLSearchParams(target.slice(search)).get('token') ?? undefined);
}

const NEEDS_PASSWORD =
  'The controller of the cluster serves its own host alone and needs no password, so that other hosts may not pass requests on: make an account there with "labwired user add".';

const LOG_IN_AGAIN = 'The token is missing, wrong or has ended: log in again.';

/** Release 3.0.6 accepts a WebSocket with a wrong token to say so. */
function refusedSocket(connect: NonNullable<AppEnvironment['connect']>): Response {
  connect((socket) => {
    socket.send(JSON.stringify({ action: 'log.error', event: { message: LOG_IN_AGAIN } }));
    socket.close(POLICY_VIOLATION);
  });
  return new Response(null, { status: 204 });
}

/**
 * Authenticates requests to all routes, including pages; WebSockets may use a ticket. Root and the server's own user need no password on
 * the local socket.
 */
function authenticated(
  authentication: Authentication,
  tickets: Tickets,
  definitionAt: NonNullable<GateOptions['definitionAt']>,
  passedWithoutPassword: boolean,
): Gatekeeper {
  const logouts = new LogoutRequests();
  return async (context, next) => {
    const { env } = context;
    const address = env.client?.address ?? 'this process';
    const user = localUser(env.incoming?.socket);
    if (user !== undefined && needsNoPassword(user) && !isOfOthers(context.req.raw.headers)) {
      env.client = { address, identity: await authentication.ofThisHost(user) };
      await next();
      return;
    }
    const isRefused = async (): Promise<boolean> =>
      !passedWithoutPassword && isPassed(env.incoming?.socket) && !(await authentication.isAsked());
    if (await isRefused()) {
      const failure = forbidden(NEEDS_PASSWORD);
      return isV3(context.req.path) ? v3Failure(failure, undefined) : renderFailure(failure);
    }
    if (isV3(context.req.path)) {
      const { method, path } = context.req;
      const token = tokenInAddress(targetOf(context.req.raw, env));
      // Browsers cannot send headers with WebSockets: there the address alone counts.
      const header = env.connect ? undefined : context.req.header('authorization');
      const definition = definitionAt(method, path);
      const isOpen = definition === undefined || definition.open === true;
      const decision = isOpen ? ({ kind: 'off' } as const) : await authentication.decideByToken(header, token);
      if (decision.kind !== 'right' && decision.kind !== 'off') {
        if (!env.connect) return v3Failure(unauthorized(LOG_IN_AGAIN), undefined);
        return token === undefined ? new Response(null, { status: 403 }) : refusedSocket(env.connect);
      }
      env.client = { address, identity: decision.kind === 'right' ? decision.identity : undefined };
      await next();
      return;
    }
    const ticket = env.connect && ticketOf(targetOf(context.req.raw, env));
    const tag = ticket === undefined ? undefined : tickets.take(ticket, context.req.path, address);
    const ticketed = tag === undefined ? undefined : await authentication.stillThere(tag);
    if (ticketed !== undefined) {
      env.client = { address, identity: ticketed.identity };
    } else {
      const decision = await authentication.decide(context.req.header('authorization'), address);
      if (decision.kind === 'later') return tooManyGuesses(decision.wait);
      if (decision.kind === 'wrong') return unauthorizedResponse();
      const target = targetOf(context.req.raw, env);
      if (decision.kind === 'right' && logouts.isFirst(target, context.req.header('sec-fetch-site')))
        return unauthorizedResponse();
      env.client = { address, identity: decision.kind === 'right' ? decision.identity : undefined };
    }
    await next();
    return;
  };
}

export function gate({
  rules,
  authentication,
  tickets = new Tickets(),
  definitionAt = () => ({}),
  proxies = new TrustedProxies([]),
  passedWithoutPassword = false,
}: GateOptions): Gatekeeper[] {
  const known = authentication ? [authenticated(authentication, tickets, definitionAt, passedWithoutPassword)] : [];
  return [pagesForPeople, guard(rules, proxies), crossOrigin, ...known];
}
