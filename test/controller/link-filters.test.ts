// Packet filters of a link, from the client to the compute, and in projects that come with filters of their own.
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Body } from '../body.ts';
import { noLibpcap } from '../host/missing.ts';
import { LabServer, until } from './lab-server.ts';

/** A project with two linked virtual PCs; undefined after the test was skipped. */
async function linkedPair(t: TestContext): Promise<{ server: LabServer; project: Body; link: string } | undefined> {
  if (noLibpcap) return void t.skip(noLibpcap);
  const { server, project } = await LabServer.withLab(t, { auto_close: false });
  const nodes: Body[] = [];
  for (const name of ['PC1', 'PC2']) {
    const body = { name, node_type: 'vpcs', compute_id: 'local' };
    nodes.push([await server.expect(201, 'POST', `/v2/projects/${project.project_id}/nodes`, body), 0]);
  }
  const { link_id: id } = await server.link(project, nodes[0], nodes[1], { filters: { bpf: ['icmp\narp'] } });
  return { server, project, link: `/v2/projects/${project.project_id}/links/${id}` };
}

test('an invalid expression is refused by name, and the filters before it stay', async (t) => {
  const pair = await linkedPair(t);
  if (pair === undefined) return;
  const { server, link } = pair;
  const { message } = await server.expect(409, 'PUT', link, { filters: { bpf: ['icmp\nbogus thing'] } });
  assert.match(message, /filters\.bpf: "bogus thing": .*syntax error/);
  assert.deepEqual((await server.expect(200, 'GET', link)).filters, { bpf: ['icmp\narp'] });
  await server.expect(201, 'PUT', link, { filters: { bpf: ['tcp port 80'] } });
});

test('a project opens whose filters its compute refuses; they stay, without effect, until they are replaced', async (t) => {
  const pair = await linkedPair(t);
  if (pair === undefined) return;
  const { server, project, link } = pair;
  const path = `/v2/projects/${project.project_id}`;
  await server.expect(204, 'POST', `${path}/close`);
  const file = join(project.path, project.filename);
  await writeFile(file, (await readFile(file, 'utf8')).replace('icmp\\narp', 'bogus thing'));
  const events = await server.record(`${path}/notifications/ws`);
  await server.expect(201, 'POST', `${path}/open`);
  assert.deepEqual((await server.expect(200, 'GET', link)).filters, { bpf: ['bogus thing'] });
  const warned = (): boolean =>
    events.some(({ action, event }) => action === 'log.warning' && /bogus thing/.test(event.message));
  await until(warned, 'the warning');
  await server.expect(201, 'PUT', link, { filters: { bpf: ['icmp'] } });
  assert.deepEqual((await server.expect(200, 'GET', link)).filters, { bpf: ['icmp'] });
});
