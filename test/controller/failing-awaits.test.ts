// Every verb of several steps, with each thing that it waits for failing once: afterwards all is as before, or as it was to become.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Body } from '../body.ts';
import { Failing, failAwaits } from './failing-awaits.ts';
import { LabServer } from './lab-server.ts';
import { type Picture, pictureOf } from './picture.ts';

interface Lab {
  server: LabServer;
  project: Body;
  path: string;
  h1: Body;
  h2: Body;
  pc: Body;
  link: Body;
  drawing: Body;
  /** What `before` has made. */
  made?: Body;
}

interface Verb {
  name: string;
  before?: (lab: Lab) => Promise<Body>;
  act: (lab: Lab) => Promise<{ status: number }>;
  /** What may be left of it when it fails halfway: no way leads back from there. */
  or?: (lab: Lab) => Promise<{ status: number }>;
  /** The release's: what a compute says of a stop does not matter. */
  lenient?: true;
}

const PICTURE = '<svg height="10" width="10"><rect/></svg>';

async function makeLab(server: LabServer): Promise<Lab> {
  const project = await server.project('lab', { auto_close: false });
  const path = `/v2/projects/${project.project_id}`;
  const h1 = await server.hub(project, 'H1');
  const h2 = await server.hub(project, 'H2');
  const properties = { startup_script: 'ip 10.0.0.1/24\n' };
  const pc = await server.expect(201, 'POST', `${path}/nodes`, {
    name: 'PC1',
    node_type: 'vpcs',
    compute_id: 'local',
    properties,
  });
  const link = await server.link(project, [pc, 0], [h1, 0], { filters: { packet_loss: [10] } });
  const drawing = await server.expect(201, 'POST', `${path}/drawings`, { svg: PICTURE, x: 1 });
  await mkdir(join(project.path, 'docs'));
  await writeFile(join(project.path, 'docs/file.txt'), 'mine');
  return { server, project, path, h1, h2, pc, link, drawing };
}

const call =
  (method: string, path: (lab: Lab) => string, body?: (lab: Lab) => object): Verb['act'] =>
  (lab) =>
    lab.server.call(method, path(lab), body?.(lab));
const at =
  (suffix: string) =>
  (lab: Lab): string =>
    `${lab.path}${suffix}`;
const node =
  (which: 'h1' | 'h2' | 'pc', action = '') =>
  (lab: Lab): string =>
    `${lab.path}/nodes/${lab[which].node_id}${action}`;
const link =
  (action = '') =>
  (lab: Lab): string =>
    `${lab.path}/links/${lab.link.link_id}${action}`;
const drawing = (lab: Lab): string => `${lab.path}/drawings/${lab.drawing.drawing_id}`;
const snapshot =
  (action = '') =>
  (lab: Lab): string =>
    `${lab.path}/snapshots/${lab.made.snapshot_id}${action}`;
const started: Verb['before'] = (lab) => lab.server.expect(200, 'POST', node('pc', '/start')(lab));
const closed: Verb['before'] = (lab) => lab.server.expect(204, 'POST', at('/close')(lab));
const captured: Verb['before'] = async (lab) => {
  await started(lab);
  await lab.server.expect(201, 'POST', link('/start_capture')(lab), {});
};

