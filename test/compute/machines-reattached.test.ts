// Machines of VirtualBox and VMware that run on while the server is killed and started again, and linked clones: with programs in the place
// of VBoxManage and vmrun, and the rest as it is.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { readPairs } from '../../src/compute/emulators/vmware/files.ts';
import { Client } from '../consoles/harness.ts';
import { cannotMakeInterfaces, ip, removeAfter, uniqueName } from '../fabric/namespaces.ts';
import { freePort, Peer } from '../fabric/peers.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { type Daemon, eventually, ownDaemon } from '../system/daemon.ts';
import { Lab, type NodeObject } from '../system/lab.ts';
import { openAgain } from '../system/survivors.ts';
import { callsIn, script, serialPort, VBOX, VMRUN, VMWARE } from './machine-programs.ts';
import { startLab } from './support.ts';

/** A directory with a program in the place of VBoxManage, whose one machine is off. */
async function vboxDirectory(t: TestContext): Promise<{ directory: string; path: string }> {
  const directory = await scratchDirectory(t);
  writeFileSync(join(directory, 'state'), 'poweroff\n');
  writeFileSync(join(directory, 'hdds'), '');
  return { directory, path: script(join(directory, 'VBoxManage'), VBOX) };
}

/** Starts a node, with a serial port as soon as its program is told to start the machine. */
async function start(
  t: TestContext,
  { lab, node, directory, folder }: { lab: Lab; node: NodeObject; directory: string; folder: string },
) {
  const started = lab.start(node);
  const told = (): string => readFileSync(join(directory, 'calls'), 'utf8');
  await eventually('the machine to start', told, (text) => /^(startvm|.* start) /m.test(text));
  const port = await serialPort(t, join(lab.daemon.temporary, folder, node.node_id));
  await started;
  return port;
}

/** kill -9, and another life. */
async function killed(lab: Lab): Promise<void> {
  await lab.daemon.kill();
  await lab.daemon.start();
  await openAgain(lab);
}

/** A cloud whose ports are UDP cables to peers of the test. */
async function outside(t: TestContext, lab: Lab, count: number) {
  const peers = await Promise.all(Array.from({ length: count }, () => Peer.open(t)));
  const ports = await Promise.all(peers.map(() => freePort()));
  const ports_mapping = peers.map(({ port }, port_number) => {
    const cable = { lport: ports[port_number]!, rhost: '127.0.0.1', rport: port };
    return { name: `p${port_number}`, port_number, type: 'udp', ...cable };
  });
  const body = { name: 'Out', node_type: 'cloud', compute_id: 'local', properties: { ports_mapping } };
  const cloud: NodeObject = await lab.daemon.post(`${lab.path}/nodes`, body);
  return { cloud, peers, ports };
}

const link = (lab: Lab, ...ends: [node: NodeObject, adapter: number, port: number][]) =>
  lab.daemon.post(`${lab.path}/links`, {
    nodes: ends.map(([{ node_id }, adapter_number, port_number]) => ({ node_id, adapter_number, port_number })),
  });

async function echoes(t: TestContext, node: NodeObject): Promise<void> {
  const console = await Client.open(t, node.console);
  console.send('hello');
  await console.sees(/hello/);
}

const usedUdp = async (daemon: Daemon): Promise<number[]> => (await daemon.get('/v2/compute/network/ports')).udp_ports;

const frame = (text: string): Buffer => {
  const bytes = Buffer.alloc(60);
  bytes.write('ffffffffffff02000000000188b5', 'hex');
  bytes.write(text, 14);
  return bytes;
};

