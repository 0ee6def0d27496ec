// A host of a cluster behind a masquerade, so that only connections that it makes itself exist.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { begun, connected, listed, noCluster, run } from './cluster-hosts.ts';
import { eventually } from './daemon.ts';
import { executable } from './executable.ts';
import { Lab } from './lab.ts';
import { isAnswered, reaches, type } from './pc-typing.ts';
import { TwoHosts } from './two-daemons-network.ts';

const skip = noCluster();

/** A namespace behind the compute of `hosts`, which masquerades for it. */
function hidden(t: TestContext, { compute }: TwoHosts): readonly string[] {
  const name = `labwire-hidden-${process.pid}`;
  run('ip', 'netns', 'add', name);
  t.after(() => run('ip', 'netns', 'del', name));
  run('ip', '-n', compute.name, 'link', 'add', 'inner', 'type', 'veth', 'peer', 'name', 'outer', 'netns', name);
  run('ip', '-n', compute.name, 'addr', 'add', '192.168.77.1/24', 'dev', 'inner');
  run('ip', '-n', name, 'addr', 'add', '192.168.77.2/24', 'dev', 'outer');
  for (const [where, device] of [
    [compute.name, 'inner'],
    [name, 'outer'],
    [name, 'lo'],
  ] as const)
    run('ip', '-n', where, 'link', 'set', device, 'up');
  run('ip', '-n', name, 'route', 'add', 'default', 'via', '192.168.77.1');
  const inside = ['ip', 'netns', 'exec', name];
  run(...compute.inside, 'sh', '-c', 'echo 1 > /proc/sys/net/ipv4/ip_forward');
  const rules = 'table ip t { chain c { type nat hook postrouting priority 100; oifname "cable" masquerade; }; }';
  run(...compute.inside, 'nft', rules);
  return inside;
}

