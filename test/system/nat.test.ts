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

async function startOn(t: TestContext, network: OuterNetwork): Promise<Daemon> {
  const daemon = ownDaemon(t, {
    program: [...network.inside, ...executable()],
    host: network.address,
    flags: ['--insecure'],
  });
  return daemon.start();
}

function nat(lab: Lab): Promise<NodeObject> {
  return lab.daemon.post(`${lab.path}/nodes`, { name: 'NAT1', node_type: 'nat', compute_id: 'local' });
}

const tables = (network: OuterNetwork): string => network.run('nft', 'list', 'tables');
const interfaces = (network: OuterNetwork): string => network.run('ip', '-brief', 'link');

test('a PC behind a NAT gets an address, reaches the world with the address of the host, and has its names', {
  skip,
}, async (t) => {
  const network = await OuterNetwork.make(t);
  const daemon = await startOn(t, network);
  const lab = await Lab.create(daemon, 'Behind');
  const gate = await nat(lab);
  const pc = await lab.pc('PC1');
  assert.equal(tables(network), '', 'a NAT alone changes nothing on the host');
  await lab.link(pc, gate);
  await lab.start(pc);

  assert.match(await type(lab, pc, 'ip dhcp'), /DORA IP 192\.168\.122\.\d+\/24 GW 192\.168\.122\.1/);
  assert.match(await type(lab, pc, `ping ${FAR_ADDRESS} -c 3`), new RegExp(`${FAR_ADDRESS} icmp_seq=3 ttl=63`));
  assert.match(await type(lab, pc, `ping ${FAR_NAME} -c 3`), new RegExp(`${FAR_ADDRESS} icmp_seq=3 ttl=63`));
  assert.match(network.questions, new RegExp(`query\\[A\\] ${FAR_NAME} from ${HOST_ADDRESS}`));
  assert.throws(() => network.run('ping', '-c1', '-W1', '-I', 'up0', '192.168.122.2'), 'nobody gets in from outside');

  await daemon.kill();
  assert.match(tables(network), /table ip labwire_nat0/, 'killed, it leaves its table');
  await daemon.start();
  await eventually('the end of the table', () => tables(network) === '');
  assert.doesNotMatch(interfaces(network), /labwire/);
});