const VERBS: Verb[] = [
  {
    name: 'create a node',
    act: call('POST', at('/nodes'), () => ({
      name: 'PC2',
      node_type: 'vpcs',
      compute_id: 'local',
      properties: { startup_script: 'x\n' },
    })),
  },
  { name: 'duplicate a node', act: call('POST', node('pc', '/duplicate'), () => ({ x: 5, y: 5, z: 1 })) },
  { name: 'rename a node', act: call('PUT', node('pc'), () => ({ name: 'Other', x: 7 })) },
  { name: 'change the console of a node', act: call('PUT', node('pc'), () => ({ console_type: 'none' })) },
  { name: 'move a node', act: call('PUT', node('h1'), () => ({ x: 7, label: { text: 'H', x: 1 } })) },
  {
    name: 'change the ports of a hub',
    act: call('PUT', node('h2'), () => ({ properties: { ports_mapping: [{ name: 'a', port_number: 0 }] } })),
  },
  { name: 'start a node', act: call('POST', node('pc', '/start')) },
  { name: 'stop a node', lenient: true, before: started, act: call('POST', node('pc', '/stop')) },
  {
    name: 'reload a node',
    or: call('POST', node('pc', '/stop')),
    before: started,
    act: call('POST', node('pc', '/reload')),
  },
  { name: 'delete a node', before: started, act: call('DELETE', node('pc')) },
  {
    name: 'create a link',
    act: call('POST', at('/links'), ({ h1, h2 }) => ({
      filters: { packet_loss: [5] },
      impairments: { both: { loss: { percent: 5 } } },
      suspend: true,
      nodes: [h1, h2].map(({ node_id }) => ({ node_id, adapter_number: 0, port_number: 5 })),
    })),
  },
  {
    name: 'change filters and style of a link',
    act: call('PUT', link(), () => ({ filters: { delay: [10, 0] }, link_style: { width: 3 }, suspend: true })),
  },
  {
    name: 'change impairments and labels of a link',
    act: call('PUT', link(), ({ pc }) => ({
      impairments: { both: { loss: { percent: 5 } } },
      nodes: [{ node_id: pc.node_id, adapter_number: 0, port_number: 0, label: { text: 'new' } }],
    })),
  },
  { name: 'delete a link', before: captured, act: call('DELETE', link()) },
  { name: 'start a capture', before: started, act: call('POST', link('/start_capture'), () => ({})) },
  { name: 'stop a capture', before: captured, act: call('POST', link('/stop_capture')) },
  { name: 'create a drawing', act: call('POST', at('/drawings'), () => ({ svg: PICTURE, x: 2 })) },
  { name: 'change a drawing', act: call('PUT', drawing, () => ({ svg: '<svg></svg>', rotation: 4 })) },
  { name: 'delete a drawing', act: call('DELETE', drawing) },
  {
    name: 'create a project',
    act: call(
      'POST',
      () => '/v2/projects',
      () => ({ name: 'second' }),
    ),
  },
  {
    name: 'change a project',
    act: call('PUT', at(''), () => ({ name: 'renamed', variables: [{ name: 'A', value: '1' }] })),
  },
  { name: 'change a closed project', before: closed, act: call('PUT', at(''), () => ({ name: 'renamed', zoom: 50 })) },
  { name: 'close a project', before: captured, act: call('POST', at('/close')) },
  { name: 'open a project', before: closed, act: call('POST', at('/open')) },
  {
    name: 'delete a project',
    // Its nodes are stopped first. When it cannot be deleted after all, it is opened again.
    or: async (lab) => {
      const closed = await call('POST', at('/close'))(lab);
      return closed.status < 300 ? call('POST', at('/open'))(lab) : closed;
    },
    before: captured,
    act: call('DELETE', at('')),
  },
  { name: 'delete a closed project', before: closed, act: call('DELETE', at('')) },
  {
    name: 'duplicate a project',
    act: call('POST', at('/duplicate'), () => ({ name: 'copy', reset_mac_addresses: true })),
  },
  {
    name: 'export a project',
    act: async ({ server, path }) => {
      const response = await server.request(`${path}/export?include_snapshots=yes`);
      await response.arrayBuffer();
      return response;
    },
  },
  {
    name: 'import a project',
    before: async ({ server, path }) => {
      await server.expect(201, 'POST', `${path}/snapshots`, { name: 'inner' });
      return (await server.request(`${path}/export?include_snapshots=yes`)).arrayBuffer();
    },
    act: ({ server, made }) =>
      server.request(`/v2/projects/${randomUUID()}/import?name=imported`, {
        method: 'POST',
        body: new Uint8Array(made),
      }),
  },
  { name: 'create a snapshot', act: call('POST', at('/snapshots'), () => ({ name: 'then' })) },
  {
    name: 'restore a snapshot',
    before: async ({ server, path, h1, project }) => {
      const made = await server.expect(201, 'POST', `${path}/snapshots`, { name: 'then' });
      await server.expect(204, 'DELETE', `${path}/nodes/${h1.node_id}`);
      await writeFile(join(project.path, 'docs/file.txt'), 'changed');
      return made;
    },
    act: call('POST', snapshot('/restore')),
  },
  {
    name: 'delete a snapshot',
    before: ({ server, path }) => server.expect(201, 'POST', `${path}/snapshots`, { name: 'then' }),
    act: call('DELETE', snapshot()),
  },
  {
    name: 'make a node of a template',
    before: ({ server }) =>
      server
        .expect(200, 'GET', '/v2/templates')
        .then((all) => all.find(({ template_type: type }: Body) => type === 'vpcs')),
    act: call(
      'POST',
      ({ path, made }) => `${path}/templates/${made.template_id}`,
      () => ({ x: 1, y: 1, compute_id: 'local' }),
    ),
  },
  {
    name: 'create a template',
    act: call(
      'POST',
      () => '/v2/templates',
      () => ({
        name: 'mine',
        template_type: 'vpcs',
        compute_id: 'local',
        template_id: 'a0000000-0000-4000-8000-000000000001',
      }),
    ),
  },
  {
    name: 'create a compute',
    act: call(
      'POST',
      () => '/v2/computes',
      () => ({ compute_id: 'other', protocol: 'http', host: '127.0.0.1', port: 9 }),
    ),
  },
  {
    name: 'change a compute',
    before: ({ server }) =>
      server.expect(201, 'POST', '/v2/computes', { compute_id: 'other', protocol: 'http', host: '127.0.0.1', port: 9 }),
    act: call(
      'PUT',
      () => '/v2/computes/other',
      () => ({ name: 'renamed', port: 10 }),
    ),
  },
  {
    name: 'delete a compute',
    before: ({ server }) =>
      server.expect(201, 'POST', '/v2/computes', { compute_id: 'other', protocol: 'http', host: '127.0.0.1', port: 9 }),
    act: call('DELETE', () => '/v2/computes/other'),
  },
];

