// The verbs that change what the controller keeps: how each is prepared, and what there is of it.
import { randomUUID } from 'node:crypto';
import type { Answer, Daemon } from '../system/daemon.ts';
import { MACHINE } from '../system/machines.ts';
import { basic } from './controller-pair.ts';
import { type Members, textOf } from './lab-state.ts';

type Ask = Daemon['ask'];

/** Where a verb works: all names of what is its own begin with `prefix`. */
export interface Place {
  ask: Ask;
  prefix: string;
  /** The compute of the host that is to be the next controller: what runs there outlives this one. */
  compute: string;
  download: (path: string) => Promise<Uint8Array>;
}

export interface Verb {
  name: string;
  /** It stops nodes first: interrupted, it may have done that alone. */
  stops?: true;
  /** Makes what the verb is about; resolves to the request. */
  prepare: (place: Place) => Promise<() => Promise<Answer>>;
}

const SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"></svg>';
const PASSWORD = 'of-this-test-alone';

async function made(ask: Ask, path: string, body?: unknown, method = 'POST'): Promise<Members> {
  const answer = await ask(method, path, { ...(body !== undefined && { body }) });
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text.slice(0, 300)}`);
  return answer.json;
}

/** A lab with a hub and a drawing here, and a linked hub and PCs on the other host, one of which runs. */
interface Lab {
  path: string;
  hub: Members;
  link: Members;
  drawing: Members;
  stopped: Members;
  running: Members;
}

async function labOf({ ask, prefix, compute }: Place): Promise<Lab> {
  const body = { name: `${prefix}lab`, auto_close: false, variables: [{ name: 'A', value: 'then' }] };
  const path = `/v2/projects/${(await made(ask, '/v2/projects', body))['project_id']}`;
  const node = (name: string, more: object) => made(ask, `${path}/nodes`, { name, ...more });
  const aHub = { node_type: 'ethernet_hub' };
  const hub = await node('H1', { ...aHub, compute_id: 'local', x: 1 });
  const other = await node('H2', { ...aHub, compute_id: compute });
  const pc = { node_type: 'vpcs', compute_id: compute };
  const [stopped, running] = [await node('PC1', pc), await node('PC2', pc)];
  const end = ({ node_id }: Members, port_number: number) => ({ node_id, adapter_number: 0, port_number });
  const link = await made(ask, `${path}/links`, { nodes: [end(hub, 0), end(other, 0)] });
  await made(ask, `${path}/links`, { nodes: [end(hub, 1), end(running, 0)] });
  await made(ask, `${path}/nodes/${running['node_id']}/start`);
  const drawing = await made(ask, `${path}/drawings`, { svg: SVG, x: 1 });
  return { path, hub, link, drawing, stopped, running };
}

type OfLab<Prepared> = (lab: Lab, ask: Ask, prefix: string, prepared: Prepared) => Promise<Answer>;
type Preparation<Prepared> = (lab: Lab, ask: Ask, place: Place) => Promise<Prepared>;

/** @param before what is done with the lab before; `run` gets its result */
const ofLab = <Prepared>(name: string, run: OfLab<Prepared>, before?: Preparation<Prepared>): Verb => ({
  name,
  prepare: async (place) => {
    const lab = await labOf(place);
    const prepared = (await before?.(lab, place.ask, place)) as Prepared;
    return () => run(lab, place.ask, place.prefix, prepared);
  },
});

const stopping = (verb: Verb): Verb => ({ ...verb, stops: true });

/** The state of a lab in which the node that runs has been stopped. */
export const stopped = (view: string): string => view.replace(/(PC2\W+0\W+)started/, '$1stopped');

/** A verb about one thing outside of labs. @param before makes it, and resolves to its path */
const ofThing = (
  name: string,
  method: string,
  path: string | ((place: Place) => Promise<string>),
  body?: (prefix: string) => unknown,
): Verb => ({
  name,
  prepare: async (place) => {
    const at = typeof path === 'string' ? path : await path(place);
    const sent = body?.(place.prefix);
    return () => place.ask(method, at, { ...(sent !== undefined && { body: sent }) });
  },
});

const template = (prefix: string) => ({ name: `${prefix}T`, template_type: 'vpcs', compute_id: 'local' });
const account = (prefix: string) => ({ name: `${prefix}u`.toLowerCase(), role: 'user', password: PASSWORD });
const compute = (prefix: string) => ({
  name: `${prefix}c`,
  protocol: 'http',
  host: '127.0.0.9',
  port: 9,
  user: 'then',
});
const aTemplate = async ({ ask, prefix }: Place): Promise<string> =>
  `/v2/templates/${(await made(ask, '/v2/templates', template(prefix)))['template_id']}`;
const anAccount = async ({ ask, prefix }: Place): Promise<string> =>
  `/v2/accounts/${(await made(ask, '/v2/accounts', account(prefix)))['name']}`;
const aCompute = async ({ ask, prefix }: Place): Promise<string> =>
  `/v2/computes/${(await made(ask, '/v2/computes', compute(prefix)))['compute_id']}`;
const aGroup = async ({ ask, prefix }: Place): Promise<string> =>
  `/v2/groups/${(await made(ask, '/v2/groups', { name: `${prefix}g` }))['name']}`;

/** An appliance that needs no image. */
const anAppliance = async ({ ask }: Place): Promise<string> => {
  const appliances = (await made(ask, '/v2/appliances/matches?all=yes', undefined, 'GET')) as Members[];
  const { appliance_id } = appliances.find(({ emulator }) => emulator === 'docker')!;
  return `/v2/appliances/${appliance_id}/template`;
};

const snapshotOf = async ({ path }: Lab, ask: Ask): Promise<string> =>
  `${path}/snapshots/${(await made(ask, `${path}/snapshots`, { name: 'kept' }))['snapshot_id']}`;

/** Prepares a snapshot and a lab that has changed since. */
const ofSnapshot = (name: string, method: string, part: string): Verb =>
  ofLab(
    name,
    (_lab, ask, _prefix, snapshot) => ask(method, `${snapshot}${part}`),
    async (lab, ask) => {
      await made(ask, `${nodeAt(lab, lab.running)}/stop`);
      const snapshot = await snapshotOf(lab, ask);
      await made(ask, lab.path, { variables: [{ name: 'A', value: 'now' }] }, 'PUT');
      await made(ask, nodeAt(lab, lab.stopped), undefined, 'DELETE');
      return snapshot;
    },
  );

const nodeAt = ({ path }: Lab, node: Members): string => `${path}/nodes/${node['node_id']}`;
/** A machine without a disk, on the other host. */
const machineIn = async ({ path }: Lab, ask: Ask, { compute }: Place): Promise<string> => {
  const body = { name: 'Q1', node_type: 'qemu', compute_id: compute, properties: MACHINE };
  const at = `${path}/nodes/${(await made(ask, `${path}/nodes`, body))['node_id']}`;
  await made(ask, `${at}/start`);
  return at;
};
const linkAt = ({ path, link }: Lab): string => `${path}/links/${link['link_id']}`;
const capture = (lab: Lab, ask: Ask) => ask('POST', `${linkAt(lab)}/start_capture`, { body: {} });
const close = ({ path }: Lab, ask: Ask) => made(ask, `${path}/close`);
const stopAll = ({ path }: Lab, ask: Ask) => made(ask, `${path}/nodes/stop`);

export const VERBS: readonly Verb[] = [
  ofThing('create a lab', 'POST', '/v2/projects', (prefix) => ({ name: `${prefix}new`, auto_close: false })),
  ofLab('change a lab', ({ path }, ask) =>
    ask('PUT', path, { body: { zoom: 77, variables: [{ name: 'A', value: 'b' }] } }),
  ),
  stopping(ofLab('close a lab', ({ path }, ask) => ask('POST', `${path}/close`))),
  ofLab('open a lab', ({ path }, ask) => ask('POST', `${path}/open`), close),
  ofLab(
    'duplicate a lab',
    ({ path }, ask, prefix) => ask('POST', `${path}/duplicate`, { body: { name: `${prefix}copy` } }),
    stopAll,
  ),
  ofLab(
    'import a lab',
    (_lab, ask, prefix, body) => ask('POST', `/v2/projects/${randomUUID()}/import?name=${prefix}imported`, { body }),
    async (lab, ask, { download }) => {
      await stopAll(lab, ask);
      return download(`${lab.path}/export`);
    },
  ),
  stopping(ofLab('delete a lab', ({ path }, ask) => ask('DELETE', path))),
  ofLab('delete a closed lab', ({ path }, ask) => ask('DELETE', path), close),
  ofLab('write notes', ({ path }, ask) => ask('PUT', `${path}/notes`, { body: { text: 'now' } })),
  ofLab('write a file', ({ path }, ask) => ask('POST', `${path}/files/README.txt`, { body: 'now '.repeat(2_000) })),
  ofLab('create a snapshot', ({ path }, ask) => ask('POST', `${path}/snapshots`, { body: { name: 'now' } }), stopAll),
  ofSnapshot('restore a snapshot', 'POST', '/restore'),
  ofSnapshot('delete a snapshot', 'DELETE', ''),
  ofLab('create a node', (lab, ask) =>
    ask('POST', `${lab.path}/nodes`, {
      body: { name: 'PC9', node_type: 'vpcs', compute_id: lab.stopped['compute_id'] },
    }),
  ),
  ofLab('rename a node', (lab, ask) => ask('PUT', nodeAt(lab, lab.stopped), { body: { name: 'Renamed', x: 9 } })),
  ofLab('start a node', (lab, ask) => ask('POST', `${nodeAt(lab, lab.stopped)}/start`)),
  ofLab('suspend a node', (_lab, ask, _prefix, machine) => ask('POST', `${machine}/suspend`), machineIn),
  ofLab(
    'resume a node',
    (_lab, ask, _prefix, machine) => ask('POST', `${machine}/start`),
    async (...given) => {
      const machine = await machineIn(...given);
      await made(given[1], `${machine}/suspend`);
      return machine;
    },
  ),
  stopping(
    ofLab(
      'reload a node with new settings',
      (lab, ask) => ask('POST', `${nodeAt(lab, lab.running)}/reload`),
      (lab, ask) => made(ask, `${nodeAt(lab, lab.running)}/files/startup.vpc`, 'ip 10.0.0.7/24\n'),
    ),
  ),
  ofLab('stop a node', (lab, ask) => ask('POST', `${nodeAt(lab, lab.running)}/stop`)),
  ofLab('duplicate a node', (lab, ask) =>
    ask('POST', `${nodeAt(lab, lab.stopped)}/duplicate`, { body: { x: 5, y: 5, z: 1 } }),
  ),
  ofLab('delete a node with its links', (lab, ask) => ask('DELETE', nodeAt(lab, lab.hub))),
  stopping(ofLab('delete a running node', (lab, ask) => ask('DELETE', nodeAt(lab, lab.running)))),
  ofLab('create a link', (lab, ask) => {
    const ends = [lab.hub, lab.stopped].map(({ node_id }, index) => ({
      ...{ node_id, adapter_number: 0, port_number: index === 0 ? 5 : 0 },
    }));
    return ask('POST', `${lab.path}/links`, { body: { nodes: ends } });
  }),
  ofLab('filter a link', (lab, ask) => ask('PUT', linkAt(lab), { body: { filters: { delay: [5, 1] } } })),
  ofLab('suspend a link', (lab, ask) => ask('PUT', linkAt(lab), { body: { suspend: true } })),
  ofLab('start a capture', capture),
  ofLab('stop a capture', (lab, ask) => ask('POST', `${linkAt(lab)}/stop_capture`), capture),
  ofLab('delete a link', (lab, ask) => ask('DELETE', linkAt(lab))),
  ofLab('create a drawing', ({ path }, ask) => ask('POST', `${path}/drawings`, { body: { svg: SVG, x: 2 } })),
  ofLab('move a drawing', ({ path, drawing }, ask) =>
    ask('PUT', `${path}/drawings/${drawing['drawing_id']}`, { body: { x: 77 } }),
  ),
  ofLab('delete a drawing', ({ path, drawing }, ask) => ask('DELETE', `${path}/drawings/${drawing['drawing_id']}`)),
  ofLab('share a lab', ({ path }, ask) => ask('PUT', `${path}/sharing`, { body: { everybody: 'watch' } })),
  ofThing('create a template', 'POST', '/v2/templates', template),
  ofThing('change a template', 'PUT', aTemplate, () => ({ category: 'router' })),
  ofThing('duplicate a template', 'POST', async (place) => `${await aTemplate(place)}/duplicate`),
  ofThing('delete a template', 'DELETE', aTemplate),
  ofThing('create a template of an appliance', 'POST', anAppliance, (prefix) => ({ name: `${prefix}T` })),
  ofLab(
    'create a node of a template',
    ({ path }, ask, _prefix, made) => ask('POST', path + made, { body: { x: 3, y: 3 } }),
    (_lab, _ask, place) => aTemplate(place).then((path) => path.replace('/v2', '')),
  ),
  ofLab('lock a lab', ({ path }, ask) => ask('POST', `${path}/lock`)),
  ofThing('create an account', 'POST', '/v2/accounts', account),
  ofThing('change an account', 'PUT', anAccount, () => ({ role: 'observer' })),
  ofThing('delete an account', 'DELETE', anAccount),
  {
    name: 'create a token',
    prepare: async (place) => {
      await anAccount(place);
      const headers = { Authorization: basic(account(place.prefix).name, PASSWORD) };
      return () => place.ask('POST', '/v2/account/tokens', { headers, body: { name: 'now' } });
    },
  },
  ofThing('create a group', 'POST', '/v2/groups', (prefix) => ({ name: `${prefix}g` })),
  ofThing('delete a group', 'DELETE', aGroup),
  ofThing('create a compute', 'POST', '/v2/computes', compute),
  ofThing('change a compute', 'PUT', aCompute, (prefix) => ({ ...compute(prefix), user: 'now' })),
  ofThing('delete a compute', 'DELETE', aCompute),
  {
    name: 'write a symbol',
    prepare:
      async ({ ask, prefix }) =>
      () =>
        ask('POST', `/v2/symbols/${prefix}s.svg/raw`, { body: SVG }),
  },
];

/** Everything whose name begins with the prefix, without identifiers and times. */
export async function viewOf(ask: Ask, prefix: string): Promise<string> {
  const list = async (path: string): Promise<Members[]> => {
    const answer = await ask('GET', path);
    if (answer.status !== 200) throw new Error(`GET ${path}: ${answer.status} ${answer.text.slice(0, 200)}`);
    return answer.json;
  };
  const own = async (path: string, member = 'name'): Promise<Members[]> =>
    (await list(path)).filter((thing) => String(thing[member]).toLowerCase().startsWith(prefix.toLowerCase()));
  const labs = [];
  for (const project of await own('/v2/projects')) {
    const path = `/v2/projects/${project['project_id']}`;
    const { name, status, zoom, variables } = project;
    const [nodes, links, drawings, snapshots] = await Promise.all(
      ['nodes', 'links', 'drawings', 'snapshots'].map((kind) => list(`${path}/${kind}`)),
    );
    const notes = await ask('GET', `${path}/files/README.txt`);
    const { everybody } = (await ask('GET', `${path}/sharing`)).json;
    labs.push({
      ...{ name, status, zoom, variables, everybody },
      nodes: await Promise.all(
        nodes!.map(async (node) => {
          const { name, x, status: state, lost_reason, locked } = node;
          const addresses = status === 'opened' ? await list(`${path}/nodes/${node['node_id']}/addresses`) : [];
          return [name, x, state, lost_reason, locked, addresses];
        }),
      ),
      links: links!.map((link) => [link['filters'], link['suspend'], link['nodes'].length, link['capturing']]),
      drawings: drawings!.map(({ x }) => x),
      snapshots: snapshots!.map((snapshot) => snapshot['name']),
      notes: notes.status === 200 ? notes.text : notes.status,
    });
  }
  const templates = (await own('/v2/templates')).map(({ name, category }) => [name, category]);
  const accounts = (await own('/v2/accounts')).map(({ name, role }) => [name, role]);
  const tokens = await Promise.all(
    accounts.map(async ([name]) => (await list(`/v2/account/tokens?account=${name}`)).length),
  );
  const groups = (await own('/v2/groups')).map(({ name }) => name);
  const computes = (await own('/v2/computes')).map(({ name, user }) => [name, user]);
  const symbols = (await own('/v2/symbols', 'filename')).map(({ filename }) => filename);
  const sorted = <T>(things: T[]): string[] => things.map(textOf).sort();
  const all = { templates, accounts, tokens, groups, computes, symbols };
  const text = textOf({
    labs: sorted(labs.map((lab) => ({ ...lab, nodes: sorted(lab.nodes), links: sorted(lab.links) }))),
    ...Object.fromEntries(Object.entries(all).map(([kind, things]) => [kind, sorted(things)])),
  });
  return text.replaceAll(prefix, '').replaceAll(prefix.toLowerCase(), '');
}
