// A controller and a compute that are two daemons on two hosts: labs reach across, and survive the end of either.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { capturedFrames } from '../../src/client/captures/captured-frames.ts';
import { Client } from './client.ts';
import { type Daemon, eventually, ownDaemon } from './daemon.ts';
import { executable } from './executable.ts';
import { Lab, missing, type NodeObject } from './lab.ts';
import { reaches, type } from './pc-typing.ts';
import { add, as, basic, made, user } from './people.ts';
import { processesIn } from './processes.ts';
import { TwoHosts } from './two-daemons-network.ts';
import { CREDENTIALS, labAcross, pings, register, skip, startPair } from './two-daemons-pair.ts';

test('a lab across two hosts pings, is captured at the far end, and obeys filters', { skip }, async (t) => {
  const pair = await startPair(t);
  assert.equal((await register(pair)).connected, true);
  const { controller } = pair;
  const { lab, here, there, link } = await labAcross(controller);
  await reaches(lab, here, '10.0.0.2');
  assert.match(await type(lab, there, 'show ip'), /10\.0\.0\.2/);

  const url = `${lab.path}/links/${link.link_id}`;
  // Only the far end runs: that is where the capture is taken.
  await controller.post(`${lab.path}/nodes/${here.node_id}/stop`);
  const captured = await controller.post(`${url}/start_capture`, { capture_file_name: 'far.pcap' });
  assert.equal(captured.capture_compute_id, 'other');
  const ended = new AbortController();
  t.after(() => ended.abort());
  const stream = await fetch(`${controller.url}${url}/pcap`, { signal: ended.signal });
  const frames = capturedFrames(stream.body!);
  await type(lab, there, 'ping 10.0.0.1 -c 1 -w 200');
  const first = await frames.next();
  // What asks for the address of PC Here, or is sent to it.
  assert.match(Buffer.from(first.value!.bytes).toString('hex', 12), /^080[06]/);
  await controller.post(`${url}/stop_capture`);
  await lab.start(here);

  for (const [filters, passes] of [
    [{ frequency_drop: [-1] }, false],
    [{}, true],
    [{ packet_loss: [100] }, false],
    [{ delay: [20, 0] }, true],
  ] as const) {
    await controller.put(url, { filters });
    if (passes) await reaches(lab, here, '10.0.0.2');
    else assert.equal(await pings(lab, here), false, JSON.stringify(filters));
  }
  await controller.put(url, { suspend: true });
  assert.equal(await pings(lab, here), false);
  await controller.put(url, { suspend: false });
  await reaches(lab, here, '10.0.0.2');

  const ports = async (): Promise<number> => (await controller.get('/v2/computes/other/ports')).udp_ports.length;
  const before = await ports();
  await controller.delete(url);
  assert.equal(await ports(), before - 1);
});

test('a compute that is killed and started again has its nodes back, running on, and wired as before', {
  skip,
}, async (t) => {
  const pair = await startPair(t);
  await register(pair);
  const { controller, compute } = pair;
  const { lab, here, there, link } = await labAcross(controller);
  await reaches(lab, here, '10.0.0.2');
  const before = await lab.nodes();
  await controller.post(`${lab.path}/nodes/${here.node_id}/stop`);
  await controller.post(`${lab.path}/links/${link.link_id}/start_capture`, { capture_file_name: 'far.pcap' });
  await lab.start(here);
  const programs = () => processesIn(join(compute.state, 'projects'));
  const running = programs();
  assert.equal(running.length, 1);

  await compute.kill();
  await eventually(
    'the loss',
    () => controller.get('/v2/computes/other'),
    ({ connected }) => !connected,
  );
  // Who asks meanwhile is told at once.
  const { status, json } = await controller.ask('POST', `${lab.path}/nodes/${there.node_id}/start`);
  assert.equal(status, 409);
  assert.match(json.message, /cannot be reached|not connected/);
  // The node of this host is none of that compute's concern.
  assert.match(await type(lab, here, 'show ip'), /10\.0\.0\.1/);

  await compute.start();
  await reaches(lab, here, '10.0.0.2');
  assert.deepEqual(programs(), running);
  const without = ({ command_line, ...rest }: NodeObject): object => rest;
  assert.deepEqual((await lab.nodes()).map(without), before.map(without));
  await eventually(
    'the capture',
    () => controller.get(`${lab.path}/links/${link.link_id}`),
    ({ capturing, capture_file_name: name }) => capturing && name === 'far-2.pcap',
  );
});