test('a VirtualBox machine runs on over kill -9, with its console, its tunnels, and its links as they were', async (t) => {
  const { directory, path } = await vboxDirectory(t);
  const daemon = await ownDaemon(t, { environment: { LABWIRE_VIRTUALBOX_VBOXMANAGE_PATH: path } }).start();
  const lab = await Lab.create(daemon);
  const properties = { vmname: 'web', adapters: 3, use_any_adapter: true };
  const node: NodeObject = await daemon.post(`${lab.path}/nodes`, {
    ...{ name: 'V', node_type: 'virtualbox', compute_id: 'local', console_type: 'telnet', properties },
  });
  const { cloud, peers, ports } = await outside(t, lab, 3);
  const links = [];
  for (const adapter of [0, 1, 2]) links.push(await link(lab, [node, adapter, 0], [cloud, 0, adapter]));
  await daemon.put(`${lab.path}/links/${links[1].link_id}`, { filters: { frequency_drop: [-1] } });
  await daemon.put(`${lab.path}/links/${links[2].link_id}`, { suspend: true });
  const serial = await start(t, { lab, node, directory, folder: 'gns3_vbox' });
  const set = callsIn(directory).find((line) => line.startsWith('modifyvm'))!;
  assert.match(set, /--cableconnected1 on .*--cableconnected2 on .*--cableconnected3 off/);
  // As the machine's adapters, which do not know of the server's end.
  const tunnels = [...set.matchAll(/sport=(\d+) \S+ dest=127\.0\.0\.1 \S+ dport=(\d+)/g)].map(([, sport, dport]) => ({
    sport: Number(sport),
    dport: Number(dport),
  }));
  assert.equal(tunnels.length, 3);
  const adapters = await Promise.all(tunnels.map(({ sport: port }) => Peer.open(t, { port })));
  const framesPass = async (): Promise<void> => {
    for (const peer of [...peers, ...adapters]) peer.heard.splice(0);
    await eventually('frames through the tunnel', async () => {
      for (const index of [2, 1, 0]) {
        await adapters[index]!.send(tunnels[index]!.dport, frame('out'));
        await peers[index]!.send(ports[index]!, frame('in'));
      }
      return [peers, adapters].every(([first]) => first!.heard.length > 2);
    });
    const others = [...peers.slice(1), ...adapters.slice(1)].map(({ heard }) => heard.length);
    assert.deepEqual(others, [0, 0, 0, 0], 'the filter and the suspension hold');
  };
  await framesPass();
  const ends = tunnels.flatMap(({ sport, dport }) => [sport, dport]);

  await killed(lab);
  const back = await lab.node(node);
  assert.deepEqual([back.status, back.console], ['started', node.console]);
  const told = callsIn(directory);
  assert.deepEqual(
    told.filter((line) => /^(startvm|modifyvm)|poweroff|reset/.test(line)),
    [],
    'the machine is left alone',
  );
  assert.ok(told.includes('controlvm UUID setlinkstate1 on') && told.includes('controlvm UUID setlinkstate3 off'));
  const now = await usedUdp(daemon);
  assert.ok(ends.every((port) => now.includes(port)));
  await echoes(t, back);
  await framesPass();

  await daemon.post(`${lab.path}/nodes/${node.node_id}/suspend`);
  await killed(lab);
  assert.equal((await lab.node(node)).status, 'suspended');
  await daemon.post(`${lab.path}/nodes/${node.node_id}/start`);
  assert.ok(callsIn(directory).includes('controlvm UUID resume'));
  assert.equal((await lab.node(node)).status, 'started');
  await echoes(t, node);

  await daemon.kill();
  writeFileSync(join(directory, 'state'), 'aborted\n');
  serial.end();
  await daemon.start();
  await openAgain(lab);
  assert.equal((await lab.node(node)).status, 'stopped');
  assert.match(daemon.log, /a node ended while the server was away.*in VirtualBox/);
  assert.ok(callsIn(directory).some((line) => line.startsWith('modifyvm UUID --uart1 off --nictrace1 off')));
  const left = await usedUdp(daemon);
  assert.ok(!ends.some((port) => left.includes(port)));
});

