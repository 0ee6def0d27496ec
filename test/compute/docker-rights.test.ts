// What rights containers get, and how they get more, with a real Docker Engine.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../eventually.ts';
import { BUSYBOX } from './docker-engine.ts';
import { container, containers, engine, noEngine as skip, status, typist } from './docker-support.ts';

const CAP_SYS_ADMIN = 1n << 21n;
const CAP_NET_ADMIN = 1n << 12n;

test('a container begins with rights over its own network alone, and cannot reach the host', { skip }, async (t) => {
  const { lab, project } = await containers(t, {
    docker: { socket_path: engine().socketPath, privileged: 'automatic' },
  });
  const node = await container(lab, project, { start_command: '/bin/sh' });
  await lab.expect(204, 'POST', `${node}/start`);
  const console = await typist(t, lab, node);
  const rights = BigInt(`0x${/CapEff:\s*([0-9a-f]+)/.exec(await console.run('grep CapEff /proc/self/status'))?.[1]}`);
  assert.deepEqual([rights & CAP_NET_ADMIN, rights & CAP_SYS_ADMIN], [CAP_NET_ADMIN, 0n]);
  assert.match(
    await console.run('echo 1 >/proc/sys/net/ipv4/ip_forward && cat /proc/sys/net/ipv4/ip_forward'),
    /1\s+0$/,
  );
  assert.match(await console.run('(echo x >/proc/sys/kernel/core_pattern) 2>/dev/null'), /1$/);
  assert.match(
    await console.run('ip route; ls -d /var/run/docker.sock 2>/dev/null; ls /sys/class/net'),
    /^eth0\s+lo\s+0$/,
  );
  assert.match(await console.run('ip addr show dev eth0 | grep -c inet6'), /^[01]\s/);
});

test('one that is refused something gets more, step by step, as far as the host goes along; each step is reported', {
  skip,
}, async (t) => {
  const { lab, project } = await containers(t, { docker: { socket_path: engine().socketPath, privileged: 'never' } });
  const mounts = `/bin/busybox sh -c '/bin/busybox mkdir -p /mnt; /bin/busybox mount -t tmpfs none /mnt && echo mounted; exec /bin/sh'`;
  const node = await container(lab, project, { start_command: mounts });
  await lab.expect(204, 'POST', `${node}/start`);
  const { message } = await lab.told('log.warning');
  assert.match(
    message,
    /N1 was refused something \(mount: permission denied.*: it runs unprivileged, with .*SYS_ADMIN/,
  );
  const console = await typist(t, lab, node);
  await console.until(/mounted/);

  const never = await container(lab, project, {
    name: 'N2',
    start_command: `/bin/busybox sh -c 'echo Operation not permitted; exec /bin/sh'`,
  });
  await lab.expect(204, 'POST', `${never}/start`);
  await lab.told('log.warning', ({ message: text }) => text.startsWith('N2 was refused'));
  await eventually(
    'N2',
    () => status(lab, never),
    (now) => now === 'started',
  );
  const { container_id: id } = await lab.expect(200, 'GET', never);
  assert.equal(engine().docker('inspect', '-f', '{{.HostConfig.Privileged}}', id).trim(), 'false');
});

test('one that is stopped soon after its first start gets the rights that it needs later', { skip }, async (t) => {
  const { lab, project } = await containers(t);
  const start_command = `/bin/busybox sh -c '[ -e /again ] && echo Operation not permitted; >/again; exec /bin/sh'`;
  const node = await container(lab, project, { start_command });
  await lab.expect(204, 'POST', `${node}/start`);
  const console = await typist(t, lab, node);
  await console.run('ls /again');
  await lab.expect(204, 'POST', `${node}/stop`);
  await lab.expect(204, 'POST', `${node}/start`);
  await lab.told('log.warning', ({ message }) => message.startsWith('N1 was refused'));
});

test('with automatic the last step is privileged; where the Engine refuses it, the lab runs all the same', {
  skip,
}, async (t) => {
  const { lab, project } = await containers(t, {
    docker: { socket_path: engine().socketPath, privileged: 'automatic' },
  });
  let allows = true;
  try {
    engine().docker('run', '--rm', '--privileged', '--network', 'none', BUSYBOX, '/bin/busybox', 'true');
  } catch {
    allows = false;
  }
  const start_command = `/bin/busybox sh -c 'echo Operation not permitted; exec /bin/sh'`;
  const node = await container(lab, project, { start_command });
  await lab.expect(204, 'POST', `${node}/start`);
  const last = allows ? /runs privileged now/ : /cannot run privileged here .* goes on unprivileged/;
  await lab.told('log.warning', ({ message }) => last.test(message));
  await eventually(
    'the container',
    () => status(lab, node),
    (now) => now === 'started',
  );
  const { container_id: id } = await lab.expect(200, 'GET', node);
  assert.equal(engine().docker('inspect', '-f', '{{.HostConfig.Privileged}}', id).trim(), String(allows));
  const console = await typist(t, lab, node);
  assert.match(await console.run('echo alive'), /alive/);
});
