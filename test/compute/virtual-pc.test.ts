// Virtual PCs as nodes of a compute, with the real program. What the program does by itself: vpcs-*.test.ts.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { chmod, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '../consoles/harness.ts';
import { eventually } from '../eventually.ts';
import { freePort, type Peer } from '../fabric/peers.ts';
import { judge, OtherLoad } from '../other-load.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { type Lab, noVpcs, programsOf, type Settings, startLab } from './support.ts';

const skip = noVpcs;

interface Started {
  lab: Lab;
  path: string;
  pc: string;
  id: string;
  /** Of the project. */
  directory: string;
  /** What the node's processes carry. */
  instance: string;
}

async function started(t: TestContext, body: object = {}, settings: Settings = {}): Promise<Started> {
  const instance = randomUUID();
  const lab = await startLab(t, { instance, ...settings });
  const path = await lab.project();
  const pc = await lab.node(path, 'vpcs', { name: 'PC1', ...body });
  const directory = lab.directoryOf(path);
  return { lab, path, pc, id: pc.split('/').at(-1)!, directory, instance };
}

function script({ directory, id }: Started): Promise<string> {
  return readFile(join(directory, 'project-files/vpcs', id, 'startup.vpc'), 'utf8');
}

/** Asks who has 10.1.2.3. */
const QUESTION = Buffer.from(
  'ffffffffffff020000000099080600010800060400010200000000990a0102630000000000000a010203',
  'hex',
);

/** Waits for an answer. */
async function answers(peer: Peer, lport: number): Promise<void> {
  peer.heard.splice(0);
  await eventually('an answer', async () => {
    await peer.send(lport, QUESTION);
    return peer.heard.some((frame) => frame.readUInt16BE(12) === 0x0806 && frame.readUInt16BE(20) === 2);
  });
}

async function refused(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const outcome = await Promise.race([once(socket, 'connect'), once(socket, 'error').catch((error) => error)]).then(
    () => false,
    () => true,
  );
  socket.destroy();
  return outcome;
}

test('a PC is created stopped, with a console port, a directory that is not made yet, and its script', async (t) => {
  const lab = await startLab(t, { console: [12_200, 12_299] });
  const path = await lab.project();
  const node_id = randomUUID();
  const made = await lab.expect(201, 'POST', `${path}/vpcs/nodes`, { name: 'PC1', node_id });
  const directory = lab.directoryOf(path);
  assert.deepEqual(made, {
    name: 'PC1',
    node_id,
    project_id: path.slice('/projects/'.length),
    node_directory: join(directory, 'project-files/vpcs', node_id),
    status: 'stopped',
    console: 12_200,
    console_type: 'telnet',
    command_line: '',
  });
  assert.equal(existsSync(made.node_directory), false);
  const second = await lab.expect(201, 'POST', `${path}/vpcs/nodes`, {
    name: 'PC2',
    console: 12_250,
    startup_script: 'set pcname %h\nip 10.0.0.1/24\n# %h\n',
  });
  assert.equal(second.console, 12_250);
  assert.equal(
    await readFile(join(second.node_directory, 'startup.vpc'), 'utf8'),
    'set pcname PC2\nip 10.0.0.1/24\n# PC2\n',
  );
  assert.deepEqual(lab.events('file.created'), [], 'creation is not announced');
});

test('an existing script is not overwritten when its node is created again', async (t) => {
  const lab = await startLab(t);
  const id = randomUUID();
  const path = await lab.project(id);
  const node_id = randomUUID();
  await lab.node(path, 'vpcs', { node_id, startup_script: 'first' });
  await lab.expect(204, 'POST', `${path}/close`);
  await lab.project(id);
  await lab.node(path, 'vpcs', { node_id, startup_script: 'second' });
  const { body } = await lab.request('GET', `${path}/files/project-files/vpcs/${node_id}/startup.vpc`);
  assert.equal(body, 'first');
});

