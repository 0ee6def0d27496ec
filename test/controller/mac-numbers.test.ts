// The MAC addresses of virtual PCs: PCs that may reach each other have addresses of their own, on whichever hosts they run.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { StandIn } from './computes-stand-in.ts';
import { LabServer } from './lab-server.ts';

type Body = Record<string, string>;

/** A lab with the PCs of its hosts. */
class Pcs {
  readonly url: string;
  readonly #server: LabServer;

  constructor(server: LabServer, { project_id: id }: Body) {
    this.url = `/v2/projects/${id}`;
    this.#server = server;
  }

  async add(compute: string, type = 'vpcs'): Promise<string> {
    const body = { name: 'N', node_type: type, compute_id: compute };
    return `${this.url}/nodes/${(await this.#server.expect(201, 'POST', `${this.url}/nodes`, body)).node_id}`;
  }

  /** The end of its address, as its user sees it. */
  async mac(node: string): Promise<string> {
    await this.#server.expect(200, 'POST', `${node}/start`);
    const [, mac] = /MAC\s*:\s*00:50:79:(\S+)/.exec(await this.#server.type(node, 'show ip')) ?? [];
    return mac ?? '';
  }

  async macs(nodes: readonly string[]): Promise<string[]> {
    const found: string[] = [];
    for (const node of nodes) found.push(await this.mac(node));
    return found;
  }
}

async function twoHosts(t: TestContext): Promise<LabServer> {
  const server = await LabServer.start(t);
  const other = await LabServer.start(t, { console_start_port_range: '7000' });
  const body = { compute_id: 'other', protocol: 'http', host: '127.0.0.1', port: other.port };
  await server.expect(201, 'POST', '/v2/computes', body);
  return server;
}

test('PCs of one lab on two hosts have addresses of their own, also after deletions and from a file', async (t) => {
  const server = await twoHosts(t);
  const lab = new Pcs(server, await server.project());
  const pcs: string[] = [];
  for (const compute of ['local', 'local', 'other', 'other', 'local']) pcs.push(await lab.add(compute));
  assert.deepEqual(await lab.macs(pcs), ['66:68:00', '66:68:01', '66:68:02', '66:68:03', '66:68:04']);

  // The number of one that is deleted is free; those that go on running keep theirs.
  const [first, second, third, fourth, fifth] = pcs as [string, string, string, string, string];
  await server.expect(204, 'DELETE', first);
  await server.expect(200, 'POST', `${second}/stop`);
  const more = [await lab.add('other'), await lab.add('local')];
  const all = [third, fourth, fifth, second, ...more];
  const macs = await lab.macs(all);
  assert.deepEqual(macs.slice(0, 3), ['66:68:02', '66:68:03', '66:68:04']);
  assert.equal(new Set(macs).size, all.length, macs.join());

  // From the file they are numbered in its order.
  await server.expect(204, 'POST', `${lab.url}/close`);
  await server.expect(201, 'POST', `${lab.url}/open`);
  const again = await lab.macs([second, third, fourth, fifth, ...more]);
  assert.deepEqual(again, ['66:68:00', '66:68:01', '66:68:02', '66:68:03', '66:68:04', '66:68:05']);
});

test('labs that lead out may meet: their PCs differ; others count from the first address', async (t) => {
  const server = await twoHosts(t);
  const labs: Pcs[] = [];
  for (const name of ['inner', 'one', 'two']) labs.push(new Pcs(server, await server.project(name)));
  const pcs = await Promise.all(labs.map(async (lab) => [await lab.add('local'), await lab.add('other')]));
  // The second of them leads out when its PCs are there already.
  await labs[1]!.add('local', 'cloud');
  await labs[2]!.add('other', 'cloud');
  const macs: string[][] = [];
  for (const [place, lab] of labs.entries()) macs.push(await lab.macs(pcs[place]!));
  assert.deepEqual(macs[0], ['66:68:00', '66:68:01']);
  assert.equal(new Set(macs.slice(1).flat()).size, 4, macs.join());
});

test('a compute of the release counts for itself, and the PCs of other hosts leave its addresses alone', async (t) => {
  const it = await StandIn.start(t, {
    'POST /projects': {},
    'POST /projects/.*/vpcs/nodes': { status: 'stopped', console: 5000, console_type: 'telnet', name: 'N' },
    'POST .*': {},
    'PUT .*': {},
  });
  const server = await LabServer.start(t);
  await server.expect(201, 'POST', '/v2/computes', it.body());
  const lab = new Pcs(server, await server.project());
  const [here, there] = [await lab.add('local'), await lab.add('it')];
  await lab.add('it');
  assert.equal(await lab.mac(here), '66:68:02');
  assert.equal(await lab.mac(await lab.add('local')), '66:68:03');
  assert.deepEqual((await server.expect(200, 'GET', there)).properties, {});
  const created = it.heard.find(({ call }) => call.endsWith('/vpcs/nodes'));
  assert.deepEqual(Object.keys(JSON.parse(created!.body)).sort(), ['name', 'node_id']);
});
