// A walk of every route by every kind of identity: what each is answered is judged by the form of the route, not by the rules of the
// server, so that a rule that is wrong is seen. Some holes are planted to prove that.
// LABWIRE_FAULTS=full walks with every lab and every spelling of its identifier.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { TestContext } from 'node:test';
import { Failure } from '../../src/failures.ts';
import { basicHeader, bearerOf } from '../../src/http/access/authentication.ts';
import type { Route } from '../../src/http/app/route.ts';
import { addPeople, PASSWORD, serve } from '../controller/people-here.ts';
import { FULL, rig } from './rig.ts';

const LABS = ['private', 'watched', 'changed', 'unknown'] as const;
type Lab = (typeof LABS)[number];
type Access = 'none' | 'watch' | 'change';

interface Walker {
  name: string;
  headers: Record<string, string>;
  /** The token of a login, which /v3 takes in the place of a password. */
  session?: string;
  /** Undefined: nobody is to be let in. */
  role?: 'user' | 'observer';
  access: Readonly<Record<Lab, Access>>;
}

const NONE = { private: 'none', watched: 'none', changed: 'none', unknown: 'none' } as const;
const SHARED = { private: 'none', watched: 'watch', changed: 'change', unknown: 'none' } as const;
const WATCHING = { private: 'none', watched: 'watch', changed: 'watch', unknown: 'none' } as const;

const OF_LAB = '/v2/projects/{project_id}';
/** What all who have logged in may do that is no GET, and no matter of a lab. */
const FOR_ALL =
  /^(?:POST \/v2\/(?:tickets|version|account\/tokens)|PUT \/v2\/(?:account\/password|access\/users\/me)|DELETE \/v2\/(?:operations|account\/tokens)\/\{\w+\})$/;
/** Routes of /v3 for everyone. */
const WITHOUT_LOGIN =
  /^(?:(?:GET|POST) \/v3\/version|POST \/v3\/access\/users\/(?:login|authenticate)|GET \/v3\/(?:openapi\.json|symbols\/.*\/raw))$/;