test('a node of a release that numbered its nodes gets an identifier', async (t) => {
  const lab = await startLab(t);
  const path = await lab.project();
  const { node_id } = await lab.expect(201, 'POST', `${path}/vpcs/nodes`, { name: 'PC1', node_id: 7 });
  assert.match(node_id, /^[0-9a-f]{8}-/);
});

for (const [what, body] of [
  ['no name', { name: undefined }],
  ['an empty name', { name: '' }],
  ['a wrong identifier', { node_id: 'x' }],
  ['console port 0', { console: 0 }],
  ['a console port as text', { console: '5000' }],
  ['a VNC console', { console_type: 'vnc' }],
  ['a script that is a number', { startup_script: 5 }],
  ['an unknown member', { ram: 4 }],
] as const) {
  test(`a PC with ${what} is refused with 400 and leaves nothing`, async (t) => {
    const lab = await startLab(t);
    const path = await lab.project();
    await lab.expect(400, 'POST', `${path}/vpcs/nodes`, { name: 'PC1', ...body });
    assert.deepEqual((await lab.expect(200, 'GET', '/network/ports')).console_ports, []);
  });
}

test('renaming a PC renames it in its script; no console needs no port; each change is announced', async (t) => {
  const made = await started(t, { startup_script: 'set pcname %h\necho I am %h\n' });
  const { lab, pc } = made;
  lab.events();
  assert.equal((await lab.expect(200, 'PUT', pc, { name: 'Alpha' })).name, 'Alpha');
  assert.equal(await script(made), 'set pcname Alpha\necho I am Alpha\n');
  const none = await lab.expect(200, 'PUT', pc, { console_type: 'none' });
  assert.deepEqual([none.console, none.console_type], [null, 'none']);
  assert.deepEqual((await lab.expect(200, 'GET', '/network/ports')).console_ports, []);
  assert.equal(typeof (await lab.expect(200, 'PUT', pc, { console_type: 'telnet' })).console, 'number');
  await lab.expect(200, 'PUT', pc, {});
  const updates = lab.events('file.updated');
  assert.deepEqual(updates, Array(4).fill('node.updated stopped'));
  for (const body of [{ name: '' }, { console: 70_000 }, { startup_script: 'x' }, { colour: 1 }]) {
    await lab.expect(400, 'PUT', pc, body);
  }
});

test('a rename that cannot be written changes nothing', async (t) => {
  const made = await started(t, { startup_script: 'set pcname %h\n' });
  const { lab, pc, id, directory } = made;
  const outside = await scratchDirectory(t);
  await writeFile(join(outside, 'startup.vpc'), 'PC1');
  await rm(join(directory, 'project-files/vpcs', id), { recursive: true });
  await symlink(outside, join(directory, 'project-files/vpcs', id));
  await lab.expect(403, 'PUT', pc, { name: 'Alpha' });
  assert.equal((await lab.expect(200, 'GET', pc)).name, 'PC1');
  assert.equal(await readFile(join(outside, 'startup.vpc'), 'utf8'), 'PC1');
});

test('a copy gets the files of the first PC, with its own name in them', async (t) => {
  const made = await started(t, { startup_script: 'set pcname %h\nip 10.0.0.1/24\n' });
  const { lab, path, pc, id } = made;
  await lab.expect(200, 'POST', `${path}/files/project-files/vpcs/${id}/sub/notes`, 'kept');
  const copy = await lab.node(path, 'vpcs', { name: 'Copy' });
  const copyId = copy.split('/').at(-1)!;
  const answer = await lab.expect(201, 'POST', `${pc}/duplicate`, { destination_node_id: copyId });
  assert.equal(answer.name, 'Copy');
  assert.equal(await script({ ...made, id: copyId }), 'set pcname Copy\nip 10.0.0.1/24\n');
  assert.equal((await lab.request('GET', `${path}/files/project-files/vpcs/${copyId}/sub/notes`)).body, 'kept');
  const empty = await lab.node(path, 'vpcs', { name: 'Empty' });
  await lab.expect(201, 'POST', `${empty}/duplicate`, { destination_node_id: copyId });
  await lab.expect(404, 'POST', `${pc}/duplicate`, { destination_node_id: randomUUID() });
});

