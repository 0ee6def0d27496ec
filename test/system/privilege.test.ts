// What the daemon, and the programs that it starts, may do on the host, and what they know of it.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { noTaps } from '../compute/qemu-support.ts';
import { startDaemon } from './daemon.ts';
import { Lab, missing } from './lab.ts';
import { Listener } from './notifications.ts';
import { OuterNetwork } from './outer-network.ts';
import { processesIn } from './processes.ts';
import { pidOf, pingIsAnswered } from './survivors.ts';
import { noNamespaces } from './two-daemons-network.ts';
import { NO_RIGHTS, NOBODY, unprivileged } from './unprivileged.ts';

/** The environment of a process, by name. */
function environmentOf(pid: number): Record<string, string> {
  const entries = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').filter(Boolean);
  return Object.fromEntries(
    entries.map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]),
  );
}

/** What the descriptors of a process are, by their numbers. */
function descriptorsOf(pid: number): Record<string, string> {
  const folder = `/proc/${pid}/fd`;
  return Object.fromEntries(readdirSync(folder).map((number) => [number, readlinkSync(join(folder, number))]));
}

/** A line of /proc/PID/status. */
function statusOf(pid: number, name: string): string | undefined {
  return new RegExp(`^${name}:\\s*(.*)$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
}

test("programs of nodes get nothing of the daemon's: no secret of its environment, no descriptor", {
  skip: missing('vpcs'),
}, async (t) => {
  const secrets = { LABWIRE_SERVER_USER: 'ann', LABWIRE_SERVER_PASSWORD: 'canary-1', SECRET_TOKEN: 'canary-2' };
  const daemon = await startDaemon(t, { environment: secrets });
  const lab = await Lab.create(daemon);
  const pc = await lab.pc('PC1');
  await lab.start(pc);
  const program = pidOf(pc)!;
  const environment = environmentOf(program);
  assert.deepEqual(Object.keys(environment).sort(), [
    'HOME',
    'LABWIRE_INSTANCE',
    'LABWIRE_NODE',
    'LANG',
    'PATH',
    'TERM',
  ]);
  assert.equal(environment['LABWIRE_NODE'], pc.node_id);
  const descriptors = descriptorsOf(program);
  for (const number of ['0', '1', '2']) assert.match(descriptors[number]!, /^\/dev\/pts\/\d+$/);
  // What it has opened by itself: sockets of its own.
  const others = Object.values(descriptors).slice(3);
  assert.deepEqual(
    others.filter((target) => !target.startsWith('socket:')),
    [],
  );
  const theirs = new Set(Object.values(descriptorsOf(daemon.pid)));
  assert.deepEqual(
    others.filter((target) => theirs.has(target)),
    [],
  );

  const [supervisor] = processesIn(join(daemon.state, 'supervisor'));
  assert.deepEqual(Object.keys(environmentOf(supervisor!)).sort(), [
    'HOME',
    'LABWIRE_INSTANCE',
    'LANG',
    'PATH',
    'TERM',
  ]);
  const kept = Object.values(descriptorsOf(supervisor!));
  assert.deepEqual(
    kept.filter((target) => /labwire\.db|labwired\.lock/.test(target)),
    [],
  );
});

/** What a process may, and what it gives to those that it starts. */
function rightsOf(pid: number): Record<string, number> {
  const names = ['CapEff', 'CapPrm', 'CapInh', 'CapAmb', 'NoNewPrivs'];
  return Object.fromEntries(names.map((name) => [name, Number(`0x${statusOf(pid, name)}`)]));
}

test('a user without any right runs labs; what needs a capability names it and where it is given', {
  skip: missing('vpcs', 'setpriv') || (process.getuid!() === 0 ? false : 'only root can become another user'),
}, async (t) => {
  const weak = unprivileged(t, {
    rights: NO_RIGHTS,
    // Whatever bridges this host has.
    config: '[Server]\ndefault_nat_interface = lw-none\n',
  });
  await weak.start();
  const lab = await Lab.create(weak);
  const { pcs } = await lab.pcsOnHub(2);
  await pingIsAnswered(lab, pcs[0]!, '10.0.0.2');
  for (const pid of [weak.pid, ...pcs.map((pc) => pidOf(pc)!)]) {
    assert.equal(statusOf(pid, 'Uid'), Array(4).fill(NOBODY).join('\t'));
    assert.deepEqual(
      ['CapEff', 'CapBnd', 'CapAmb'].map((name) => Number(`0x${statusOf(pid, name)}`)),
      [0, 0, 0],
    );
    assert.equal(statusOf(pid, 'NoNewPrivs'), '1');
  }
  // Nobody else may look into the labs.
  assert.equal(statSync(weak.state).mode & 0o077, 0);

  const listener = await Listener.at(t, weak, `${lab.path}/notifications`);
  /** Why a node that leads out of the lab does not, once something is linked to it. */
  const reason = async (name: string, node_type: string, properties: object): Promise<string> => {
    const node = await weak.post(`${lab.path}/nodes`, { name, node_type, compute_id: 'local', properties });
    await lab.link(await lab.pc('PC'), node);
    const { message } = await listener.sees('log.error', (event) =>
      event.message.includes(` of ${name} leads nowhere`),
    );
    assert.equal((await lab.node(node)).status, 'stopped');
    const again = await weak.ask('POST', `${lab.path}/nodes/${node.node_id}/start`);
    assert.ok(again.status >= 400 && again.status < 500, again.text);
    return message;
  };
  const port = (type: string, name: string) => ({
    ports_mapping: [{ name: 'p', port_number: 0, type, interface: name }],
  });
  const tap = await reason('Tap', 'cloud', port('tap', 'lwpriv0'));
  assert.match(tap, /needs (CAP_NET_ADMIN|\/dev\/net\/tun).*(AmbientCapabilities=|DeviceAllow=)/);
  const [ethernet] = Object.keys(networkInterfaces()).filter((name) => name !== 'lo');
  if (ethernet !== undefined) {
    const packet = await reason('Ethernet', 'cloud', port('ethernet', ethernet));
    assert.match(packet, /needs CAP_NET_(RAW|ADMIN).*AmbientCapabilities=/);
  }
  const body = { name: 'Nat', node_type: 'nat', compute_id: 'local' };
  const nat = await weak.ask('POST', `${lab.path}/nodes`, { body });
  assert.equal(nat.status, 409);
  assert.match(nat.json.message, /needs CAP_NET_ADMIN.*AmbientCapabilities=/);
  await weak.end('SIGTERM');
});

test('a service that is given capabilities keeps them from the programs of its nodes', {
  skip:
    missing('vpcs', 'setpriv', 'unshare', 'qemu-system-x86_64') ||
    (process.getuid!() === 0 ? false : 'only root can become another user'),
}, async (t) => {
  const capabilities = '+net_admin,+net_raw';
  const network = noTaps || missing('ip', 'nft', 'dnsmasq') || noNamespaces() ? undefined : await OuterNetwork.make(t);
  network?.run('sysctl', '-qw', 'net.ipv4.ip_forward=1');
  // Where TAPs can be had, this user may have them, too.
  const device = 'mount -t tmpfs tmpfs /dev/net && mknod -m 666 /dev/net/tun c 10 200';
  const daemon = unprivileged(t, {
    network,
    rights: [`--inh-caps=${capabilities}`, `--ambient-caps=${capabilities}`],
    config: '[Qemu]\nrequire_hardware_acceleration = false\n',
    before: noTaps ? [] : ['unshare', '--mount', 'sh', '-c', `${device} && exec "$@"`, 'sh'],
  });
  await daemon.start();
  const lab = await Lab.create(daemon);
  const machine = await daemon.post(`${lab.path}/nodes`, {
    ...{ name: 'Q1', node_type: 'qemu', compute_id: 'local' },
    properties: { platform: 'x86_64', ram: 16 },
  });
  const pc = await lab.pc('PC1');
  await lab.start(machine);
  await lab.start(pc);
  for (const node of [machine, pc]) {
    const nothing = { CapEff: 0, CapPrm: 0, CapInh: 0, CapAmb: 0, NoNewPrivs: 1 };
    assert.deepEqual(rightsOf(pidOf(node)!), nothing, node.name);
  }
  const [supervisor] = processesIn(join(daemon.state, 'supervisor'));
  for (const pid of [daemon.pid, supervisor!]) {
    const { CapEff, CapAmb } = rightsOf(pid);
    assert.deepEqual([CapEff, CapAmb], [0x3000, 0], 'it has its rights, and gives them to nobody');
  }
  const { command_line: line } = await lab.node(machine);
  assert.match(
    line ?? '',
    noTaps ? /-netdev socket,/ : /-netdev tap,[^ ]*fd=3/,
    'TAPs come from the one that has rights',
  );
  if (network) {
    // nft is a program that it does give them to.
    const nat = await daemon.post(`${lab.path}/nodes`, { name: 'Out', node_type: 'nat', compute_id: 'local' });
    await lab.link(await lab.pc('PC2'), nat);
    assert.match(network.run('nft', 'list', 'tables'), /labwire/);
  }
  await daemon.end('SIGTERM');
});
