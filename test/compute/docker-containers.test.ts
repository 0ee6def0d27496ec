// Containers of a compute, with a real Docker Engine: their life, their consoles, their interfaces.
import assert from 'node:assert/strict';
import { mkdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { kernelLinksUnavailable } from '../../src/host/network/kernel-link-support.ts';
import { eventually } from '../eventually.ts';
import { copyGuest, guestSettings, noGuest } from '../guest/guest.ts';
import { BUSYBOX, VOLUMES } from './docker-engine.ts';
import { cable, container, containers, engine, noEngine as skip, status, Typist, typist } from './docker-support.ts';
import { noQemu, SMALL } from './qemu-support.ts';
import { type Lab, startLab } from './support.ts';

/** What was told of nodes since the last time. */
const statuses = (lab: Lab): string[] => lab.events().filter((event) => event.startsWith('node.updated'));

for (const kernel_links of ['off', 'automatic'] as const)
  test(`two containers ping, see their links come and go whether or not the peer runs, and leave nothing behind (kernel_links ${kernel_links})`, {
    skip: skip || (kernel_links === 'automatic' && (kernelLinksUnavailable() ?? false)),
  }, async (t) => {
    const { lab, project } = await containers(t, { kernel_links });
    const nodes = [
      await container(lab, project, { name: 'C1', adapters: 2 }),
      await container(lab, project, { name: 'C2', adapters: 2 }),
    ];
    const hub = await lab.node(project, 'ethernet_hub', { name: 'H1' });
    await cable(lab, project, [
      [nodes[0]!, 0],
      [hub, 0],
    ]);
    await cable(lab, project, [
      [nodes[1]!, 1],
      [hub, 1],
    ]);
    for (const node of nodes) await lab.expect(204, 'POST', `${node}/start`);
    const [one, two] = [await typist(t, lab, nodes[0]!), await typist(t, lab, nodes[1]!)];
    assert.match(await one.run('ip addr add 10.0.0.1/24 dev eth0'), /\n0$/);
    await two.run('ip addr add 10.0.0.2/24 dev eth1');
    const { mac_address: mac } = await lab.expect(200, 'GET', nodes[1]!);
    assert.match(await two.run('cat /sys/class/net/eth0/address'), new RegExp(mac));
    assert.match(await one.run('ping -c 3 10.0.0.2'), /3 packets transmitted, 3 packets received/);
    assert.match(await two.run('cat /sys/class/net/eth1/carrier /sys/class/net/eth0/carrier'), /1\s+0/);
    await lab.expect(204, 'DELETE', `${nodes[1]}/adapters/1/ports/0/nio`);
    assert.match(await two.run('cat /sys/class/net/eth1/carrier'), /^0/);
    await cable(lab, project, [
      [nodes[1]!, 1],
      [hub, 2],
    ]);
    assert.match(await one.run('ping -c 3 10.0.0.2'), /3 packets transmitted, [123] packets received/);
    const [, direct] = await cable(lab, project, [
      [nodes[0]!, 1],
      [nodes[1]!, 0],
    ]);
    const carrier = 'cat /sys/class/net/eth0/carrier';
    assert.match(await two.run(carrier), /^1/);
    const { path } = await lab.expect(200, 'GET', `${nodes[1]}/adapters/0/ports/0/statistics`);
    assert.equal(path.by, kernel_links === 'off' ? 'fabric' : 'kernel');
    await one.run('ip addr add 10.0.1.1/24 dev eth1');
    await two.run('ip addr add 10.0.1.2/24 dev eth0');
    assert.match(await one.run('ping -c 3 10.0.1.2'), /3 packets transmitted, 3 packets received/);
    const { incoming } = await lab.expect(200, 'GET', `${nodes[1]}/adapters/0/ports/0/statistics`);
    assert.ok(incoming.delivered.frames >= 3);
    await lab.expect(204, 'POST', `${nodes[0]}/stop`);
    assert.match(await two.run(carrier), /^1/, 'the peer has stopped, its link is still there');
    await lab.expect(201, 'PUT', `${nodes[1]}/adapters/0/ports/0/nio`, { ...direct, suspend: true });
    assert.match(await two.run(carrier), /^0/);
    await lab.expect(201, 'PUT', `${nodes[1]}/adapters/0/ports/0/nio`, { ...direct, suspend: false });
    assert.match(await two.run(carrier), /^1/);
    await lab.expect(204, 'POST', `${nodes[1]}/stop`);
    assert.deepEqual(await Promise.all(nodes.map((node) => status(lab, node))), ['stopped', 'stopped']);
    await lab.expect(204, 'DELETE', nodes[0]!);
    await lab.expect(204, 'POST', `${project}/close`);
    assert.deepEqual(engine().containers(), []);
    assert.equal(engine().docker('volume', 'ls', '-q'), '');
  });

test('a container has the settings of its node: environment, hosts, command, interfaces; a change recreates and restarts it', {
  skip,
}, async (t) => {
  const { lab, project } = await containers(t);
  await lab.expect(200, 'PUT', project, { variables: [{ name: 'SITE', value: 'Graz' }] });
  const node = await container(lab, project, {
    ...{ name: 'C 1, "ü"', adapters: 3, start_command: `/bin/busybox sh -c 'echo "I am $WHO"; exec /bin/sh'` },
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the server fills it in
    ...{ environment: 'WHO=me of ${SITE}\n=nothing\nGNS3_USER=nobody\nID=%vm-id%', extra_hosts: 'server:10.0.0.9' },
    custom_adapters: [{ adapter_number: 2, mac_address: '02:00:00:AA:BB:CC' }],
  });
  assert.match((await lab.told('log.warning')).message, /"=nothing" names no variable/);
  await lab.expect(204, 'POST', `${node}/start`);
  const console = await typist(t, lab, node);
  await console.until(/I am me of Graz/);
  assert.match(await console.run('cat /etc/hosts'), /10\.0\.0\.9\s+server/);
  assert.match(await console.run('echo $ID; id -u; pwd'), new RegExp(`${node.split('/').at(-1)}\\s+0\\s+/`));
  const { mac_address: mac } = await lab.expect(200, 'GET', node);
  const macs = await console.run(
    'cat /sys/class/net/eth0/address /sys/class/net/eth1/address /sys/class/net/eth2/address',
  );
  const next = (Number.parseInt(mac.slice(-2), 16) + 1).toString(16).padStart(2, '0');
  assert.match(macs, new RegExp(`${mac}\\s+${mac.slice(0, -2)}${next}\\s+02:00:00:aa:bb:cc`));
  // Terminals follow the window of the client who changed it last.
  console.socket.write(Buffer.from([255, 251, 31, 255, 250, 31, 0, 132, 0, 43, 255, 240]));
  const size = () => console.run('stty size');
  await eventually('the size of the window', size, (said) => /43 132/.test(said));
  const { aux } = await lab.expect(200, 'GET', node);
  const shell = new Typist(t, aux);
  assert.match(await shell.run('hostname; tty'), /C-1-u\s+\/dev\/pts\/\d/);
  // Neither key has a meaning for the Engine: Ctrl+P shows the last command at once.
  for (const [terminal, command] of [
    [console, /stty size/],
    [shell, /hostname; tty/],
  ] as const) {
    terminal.heard = '';
    terminal.socket.write('\x10');
    await terminal.until(command);
    terminal.socket.write('\x10\x11\x15');
    assert.match(await terminal.run('echo still here'), /still here/);
  }

  lab.events();
  const before = await lab.expect(200, 'GET', node);
  const after = await lab.expect(200, 'PUT', node, { adapters: 1, environment: 'A=b', start_command: '' });
  assert.deepEqual(statuses(lab), ['node.updated stopped', 'node.updated started', 'node.updated started']);
  assert.notEqual(after.container_id, before.container_id);
  assert.deepEqual([after.console, after.aux, after.start_command], [before.console, before.aux, null]);
  const again = await typist(t, lab, node);
  assert.match(await again.run('echo $A; ls /sys/class/net'), /b\s+eth0\s+lo/);
  await lab.expect(200, 'PUT', node, { usage: 'as you like' });
  assert.deepEqual(statuses(lab), ['node.updated started']);
  assert.equal((await lab.expect(200, 'GET', node)).usage, 'as you like');
  for (const [body, words] of [
    [{ start_command: `echo "open` }, /start_command: the quote " is not closed/],
    [{ extra_hosts: 'server' }, /extra_hosts: "server" must be such as/],
    [{ extra_volumes: ['/a/../b'] }, /extra_volumes/],
  ] as const) {
    const refused = await lab.request('PUT', node, body);
    assert.equal(refused.status, 409);
    assert.match(refused.body.message, words);
    assert.equal(refused.body.exception, 'DockerError');
  }
  assert.equal(await status(lab, node), 'started');

  // What is found out late: the port of the console, and a volume of the new container.
  const { node_directory: directory, ...whole } = await lab.expect(200, 'GET', node);
  await symlink('/tmp', join(directory, 'linked'));
  for (const body of [
    { console_type: 'vnc', console: 100, adapters: 5 },
    { console_type: 'none', name: 'Other', adapters: 2, extra_volumes: ['/linked'] },
  ]) {
    lab.events();
    await lab.expect(409, 'PUT', node, body);
    const { node_directory: _, ...now } = await lab.expect(200, 'GET', node);
    assert.deepEqual(now, whole);
    assert.deepEqual(statuses(lab), [], 'it runs on');
  }
  assert.match(await again.run('echo $A; ls /sys/class/net'), /b\s+eth0\s+lo/);
});

test('a container and a guest of QEMU on one switch ping', { skip: skip || noQemu || noGuest }, async (t) => {
  const { lab, project } = await containers(t);
  const images = join(lab.config.Server.images_path, 'QEMU');
  await mkdir(images, { recursive: true });
  await copyGuest(images);
  const machine = await lab.node(project, 'qemu', { ...SMALL, name: 'G1', ...guestSettings('10.0.0.2/24') });
  const node = await container(lab, project, { name: 'C1' });
  const hub = await lab.node(project, 'ethernet_switch', { name: 'S1' });
  await cable(lab, project, [
    [node, 0],
    [hub, 0],
  ]);
  await cable(lab, project, [
    [machine, 0],
    [hub, 1],
  ]);
  await lab.expect(200, 'POST', `${machine}/start`);
  await lab.expect(204, 'POST', `${node}/start`);
  await (await typist(t, lab, machine)).until(/guest is ready/);
  const console = await typist(t, lab, node);
  await console.run('ip addr add 10.0.0.1/24 dev eth0');
  assert.match(await console.run('ping -c 3 -W 20 10.0.0.2'), /3 packets transmitted, 3 packets received/);
  // More than a frame's worth, which leaves as one.
  assert.match(await console.run('ping -c 1 -W 20 -s 8000 10.0.0.2'), /1 packets received/);
  await lab.expect(204, 'POST', `${project}/close`);
});

test('variables of the project that change are those of containers that run, at once, and of others at their next start; a project that is closed while many start leaves nothing behind', {
  skip,
}, async (t) => {
  const { lab, project } = await containers(t);
  const node = await container(lab, project, { environment: 'X=y' });
  await lab.expect(200, 'PUT', project, { variables: [{ name: 'SITE', value: 'Linz' }] });
  await lab.expect(204, 'POST', `${node}/start`);
  const console = await typist(t, lab, node);
  assert.match(await console.run('echo $SITE $X'), /Linz y/);
  const { container_id: before } = await lab.expect(200, 'GET', node);
  await lab.expect(200, 'PUT', project, { variables: [{ name: 'SITE', value: 'Linz' }] });
  assert.equal((await lab.expect(200, 'GET', node)).container_id, before, 'nothing changed');
  await lab.expect(200, 'PUT', project, { variables: [{ name: 'SITE', value: 'Wels' }] });
  assert.equal(await status(lab, node), 'started');
  assert.match(await (await typist(t, lab, node)).run('echo $SITE $X'), /Wels y/);
  const many: string[] = [];
  for (let number = 0; number < 8; number += 1) many.push(await container(lab, project, { name: `M${number}` }));
  const last = many.pop()!;
  const starts = many.map((one) => lab.request('POST', `${one}/start`));
  const cancelled = lab.request('POST', `${last}/start`);
  // Requests about one node wait for each other: the project's end is what comes between.
  const closed = lab.request('POST', `${project}/close`);
  const answers = await Promise.all([...starts, cancelled]);
  for (const { status: code } of answers) assert.ok(code === 204 || code === 409 || code === 404, `status ${code}`);
  assert.equal((await closed).status, 204);
  assert.deepEqual(engine().containers(), []);
});

test('it stands still, goes on, is started again with its interfaces, and ends by itself', { skip }, async (t) => {
  const { lab, project } = await containers(t);
  const node = await container(lab, project, { start_command: `/bin/busybox sh -c 'echo begun; exec /bin/sh'` });
  const hub = await lab.node(project, 'ethernet_hub', { name: 'H1' });
  await cable(lab, project, [
    [node, 0],
    [hub, 0],
  ]);
  assert.equal((await lab.request('POST', `${node}/pause`)).status, 409);
  await lab.expect(204, 'POST', `${node}/start`);
  await lab.expect(204, 'POST', `${node}/start`);
  await lab.expect(204, 'POST', `${node}/suspend`);
  assert.equal(await status(lab, node), 'suspended');
  await lab.expect(204, 'POST', `${node}/unpause`);
  assert.equal(await status(lab, node), 'started');
  await lab.expect(204, 'POST', `${node}/pause`);
  await lab.expect(204, 'POST', `${node}/start`);
  assert.equal(await status(lab, node), 'started');
  const console = await typist(t, lab, node);
  await console.until(/begun/);
  // The size of the client's window.
  console.socket.write(Buffer.from([255, 251, 31, 255, 250, 31, 0, 132, 0, 43, 255, 240]));
  await console.run('sleep 0.3');
  await lab.expect(204, 'POST', `${node}/reload`);
  await console.until(/begun/);
  assert.match(await console.run('stty size'), /43 132/);
  assert.match(await console.run('cat /sys/class/net/eth0/carrier'), /^1/);
  lab.events();
  console.socket.write('exit 3\r');
  const { message } = await lab.told('log.error');
  assert.match(message, /N1 ended unexpectedly with exit code 3/);
  assert.equal(await status(lab, node), 'stopped');
  await lab.expect(204, 'POST', `${node}/start`);
  await lab.expect(204, 'POST', `${node}/stop`);
  const { container_id: id } = await lab.expect(200, 'GET', node);
  engine().docker('rm', '-f', id);
  const gone = await lab.request('POST', `${node}/start`);
  assert.deepEqual([gone.status, gone.body.exception], [409, 'DockerHttp404Error']);
});

test('volumes begin with what the image has, and keep it with owners and modes, also in a copy', {
  skip,
}, async (t) => {
  const { lab, project, directory } = await containers(t);
  const node = await container(lab, project, { image: VOLUMES, extra_volumes: ['/extra/', '/keep/deep'] });
  const place = join(directory, 'project-files/docker', node.split('/').at(-1)!);
  assert.equal(await readFile(join(place, 'keep/deep/file'), 'utf8'), 'of the image\n');
  assert.match(await readFile(join(place, 'etc/network/interfaces'), 'utf8'), /#auto eth0\n#iface eth0 inet dhcp/);
  await lab.expect(204, 'POST', `${node}/start`);
  const console = await typist(t, lab, node);
  assert.match(await console.run("stat -c '%a %u %g' /keep/deep /keep/deep/file"), /750 1234 4321\s+\d+ 1234 4321/);
  await console.run('echo mine >/extra/own; chown 7:8 /extra/own; chmod 604 /extra/own; ln -s /etc/passwd /extra/link');
  await console.run('head -c 300000 /dev/urandom >/own; head -c 200000 /dev/urandom >/extra/large');
  const use = await lab.expect(200, 'GET', `${node}/disk_use`);
  const bytesOf = (path: string): number => use.files.find((file: { path: string }) => file.path === path)?.bytes ?? 0;
  assert.ok(bytesOf('(container)') >= 300_000 && bytesOf('extra/large') >= 200_000, JSON.stringify(use));
  assert.ok(use.bytes >= 500_000);
  const metric = lab.compute.metrics.find(({ name }) => name === 'labwire_node_disk_bytes')!;
  const [sample] = [...(await metric.samples())];
  assert.deepEqual(sample?.labels, {
    type: 'docker',
    project: project.split('/').at(-1),
    node: node.split('/').at(-1),
  });
  assert.equal(sample?.value, use.bytes);
  await lab.expect(204, 'POST', `${node}/stop`);
  assert.match(await readFile(join(place, 'extra/.gns3_perms'), 'utf8'), /^604:7:8:\/extra\/own$/m);

  const copy = await container(lab, project, {
    name: 'Copy',
    image: VOLUMES,
    extra_volumes: ['/extra/', '/keep/deep'],
  });
  await lab.expect(201, 'POST', `${node}/duplicate`, { destination_node_id: copy.split('/').at(-1) });
  await lab.expect(204, 'POST', `${copy}/start`);
  const other = await typist(t, lab, copy);
  assert.match(await other.run("stat -c '%a %u %g' /extra/own /keep/deep"), /604 7 8\s+750 1234 4321/);
  assert.match(await other.run('cat /extra/own'), /mine/);
});

test('a missing image is reported, and a file that is no image is refused', { skip }, async (t) => {
  const { lab, project } = await containers(t);
  assert.deepEqual(
    (await lab.expect(200, 'GET', '/docker/images')).map(({ image }: { image: string }) => image),
    [BUSYBOX, VOLUMES],
  );
  for (const image of ['127.0.0.1:1/not/there', 'no name at all', '../../etc:x']) {
    const refused = await lab.request('POST', `${project}/docker/nodes`, { name: 'X', image, console_type: 'telnet' });
    assert.equal(refused.status, 409, JSON.stringify(refused.body));
    assert.match(refused.body.exception, /^Docker/);
  }
  assert.deepEqual(engine().containers(), []);
  await lab.expect(204, 'POST', `${project}/close`);
});

test('without an Engine, requests say what to do', async (t) => {
  const lab = await startLab(t, { docker: { socket_path: '/nonexistent/docker.sock' } });
  const project = await lab.project();
  for (const refused of [
    await lab.request('GET', '/docker/images'),
    await lab.request('POST', `${project}/docker/nodes`, { name: 'X', image: 'x', console_type: 'telnet' }),
  ]) {
    assert.deepEqual([refused.status, refused.body.exception], [409, 'DockerError']);
    assert.match(refused.body.message, /apt install docker\.io/);
  }
});