test('port 0 is the only one, of any adapter, and it takes UDP only', async (t) => {
  const { lab, pc } = await started(t);
  const nio = { type: 'nio_udp', lport: await freePort(), rhost: '127.0.0.1', rport: 9 };
  assert.equal((await lab.expect(409, 'POST', `${pc}/adapters/0/ports/4/nio`, nio)).exception, 'VPCSError');
  await lab.expect(409, 'POST', `${pc}/adapters/0/ports/0/nio`, { type: 'nio_null' });
  await lab.expect(409, 'POST', `${pc}/adapters/0/ports/0/nio`, { type: 'nio_tap', tap_device: 'tap0' });
  assert.equal((await lab.expect(409, 'PUT', `${pc}/adapters/0/ports/0/nio`, nio)).exception, 'VPCSError');
  await lab.expect(201, 'POST', `${pc}/adapters/3/ports/0/nio`, nio);
  const changed = { ...nio, filters: { delay: [10] }, suspend: false };
  assert.deepEqual(await lab.expect(201, 'PUT', `${pc}/adapters/0/ports/0/nio`, changed), changed);
  await lab.expect(409, 'PUT', `${pc}/adapters/0/ports/0/nio`, { ...nio, filters: { corrupt: [101] } });
  await lab.expect(204, 'DELETE', `${pc}/adapters/0/ports/0/nio`);
  assert.equal((await lab.expect(409, 'DELETE', `${pc}/adapters/0/ports/0/nio`)).exception, 'VPCSError');
});

test('removing a PC removes its directory, gives back its ports and is announced without a console', async (t) => {
  const { lab, pc, id, directory } = await started(t, { startup_script: 'x' });
  await lab.expect(204, 'DELETE', pc);
  assert.equal(existsSync(join(directory, 'project-files/vpcs', id)), false);
  const deleted = await lab.told('node.deleted');
  assert.deepEqual([deleted.node_id, deleted.console, deleted.status], [id, null, 'stopped']);
  assert.deepEqual((await lab.expect(200, 'GET', '/network/ports')).console_ports, []);
  await lab.expect(404, 'GET', pc);
});

test('a started PC is answered as it is, talks on its console, and answers on the wire until it is stopped', {
  skip,
}, async (t) => {
  const made = await started(t, { startup_script: 'set pcname alpha\nip 10.1.2.3/24\n' });
  const { lab, pc, instance } = made;
  const { peer, nio } = await lab.peer(t, pc, 0);
  lab.events();
  const node = await lab.expect(200, 'POST', `${pc}/start`);
  assert.equal(node.status, 'started');
  assert.match(node.command_line, /vpcs -m 0 -i 1 .*startup\.vpc$/);
  assert.deepEqual(await lab.expect(200, 'POST', `${pc}/start`), node, 'starting it again changes nothing');
  assert.deepEqual(lab.events('file.created'), ['node.updated started']);
  assert.equal(programsOf(instance).length, 1, 'one process, and nothing beside it');
  const [pid] = programsOf(instance).map((owned) => owned.pid);
  assert.doesNotMatch(readFileSync(`/proc/${pid}/environ`, 'utf8'), /NODE_|npm_/);

  const client = await Client.open(t, node.console);
  await client.sees(/alpha> $/);
  await answers(peer, nio.lport);
  const suspended = { ...nio, suspend: true, filters: { frequency_drop: [-1] } };
  await lab.expect(201, 'PUT', `${pc}/adapters/0/ports/0/nio`, suspended);
  peer.heard.splice(0);
  for (let n = 0; n < 5; n += 1) await peer.send(nio.lport, QUESTION);
  await sleep(200);
  assert.equal(peer.heard.length, 0, 'suspended');
  await lab.expect(201, 'PUT', `${pc}/adapters/0/ports/0/nio`, { ...nio, suspend: false });
  await answers(peer, nio.lport);

  await lab.expect(204, 'POST', `${pc}/stop`);
  await client.ends();
  assert.deepEqual(lab.events('file.created', 'file.updated'), ['node.updated stopped']);
  assert.equal(programsOf(instance).length, 0);
  assert.ok(await refused(node.console), 'nothing listens while it is stopped');
  await lab.expect(204, 'POST', `${pc}/stop`);
  await lab.expect(200, 'POST', `${pc}/start`);
  await answers(peer, nio.lport);
});

