// A lab behind a NAT node, on a host without a NAT bridge: the daemon's own network, with the kernel's packet filter.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type Daemon, eventually, ownDaemon } from './daemon.ts';
import { executable } from './executable.ts';
import { Lab, missing, type NodeObject } from './lab.ts';
import { FAR_ADDRESS, FAR_NAME, HOST_ADDRESS, OuterNetwork } from './outer-network.ts';
import { type } from './pc-typing.ts';
import { noNamespaces } from './two-daemons-network.ts';

const skip = missing('ip', 'vpcs', 'nft', 'dnsmasq') || noNamespaces();

async function startOn(t: TestContext, network: OuterNetwork, flags: readonly string[] = []): Promise<Daemon> {
  const daemon = ownDaemon(t, {
    program: [...network.inside, ...executable()],
    host: network.address,
    flags: ['--insecure', ...flags],
  });
  return daemon.start();
}

function outside(lab: Lab, node_type: 'nat' | 'cloud', properties: object = {}): Promise<NodeObject> {
  return lab.daemon.post(`${lab.path}/nodes`, { name: 'Out', node_type, compute_id: 'local', properties });
}

const tables = (network: OuterNetwork): string => network.run('nft', 'list', 'tables');
const interfaces = (network: OuterNetwork): string => network.run('ip', '-brief', 'link');

test('PCs behind NATs get addresses, reach the world with the address of the host, have its names, and each other', {
  skip,
}, async (t) => {
  const network = await OuterNetwork.make(t);
  const daemon = await startOn(t, network);
  const lab = await Lab.create(daemon, 'Behind');
  const pcs: NodeObject[] = [];
  for (const name of ['PC1', 'PC2']) {
    const [pc, gate] = [await lab.pc(name), await outside(lab, 'nat')];
    assert.equal(tables(network).includes('labwire'), pcs.length > 0, 'a NAT alone changes nothing on the host');
    await lab.link(pc, gate);
    await lab.start(pc);
    pcs.push(pc);
  }
  const [one] = pcs as [NodeObject, NodeObject];
  const addresses = await Promise.all(
    pcs.map(
      async (pc) => /DORA IP (192\.168\.122\.\d+)\/24 GW 192\.168\.122\.1/.exec(await type(lab, pc, 'ip dhcp'))?.[1],
    ),
  );
  assert.ok(addresses[0] && addresses[1] && addresses[0] !== addresses[1], String(addresses));

  assert.match(await type(lab, one, `ping ${FAR_NAME} -c 2 -w 5000`), new RegExp(`${FAR_ADDRESS} icmp_seq=\\d ttl=63`));
  assert.match(network.questions, new RegExp(`query\\[A\\] ${FAR_NAME} from ${HOST_ADDRESS}`));
  assert.match(await type(lab, one, `ping ${addresses[1]} -c 2 -w 5000`), /icmp_seq=\d ttl=64/);
  // The world knows the host alone, and cannot get in even when it sends to the network by way of the host.
  network.outside('ip', 'route', 'add', '192.168.122.0/24', 'via', HOST_ADDRESS);
  assert.throws(() => network.outside('ping', '-c1', '-W1', addresses[0]!), 'nobody gets in from outside');

  await daemon.kill();
  assert.match(tables(network), /table ip labwire_nat0/, 'killed, it leaves its table');
  await daemon.start();
  await daemon.delete(lab.path);
  await eventually('the end of the table', () => tables(network) === '');
  assert.doesNotMatch(interfaces(network), /labwire/);
});

test('a PC reaches the world by a port of a cloud on a bridge, on an Ethernet interface and on a TAP', {
  skip,
}, async (t) => {
  const network = await OuterNetwork.make(t);
  network.run('ip', 'link', 'add', 'br0', 'type', 'bridge');
  network.run('ip', 'addr', 'add', '10.77.0.1/24', 'dev', 'br0');
  network.run('ip', 'link', 'set', 'br0', 'up');
  const daemon = await startOn(t, network);
  const lab = await Lab.create(daemon, 'Out');
  const mapping = [
    { type: 'ethernet', interface: 'br0' },
    { type: 'ethernet', interface: 'up0' },
    { type: 'tap', interface: 'tap0' },
  ].map((entry, port_number) => ({ name: entry.interface, port_number, ...entry }));
  const cloud = await outside(lab, 'cloud', { ports_mapping: mapping });
  const scripts = ['ip 10.77.0.2/24', 'ip 198.51.100.9/24', 'ip 10.78.0.2/24'];
  const pcs: NodeObject[] = [];
  for (const [port, script] of scripts.entries()) {
    const pc = await lab.pc(`PC${port}`, { properties: { startup_script: `${script}\n` } });
    await lab.link(pc, cloud, port);
    pcs.push(pc);
  }
  network.run('ip', 'addr', 'add', '10.78.0.1/24', 'dev', 'tap0');
  await daemon.post(`${lab.path}/nodes/start`);
  const targets = ['10.77.0.1', '198.51.100.1', '10.78.0.1'];
  const answers = await Promise.all(pcs.map((pc, port) => type(lab, pc, `ping ${targets[port]} -c 2 -w 5000`)));
  for (const answer of answers) assert.match(answer, /icmp_seq=\d ttl=64/);
  assert.match(interfaces(network), /gns3tap0-0/);
  await daemon.kill();
  assert.doesNotMatch(interfaces(network), /\btap0/, 'killed, it leaves no TAP');
  await daemon.start();
  await daemon.delete(lab.path);
  await eventually('the end of what it left at the bridge', () => !/gns3tap/.test(interfaces(network)));
});

test('without privileges a cloud says which capability is missing and how to give it, and a NAT is refused', {
  skip: skip || missing('setpriv'),
}, async (t) => {
  const network = await OuterNetwork.make(t);
  const daemon = ownDaemon(t, {
    program: [...network.inside, 'setpriv', '--bounding-set=-all', '--inh-caps=-all', ...executable()],
    host: network.address,
    flags: ['--insecure'],
  });
  await daemon.start();
  const lab = await Lab.create(daemon, 'Poor');
  const refused = await daemon.ask('POST', `${lab.path}/nodes`, {
    body: { name: 'N', node_type: 'nat', compute_id: 'local' },
  });
  assert.equal(refused.status, 409);
  assert.match(refused.json.message, /no interface virbr0.*CAP_NET_ADMIN.*AmbientCapabilities/);
  const mapping = [{ name: 'e', port_number: 0, type: 'ethernet', interface: 'up0' }];
  const cloud = await outside(lab, 'cloud', { ports_mapping: mapping });
  await lab.link(await lab.pc('PC1'), cloud);
  assert.equal((await lab.node(cloud)).status, 'stopped');
  const start = await daemon.ask('POST', `${lab.path}/nodes/${cloud.node_id}/start`);
  assert.equal(start.status, 409);
  assert.match(start.json.message, /CAP_NET_RAW.*AmbientCapabilities/);
});
