// Built-in PCs of the real server against the real world: the kernel as a neighbour, dnsmasq as DHCP server, name server and router.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { type TestContext, test } from 'node:test';
import { eventually, ownDaemon } from './daemon.ts';
import { executable } from './executable.ts';
import { Lab, missing } from './lab.ts';
import { OuterNetwork } from './outer-network.ts';
import { type } from './pc-typing.ts';
import { noNamespaces } from './two-daemons-network.ts';

const skip = missing('ip', 'ping', 'dnsmasq') || noNamespaces();

/** DHCP, names and router advertisements on the host's bridge. */
async function startDnsmasq(t: TestContext, { inside }: OuterNetwork): Promise<void> {
  const [program, ...words] = [...inside, 'dnsmasq', '--keep-in-foreground', '--conf-file=/dev/null', '--pid-file='];
  const services = ['--dhcp-range=10.78.0.50,10.78.0.60,1h', '--dhcp-range=2001:db8:78::,ra-only,64', '--enable-ra'];
  const names = ['--no-resolv', '--no-hosts', '--address=/host.lab.test/10.78.0.1', '--domain=lab.test'];
  const where = ['--interface=br0', '--bind-interfaces', '--dhcp-leasefile=/dev/null', '--log-facility=-'];
  const dnsmasq: ChildProcess = spawn(program!, [...words, ...services, ...names, ...where], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  t.after(() => dnsmasq.kill('SIGKILL'));
  let said = '';
  dnsmasq.stderr!.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  await eventually('dnsmasq', () => /started/.test(said));
}

test('a built-in PC gets its addresses and names from dnsmasq; it and the kernel ping each other over IPv4 and IPv6', {
  skip,
}, async (t) => {
  const network = await OuterNetwork.make(t);
  network.run('ip', 'link', 'add', 'br0', 'type', 'bridge');
  network.run('ip', 'addr', 'add', '10.78.0.1/24', 'dev', 'br0');
  network.run('ip', 'addr', 'add', '2001:db8:78::1/64', 'dev', 'br0', 'nodad');
  network.run('ip', 'link', 'set', 'br0', 'up');
  const daemon = await ownDaemon(t, {
    program: [...network.inside, ...executable()],
    host: network.address,
    flags: ['--insecure'],
    config: '[VPCS]\nengine = built-in\n',
  }).start();
  const lab = await Lab.create(daemon, 'Out');
  const ports_mapping = [{ name: 'br0', port_number: 0, type: 'ethernet', interface: 'br0' }];
  const cloud = await daemon.post(`${lab.path}/nodes`, {
    ...{ name: 'Out', node_type: 'cloud', compute_id: 'local' },
    properties: { ports_mapping },
  });
  const pc = await lab.pc('PC1');
  await lab.link(pc, cloud);
  await lab.start(pc);
  await startDnsmasq(t, network);

  const lease = await eventually(
    'a lease',
    async () => /DORA IP (10\.78\.0\.\d+)\/24 GW 10\.78\.0\.1/.exec(await type(lab, pc, 'ip dhcp')),
    Boolean,
    30_000,
  );
  const address = lease![1]!;
  assert.match(await type(lab, pc, 'ip dhcp -r'), /RA IP 10\.78\.0\.\d+\/24/);
  assert.match(
    await type(lab, pc, 'ping host.lab.test -c 2 -w 5000'),
    /resolved to 10\.78\.0\.1[\s\S]*icmp_seq=2 ttl=64/,
  );
  assert.match(
    await type(lab, pc, 'ping host -c 1 -w 5000'),
    /84 bytes from 10\.78\.0\.1/,
    'with the domain of the lease',
  );
  assert.match(await type(lab, pc, 'ping 10.78.0.1 -c 1 -l 5000 -w 5000'), /5028 bytes from/);
  assert.match(network.run('ping', '-c', '2', '-W', '5', address), / 0% packet loss/);
  assert.match(network.run('ping', '-c', '1', '-W', '5', '-s', '20000', address), / 0% packet loss/);

  assert.match(await type(lab, pc, 'ip auto'), /GLOBAL SCOPE +: 2001:db8:78:0:250:79ff:fe66:6800\/64/);
  assert.match(await type(lab, pc, 'ping 2001:db8:78::1 -c 2 -w 5000'), /icmp6_seq=2 ttl=64/);
  const global = '2001:db8:78:0:250:79ff:fe66:6800';
  assert.match(network.run('ping', '-6', '-c', '2', '-W', '5', global), / 0% packet loss/);
  assert.match(network.run('ping', '-6', '-c', '1', '-W', '5', '-s', '5000', global), / 0% packet loss/);

  // The kernel accepts the TCP of the PC, and its refusals are told.
  assert.match(
    await type(lab, pc, 'ping 10.78.0.1 -3 -p 53 -c 1 -w 5000'),
    /Connect +53@[\s\S]*SendData +53@[\s\S]*Close +53@/,
  );
  assert.match(await type(lab, pc, 'ping 10.78.0.1 -3 -p 54 -c 1 -w 5000'), /Connect +54@10\.78\.0\.1 RST returned/);
  assert.match(await type(lab, pc, 'ping 10.78.0.1 -2 -p 54 -c 1 -w 5000'), /Destination port unreachable/);
  assert.match(await type(lab, pc, 'trace 10.78.0.1'), /1 +\*10\.78\.0\.1 .*Destination port unreachable/);
  // And the PC gives back what the kernel sends to its echo port.
  const echo = `exec 3<>/dev/tcp/${address}/7; printf 'hello, PC' >&3; head -c 9 <&3`;
  assert.equal(network.run('timeout', '20', 'bash', '-c', echo), 'hello, PC');
});