test('a cable can be plugged in, exchanged and removed while the PC runs', { skip }, async (t) => {
  const { lab, pc } = await started(t, { startup_script: 'ip 10.1.2.3/24\n' });
  await lab.expect(200, 'POST', `${pc}/start`);
  const first = await lab.peer(t, pc, 0);
  await answers(first.peer, first.nio.lport);
  await lab.expect(204, 'DELETE', `${pc}/adapters/0/ports/0/nio`);
  const second = await lab.peer(t, pc, 0);
  await answers(second.peer, second.nio.lport);
});

test('a capture that is begun before the PC runs holds its first frames', { skip }, async (t) => {
  const { lab, pc } = await started(t, { startup_script: 'ip 10.1.2.3/24\n' });
  await lab.peer(t, pc, 0);
  const port = `${pc}/adapters/0/ports/0`;
  const { pcap_file_path } = await lab.expect(200, 'POST', `${port}/start_capture`, { capture_file_name: 'pc.pcap' });
  await lab.expect(200, 'POST', `${pc}/start`);
  await eventually('a frame in the capture', () => readFileSync(pcap_file_path).length > 24);
  await lab.expect(204, 'POST', `${pc}/stop`);
  await lab.expect(204, 'POST', `${port}/stop_capture`);
});

test('a PC that dies is seen within a second: stopped, with its last output, and it can be started again', {
  skip,
}, async (t) => {
  const { lab, pc, instance } = await started(t);
  await lab.expect(200, 'POST', `${pc}/start`);
  lab.events();
  const [{ pid } = { pid: 0 }] = programsOf(instance);
  const [load, begun] = [new OtherLoad(), performance.now()];
  process.kill(pid, 'SIGKILL');
  const { message } = await lab.told('log.error');
  await judge(t, { what: 'the end is seen', value: performance.now() - begun, limit: 1000, unit: 'ms', load });
  assert.match(message, /PC1 ended unexpectedly by SIGKILL.*VPCS/s);
  assert.deepEqual(lab.events('file.created'), ['node.updated stopped', 'log.error']);
  assert.equal((await lab.expect(200, 'GET', pc)).status, 'stopped');
  assert.equal((await lab.expect(200, 'POST', `${pc}/start`)).status, 'started');
});

test('a user who types quit has stopped the PC, which is no error', { skip }, async (t) => {
  const { lab, pc } = await started(t);
  const { console } = await lab.expect(200, 'POST', `${pc}/start`);
  lab.events();
  const client = await Client.open(t, console);
  await client.sees(/> $/);
  client.send('quit\r');
  await client.ends();
  await lab.told('log.info');
  assert.deepEqual(lab.events('file.created'), ['node.updated stopped', 'log.info']);
});

