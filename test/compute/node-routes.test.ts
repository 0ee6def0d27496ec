// Which routes a kind of node has: those that release 2.2.57 has for it.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { KINDS } from '../../src/compute/emulators/registry.ts';
import { type Lab, startLab } from './support.ts';

const PORT = '/adapters/0/ports/0';

/** Method and path below the node, and what an unknown node answers there: 404 of the route, 405, or the router's own 404. */
type Rows = [string, string, 'route' | 400 | 405 | 'router'][];

/** Of hubs and switches. */
const SWITCHES: Rows = [
  ['GET', '', 'route'],
  ['PUT', '', 'route'],
  ['DELETE', '', 'route'],
  ['POST', '', 405],
  ['POST', '/start', 'route'],
  ['POST', '/stop', 'route'],
  ['POST', '/suspend', 'route'],
  ['GET', '/start', 405],
  ['POST', '/reload', 'router'],
  ['POST', '/resume', 'router'],
  ['POST', '/duplicate', 'route'],
  ['POST', '/console/reset', 'router'],
  ['GET', '/console/ws', 'router'],
  ['POST', `${PORT}/nio`, 'route'],
  ['PUT', `${PORT}/nio`, 405],
  ['DELETE', `${PORT}/nio`, 'route'],
  ['POST', `${PORT}/start_capture`, 'route'],
  ['POST', `${PORT}/stop_capture`, 'route'],
  ['GET', `${PORT}/pcap`, 'route'],
  ['GET', '/disk_use', 'router'],
];

/** Of what leads out of the lab. */
const OUTSIDE: Rows = SWITCHES.map(([method, suffix, outcome]) => {
  if (suffix === '/duplicate') return [method, suffix, 'router'];
  return [method, suffix, method === 'PUT' ? 'route' : outcome];
});

/** Of nodes that run a program of their own. */
const PROGRAMS: Rows = [
  ['GET', '', 'route'],
  ['PUT', '', 'route'],
  ['DELETE', '', 'route'],
  ['POST', '/start', 'route'],
  ['POST', '/stop', 'route'],
  ['POST', '/suspend', 'route'],
  ['POST', '/reload', 'route'],
  ['POST', '/pause', 'router'],
  ['POST', '/duplicate', 'route'],
  ['POST', '/console/reset', 'route'],
  ['POST', `${PORT}/nio`, 'route'],
  ['PUT', `${PORT}/nio`, 'route'],
  ['DELETE', `${PORT}/nio`, 'route'],
  ['POST', `${PORT}/start_capture`, 'route'],
  ['POST', `${PORT}/stop_capture`, 'route'],
  ['GET', `${PORT}/pcap`, 'route'],
  ['GET', '/disk_use', 'route'],
];

/** Of machines that other programs have. */
const MACHINES: Rows = [
  ...PROGRAMS.map(([method, suffix, outcome]): Rows[number] => [
    method,
    suffix,
    suffix === '/duplicate' ? 'router' : outcome,
  ]),
  ['POST', '/resume', 'route'],
  ['POST', '/resize_disk', 'router'],
];

/** Of containers. */
const CONTAINERS: Rows = [
  ...PROGRAMS.filter(([, suffix]) => suffix !== '/pause'),
  ['POST', '/pause', 'route'],
  ['POST', '/unpause', 'route'],
  ['POST', '/resume', 'router'],
];

