// Several verbs at the same time, in an order of their steps that a scheduler chooses: what they answer and what they leave is what they
// would answer and leave one after the other, in some order.
import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { App, type RequestOptions } from '../../src/http/app/app.ts';
import { Labs } from '../../src/store/labs.ts';
import { Projects } from '../../src/store/projects.ts';
import type { Body } from '../body.ts';
import { LabServer, until } from './lab-server.ts';

interface Lab {
  server: LabServer;
  number: number;
  project: Body;
  path: string;
  hubs: Body[];
  pc: Body;
  link: Body;
  drawing: Body;
  snapshot: Body;
}

type Verb = (lab: Lab) => Promise<{ status: number }>;

/** The same in all labs, so that their pictures can be compared: the last digits are the lab's. */
const idOf = ({ number }: Lab, digit: string): string =>
  `${digit.repeat(8)}-0000-4000-8000-${String(number).padStart(12, '0')}`;

const node = (lab: Lab, name: string, id: string): object => ({
  name,
  node_type: 'ethernet_hub',
  compute_id: 'local',
  node_id: idOf(lab, id),
});
const ends = (lab: Lab, ...ports: [number, number][]): object => ({
  nodes: ports.map(([hub, port]) => ({ node_id: lab.hubs[hub].node_id, adapter_number: 0, port_number: port })),
});
const on =
  (method: string, path: (lab: Lab) => string, body?: (lab: Lab) => object): Verb =>
  (lab) =>
    lab.server.call(method, `${lab.path}${path(lab)}`, body?.(lab));
const hub = (number: number) => (lab: Lab) => `/nodes/${lab.hubs[number].node_id}`;
const pc = (lab: Lab): string => `/nodes/${lab.pc.node_id}`;
const link = (lab: Lab): string => `/links/${lab.link.link_id}`;
const drawing = (lab: Lab): string => `/drawings/${lab.drawing.drawing_id}`;

const VERBS: Record<string, Verb> = {
  'zoom the project': on(
    'PUT',
    () => '',
    () => ({ zoom: 77 }),
  ),
  'rename the project': on(
    'PUT',
    () => '',
    ({ number }) => ({ name: `renamed ${number}` }),
  ),
  'close the project': on('POST', () => '/close'),
  'open the project': on('POST', () => '/open'),
  'delete the project': on('DELETE', () => ''),
  'create a node': on(
    'POST',
    () => '/nodes',
    (lab) => node(lab, 'New', '1'),
  ),
  'create it with another name': on(
    'POST',
    () => '/nodes',
    (lab) => node(lab, 'Newer', '1'),
  ),
  'create a node of a taken name': on(
    'POST',
    () => '/nodes',
    (lab) => node(lab, 'A', '2'),
  ),
  'move a node': on('PUT', hub(0), () => ({ x: 5 })),
  'rename a node': on('PUT', hub(0), () => ({ name: 'Renamed', y: 6 })),
  'take ports from a node': on('PUT', hub(0), () => ({
    properties: { ports_mapping: [{ name: 'P0', port_number: 0 }] },
  })),
  'delete a node': on('DELETE', hub(0)),
  'delete another node': on('DELETE', hub(1)),
  'lock a node': on('PUT', hub(0), () => ({ locked: true })),
  'duplicate a node': on(
    'POST',
    (lab) => `${hub(0)(lab)}/duplicate`,
    () => ({ x: 1, y: 2 }),
  ),
  'create a link': on(
    'POST',
    () => '/links',
    (lab) => ends(lab, [0, 1], [1, 1]),
  ),
  'create a link at the same port': on(
    'POST',
    () => '/links',
    (lab) => ends(lab, [2, 0], [0, 1]),
  ),
  'suspend a link': on('PUT', link, () => ({ suspend: true })),
  'style a link': on('PUT', link, () => ({ link_style: { width: 3 } })),
  'delete a link': on('DELETE', link),
  'start a capture': on(
    'POST',
    (lab) => `${link(lab)}/start_capture`,
    () => ({ capture_file_name: 'a.pcap' }),
  ),
  'start another capture': on(
    'POST',
    (lab) => `${link(lab)}/start_capture`,
    () => ({ capture_file_name: 'b.pcap' }),
  ),
  'stop the capture': on('POST', (lab) => `${link(lab)}/stop_capture`),
  'create a drawing': on(
    'POST',
    () => '/drawings',
    (lab) => ({ drawing_id: idOf(lab, '3'), x: 1 }),
  ),
  'create it at another place': on(
    'POST',
    () => '/drawings',
    (lab) => ({ drawing_id: idOf(lab, '3'), x: 2 }),
  ),
  'move a drawing': on('PUT', drawing, () => ({ x: 9 })),
  'lock a drawing': on('PUT', drawing, () => ({ locked: true })),
  'delete a drawing': on('DELETE', drawing),
  'start a PC': on(
    'POST',
    (lab) => `${pc(lab)}/start`,
    () => ({}),
  ),
  'stop a PC': on(
    'POST',
    (lab) => `${pc(lab)}/stop`,
    () => ({}),
  ),
  'start all': on('POST', () => '/nodes/start'),
  'stop all': on('POST', () => '/nodes/stop'),
  'delete a PC': on('DELETE', pc),
  'create a snapshot': on(
    'POST',
    () => '/snapshots',
    () => ({ name: 'new' }),
  ),
  'restore a snapshot': on('POST', (lab) => `/snapshots/${lab.snapshot.snapshot_id}/restore`),
  'duplicate the project': on(
    'POST',
    () => '/duplicate',
    ({ number }) => ({ name: `copy ${number}` }),
  ),
};