test('a VMware machine runs on over kill -9, with its console and its networks, also while it is suspended', {
  skip: cannotMakeInterfaces,
}, async (t) => {
  const directory = await scratchDirectory(t);
  const path = script(join(directory, 'vmrun'), VMRUN);
  script(join(directory, 'vmware'), VMWARE);
  writeFileSync(join(directory, 'calls'), '');
  const vmx = join(directory, 'web.vmx');
  for (const file of [vmx, `${vmx}.vmx`]) writeFileSync(file, 'displayname = "web"\nmemsize = "64"\n');
  const [vmnet, inside] = ['vmnet201', uniqueName()];
  await ip('link', 'add', vmnet, 'type', 'veth', 'peer', 'name', inside);
  removeAfter(t, vmnet);
  for (const name of [vmnet, inside]) await ip('link', 'set', name, 'up');

  const environment = { LABWIRE_VMWARE_VMRUN_PATH: path };
  const config = '[VMware]\nvmnet_start_range = 201\nvmnet_end_range = 202\n';
  const daemon = await ownDaemon(t, { environment, config }).start();
  const lab = await Lab.create(daemon);
  const make = (name: string, node_type: string, properties: object, console_type?: string): Promise<NodeObject> =>
    daemon.post(`${lab.path}/nodes`, { name, node_type, compute_id: 'local', console_type, properties });
  const machine = { vmx_path: vmx, linked_clone: false, adapters: 1, headless: true };
  const node = await make('W', 'vmware', machine, 'telnet');
  const other = await make('W2', 'vmware', { ...machine, vmx_path: `${vmx}.vmx` }, 'none');
  const { cloud, peers, ports } = await outside(t, lab, 2);
  const ports_mapping = [{ name: inside, port_number: 0, type: 'ethernet', interface: inside }];
  const wire = await make('Wire', 'cloud', { ports_mapping });
  await link(lab, [node, 0, 0], [cloud, 0, 0]);
  const hub = await lab.hub('Hub');
  await link(lab, [wire, 0, 0], [hub, 0, 0]);
  await link(lab, [cloud, 0, 1], [hub, 0, 1]);
  await start(t, { lab, node, directory, folder: 'gns3_vmware' });
  const framesPass = async (): Promise<void> => {
    const text = randomUUID();
    await eventually('a frame through the network', async () => {
      await peers[1]!.send(ports[1]!, frame(text));
      return peers[0]!.heard.some((heard) => heard.includes(text));
    });
  };
  await framesPass();
  callsIn(directory);

  await killed(lab);
  const back = await lab.node(node);
  assert.deepEqual([back.status, back.console], ['started', node.console]);
  assert.ok(
    callsIn(directory).every((line) => line === '-T ws list'),
    'the machine is left alone',
  );
  await echoes(t, back);
  await framesPass();
  const refused = await daemon.ask('POST', `${lab.path}/nodes/${other.node_id}/start`);
  assert.match(refused.json.message, /no vmnet interface left/);

  await daemon.post(`${lab.path}/nodes/${node.node_id}/suspend`);
  await killed(lab);
  assert.equal((await lab.node(node)).status, 'suspended');
  await daemon.post(`${lab.path}/nodes/${node.node_id}/start`);
  assert.ok(callsIn(directory).includes(`-T ws unpause ${vmx}`));

  await daemon.kill();
  rmSync(join(directory, 'running'));
  await daemon.start();
  await openAgain(lab);
  assert.equal((await lab.node(node)).status, 'stopped');
  assert.match(daemon.log, /a node ended while the server was away/);
  assert.equal((await readPairs(vmx)).get('ethernet0.vnet'), 'vmnet1');
  await daemon.post(`${lab.path}/nodes/${other.node_id}/start`);
});