/** GETs that are for admins. */
const FOR_ADMINS =
  /^GET (?:\/metrics|\/v2\/(?:audit|iou_license|compute\/.*|gns3vm\/engines\/.*\/vms|pools.*|access\/(?!users\/me$|privileges$).*|computes\/\{compute_id\}\/(?:ports|\{emulator\}\/(?:images\/)?\{(?:filename|action).*)))$/;
/** Lines as long as a client listens. */
const STREAM = /\/(?:notifications|stream)$/;

const isV3 = ({ pattern }: Pick<Route, 'pattern'>): boolean => pattern.startsWith('/v3/');

/** The statuses that a walker may be given; undefined for what is allowed. What /v3 alone has is judged as if /v2 had it. */
function refusals(route: Route, { role, access }: Walker, lab: Lab): readonly number[] | undefined {
  const { method } = route;
  if (WITHOUT_LOGIN.test(`${method} ${route.pattern}`)) return undefined;
  const pattern = route.pattern.replace(/^\/v3\//, '/v2/');
  const name = `${method} ${pattern}`;
  if (role === undefined) return [401, 429];
  if (FOR_ADMINS.test(name) || pattern.startsWith('/v2/compute/')) return [403];
  if (!pattern.startsWith(OF_LAB)) {
    if (method === 'GET' || FOR_ALL.test(name)) return undefined;
    return ['POST /v2/projects', 'POST /v2/placement'].includes(name) && role === 'user' ? undefined : [403];
  }
  const own = access[lab];
  if (pattern === `${OF_LAB}/import`) return role === 'observer' ? [403] : own === 'change' ? undefined : [409];
  if (own === 'none') return [isV3(route) ? 403 : 404];
  if (pattern === `${OF_LAB}/duplicate`) return role === 'observer' ? [403] : undefined;
  const changes = method !== 'GET' || pattern.includes('/dynamips/');
  return changes && own === 'watch' ? [403] : undefined;
}

async function prepare(t: TestContext) {
  const served = await serve(t);
  const { daemon, file } = served;
  const people = await addPeople(served, { ada: 'admin', ann: 'user', bob: 'user', obs: 'observer', dave: 'user' });
  const json = async (ask: typeof people.ann, method: string, path: string, body?: object) => {
    const { status, text } = await ask(method, path, body);
    assert.ok(status < 300, `${method} ${path}: ${status} ${text}`);
    return text === '' ? {} : JSON.parse(text);
  };
  const makeLab = async (name: string): Promise<{ id: string; node: string; link: string }> => {
    const { project_id: id } = await json(people.ann, 'POST', '/v2/projects', { name, auto_close: false });
    const path = `/v2/projects/${id}`;
    const node = { node_type: 'vpcs', compute_id: 'local' };
    const [one, other] = [
      await json(people.ann, 'POST', `${path}/nodes`, { ...node, name: `${name} node` }),
      await json(people.ann, 'POST', `${path}/nodes`, { ...node, name: `${name} other` }),
    ];
    const ends = [one, other].map(({ node_id }) => ({ node_id, adapter_number: 0, port_number: 0 }));
    const { link_id: link } = await json(people.ann, 'POST', `${path}/links`, { nodes: ends });
    await json(people.ann, 'POST', `${path}/drawings`, { svg: `<svg><text>${name} text</text></svg>` });
    return { id, node: one.node_id, link };
  };
  const labs = {
    private: await makeLab('SECRET42'),
    watched: await makeLab('Watched'),
    changed: await makeLab('Changed'),
    unknown: { id: randomUUID(), node: randomUUID(), link: randomUUID() },
  };
  // A console of /v3 that is off is refused to everyone.
  await json(people.ann, 'POST', `/v2/projects/${labs.private.id}/nodes/${labs.private.node}/start`);
  await json(people.ann, 'PUT', `/v2/projects/${labs.watched.id}/sharing`, { everybody: 'watch' });
  await json(people.ann, 'PUT', `/v2/projects/${labs.changed.id}/sharing`, { everybody: 'change' });

  const basic = (user: string) => ({ authorization: basicHeader({ user, password: PASSWORD }) });
  const bearer = (text: string) => ({ authorization: `Bearer ${text}` });
  const token = async (user: 'ann' | 'bob' | 'dave', more: object) =>
    bearer((await json(people[user], 'POST', '/v2/account/tokens', { name: 'walk', ...more })).token);
  const session = async (username: string): Promise<string> => {
    const body = JSON.stringify({ username, password: PASSWORD });
    const headers = { 'content-type': 'application/json' };
    const answer = await daemon.app.request('/v3/access/users/authenticate', { method: 'POST', headers, body });
    return ((await answer.json()) as { access_token: string }).access_token;
  };
  const sessions = { dave: await session('dave'), bob: await session('bob'), obs: await session('obs') };
  const ada = await session('ada');
  const [ofDave, ended] = [await token('dave', {}), await token('bob', { days: 0 })];
  await file.remove(['dave'], true);
  const walkers: Walker[] = [
    { name: 'nobody', headers: {}, access: NONE },
    { name: 'an account that is gone', headers: basic('dave'), session: sessions.dave, access: NONE },
    { name: 'a token of an account that is gone', headers: ofDave, access: NONE },
    { name: 'a token that has ended', headers: ended, access: NONE },
    { name: 'a user', headers: basic('bob'), session: sessions.bob, role: 'user', access: SHARED },
    { name: 'an observer', headers: basic('obs'), session: sessions.obs, role: 'observer', access: WATCHING },
    {
      name: 'a watching token of a user',
      headers: await token('bob', { role: 'observer' }),
      role: 'observer',
      access: WATCHING,
    },
    {
      name: 'a watching token of the owner',
      headers: await token('ann', { role: 'observer' }),
      role: 'observer',
      access: { private: 'watch', watched: 'watch', changed: 'watch', unknown: 'none' },
    },
  ];

  /** All that nobody of these may change, as an admin sees it. */
  const state = async (): Promise<string> => {
    const ofLabs = [labs.private, labs.watched].flatMap(({ id }) =>
      ['', '/nodes', '/links', '/drawings', '/snapshots', '/sharing'].map((part) => `/v2/projects/${id}${part}`),
    );
    const paths = ['/v2/accounts', '/v2/templates', '/v2/computes', ...ofLabs];
    const texts = await Promise.all(paths.map(async (path) => (await people.ada('GET', path)).text));
    return texts.join('\n').replaceAll(/"(?:cpu|memory|disk)_usage_percent": [\d.]+|"last_error".*/g, '');
  };

  const pathOf = ({ pattern }: Route, lab: Lab): string => {
    const { id, node, link } = labs[lab];
    return pattern
      .replaceAll('{project_id}', id)
      .replaceAll('{node_id}', node)
      .replaceAll('{link_id}', link)
      .replaceAll(/\{udp_port[^}]*\}|\{\w+:\\d\+\}/g, '1')
      .replaceAll(/\{(\w+)(:[^}]*)?\}/g, (_all, name: string) => (name.endsWith('_id') ? randomUUID() : 'x'));
  };

  /** Opens a WebSocket of /v3, which is ended at once by a server that refuses it. */
  const hear = async (path: string, text = '') => {
    const opened = await daemon.app.openSocket(`${path}?token=${text}`);
    let said = '';
    let isOpen = true;
    opened.listen({ message: (data) => (said += data), close: () => (isOpen = false) });
    await new Promise((resolve) => setTimeout(resolve, 5));
    const status = isOpen ? 101 : undefined;
    opened.close(1000, '');
    return { status, text: said };
  };

  /** Sends a request, or opens a WebSocket; `hole` sends those that match as an admin, as if nothing stood before the route. */
  const send = async (route: Route, path: string, walker: Walker, hole?: RegExp) => {
    const isHole = hole?.test(`${route.method} ${route.pattern}`);
    const login = isHole ? ada : walker.session;
    const byName = isHole ? basic('ada') : walker.headers;
    const sent = isV3(route) && login !== undefined ? bearer(login) : byName;
    if (isV3(route) && route.kind === 'socket') return hear(path, bearerOf(sent['authorization']));
    if (route.kind === 'socket') {
      const opened = await daemon.app.openSocket(path, sent).catch((error: unknown) => error);
      if (!(opened instanceof Error)) (opened as { close(): void }).close();
      const isRefused = opened instanceof Failure && /only|may|there is no|: 4(?:01|29)/.test(opened.message);
      return { status: isRefused ? undefined : 101, text: opened instanceof Failure ? opened.message : '' };
    }
    const body = route.method === 'GET' ? null : '{}';
    const answer = await daemon.app.request(path, { method: route.method, headers: sent, body });
    if (!STREAM.test(route.pattern) || answer.status !== 200)
      return { status: answer.status, text: await answer.text() };
    const reader = answer.body!.getReader();
    const { value } = await reader.read();
    await reader.cancel();
    return { status: answer.status, text: Buffer.from(value ?? []).toString() };
  };

  /** Walks all routes, or those with a hole, and answers what should not be. */
  const walk = async (hole?: RegExp): Promise<{ asked: number; findings: string[] }> => {
    const findings: string[] = [];
    let asked = 0;
    const secrets = [labs.private.node, labs.private.link];
    for (const walker of walkers) {
      for (const route of daemon.app.routes) {
        if (hole && !hole.test(`${route.method} ${route.pattern}`)) continue;
        const isOfLab = route.pattern.includes('{project_id}');
        for (const lab of isOfLab && walker.role ? (FULL ? LABS : LABS.slice(0, 2)) : LABS.slice(0, 1)) {
          const expected = refusals(route, walker, lab);
          // What is allowed may be done; only what it tells is of interest.
          if (expected === undefined && (route.method !== 'GET' || route.kind === 'socket')) continue;
          const plain = pathOf(route, lab);
          const { id } = labs[lab];
          const encoded = `%${id.charCodeAt(0).toString(16)}${id.slice(1)}`;
          const spelled = [plain, plain.replaceAll(id, id.toUpperCase()), plain.replaceAll(id, encoded)];
          for (const path of new Set(FULL && isOfLab ? spelled : [plain])) {
            asked += 1;
            const { status, text } = await send(route, path, walker, hole);
            const what = `${walker.name}: ${route.method} ${path}: ${status} ${text.slice(0, 120)}`;
            const isRefused = status === undefined || (path === plain ? expected?.includes(status) : status >= 400);
            if (expected !== undefined && !isRefused) findings.push(what);
            const isTold =
              /SECRET42/.test(text) || secrets.some((secret) => text.includes(secret) && !path.includes(secret));
            if (walker.access.private === 'none' && isTold) findings.push(`told: ${what}`);
          }
        }
      }
    }
    return { asked, findings };
  };
  return { walk, state, walkers, routes: daemon.app.routes, send, pathOf };
}