const scheduling = new AsyncLocalStorage<fc.Scheduler>();

/** Has every step to the database and to the compute wait until the scheduler of its verb lets it go on. */
function scheduleSteps(): void {
  // biome-ignore lint/suspicious/noExplicitAny: whatever the method takes and answers
  type AnyMethod = (this: any, ...values: any[]) => any;
  const wrap = (holder: object, name: string, isStep: (...values: Body[]) => boolean): void => {
    const methods = holder as Record<string, AnyMethod>;
    const original = methods[name]!;
    methods[name] = async function (...values) {
      const scheduler = scheduling.getStore();
      if (scheduler && isStep(...values)) await scheduler.schedule(Promise.resolve(), name);
      return original.apply(this, values);
    };
  };
  for (const name of ['begin', 'apply', 'load', 'texts', 'state', 'end', 'recordComing', 'recordWritten'])
    wrap(Labs.prototype, name, () => true);
  for (const name of ['put', 'delete', 'get']) wrap(Projects.prototype, name, () => true);
  wrap(App.prototype, 'request', (target: string, _options?: RequestOptions) => target.startsWith('/v2/compute/'));
}

async function makeLab(server: LabServer, number: number): Promise<Lab> {
  const project = await server.project(`lab ${number}`, { auto_close: false });
  const path = `/v2/projects/${project.project_id}`;
  const hubs = [];
  for (const name of ['A', 'B', 'C']) hubs.push(await server.hub(project, name));
  const link = await server.link(project, [hubs[0], 0], [hubs[1], 0]);
  const drawing = await server.expect(201, 'POST', `${path}/drawings`, { svg: '<svg></svg>' });
  const snapshot = await server.expect(201, 'POST', `${path}/snapshots`, { name: 'old' });
  const pc = await server.expect(201, 'POST', `${path}/nodes`, { name: 'PC', node_type: 'vpcs', compute_id: 'local' });
  return { server, number, project, path, hubs, pc, link, drawing, snapshot };
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** What there is of a lab, in words that all labs have in common; afterwards it is closed. */
async function pictureOf(lab: Lab): Promise<string> {
  const { server, path, number } = lab;
  const names = new Map<string, string>();
  const get = async (what: string): Promise<Body> => (await server.call('GET', `${path}${what}`)).json;
  const project = await get('');
  const plain = (value: unknown): string =>
    JSON.stringify(value, undefined, 1)
      .replaceAll(UUID, (id) => names.get(id) ?? '<id>')
      .replaceAll(new RegExp(`(lab|renamed|copy) ${number}\\b`, 'g'), '$1')
      .replaceAll(/"(console|created_at)": ?\d+/g, '"$1": 0');
  const copies = (await server.expect(200, 'GET', '/v2/projects')).filter(
    ({ name }: Body) => name === `copy ${number}`,
  );
  for (const { project_id: id } of copies) await server.expect(204, 'DELETE', `/v2/projects/${id}`);
  if (project.project_id === undefined) return plain({ gone: !existsSync(lab.project.path), copies: copies.length });
  const sortedBy = (list: Body[], key: (one: Body) => string): Body[] =>
    [...list].sort((one, other) => (key(one) < key(other) ? -1 : 1));
  const content = async (): Promise<object> => {
    const nodes: Body[] = sortedBy(await get('/nodes'), ({ name }) => name);
    for (const { node_id: id, name } of nodes) names.set(id, name);
    const links = sortedBy(
      await get('/links'),
      ({ nodes: [one, other] }) => `${one?.port_number} ${other?.port_number}`,
    );
    return { nodes, links, drawings: sortedBy(await get('/drawings'), ({ x }) => String(x)) };
  };
  const before = await content();
  const at = [];
  if (project.status === 'opened') {
    for (const { node_id: id, node_type: type, status } of (before as Body).nodes) {
      const compute = `/v2/compute/projects/${project.project_id}/${type}/nodes/${id}`;
      // What the compute announces comes a little later than its answers.
      await until(
        async () => (await get(`/nodes/${id}`)).status === (await server.call('GET', compute)).json.status,
        'the status',
      );
      const { name, console: port } = (await server.call('GET', compute)).json;
      at.push([name, status, port === undefined]);
    }
  }
  const shown = {
    ...project,
    ...(await content()),
    at,
    snapshots: (await get('/snapshots')).map(({ name }: Body) => name).sort(),
  };
  await server.expect(204, 'POST', `${path}/close`);
  const file = JSON.parse(readFileSync(join(project.path, project.filename), 'utf8')).topology;
  const written = {
    nodes: sortedBy(file.nodes, ({ name }) => name).map(({ console_type: _type, ...rest }) => rest),
    links: sortedBy(file.links, ({ nodes: [one, other] }) => `${one.port_number} ${other.port_number}`),
    drawings: sortedBy(file.drawings, ({ x }) => String(x)),
  };
  return plain({ shown, written, copies: copies.length });
}

const ALL = process.env['LABWIRE_FAULTS'] === 'full';
const RUNS = ALL ? 400 : 10;

function orders<T>(things: readonly T[]): T[][] {
  if (things.length < 2) return [[...things]];
  return things.flatMap((thing, index) =>
    orders([...things.slice(0, index), ...things.slice(index + 1)]).map((rest) => [thing, ...rest]),
  );
}

test('verbs at the same time leave what they would leave one after the other, in some order', async (t) => {
  scheduleSteps();
  const server = await LabServer.start(t, { 'VPCS.engine': 'built-in' });
  const ports = async (): Promise<object> => {
    const { console_ports: consoles, udp_ports: udp } = await server.expect(200, 'GET', '/v2/compute/network/ports');
    return { consoles, udp };
  };
  const free = await ports();
  let labs = 0;
  const outcome = async (run: (lab: Lab) => Promise<{ status: number }[]>): Promise<string> => {
    const lab = await makeLab(server, ++labs);
    const statuses = (await run(lab)).map(({ status }) => status);
    const picture = await pictureOf(lab);
    await server.call('DELETE', lab.path);
    assert.deepEqual(await ports(), free);
    return `${statuses.join()} ${picture}`;
  };
  const known = new Map<string, string>();
  const oneByOne = async (names: readonly string[], order: readonly number[]): Promise<string> => {
    const key = `${names} ${order}`;
    const picture =
      known.get(key) ??
      (await outcome(async (lab) => {
        const answers: { status: number }[] = [];
        for (const index of order) answers[index] = await VERBS[names[index]!]!(lab);
        return answers;
      }));
    known.set(key, picture);
    return picture;
  };
  const names = Object.keys(VERBS);
  const chosen = fc.array(fc.constantFrom(...names), { minLength: 2, maxLength: ALL ? 3 : 2 });
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), chosen, async (scheduler, verbs) => {
      const together = await outcome((lab) =>
        scheduling.run(scheduler, () => {
          const answers = Promise.all(verbs.map((name) => VERBS[name]!(lab)));
          return scheduler.waitFor(answers);
        }),
      );
      const serial: string[] = [];
      for (const order of orders(verbs.map((_verb, index) => index))) {
        serial.push(await oneByOne(verbs, order));
        if (serial.at(-1) === together) return;
      }
      assert.deepEqual(together.split('\n'), serial[0]!.split('\n'), `${verbs.join(' and ')}: like no order`);
    }),
    { numRuns: RUNS, endOnFailure: true, ...(ALL ? {} : { seed: 8 }) },
  );
});