/** Whether two pictures are the same, but for what cannot be helped. */
function same(wanted: Picture, seen: Picture, { now = '', kept }: Failing): boolean {
  // A port that was reserved and never told, until the project is closed.
  const taken = ({ taken }: Picture): string =>
    /^lost answer of POST udp/.test(now) ? taken.replace(/UDP ports \d+/, '') : taken;
  // What could not be removed, and a capture that was begun and taken back.
  const files = (picture: Picture): string =>
    picture.files.filter((path) => kept === undefined && !/\/captures\//.test(path)).join();
  return wanted.labs === seen.labs && taken(wanted) === taken(seen) && files(wanted) === files(seen);
}

/** The first differences from what is most like it. */
function differences(wanted: readonly Picture[], seen: Picture): string {
  const lines = ({ labs, files, taken }: Picture): string[] => [...labs.split('\n'), ...files, taken];
  const right = lines(seen);
  const all = wanted.map((one) => {
    const left = lines(one);
    return [
      ...left.filter((line) => !right.includes(line)).map((line) => `    - ${line}`),
      ...right.filter((line) => !left.includes(line)).map((line) => `    + ${line}`),
    ];
  });
  const [least = []] = all.sort((one, other) => one.length - other.length);
  return least
    .slice(0, 12)
    .map((line) => line.replaceAll(/\s*\n\s*/g, ' ').slice(0, 200))
    .join('\n');
}

async function cleaned({ server }: { server: LabServer }): Promise<void> {
  for (const { project_id: id } of await server.expect(200, 'GET', '/v2/projects'))
    await server.expect(204, 'DELETE', `/v2/projects/${id}`);
  for (const { compute_id: id } of await server.expect(200, 'GET', '/v2/computes'))
    if (id !== 'local') await server.expect(204, 'DELETE', `/v2/computes/${id}`);
  for (const { template_id: id, builtin } of await server.expect(200, 'GET', '/v2/templates'))
    if (!builtin) await server.expect(204, 'DELETE', `/v2/templates/${id}`);
}

async function reopened({ server, path }: Lab): Promise<void> {
  const { status } = await server.call('GET', path);
  if (status === 404) return;
  await server.expect(204, 'POST', `${path}/close`);
  await server.expect(201, 'POST', `${path}/open`);
}

async function attack(t: TestContext, server: LabServer, verb: Verb): Promise<string[]> {
  const empty = await pictureOf(server);
  const prepared = async (): Promise<Lab> => {
    const lab = await makeLab(server);
    return { ...lab, made: await verb.before?.(lab) };
  };
  const pictures = async (lab: Lab): Promise<[Picture, Picture]> => {
    const now = await pictureOf(server);
    await reopened(lab);
    const later = await pictureOf(server);
    return [now, later];
  };
  const after = async (act: Verb['act']): Promise<[Picture, Picture]> => {
    const lab = await prepared();
    const { status } = await act(lab);
    assert.ok(status < 300, `${verb.name}: ${status}`);
    const seen = await pictures(lab);
    await cleaned(lab);
    return seen;
  };
  const done = await after(verb.act);
  const before = await after(async () => ({ status: 200 }));
  const halfway = verb.or && (await after(verb.or));

  const wrong: string[] = [];
  const failing = new Failing();
  for (;;) {
    const lab = await prepared();
    let answer: { status: number; json?: unknown } = { status: 0 };
    await failing.run(async () => {
      answer = await verb.act(lab).catch((error) => ({ status: 599, json: String(error) }));
    });
    if (failing.now !== undefined) {
      const [now, later] = await pictures(lab);
      const said = `${failing.now}\n  answered ${answer.status} ${JSON.stringify(answer.json)?.slice(0, 150)}\n`;
      const failed = answer.status >= 300;
      const ends = failed || verb.lenient ? [done, before, ...(halfway ? [halfway] : [])] : [done];
      const fits = ends.find(([wanted]) => same(wanted, now, failing));
      if (!fits)
        wrong.push(
          said +
            differences(
              ends.map(([wanted]) => wanted),
              now,
            ),
        );
      else if (!same(fits[1], later, failing))
        wrong.push(`${said}  and after it was opened again:\n${differences([fits[1]], later)}`);
    }
    if (failing.kept !== undefined) rmSync(failing.kept, { recursive: true, force: true });
    await cleaned(lab);
    const left = await pictureOf(server);
    if (!same(empty, left, failing)) wrong.push(`${failing.now}\n  left behind:\n${differences([empty], left)}`);
    if (failing.now === undefined) break;
  }
  t.diagnostic(`${verb.name}: ${failing.count} failures`);
  return wrong;
}

// Thousands of times the disk is waited for.
if (existsSync('/dev/shm')) process.env['TMPDIR'] = '/dev/shm';
await failAwaits();

test('a verb that fails at any step has done all or nothing', async (t) => {
  let server: LabServer | undefined;
  for (const verb of VERBS.filter(({ name }) => !process.env['VERB'] || name.match(process.env['VERB']))) {
    await t.test(verb.name, async (ts) => {
      if (!server) {
        server = await LabServer.start(t, { 'VPCS.engine': 'built-in' });
        await cleaned(await makeLab(server));
      }
      const one = server;
      server = undefined;
      const wrong = await attack(ts, one, verb);
      if (wrong.length === 0) server = one;
      if (wrong.length > 0) assert.fail(`${wrong.length} times:\n${wrong.join('\n')}`);
    });
  }
});