test('a controller that is killed and started again finds its computes, and its labs as they run', {
  skip,
}, async (t) => {
  const pair = await startPair(t);
  await register(pair);
  const { controller, compute } = pair;
  const { lab, here } = await labAcross(controller);
  await reaches(lab, here, '10.0.0.2');
  const programs = () => [controller, compute].map(({ state }) => processesIn(join(state, 'projects')));
  const running = programs();
  await controller.kill();
  await controller.start();
  await reaches(lab, here, '10.0.0.2');
  assert.deepEqual(programs(), running);
  assert.deepEqual(
    (await lab.nodes()).map(({ status }) => status),
    ['started', 'started'],
  );
  assert.equal((await controller.get('/v2/computes/other')).user, CREDENTIALS.user);
});

/** What the server of a host answers its own user, whom it asks for no password. */
async function ofHost({ state }: Daemon, path: string) {
  const request = httpRequest({ socketPath: join(state, 'labwired.sock'), path }).end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return JSON.parse(Buffer.concat(await response.toArray()).toString());
}

test('a lab reaches across two hosts with accounts of their own, and through a password that is changed', {
  skip: skip || missing('tshark'),
}, async (t) => {
  const hosts = TwoHosts.make(t);
  const compute = ownDaemon(t, {
    program: [...hosts.compute.inside, ...executable()],
    host: hosts.addresses.compute,
  });
  const controller = ownDaemon(t, {
    program: [...hosts.controller.inside, ...executable()],
    host: hosts.controllerAddress,
    flags: ['--host', '0.0.0.0'],
    headers: basic('bob'),
  });
  await Promise.all([compute.start(), controller.start()]);
  for (const [name, role] of Object.entries({ carl: 'admin', dora: 'user' })) add(compute, name, role);
  for (const [name, role] of Object.entries({ ada: 'admin', bob: 'user', olga: 'observer' }))
    add(controller, name, role);
  const [ada, bob, olga] = [as(controller, basic('ada')), as(controller, basic('bob')), as(controller, basic('olga'))];
  const other = '/v2/computes/other';
  const state = () => made(ada('GET', other));

  // Whoever is no admin there, or nobody.
  const { compute: host } = hosts.addresses;
  const body = { compute_id: 'other', name: 'Other', protocol: 'http', host, port: compute.port };
  for (const [account, message] of [
    [
      { user: 'dora', password: 'password of dora' },
      /^The user of the compute Other is no admin there: give it the role, or name another\. /,
    ],
    [
      { user: 'carl', password: 'a wrong password' },
      /^The compute Other does not accept this user and password: correct/,
    ],
  ] as const) {
    const { status, json, text } = await ada('POST', '/v2/computes', { ...body, ...account });
    assert.deepEqual([status, message.test(json.message)], [409, true], text);
    assert.match((await state()).last_error, message);
    await ada('DELETE', other);
  }
  assert.equal(
    (await made(ada('POST', '/v2/computes', { ...body, user: 'carl', password: 'password of carl' }))).connected,
    true,
  );

  // A PC and a hub on each host, and a cable between the hubs.
  const lab = await Lab.create(controller, 'Across');
  const script = (last: number): object => ({ properties: { startup_script: `ip 10.0.0.${last}/24\n` } });
  const there = { compute_id: 'other' };
  const hub = (name: string, more: object) =>
    made(bob('POST', `${lab.path}/nodes`, { name, node_type: 'ethernet_hub', ...more }));
  const [near, far] = [await hub('Near', { compute_id: 'local' }), await hub('Far', there)];
  const [here, away] = [await lab.pc('Here', script(1)), await lab.pc('There', { ...there, ...script(2) })];
  const links = [await lab.link(here, near, 1), await lab.link(near, far, 1), await lab.link(away, far, 2)];
  await made(bob('POST', `${lab.path}/nodes/start`));
  // What is captured then has no request that is lost or repeated.
  await reaches(lab, here, '10.0.0.2');
  const hosting: string[] = [];
  for (const { link_id: id } of links)
    hosting.push((await made(bob('POST', `${lab.path}/links/${id}/start_capture`))).capture_compute_id);
  assert.deepEqual(hosting, ['local', 'local', 'other']);
  await type(lab, here, 'ping 10.0.0.2 -c 2 -w 5000');
  assert.match(await type(lab, away, 'ping 10.0.0.1 -c 1 -w 5000'), /icmp_seq=1 ttl=/, 'from the far console, too');

  // Captures of both hosts are one file, also when they have ended.
  await made(bob('PUT', `${lab.path}/sharing`, { accounts: { olga: 'watch' } }));
  const replies = async (): Promise<Record<string, number>> => {
    const answer = await fetch(`${controller.url}${lab.path}/merged-captures`, { headers: basic('olga') });
    const file = join(controller.directory, 'all.pcapng');
    writeFileSync(file, Buffer.from(await answer.arrayBuffer()));
    const words = ['-r', file, '-Y', 'icmp.type == 0', '-T', 'fields', '-e', 'frame.interface_name'];
    const names = execFileSync('tshark', words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
      .trim()
      .split('\n');
    return Object.fromEntries([...Map.groupBy(names, (name) => name)].map(([name, all]) => [name, all.length]));
  };
  const onEach = {
    'Here Ethernet0 to Near Ethernet1': 3,
    'Near Ethernet0 to Far Ethernet1': 3,
    'There Ethernet0 to Far Ethernet2': 3,
  };
  await eventually(
    'all replies on all links',
    replies,
    (found) => JSON.stringify(Object.entries(found).sort()) === JSON.stringify(Object.entries(onEach)),
  );
  await made(bob('POST', `${lab.path}/links/${links[2]!.link_id}/stop_capture`));
  assert.equal((await replies())['There Ethernet0 to Far Ethernet2'], 3);

  // Images of the other host are its admins', by way of this one's.
  const image = '/v2/computes/other/qemu/images/tiny.img';
  assert.equal((await bob('POST', image, 'an image')).status, 403);
  await made(ada('POST', image, 'an image'));
  assert.deepEqual(
    (await ofHost(compute, '/v2/compute/qemu/images')).map(({ filename }: { filename: string }) => filename),
    ['tiny.img'],
  );

  // All of the lab in one file.
  await made(bob('POST', `${lab.path}/nodes/stop`));
  const zip = await fetch(`${controller.url}${lab.path}/export`, { headers: basic('bob') });
  const copy = `/v2/projects/${crypto.randomUUID()}`;
  await made(bob('POST', `${copy}/import?name=Copy`, new Uint8Array(await zip.arrayBuffer())));
  await made(bob('POST', `${copy}/open`));
  const copied = (await made(bob('GET', `${copy}/nodes`))).find(({ name }: NodeObject) => name === 'There');
  assert.equal(copied.compute_id, 'local', 'as wherever it is imported');
  assert.match(copied.properties.startup_script ?? '', /10\.0\.0\.2/);
  await made(bob('DELETE', copy));
  await made(bob('POST', `${lab.path}/nodes/start`));
  await reaches(lab, here, '10.0.0.2');

  // Its password is changed: nothing is half done, and what is here goes on.
  const gone = await lab.pc('Gone', there);
  const onCompute = `/v2/compute/projects/${lab.project.project_id}`;
  const nodesThere = () => ofHost(compute, '/v2/compute/network/ports');
  assert.equal(user(compute, ['user', 'password', 'carl'], 'another password').status, 0);
  // What is deleted is gone from the lab, and from the other host when that lets this one in again.
  const deletion = await bob('DELETE', `${lab.path}/nodes/${gone.node_id}`);
  assert.deepEqual([deletion.status, (await bob('GET', `${lab.path}/nodes/${gone.node_id}`)).status], [204, 404]);
  const before = {
    nodes: await lab.nodes(),
    links: await lab.links(),
    ports: await nodesThere(),
  };
  const refused =
    /^The (host Other is not connected\. The )?compute Other does not accept this user and password: correct them\./;
  const end = (node: NodeObject, port_number: number) => ({ node_id: node.node_id, adapter_number: 0, port_number });
  const changes = async (wrong: RegExp): Promise<void> => {
    for (const [method, path, given] of [
      ['POST', 'nodes', { name: 'New', node_type: 'vpcs', ...there }],
      ['POST', 'links', { nodes: [end(near, 2), end(far, 3)] }],
      ['PUT', `nodes/${away.node_id}`, { name: 'Renamed' }],
      ['POST', `links/${links[2]!.link_id}/start_capture`],
    ] as const) {
      const { status, json, text } = await bob(method, `${lab.path}/${path}`, given);
      assert.deepEqual([status, wrong.test(json?.message ?? '')], [409, true], `${method} ${path}: ${text}`);
    }
  };
  await changes(new RegExp(`${refused.source}|is not connected\\.$`));
  await eventually('the reason', state, ({ connected, last_error: reason }) => !connected && refused.test(reason));
  await changes(refused);
  assert.match(await type(lab, here, 'show ip'), /10\.0\.0\.1/);
  const plain = (nodes: NodeObject[]) => nodes.map(({ node_id, name, console }) => ({ node_id, name, console }));
  assert.deepEqual(plain(await lab.nodes()), plain(before.nodes));
  assert.deepEqual(await lab.links(), before.links);
  assert.deepEqual(await nodesThere(), before.ports);

  await made(ada('PUT', other, { user: 'carl', password: 'another password' }));
  await eventually('the connection', state, ({ connected }) => connected);
  assert.equal((await state()).last_error, null);
  const isGone = async () => 'message' in (await ofHost(compute, `${onCompute}/vpcs/nodes/${gone.node_id}`));
  await eventually('the end of the deleted node', isGone);
  await reaches(lab, here, '10.0.0.2');
  assert.equal((await olga('POST', `${lab.path}/nodes/stop`)).status, 403);
  await made(bob('DELETE', lab.path));
  assert.deepEqual(await ofHost(compute, '/v2/compute/projects'), []);
});

test('a lab file leaves its hosts to the server; a drain moves stopped nodes with their links, which then ping', {
  skip,
}, async (t) => {
  const pair = await startPair(t);
  await register(pair);
  const { controller } = pair;
  const labwired = new Client(controller);
  const pc = (last: number, more = '') => `PC${last}: {type: vpcs, ${more}config: "ip 10.0.0.${last}/24\\n"}\n`;
  const text = `name: Placed\nnodes:\n  ${pc(1, 'compute: other, ')}  ${pc(2, 'compute: auto, ')}links:\n  - PC1:e0 -- PC2:e0\n`;
  const file = join(controller.directory, 'lab.yaml');
  writeFileSync(file, text);
  const planned = await labwired.run('plan', '--placement', '--json', file);
  assert.equal(planned.code, 2, planned.error);
  const { placement } = JSON.parse(planned.out);
  assert.deepEqual(
    placement.nodes.map(({ compute_id: host }: { compute_id: string }) => host),
    ['other', 'other'],
  );
  const shown = await labwired.run('plan', '--placement', file);
  assert.match(shown.out, /PC2 +Other +other nodes of the lab are on Other/);

  await labwired.say('apply', file);
  const lab = (await controller.get('/v2/projects')).find(({ name }: { name: string }) => name === 'Placed');
  const path = `/v2/projects/${lab.project_id}`;
  const hostsOf = async (): Promise<string[]> =>
    (await controller.get(`${path}/nodes`)).map(({ compute_id: host }: { compute_id: string }) => host);
  assert.deepEqual(await hostsOf(), ['other', 'other']);
  assert.match((await controller.get(`${path}/placement`)).nodes[1].reason, /other nodes of the lab are on Other/);
  assert.equal((await labwired.run('plan', file)).code, 0, 'the chosen host is no difference');

  assert.match(await labwired.say('compute', 'drain', 'Other'), /takes no new nodes: 2 nodes moved/);
  assert.deepEqual(await hostsOf(), ['local', 'local']);
  await controller.post(`${path}/nodes/start`);
  const [one] = await controller.get(`${path}/nodes`);
  await reaches({ daemon: controller, path } as Lab, one, '10.0.0.2');
  assert.match(await labwired.say('compute', 'undrain', 'Other'), /takes new nodes again/);
});