test('a machine that no node reattaches is switched off, and its UDP ports are released', async (t) => {
  const { directory, path } = await vboxDirectory(t);
  const state = await scratchDirectory(t);
  const own = { vboxmanage_path: path, instance: randomUUID() };
  const first = await startLab(t, { ...own, console: [17_960, 17_969], udp: [17_970, 17_979] }, state);
  const id = randomUUID();
  const project = await first.project(id);
  const node = await first.node(project, 'virtualbox', { vmname: 'web', adapters: 1, console_type: 'none' });
  await first.expect(204, 'POST', `${node}/start`);
  callsIn(directory);
  await first.compute.stop({ keepNodes: true });

  const second = await startLab(t, { ...own, console: [17_980, 17_989], udp: [17_970, 17_979] }, state);
  const ports = async (): Promise<number[]> => (await second.expect(200, 'GET', '/network/ports')).udp_ports;
  assert.equal((await ports()).length, 2);
  await second.compute.endUnclaimed(() => false);
  assert.ok(!callsIn(directory).join().includes('poweroff'));
  await second.compute.endUnclaimed((project_id) => project_id === id);
  await second.told('log.warning', ({ message }) => /^N1 ran on .* it is switched off\.$/.test(message));
  assert.ok(callsIn(directory).includes('controlvm UUID poweroff'));
  assert.deepEqual(await ports(), []);
});

test('a linked clone of VirtualBox is registered while its node is there, with its disks', async (t) => {
  const { directory, path } = await vboxDirectory(t);
  const lab = await startLab(t, { vboxmanage_path: path, console: [17_990, 17_999], udp: [18_000, 18_009] });
  const id = randomUUID();
  let project = await lab.project(id);
  const body = { name: 'N1', vmname: 'web', linked_clone: true, node_id: randomUUID() };
  const made = await lab.expect(201, 'POST', `${project}/virtualbox/nodes`, body);
  const clone = join(made.node_directory, 'N1');
  const disk = join(clone, 'Snapshots/{3}.vdi');
  assert.equal(made.vmname, 'N1');
  const told = callsIn(directory);
  assert.ok(told.includes('snapshot UUID take GNS3 Linked Base for clones'));
  assert.ok(
    told.includes(
      `clonevm UUID --snapshot GNS3 Linked Base for clones --options link --name N1 --basefolder ${made.node_directory} --register`,
    ),
  );
  assert.ok(told.includes('setextradata N1 GNS3/Clone yes') && told.includes('snapshot N1 take reset'));

  // The disk of a node that was deleted, and one that the user has elsewhere.
  const gone = join(made.node_directory, '../x/Snapshots/{4}.vdi');
  const entries = [gone, '/media/away.vdi'].map((at) => `UUID: 4\nState: inaccessible\nLocation: ${at}\n`);
  writeFileSync(join(directory, 'hdds'), `UUID: 3\nState: created\nLocation: ${disk}\n\n${entries.join('\n')}`);
  await lab.expect(204, 'POST', `${project}/close`);
  assert.deepEqual(
    callsIn(directory).filter((line) => !line.startsWith('showvminfo')),
    [
      'storageattach UUID --storagectl SATA --port 0 --device 0 --medium none',
      'unregistervm N1',
      'list hdds',
      `closemedium disk ${gone}`,
    ],
  );
  const noted = readFileSync(join(clone, 'hdd_info.json'), 'utf8');
  assert.deepEqual(JSON.parse(noted), [{ hdd: '{3}.vdi', controller: 'SATA', port: '0', device: '0' }]);

  project = await lab.project(id);
  const again = { ...body, vmname: 'N1' };
  await lab.expect(201, 'POST', `${project}/virtualbox/nodes`, again);
  const registered = callsIn(directory);
  assert.ok(registered.includes(`registervm ${clone}/N1.vbox`));
  assert.ok(
    registered.includes(`storageattach UUID --storagectl SATA --port 0 --device 0 --type hdd --medium ${disk}`),
  );
  assert.ok(!registered.some((line) => line.startsWith('clonevm')));
  await lab.compute.stop({ keepNodes: true });

  const second = await startLab(
    t,
    { vboxmanage_path: path, console: [18_010, 18_019], udp: [18_020, 18_029] },
    lab.directory,
  );
  project = await second.project(id);
  await second.expect(201, 'POST', `${project}/virtualbox/nodes`, again);
  assert.ok(!callsIn(directory).some((line) => line.startsWith('registervm')), 'it is registered still');
  await second.expect(204, 'DELETE', `${project}/virtualbox/nodes/${body.node_id}`);
  assert.ok(callsIn(directory).includes('unregistervm N1'));
  assert.ok(!existsSync(clone));
});