const OPTIONS = {
  name: 'accounts-walk',
  promise: 'no route shows or changes more than the rights of an account permit',
};

rig(OPTIONS, async (t) => {
  const { walk, state, walkers, routes, send, pathOf } = await prepare(t);
  const before = await state();
  const { asked, findings } = await walk();
  assert.deepEqual(findings, []);
  assert.ok(asked > 2_500, `${asked} requests`);
  assert.equal(await state(), before);

  // The paths of the walk are real ones: for an admin the lab is there.
  const lists = routes.filter(
    ({ method, pattern }) => method === 'GET' && /^[^:]+project_id\}\/(nodes|links)$/.test(pattern),
  );
  for (const route of lists) {
    const { text } = await send(route, pathOf(route, 'private'), walkers[0]!, /^GET /);
    if (/^\/v[23]\/projects/.test(route.pattern)) assert.match(text, /"project_id"/, route.pattern);
  }

  const planted = {
    'files of a private lab': /^GET .*projects\/\{project_id\}\/files/,
    'the list of labs': /^GET \/v2\/projects$/,
    'a change by watchers': /^PUT .*projects\/\{project_id\}\/links/,
    'a console': /^GET \/v2\/projects.*console\/ws$/,
    'the compute half': /^GET \/v2\/compute\/projects$/,
    figures: /^GET \/metrics$/,
    accounts: /^PUT \/v2\/accounts/,
    'nodes of a private lab by /v3': /^GET \/v3\/projects\/\{project_id\}\/nodes$/,
    'a console by /v3': /^GET \/v3\/projects.*console\/ws$/,
    'users by /v3': /^PUT \/v3\/access\/users\/\{/,
    'notifications of a lab': /^GET \/v2\/projects.*\/notifications$/,
  };
  for (const [name, hole] of Object.entries(planted)) {
    const seen = await walk(hole);
    assert.ok(seen.findings.length > 0, `a hole is not seen: ${name}`);
  }
  return [
    { what: 'routes, WebSockets and streams', value: routes.length },
    { what: 'identities: none, removed, expired, users, observers, tokens', value: walkers.length },
    { what: 'requests', value: asked },
    { what: 'answers that showed or changed too much', value: findings.length },
    { what: 'planted holes that were found', value: Object.keys(planted).length },
  ];
});
