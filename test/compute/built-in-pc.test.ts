// PCs without the vpcs program, as nodes of a compute: the same API, and the network that real ones speak.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Body } from '../body.ts';
import { Client } from '../consoles/harness.ts';
import { freePort } from '../fabric/peers.ts';
import { judge, OtherLoad } from '../other-load.ts';
import { type Lab, noVpcs, type Settings, startLab } from './support.ts';

/** A range of console ports that no other test has: every test file runs in a process of its own. */
let nextRange = 16_000;
const ownConsoles = (count = 10): Pick<Settings, 'console'> => {
  nextRange += count;
  return { console: [nextRange - count, nextRange - 1] };
};
const builtIn = (): Settings => ({ engine: 'built-in', ...ownConsoles() });

/** A lab whose first PC is built in and whose second is run by `second`, with a cable between them. */
async function pair(
  t: TestContext,
  second: 'built-in' | 'vpcs',
): Promise<{ lab: Lab; pcs: [Body, Body]; paths: string[] }> {
  const labs: [Lab, Lab] = [await startLab(t, builtIn()), await startLab(t, { engine: second, ...ownConsoles() })];
  const [one, two] = [await freePort(), await freePort()];
  const ports = [
    [one, two],
    [two, one],
  ];
  const pcs: Body[] = [];
  const paths: string[] = [];
  for (const [index, lab] of labs.entries()) {
    const project = await lab.project();
    const path = await lab.node(project, 'vpcs', { name: `PC${index + 1}` });
    // Of two PCs of two projects both would have the first address.
    const nodes = index === 0 ? [path] : [path, await lab.node(project, 'vpcs', { name: 'PC3' })];
    const pc = nodes.at(-1)!;
    const [lport, rport] = ports[index]!;
    const nio = { type: 'nio_udp', lport, rhost: '127.0.0.1', rport };
    await lab.expect(201, 'POST', `${pc}/adapters/0/ports/0/nio`, nio);
    pcs.push(await lab.expect(200, 'POST', `${pc}/start`));
    paths.push(pc);
  }
  return { lab: labs[0], pcs: pcs as [Body, Body], paths };
}

/** Types a line; answers what came until the next prompt. */
async function type(client: Client, line: string): Promise<string> {
  const from = client.text.length;
  client.send(`${line}\r`);
  await client.sees(new RegExp(`^[\\s\\S]{${from + line.length}}[\\s\\S]*\\n\\r\\S+> $`));
  return client.text.slice(from);
}

const VERSIONS: ['built-in' | 'vpcs', string | false][] = [
  ['built-in', false],
  ['vpcs', noVpcs],
];
for (const [engine, skip] of VERSIONS) {
  test(`a built-in PC and one run as ${engine} reach each other by ping, UDP, TCP and trace, both ways`, {
    skip,
  }, async (t) => {
    const { pcs } = await pair(t, engine);
    const consoles = await Promise.all(pcs.map((pc) => Client.open(t, pc.console)));
    const [one, two] = consoles as [Client, Client];
    await one.sees(/VPCS> $/);
    await two.sees(/VPCS> $/);
    await Promise.all([type(one, 'ip 10.0.0.1/24'), type(two, 'ip 10.0.0.2/24')]);
    await Promise.all([type(one, 'ip 2001:db8::1/64'), type(two, 'ip 2001:db8::2/64')]);
    for (const [client, peer, six] of [
      [one, '10.0.0.2', '2001:db8::2'],
      [two, '10.0.0.1', '2001:db8::1'],
    ] as const) {
      assert.match(await type(client, `ping ${peer} -c 2 -i 10`), /icmp_seq=1 ttl=64 time=[\s\S]*icmp_seq=2 ttl=64/);
      assert.match(await type(client, `ping ${peer} -c 1 -l 1400`), /icmp_seq=1 ttl=64/);
      assert.match(await type(client, `ping ${peer} -c 1 -2`), /udp_seq=1 ttl=64/);
      assert.match(
        await type(client, `ping ${peer} -c 1 -3`),
        /Connect +7@\S+ seq=1[\s\S]*SendData +7@\S+ seq=1[\s\S]*Close +7@/,
      );
      assert.match(await type(client, `ping ${peer} -c 1 -3 -p 80`), /Connect +80@[\s\S]*SendData[\s\S]*Close/);
      assert.match(await type(client, `trace ${peer}`), / 1 +\*?10\.0\.0\.\d +\d.*port unreachable/);
      assert.match(await type(client, `trace ${peer} -P 1`), / 1 +10\.0\.0\.\d +\d+\.\d+ ms +\d+\.\d+ ms +\d+\.\d+ ms/);
      assert.match(await type(client, `ping ${six} -c 1`), /icmp6_seq=1 ttl=64/);
      assert.match(await type(client, `ping ${six} -c 1 -2`), /udp6_seq=1 ttl=64/);
    }
    assert.match(await type(one, 'arp'), /00:50:79:66:68:01 {2}10\.0\.0\.2 expires in \d+ seconds/);
    assert.match(await type(two, 'arp'), /00:50:79:66:68:00 {2}10\.0\.0\.1 expires in \d+ seconds/);
  });
}