test('the console moves to another port while the PC runs, keeps its type, and is reset', { skip }, async (t) => {
  const { lab, pc } = await started(t, {}, { console: [12_300, 12_399] });
  assert.equal((await lab.expect(200, 'POST', `${pc}/start`)).console, 12_300);
  const before = await Client.open(t, 12_300);
  assert.equal((await lab.expect(200, 'PUT', pc, { console: 12_350 })).console, 12_350);
  await before.ends();
  const client = await Client.open(t, 12_350);
  await client.sees(/VPCS/);
  assert.equal((await lab.expect(409, 'PUT', pc, { console_type: 'none' })).exception, 'VPCSError');
  await lab.expect(204, 'POST', `${pc}/console/reset`);
  await client.ends();
  await (await Client.open(t, 12_350)).sees(/VPCS/);
  const taken = createServer().listen(12_351, '127.0.0.1');
  await once(taken, 'listening');
  t.after(() => taken.close());
  assert.equal((await lab.expect(200, 'PUT', pc, { console: 12_351 })).console, 12_350, 'a port of another program');
  assert.equal((await lab.expect(200, 'PUT', pc, { console: 80 })).console, 12_350, 'a port outside of the range');
  assert.deepEqual((await lab.expect(200, 'GET', '/network/ports')).console_ports, [12_350]);
});

test('the console is there over a WebSocket, too, for started PCs with a console only', { skip }, async (t) => {
  const { lab, path, pc } = await started(t);
  const target = (node: string) => `/v2/compute${node}/console/ws`;
  await assert.rejects(lab.app.openSocket(target(pc)), { code: 'conflict', message: /not started/ });
  await lab.expect(400, 'GET', `${pc}/console/ws`);
  await lab.expect(200, 'POST', `${pc}/start`);
  const socket = await lab.app.openSocket(target(pc));
  let text = '';
  let closed = false;
  socket.listen({
    message: (data) => {
      text += Buffer.from(data as Uint8Array).toString('latin1');
    },
    close: () => {
      closed = true;
    },
  });
  await eventually(`a prompt in ${JSON.stringify(text)}`, () => /> $/.test(text));
  socket.send('show ip\r');
  await eventually('an answer', () => /MAC +: 00:50:79:66:68:00/.test(text));
  await lab.expect(204, 'POST', `${pc}/stop`);
  await eventually('the end of the socket', () => closed);
  const mute = await lab.node(path, 'vpcs', { console_type: 'none' });
  assert.equal((await lab.expect(200, 'POST', `${mute}/start`)).console, null);
  await assert.rejects(lab.app.openSocket(target(mute)), { code: 'conflict', message: /no console/ });
});

test('reloading is stopping and starting; suspending does nothing', { skip }, async (t) => {
  const { lab, pc, instance } = await started(t);
  await lab.expect(200, 'POST', `${pc}/start`);
  const [before] = programsOf(instance);
  lab.events();
  await lab.expect(204, 'POST', `${pc}/suspend`);
  await lab.expect(204, 'POST', `${pc}/reload`);
  const [after] = programsOf(instance);
  assert.notEqual(after?.pid, before?.pid);
  assert.deepEqual(lab.events('file.created'), ['node.updated stopped', 'node.updated started']);
});

test('PCs of a project have MAC addresses of their own, from the lowest, kept as long as they are there', {
  skip,
}, async (t) => {
  const { lab, path, pc } = await started(t);
  const second = await lab.node(path, 'vpcs');
  const third = await lab.node(path, 'vpcs');
  await lab.expect(204, 'DELETE', second);
  const fourth = await lab.node(path, 'vpcs');
  for (const [node, byte] of [
    [third, 2],
    [fourth, 1],
    [pc, 0],
  ] as const) {
    assert.match((await lab.expect(200, 'POST', `${node}/start`)).command_line, new RegExp(` -m ${byte} `));
  }
});

/** What a failed start leaves: nothing. */
async function nothingLeft({ lab, pc, id, directory, instance }: Started): Promise<void> {
  assert.equal((await lab.expect(200, 'GET', pc)).status, 'stopped');
  assert.deepEqual((await lab.expect(200, 'GET', '/network/ports')).udp_ports, []);
  assert.equal(programsOf(instance).length, 0);
  assert.equal(existsSync(join(directory, 'project-files/vpcs', id)), false);
  assert.deepEqual(lab.events('file.created'), []);
}

