// Nodes of TraceNG, VirtualBox and VMware on a host that has none of them, and with programs in their place that note what they are told.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startLab } from './support.ts';

test('a TraceNG is kept and linked like any node, and says that its program is one of Windows', async (t) => {
  const lab = await startLab(t);
  const project = await lab.project();
  const node = await lab.node(project, 'traceng', { console_type: 'none', ip_address: '192.0.2.1' });
  const made = await lab.expect(200, 'GET', node);
  const { node_id, project_id, node_directory, ...rest } = made;
  assert.deepEqual(rest, {
    name: 'N1',
    status: 'stopped',
    console: null,
    console_type: 'none',
    command_line: '',
    ip_address: '192.0.2.1',
    default_destination: '',
  });
  assert.ok(node_directory.endsWith(`/project-files/traceng/${node_id}`));
  const changed = await lab.expect(200, 'PUT', node, { default_destination: '192.0.2.9', name: 'T' });
  assert.deepEqual([changed.default_destination, changed.ip_address, changed.name], ['192.0.2.9', '192.0.2.1', 'T']);
  for (const path of ['/start', '/reload']) {
    const refused = await lab.expect(409, 'POST', `${node}${path}`, { destination: '192.0.2.9' });
    assert.equal(refused.exception, 'TraceNGError');
    assert.match(refused.message, /Windows/);
  }
  await lab.expect(400, 'POST', `${node}/start`, { destination: 1 });
  for (const path of ['/stop', '/suspend']) await lab.expect(204, 'POST', `${node}${path}`);
  const nio = { type: 'nio_udp', lport: 15_990, rhost: '127.0.0.1', rport: 15_991 };
  await lab.expect(201, 'POST', `${node}/adapters/7/ports/0/nio`, nio);
  await lab.expect(409, 'POST', `${node}/adapters/0/ports/1/nio`, nio);
  await lab.expect(204, 'DELETE', `${node}/adapters/0/ports/0/nio`);
});

test('a TraceNG with an address that is none is refused, and is not there', async (t) => {
  const lab = await startLab(t);
  const project = await lab.project();
  const body = { name: 'T', node_id: '11111111-2222-4333-8444-555555555555', ip_address: '1.2.3' };
  const refused = await lab.expect(409, 'POST', `${project}/traceng/nodes`, body);
  assert.equal(refused.exception, 'TraceNGError');
  assert.match(refused.message, /^ip_address: /);
  await lab.expect(404, 'GET', `${project}/traceng/nodes/${body.node_id}`);
});

for (const { kind, exception, body, setting } of [
  { kind: 'virtualbox', exception: 'VirtualBoxError', body: { vmname: 'x' }, setting: /vboxmanage_path/ },
  {
    kind: 'vmware',
    exception: 'VMwareError',
    body: { vmx_path: '/x.vmx', linked_clone: false },
    setting: /vmrun_path/,
  },
]) {
  test(`without its program ${kind} refuses nodes and lists, and says how it is had`, async (t) => {
    const lab = await startLab(t);
    const project = await lab.project();
    for (const [method, path] of [
      ['POST', `${project}/${kind}/nodes`],
      ['GET', `/${kind}/vms`],
    ] as const) {
      const refused = await lab.expect(409, method, path, method === 'POST' ? { name: 'V', ...body } : undefined);
      assert.equal(refused.exception, exception);
      assert.match(refused.message, setting);
    }
    await lab.expect(400, 'POST', `${project}/${kind}/nodes`, { name: 'V', ...body, x: 1 });
  });
}