test('a built-in PC keeps its settings in startup.vpc, as the API shows it, and runs them after a reload', async (t) => {
  const lab = await startLab(t, builtIn());
  const project = await lab.project();
  const pc = await lab.node(project, 'vpcs', { name: 'alpha', startup_script: 'set pcname %h\n' });
  const started = await lab.expect(200, 'POST', `${pc}/start`);
  assert.equal(started.status, 'started');
  assert.match(started.command_line, /built-in PC, MAC address 00:50:79:66:68:00/);
  const client = await Client.open(t, started.console);
  await client.sees(/Welcome to Virtual PC Simulator[\s\S]*Executing the startup file[\s\S]*alpha> $/);
  await type(client, 'ip 10.0.0.7/24 10.0.0.1');
  await type(client, 'ip 2001:db8::7/64');
  assert.deepEqual(await lab.expect(200, 'GET', `${pc}/addresses`), ['10.0.0.7/24', '2001:db8::7/64']);
  await type(client, 'clear ipv6');
  assert.match(await type(client, 'save'), /\. {2}done/);
  const file = join(started.node_directory, 'startup.vpc');
  assert.equal(await readFile(file, 'utf8'), 'set pcname alpha\nip 10.0.0.7 10.0.0.1 24\n');
  await lab.expect(204, 'POST', `${pc}/reload`);
  const again = await Client.open(t, started.console);
  await again.sees(/alpha : 10\.0\.0\.7 255\.255\.255\.0 gateway 10\.0\.0\.1[\s\S]*alpha> $/);
  await lab.expect(204, 'POST', `${pc}/stop`);
  await again.ends();
  assert.deepEqual(await lab.expect(200, 'GET', `${pc}/addresses`), []);
});

test('a PC whose console is flooded with commands does not keep others waiting, nor the server', async (t) => {
  const lab = await startLab(t, builtIn());
  const project = await lab.project();
  const [flooded, other] = await Promise.all(
    ['PC1', 'PC2'].map(async (name) => {
      const pc = await lab.node(project, 'vpcs', { name });
      const { console } = await lab.expect(200, 'POST', `${pc}/start`);
      const client = await Client.open(t, console);
      await client.sees(/VPCS> $/);
      return client;
    }),
  );
  flooded!.send('?\r'.repeat(512 * 1024));
  const [load, began] = [new OtherLoad(), performance.now()];
  for (let line = 0; line < 20; line++) await type(other!, `echo ${line}`);
  await judge(t, { what: '20 commands', value: performance.now() - began, limit: 5000, unit: 'ms', load });
  flooded!.send('\x03');
  await flooded!.sees(/VPCS> \r\n\rVPCS> $/);
});

test('`quit` stops a built-in PC, and so does a script that ends with it', async (t) => {
  const lab = await startLab(t, builtIn());
  const project = await lab.project();
  const typed = await lab.node(project, 'vpcs', { name: 'PC1' });
  const { console, node_id: id } = await lab.expect(200, 'POST', `${typed}/start`);
  const client = await Client.open(t, console);
  await client.sees(/VPCS> $/);
  client.send('quit\r');
  await lab.told('node.updated', ({ node_id, status }) => node_id === id && status === 'stopped');
  await client.ends();
  assert.match((await lab.told('log.info')).message, /^PC1 /);
  const scripted = await lab.node(project, 'vpcs', { name: 'PC2', startup_script: 'quit\necho on\nsave\n' });
  const { node_id: other, node_directory: directory } = await lab.expect(200, 'POST', `${scripted}/start`);
  await lab.told('node.updated', ({ node_id, status }) => node_id === other && status === 'stopped');
  assert.equal(await readFile(join(directory, 'startup.vpc'), 'utf8'), 'quit\necho on\nsave\n');
  assert.deepEqual(
    lab.messages.filter(({ action }) => action === 'log.error'),
    [],
  );
});

test('beyond 256 built-in PCs of a project no two have the same MAC address', async (t) => {
  const lab = await startLab(t, { engine: 'built-in', ...ownConsoles(400) });
  const project = await lab.project();
  const addresses = new Set<string>();
  for (let number = 0; number < 300; number++) {
    const pc = await lab.node(project, 'vpcs', { name: `PC${number}`, console_type: 'none' });
    addresses.add((await lab.expect(200, 'POST', `${pc}/start`)).command_line.slice(-17));
  }
  assert.equal(addresses.size, 300);
  assert.ok(addresses.has('00:50:79:66:68:ff') && addresses.has('00:50:79:66:69:00'));
});