test('a host behind a masquerade joins, runs nodes with consoles and events, and survives the end of NATS', {
  skip,
}, async (t) => {
  const hosts = TwoHosts.make(t);
  const behind = hidden(t, hosts);
  const program = executable();
  const { a, b, nats, line } = await begun(t, hosts, behind);
  const onHidden = (...words: string[]): string => run(...behind, ...program, 'cluster', ...words, '--state', b.state);
  assert.match(onHidden('join', line, '--host-name', 'b'), /b, has joined/);
  assert.throws(() => onHidden('join', line, '--host-name', 'b'), /already in the cluster/);
  await b.start();
  const { compute_id } = await connected(a);
  assert.match(onHidden('status'), /^a +controller +.*\nb +[\d.]+ s +\d+ +192\.168\.77\.2:/m);

  const lab = await Lab.create(a, 'Hidden');
  const pc = await lab.pc('There', { compute_id, properties: { startup_script: 'ip 10.0.0.1/24\n' } });
  await lab.start(pc);
  assert.match(await type(lab, pc, 'show ip'), /10\.0\.0\.1/);
  /** Asks the server of b itself, which only its own host reaches. */
  const own = (...words: string[]): string => run(...behind, 'curl', '--silent', '--fail', ...words);
  const node = `${b.url}/v2/compute/projects/${lab.path.split('/').at(-1)}/vpcs/nodes/${pc.node_id}`;
  // A notification: the node is stopped by its own host.
  const status = async (): Promise<string> =>
    ((await a.get(`${lab.path}/nodes/${pc.node_id}`)) as { status: string }).status;
  own('-X', 'POST', `${node}/stop`);
  await eventually('the notification', status, (now) => now === 'stopped');
  await lab.start(pc);

  // No datagram reaches b: its frames pass NATS.
  const here = await lab.pc('Here', { properties: { startup_script: 'ip 10.0.0.2/24\n' } });
  await lab.start(here);
  const link = await lab.link(here, pc);
  await reaches(lab, here, '10.0.0.1');
  // The longest frame of a link.
  await reaches(lab, pc, '10.0.0.2', '-c 1 -w 1000 -l 9000');
  const { ends } = (await a.get(`${lab.path}/links/${link.link_id}/statistics`)) as {
    ends: { statistics: { path: object } }[];
  };
  assert.deepEqual(
    ends.map(({ statistics }) => statistics.path),
    ['b', 'a'].map((host) => ({
      by: 'relay',
      reason: `no direct way leads to the host ${host}: NATS carries the frames, which is slow`,
    })),
  );
  // A body that is far larger than the window of a stream.
  const bytes = Buffer.alloc(24 << 20, 'labwire');
  const images = `/v2/computes/${compute_id}/qemu/images`;
  const upload = await a.ask('POST', `${images}/large.img`, { body: bytes });
  assert.equal(upload.status < 300, true, upload.text);
  const [image] = (await a.get(images)) as { filesize: number; md5sum: string }[];
  const sum = createHash('md5').update(bytes).digest('hex');
  assert.deepEqual([image?.filesize, image?.md5sum], [bytes.length, sum]);

  // Clients of b reach the controller there.
  const file = join(b.state, 'through.img');
  writeFileSync(file, bytes);
  const projects = `${b.url}/v2/projects`;
  assert.deepEqual(
    (JSON.parse(own(projects)) as { name: string }[]).map(({ name }) => name),
    ['Hidden'],
  );
  own('--data-binary', `@${file}`, `${b.url}/v2/computes/local/qemu/images/through.img`);
  const [through] = (await a.get('/v2/computes/local/qemu/images')) as { filesize: number; md5sum: string }[];
  assert.deepEqual([through?.filesize, through?.md5sum], [bytes.length, sum]);
  const events = `new WebSocket('${b.url.replace('http', 'ws')}/v2/notifications/ws').onmessage = ({ data }) => { console.log(data); process.exit(); }`;
  assert.match(run(...behind, process.execPath, '-e', events), /"action":/);

  await nats.stop();
  await eventually(
    'the loss of b',
    () => listed(a),
    (host) => host?.connected === false && host.last_error !== null,
  );
  const there = JSON.parse(own(node)) as { status: string };
  assert.equal(there.status, 'started', 'the node runs on');
  assert.match(
    run(...behind, 'curl', '--silent', '--write-out', ' %{http_code}', projects),
    /controller of the cluster cannot be reached \(this host is not connected to NATS\).* 503$/s,
  );
  assert.match(a.log, /connection to NATS was lost; running nodes go on/);
  assert.ok(!isAnswered(await type(lab, here, 'ping 10.0.0.1 -c 2 -w 500'), '10.0.0.1'));
  await nats.start();
  await connected(a);
  // 503 until the controller hears them again, with which curl fails.
  await eventually('clients of b', () => run(...behind, 'curl', '--silent', projects).includes('Hidden'));
  assert.match(await type(lab, pc, 'show ip'), /10\.0\.0\.1/);
  await reaches(lab, here, '10.0.0.1');

  // Killed: its lease ends. Back: the compute connects again.
  await b.kill();
  const lost = await eventually(
    'the loss of b',
    () => listed(a),
    (host) => host?.connected === false && /lease/.test(host.last_error ?? ''),
  );
  assert.match(lost?.last_error ?? '', /the host b holds no lease/);
  await b.start();
  await connected(a);
  const refusal = await a.ask('DELETE', `/v2/computes/${compute_id}`);
  assert.deepEqual([refusal.status, /cluster forget b/.test(refusal.text)], [409, true]);
  assert.match(
    run(...hosts.controller.inside, ...program, 'cluster', 'forget', 'b', '--state', a.state),
    /disconnected/,
  );
  await eventually(
    'a without b',
    () => listed(a),
    (host) => host === undefined,
  );
  assert.equal(readFileSync(`/proc/${nats.pid}/comm`, 'utf8').trim(), 'nats-server');
});
