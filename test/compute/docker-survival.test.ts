// Containers outlive the server, and the server outlives the Engine; with a real Docker Engine and a real daemon that is killed.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { eventually, ownDaemon } from '../system/daemon.ts';
import { FROM_SOURCE } from '../system/executable.ts';
import { Lab } from '../system/lab.ts';
import { openAgain } from '../system/survivors.ts';
import { BUSYBOX } from './docker-engine.ts';
import { container, containers, engine, noX, noEngine as skip, status, Typist, typist } from './docker-support.ts';
import { RfbClient } from './rfb-client.ts';

test('two containers ping on where a daemon that was killed comes back, and their consoles are there again', {
  skip,
}, async (t) => {
  const daemon = ownDaemon(t, {
    program: FROM_SOURCE,
    environment: { LABWIRE_DOCKER_SOCKET_PATH: engine().socketPath },
  });
  await daemon.start();
  const lab = await Lab.create(daemon);
  const make = (name: string, console_type = 'telnet') =>
    daemon.post(`${lab.path}/nodes`, {
      ...{ name, node_type: 'docker', compute_id: 'local', console_type, properties: { image: BUSYBOX } },
    });
  const nodes = [await make('C1'), await make('C2')];
  const ends = nodes.map(({ node_id }) => ({ node_id, adapter_number: 0, port_number: 0 }));
  await daemon.post(`${lab.path}/links`, { nodes: ends });
  for (const { node_id: id } of nodes) await daemon.post(`${lab.path}/nodes/${id}/start`);
  const vnc = noX ? undefined : await make('V', 'vnc');
  if (vnc) await daemon.post(`${lab.path}/nodes/${vnc.node_id}/start`);
  const stopped = noX ? undefined : await make('W', 'vnc');
  const found = () => ({
    running: engine().docker('ps', '-q').split('\n').sort(),
    all: engine().containers().length,
  });
  const before = found();
  const one = new Typist(t, nodes[0].console);
  const two = new Typist(t, nodes[1].console);
  await one.run('ip addr add 10.0.0.1/24 dev eth0');
  await two.run('ip addr add 10.0.0.2/24 dev eth0; kept=yes');
  assert.match(await one.run('ping -c 1 10.0.0.2'), /1 packets received/);
  one.heard = '';
  one.socket.write('ping 10.0.0.2 | tee /tmp/pings\r');
  await one.until(/seq=2/);
  // The copy that a container has begun with is discarded only some seconds later.
  const copy = join(nodes[0].node_directory, 'restored-disks');
  mkdirSync(copy);
  writeFileSync(join(copy, 'manifest.json'), '{}');
  await daemon.kill();
  await daemon.start();
  await openAgain(lab);
  assert.equal(existsSync(copy), false, 'its next start does not overwrite what the container has written since');
  const now = await Promise.all(nodes.map((node) => lab.node(node)));
  if (vnc) {
    assert.equal((await lab.node(vnc)).console, vnc.console, 'the X server has its port still');
    await RfbClient.open(t, vnc.console);
  }
  if (stopped) {
    const { console } = await lab.node(stopped);
    assert.equal(console, stopped.console, 'its new container has an X server at the same port');
    await RfbClient.open(t, console);
  }
  assert.deepEqual(
    now.map((node) => node.status),
    ['started', 'started'],
  );
  assert.deepEqual(found(), before);
  const again = new Typist(t, now[0]!.console);
  // What was said while nobody listened, too.
  await again.until(/seq=([4-9]|\d\d)/);
  again.socket.write('\x03');
  assert.match(await again.run('cat /sys/class/net/eth0/carrier'), /^1\s/);
  assert.match(await again.run('ping -c 3 10.0.0.2'), /3 packets received/);
  const other = new Typist(t, now[1]!.console);
  await other.until(/done 0/);
  assert.match(await other.run('echo $kept'), /yes/);
  await daemon.delete(lab.path);
  await eventually('the end of the containers', () => engine().containers().length === 0);
  assert.deepEqual(
    readdirSync('/sys/class/net').filter((name) => /^eth[1-9]$/.test(name)),
    [],
  );
});

test('what a daemon has left is removed by the next one when no client asks for it', { skip }, async (t) => {
  const first = await containers(t);
  const node = await container(first.lab, first.project);
  await first.lab.expect(204, 'POST', `${node}/start`);
  assert.equal(engine().containers().length, 1);
  await first.lab.compute.stop({ keepNodes: true });
  const { instance } = first;
  const second = await containers(t, { instance, console: [16_000, 16_999], udp: [17_000, 17_999] });
  await second.lab.compute.endUnclaimed(() => false);
  assert.equal(engine().containers().length, 1, 'its project may still come');
  await second.lab.compute.endUnclaimed((id) => id === first.projectId);
  assert.deepEqual(engine().containers(), []);
});

test('an Engine that ends under running nodes is reported, and they can be started when it is back', {
  skip,
}, async (t) => {
  const { lab, project } = await containers(t);
  const node = await container(lab, project, { start_command: '/bin/sh' });
  await lab.expect(204, 'POST', `${node}/start`);
  await engine().stop();
  await eventually(
    'the end of the node',
    () => status(lab, node),
    (now) => now === 'stopped' || !engine().isRunning,
  );
  assert.equal((await lab.request('GET', '/docker/images')).status, 409);
  await engine().start();
  await eventually(
    'the end of the node',
    () => status(lab, node),
    (now) => now === 'stopped',
  );
  await lab.told('log.error', ({ message }) => /N1 ended unexpectedly/.test(message));
  await lab.expect(204, 'POST', `${node}/start`);
  const console = await typist(t, lab, node);
  assert.match(await console.run('echo again'), /again/);
});