test('without the program a PC can be made, and starting it says what to install', async (t) => {
  const made = await started(t, {}, { vpcs_path: '/nowhere/vpcs' });
  const { exception, message } = await made.lab.expect(409, 'POST', `${made.pc}/start`);
  assert.equal(exception, 'VPCSError');
  assert.match(message, /\/nowhere\/vpcs.*(install|vpcs_path)/);
  await nothingLeft(made);
});

for (const [what, text, message] of [
  ['hangs', '#!/bin/sh\nexec sleep 60\n', /did not answer within 5 s.*vpcs_path/],
  ['is something else', '#!/bin/sh\necho hello\n', /does not answer as VPCS/],
  [
    'ends at once',
    '#!/bin/sh\n[ "$1" = -v ] && echo "Welcome to Virtual PC Simulator, version 0.8.3" && exit\necho no library; exit 127\n',
    /ended at once.*no library/s,
  ],
] as const) {
  test(`a program that ${what} fails the start with the reason, and nothing stays`, async (t) => {
    const program = join(await scratchDirectory(t), 'vpcs');
    await writeFile(program, text);
    await chmod(program, 0o755);
    const made = await started(t, {}, { vpcs_path: program });
    const answer = await made.lab.expect(409, 'POST', `${made.pc}/start`);
    assert.equal(answer.exception, 'VPCSError');
    assert.match(answer.message, message);
    await nothingLeft(made);
  });
}

test('a console port that another program took meanwhile fails the start with its number, and nothing stays', {
  skip,
}, async (t) => {
  const made = await started(t, {}, { console: [12_400, 12_499] });
  const thief = createServer().listen(12_400, '127.0.0.1');
  await once(thief, 'listening');
  const { exception, message } = await made.lab.expect(409, 'POST', `${made.pc}/start`);
  assert.equal(exception, 'VPCSError');
  assert.match(message, /12400/);
  await nothingLeft(made);
  thief.close();
  await once(thief, 'close');
  await made.lab.expect(200, 'POST', `${made.pc}/start`);
});

test('a project closes its PCs, running or starting, and nothing of them is left', { skip }, async (t) => {
  const { lab, path, pc, instance } = await started(t);
  const others = await Promise.all(Array.from({ length: 5 }, () => lab.node(path, 'vpcs')));
  await lab.expect(200, 'POST', `${pc}/start`);
  lab.events();
  const starts = others.map((node) => lab.request('POST', `${node}/start`));
  await sleep(10);
  await lab.expect(204, 'POST', `${path}/close`);
  await Promise.all(starts);
  assert.equal(programsOf(instance).length, 0);
  const { console_ports, udp_ports } = await lab.expect(200, 'GET', '/network/ports');
  assert.deepEqual([console_ports, udp_ports], [[], []]);
  assert.ok(lab.events('file.created').includes('node.updated stopped'));
});

/** A compute with eight PCs that run. */
async function eightPcs(t: TestContext, directory: string, instance: string): Promise<Lab> {
  const lab = await startLab(t, { instance }, directory);
  const path = await lab.project();
  const pcs = await Promise.all(Array.from({ length: 8 }, () => lab.node(path, 'vpcs')));
  await Promise.all(pcs.map((pc) => lab.expect(200, 'POST', `${pc}/start`)));
  assert.equal(programsOf(instance).length, 8);
  return lab;
}

test('a compute that stops leaves no process, no port and no descriptor behind', { skip }, async (t) => {
  const [directory, instance] = [await scratchDirectory(t), randomUUID()];
  const descriptors = () => readdirSync('/proc/self/fd').length;
  // The first life makes what stays for good, such as the descriptors of the loop.
  await (await eightPcs(t, directory, instance)).stop();
  const before = descriptors();
  const lab = await eightPcs(t, directory, instance);
  const { body } = await lab.request('GET', '/network/ports');
  await lab.stop();
  assert.equal(programsOf(instance).length, 0);
  for (const port of body.console_ports) assert.ok(await refused(port), `console port ${port}`);
  await eventually(
    () => `descriptors: ${descriptors()}, before: ${before}`,
    () => descriptors() <= before,
  );
});