const TABLE: Record<string, Rows> = {
  atm_switch: SWITCHES,
  cloud: [...OUTSIDE.filter(([, suffix]) => suffix !== '/disk_use'), ['GET', '/disk_use', 'route']],
  docker: CONTAINERS,
  dynamips: [
    ...PROGRAMS,
    ['POST', '/resume', 'route'],
    ['GET', '/auto_idlepc', 'route'],
    ['GET', '/idlepc_proposals', 'route'],
  ],
  ethernet_hub: SWITCHES,
  ethernet_switch: [
    ...SWITCHES.filter(([, suffix]) => !suffix.startsWith('/console/')),
    ['POST', '/console/reset', 'route'],
    // Without an upgrade there is no WebSocket.
    ['GET', '/console/ws', 400],
  ],
  frame_relay_switch: SWITCHES,
  iou: [...PROGRAMS, ['POST', '/resume', 'router'], ['POST', '/resize_disk', 'router']],
  nat: OUTSIDE,
  qemu: [...PROGRAMS, ['POST', '/resume', 'route'], ['POST', '/resize_disk', 'route']],
  traceng: PROGRAMS.map(([method, suffix, outcome]) => [
    method,
    suffix,
    suffix === '/console/reset' ? 'router' : outcome,
  ]),
  virtualbox: MACHINES,
  vmware: [...MACHINES, ['POST', '/interfaces/vmnet', 'route']],
  vpcs: [...PROGRAMS, ['POST', '/resume', 'router'], ['POST', '/resize_disk', 'router']],
};

const BODIES: Record<string, object> = {
  '/resize_disk': { drive_name: 'hda', extend: 1 },
  '/duplicate': { destination_node_id: randomUUID() },
  [`${PORT}/nio`]: { type: 'nio_udp', lport: 15_000, rhost: '127.0.0.1', rport: 15_001 },
  [`${PORT}/start_capture`]: { capture_file_name: 'x' },
};

async function outcome(lab: Lab, method: string, path: string, body: object | undefined): Promise<string | number> {
  const { status, headers } = await lab.request(method, path, body);
  if (status !== 404) return status;
  return headers.get('content-type') === 'application/json' ? 'route' : 'router';
}

async function project(t: TestContext): Promise<{ lab: Lab; path: string }> {
  const lab = await startLab(t);
  return { lab, path: await lab.project() };
}

test('every kind that this compute runs is in the table', () => {
  assert.deepEqual(
    KINDS.map(({ type }) => type),
    Object.keys(TABLE),
  );
});

for (const [kind, rows] of Object.entries(TABLE)) {
  test(`${kind} nodes have the routes that clients know, and no others`, async (t) => {
    const { lab, path } = await project(t);
    const node = `${path}/${kind}/nodes/${randomUUID()}`;
    for (const [method, suffix, expected] of rows) {
      const body = method === 'GET' || method === 'DELETE' ? undefined : (BODIES[suffix] ?? {});
      assert.equal(await outcome(lab, method, `${node}${suffix}`, body), expected, `${method} ${suffix}`);
    }
    assert.equal(await outcome(lab, 'GET', `${path}/${kind}/nodes`, undefined), 405);
  });
}

test('requests about one node are served one after the other, about others at once', async (t) => {
  const { lab, path } = await project(t);
  const [pc, hub] = [await lab.node(path, 'vpcs'), await lab.node(path, 'ethernet_hub')];
  const names = Array.from({ length: 20 }, (_, n) => `N${n}`);
  await Promise.all(names.flatMap((name) => [pc, hub].map((node) => lab.expect(200, 'PUT', node, { name }))));
  for (const node of [pc, hub]) {
    const id = node.split('/').at(-1);
    const told = lab.messages.map(({ event }) => event as { node_id?: string; name?: string });
    assert.deepEqual(
      told.filter((event) => event.node_id === id).map(({ name }) => name),
      names,
    );
  }
});

test('requests for one node wait for each other, streams and searches do not', async (t) => {
  const lab = await startLab(t);
  const all = lab.app.routes.flatMap((route) =>
    route.kind === 'http' && route.pattern.includes('{node_id}') ? [route] : [],
  );
  const free = all.filter(({ turn }) => turn === undefined).map(({ pattern }) => pattern.split('/').at(-1));
  assert.deepEqual([...new Set(free)].sort(), [
    'addresses',
    'auto_idlepc',
    'checkpoint',
    'idlepc_proposals',
    'pcap',
    'schedule',
    'statistics',
  ]);
  const names = all.map(({ turn }) => turn?.({ project_id: 'p', node_id: 'n' }));
  assert.deepEqual([...new Set(names)].sort(), ['p/n', undefined]);
});
