// Labs of which this host lacks something: they open, say what it is, and are whole as soon as it is there.
import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { LabServer, until } from './lab-server.ts';

/** The first bytes of an image of IOU. */
const IMAGE = Buffer.concat([Buffer.from('7f454c46010101', 'hex'), Buffer.alloc(4096, 2)]);
const IOU = 'dddddddd-2222-4333-8444-555555555555';
const PC = 'eeeeeeee-2222-4333-8444-555555555555';
const LINK = 'ffffffff-2222-4333-8444-555555555555';

/** A closed lab: a PC at a router of IOU whose image is not here. */
async function lab(t: TestContext) {
  const server = await LabServer.start(t);
  const { project_id: id, path, filename } = await server.project('lab', { auto_close: false });
  await server.expect(204, 'POST', `/v2/projects/${id}/close`);
  const file = join(path, filename);
  const content = JSON.parse(await readFile(file, 'utf8'));
  const node = (node_id: string, name: string, node_type: string, properties: object) => ({
    ...{ compute_id: 'local', node_id, name, node_type, properties, console_type: 'telnet', x: 0, y: 0 },
  });
  const ends = [IOU, PC].map((node_id) => ({ node_id, adapter_number: 0, port_number: 0 }));
  content.topology.nodes = [
    node(IOU, 'R1', 'iou', { path: 'tour.bin', ram: 64, iourc_path: '/root/.iourc' }),
    node(PC, 'PC1', 'vpcs', { brand: 'acme' }),
  ];
  content.topology.links = [{ link_id: LINK, nodes: ends, filters: {}, suspend: false }];
  await writeFile(file, JSON.stringify(content));
  const told = await server.record(`/v2/projects/${id}/notifications/ws`);
  await server.expect(201, 'POST', `/v2/projects/${id}/open`);
  const warnings = () => told.filter(({ action }) => action === 'log.warning').map(({ event }) => event.message);
  await until(() => warnings().length >= 3, 'three warnings');
  return { server, id, path: `/v2/projects/${id}`, warnings };
}

test('a node that this host cannot make is in its lab, says why at its start, and is made and wired when it can be', async (t) => {
  const { server, id, path, warnings } = await lab(t);
  assert.deepEqual(
    warnings().map((text) => text.replace(/(?<=as yet\. ).*(?=POST)/, '... ')),
    [
      'The node R1 is opened without iourc_path: no iou node has such properties.',
      'The node R1 cannot be started as yet. ... POST /v2/compute/iou/images/tour.bin.',
      'The node PC1 is opened without brand: no vpcs node has such properties.',
    ],
  );
  const compute = `/v2/compute/projects/${id}/iou/nodes/${IOU}`;
  const [router, pc] = await server.expect(200, 'GET', `${path}/nodes`);
  assert.deepEqual([router.name, router.status, router.ports.length], ['R1', 'stopped', 16]);
  assert.deepEqual([router.properties.path, router.properties.iourc_path], ['tour.bin', undefined]);
  assert.deepEqual(pc.properties, {});
  assert.equal((await server.expect(200, 'GET', `${path}/links`))[0].link_id, LINK, 'its link is there');
  assert.match((await server.expect(409, 'POST', `${path}/nodes/${IOU}/start`)).message, /images\/tour\.bin/);
  await server.expect(200, 'PUT', `${path}/nodes/${IOU}`, { name: 'Edge', properties: { ram: 128 } });
  await server.expect(200, 'POST', `${path}/nodes/${IOU}/stop`);
  await server.expect(404, 'GET', compute);
  const nio = `/v2/compute/projects/${id}/vpcs/nodes/${PC}/adapters/0/ports/0/nio`;
  await server.expect(409, 'DELETE', nio);

  await mkdir(join(server.state, 'images/IOU'), { recursive: true });
  await writeFile(join(server.state, 'images/IOU/tour.bin'), IMAGE, { mode: 0o755 });
  // What IOU itself has against a start is another matter.
  await server.call('POST', `${path}/nodes/${IOU}/start`);
  const { name, ram } = await server.expect(200, 'GET', compute);
  assert.deepEqual([name, ram], ['Edge', 128], 'as it was changed meanwhile');
  await server.expect(204, 'DELETE', nio);
});

test('after a kill a lab reopens with a node that its host refuses, as it opens with one', async (t) => {
  const { server, path } = await lab(t);
  await server.leave();
  await server.start();
  const names = async (): Promise<string[]> =>
    (await server.expect(200, 'GET', `${path}/nodes`)).map(({ name }: { name: string }) => name);
  assert.deepEqual(await names(), ['R1', 'PC1']);
  assert.equal((await server.expect(200, 'GET', path)).status, 'opened');
});

test('a node that this host cannot make is deleted like any other', async (t) => {
  const { server, path } = await lab(t);
  await server.expect(204, 'DELETE', `${path}/nodes/${IOU}`);
  assert.deepEqual(await server.expect(200, 'GET', `${path}/links`), []);
  await server.expect(204, 'POST', `${path}/close`);
  await server.expect(201, 'POST', `${path}/open`);
  assert.deepEqual(
    (await server.expect(200, 'GET', `${path}/nodes`)).map(({ name }: { name: string }) => name),
    ['PC1'],
  );
});

test('a cloud of a lab of 1.x whose tunnel leads to an IPv6 address opens with the lab, and its start says why it cannot', async (t) => {
  const server = await LabServer.start(t);
  for (const [host, refusal] of [
    ['::1', undefined],
    ['fe80::1', /^Strait cannot be started: rhost: "fe80::1" is a link-local address, .*; use another address/],
  ] as const) {
    const { project_id: id, path, filename } = await server.project(host.replaceAll(':', '-'), { auto_close: false });
    await server.expect(204, 'POST', `/v2/projects/${id}/close`);
    const old = await readFile(join(import.meta.dirname, '../old-projects/1.5-cloud-udp-link/project.gns3'), 'utf8');
    const tunnel = (peer: string): string => `nio_udp:31002:${peer}:41002`;
    const content = JSON.parse(old.replaceAll(tunnel('127.0.0.1'), tunnel(host)));
    await writeFile(join(path, filename), JSON.stringify({ ...content, project_id: id }));
    await server.expect(201, 'POST', `/v2/projects/${id}/open`);
    const nodes = await server.expect(200, 'GET', `/v2/projects/${id}/nodes`);
    const cloud = nodes.find(({ name }: { name: string }) => name === 'Strait');
    const { lport, rhost, rport } = cloud.properties.ports_mapping[1];
    assert.deepEqual([lport, rhost, rport], [31002, host, 41002]);
    assert.equal((await server.expect(200, 'GET', `/v2/projects/${id}/links`)).length, 1, 'its link is there');
    assert.equal(cloud.status, refusal ? 'stopped' : 'started');
    if (refusal) {
      const { message } = await server.expect(409, 'POST', `/v2/projects/${id}/nodes/${cloud.node_id}/start`);
      assert.match(message, refusal);
    }
    await server.expect(204, 'POST', `/v2/projects/${id}/close`);
  }
});
