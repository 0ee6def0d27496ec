// TCP and ping between two guests of QEMU: through a cable of Labwire by UDP and by TAPs, beside all other ways that QEMU has for frames: UDP
// sockets, Unix datagrams and streams, straight and by relaying processes, and TAPs at a bridge of Linux.
// Repeat with: npm run bench -- --only qemu-frames

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { cpus, freemem, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { keepFromHost } from '../../src/host/network/interface-programs.ts';
import { changeLink } from '../../src/host/network/kernel-interfaces.ts';
import { findProgram } from '../../src/host/processes/program-path.ts';
import { noQemu, noTaps, SMALL } from '../compute/qemu-support.ts';
import { cannotMakeInterfaces, ip, removeAfter, uniqueName } from '../fabric/namespaces.ts';
import { freeTcpPort } from '../free-tcp-port.ts';
import { copyGuest, guestFile, guestSettings, noGuest, Typist } from '../guest/guest.ts';
import { nodeLinks, runAmongNodes } from '../node-network.ts';
import { Daemon } from '../system/daemon.ts';
import { Lab, type NodeObject } from '../system/lab.ts';
import { cpuMilliseconds, isShort, median, table } from './measure.ts';

const ROUNDS = isShort ? 1 : 3;
const SECONDS = isShort ? 1 : 4;
const PINGS = 40;
/** What is written and counted at once. */
const BLOCK_BYTES = 65_536;
const MEGABYTES = 160;
const ADDRESSES = ['10.0.0.1/24', '10.0.0.2/24'] as const;

type Undo = () => unknown;
class Bench {
  readonly #undo: Undo[] = [];
  after(step: Undo): void {
    this.#undo.push(step);
  }
  async end(): Promise<void> {
    for (const step of this.#undo.reverse()) await step();
  }
}

interface Pair {
  shells: [Typist, Typist];
  /** Processes that move frames and are no guests. */
  movers: number[];
}

const bench = new Bench();
const hasVhost = existsSync('/dev/vhost-net');

function program(command: string, ...words: string[]): ChildProcess {
  const child = spawn(command, words, { stdio: ['ignore', 'ignore', 'inherit'] });
  bench.after(async () => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
  return child;
}

async function ready(ports: readonly number[]): Promise<[Typist, Typist]> {
  const shells = ports.map((port) => new Typist(bench, port)) as [Typist, Typist];
  // Whoever comes late may have missed the greeting, and asks.
  for (const shell of shells) {
    for (let tries = 0; !/\ncarrier 1\r/.test(shell.heard); tries++) {
      if (tries === 600) throw new Error(`a guest does not boot: ${shell.heard.slice(-500)}`);
      if (tries % 10 === 0) shell.socket.write('echo carrier $(cat /sys/class/net/eth0/carrier)\r');
      await sleep(200);
    }
  }
  return shells;
}

/** Two guests that the server runs. @param atBridge their TAPs are taken out of the link, and become ports of a bridge */
async function labwire(frames: 'udp' | 'tap', atBridge = false): Promise<Pair> {
  const daemon = new Daemon({ config: `[Qemu]\nframes = ${frames}\n` });
  bench.after(() => daemon[Symbol.asyncDispose]());
  await daemon.start();
  const images = join(daemon.state, 'images', 'QEMU');
  await mkdir(images, { recursive: true });
  await copyGuest(images);
  const lab = await Lab.create(daemon);
  const guests: NodeObject[] = [];
  for (const address of ADDRESSES) {
    const properties = { ...SMALL, ...guestSettings(address) };
    guests.push(
      await daemon.post(`${lab.path}/nodes`, { name: 'G', node_type: 'qemu', compute_id: 'local', properties }),
    );
  }
  await lab.link(guests[0]!, guests[1]!);
  for (const each of guests) await lab.start(each);
  if (atBridge) moveToBridge(daemon);
  const shells = await ready(guests.map(({ console }) => console));
  return { shells, movers: atBridge ? [] : [daemon.pid] };
}

/** Only the way of the frames differs from that of a link: the machines and their TAPs are the same. */
function moveToBridge({ state }: Daemon): void {
  const run = (...words: string[]) => runAmongNodes(state, ...words);
  run('ip', 'link', 'add', 'between', 'type', 'bridge');
  run('ip', 'link', 'set', 'between', 'up');
  for (const { name } of nodeLinks(state).filter(({ name }) => /^lw[0-9a-f]{8}-/.test(name))) {
    run('tc', 'qdisc', 'delete', 'dev', name, 'ingress');
    run('ip', 'link', 'set', name, 'master', 'between');
  }
}

/** A guest like those of the server. */
async function guest(index: 0 | 1, backend: string): Promise<number> {
  const port = await freeTcpPort();
  const { kernel_command_line: line } = guestSettings(ADDRESSES[index]);
  const device = `virtio-net-pci,mac=0c:00:00:00:00:0${index},speed=10000,duplex=full,netdev=n`;
  program(
    'qemu-system-x86_64',
    ...['-m', `${MEGABYTES}M`, '-smp', 'cpus=1,sockets=1', '-machine', 'accel=tcg', '-no-user-config', '-nodefaults'],
    ...['-kernel', guestFile('vmlinuz'), '-initrd', guestFile('initrd.gz'), '-append', line],
    ...['-serial', `tcp:127.0.0.1:${port},server=on,wait=off`, '-vga', 'std', '-display', 'none'],
    ...['-device', device, '-netdev', `${backend},id=n`],
  );
  await sleep(1000);
  return port;
}

const udp = (own: unknown, peer: unknown): string => `socket,udp=127.0.0.1:${peer},localaddr=127.0.0.1:${own}`;
const datagrams = (own: string, peer: string): string =>
  `dgram,local.type=unix,local.path=${own},remote.type=unix,remote.path=${peer}`;
const stream = (path: string, server: 'on' | 'off'): string =>
  `stream,server=${server},addr.type=unix,addr.path=${path}`;

const relay = (...ends: [string, string]): ChildProcess => program('socat', '-b', '65536', ...ends);

/** Two guests whose frames these backends carry. */
async function wired(backends: readonly [string, string], movers: readonly ChildProcess[] = []): Promise<Pair> {
  const ports = [await guest(0, backends[0]), await guest(1, backends[1])];
  return { shells: await ready(ports), movers: movers.map(({ pid }) => pid!) };
}

const freePorts = (count: number): Promise<number[]> => Promise.all(Array.from({ length: count }, freeTcpPort));

/** A UDP socket of QEMU's, and the other guest's is its peer. */
async function udpStraight(): Promise<Pair> {
  const [one, two] = await freePorts(2);
  return wired([udp(one, two), udp(two, one)]);
}

/** A UDP socket of QEMU's and a process that relays at each end, between which frames go by UDP, too. */
async function udpRelayed(): Promise<Pair> {
  const [one, two, near, far, left, right] = await freePorts(6);
  const end = (to: unknown, at: unknown): string => `UDP4:127.0.0.1:${to},bind=127.0.0.1:${at}`;
  const relays = [relay(end(one, left), end(far, near)), relay(end(two, right), end(near, far))];
  return wired([udp(one, left), udp(two, right)], relays);
}

/** Paths for sockets in a directory of their own. */
async function socketPaths(): Promise<Record<'one' | 'two' | 'left' | 'right', string>> {
  const directory = await mkdtemp(join(tmpdir(), 'labwire-frames-'));
  bench.after(() => rm(directory, { recursive: true }));
  const [one, two, left, right] = ['one', 'two', 'left', 'right'].map((name) => join(directory, name));
  return { one: one!, two: two!, left: left!, right: right! };
}

async function datagramsStraight(): Promise<Pair> {
  const { one, two } = await socketPaths();
  return wired([datagrams(one, two), datagrams(two, one)]);
}

/** As through a fabric: one process that has a socket for each guest. */
async function datagramsRelayed(): Promise<Pair> {
  const { one, two, left, right } = await socketPaths();
  const between = relay(`UNIX-SENDTO:${one},bind=${left}`, `UNIX-SENDTO:${two},bind=${right}`);
  return wired([datagrams(one, left), datagrams(two, right)], [between]);
}

async function streamStraight(): Promise<Pair> {
  const { one } = await socketPaths();
  return wired([stream(one, 'on'), stream(one, 'off')]);
}

/** As through a fabric, but easier: one that knows of no frames and passes on whatever there is. */
async function streamRelayed(): Promise<Pair> {
  const { one, two } = await socketPaths();
  // The relay waits for a guest that is not there yet.
  const end = (path: string): string => `UNIX-CONNECT:${path},retry=100,interval=0.2`;
  return wired([stream(one, 'on'), stream(two, 'on')], [relay(end(one), end(two))]);
}

/** TAPs that are ports of a bridge. */
async function bridged({ header }: { header: boolean }): Promise<Pair> {
  const bridge = uniqueName();
  await ip('link', 'add', bridge, 'type', 'bridge');
  removeAfter(bench, bridge);
  keepFromHost(bridge);
  changeLink(bridge, { up: true });
  const backend = async (): Promise<string> => {
    const tap = uniqueName();
    await ip('tuntap', 'add', 'dev', tap, 'mode', 'tap', ...(header ? ['vnet_hdr'] : []));
    removeAfter(bench, tap);
    changeLink(tap, { bridge, up: true });
    return `tap,ifname=${tap},script=no,downscript=no,vnet_hdr=${header ? 'on' : 'off'},vhost=off`;
  };
  return wired([await backend(), await backend()]);
}

interface Figure {
  megabits: number;
  milliseconds: number;
  cores: number;
}

async function measure({ shells: [from, to], movers }: Pair): Promise<Figure> {
  await from.run('ping -c 2 -W 20 10.0.0.2');
  const told = await from.run(`ping -c ${PINGS} -i 0.05 10.0.0.2`);
  const milliseconds = median([...told.matchAll(/time=([\d.]+) ms/g)].map(([, time]) => Number(time)));
  // dd has the sockets themselves: nc would carry a KiB at a time.
  const script = (words: string) =>
    `echo '#!/bin/sh' >/tmp/x; echo 'exec ${words}' >>/tmp/x; chmod 755 /tmp/x; rm -f /tmp/n`;
  await from.run(script(`timeout ${SECONDS} dd if=/dev/zero bs=${BLOCK_BYTES}`));
  await to.run(script(`dd of=/dev/null bs=${BLOCK_BYTES} iflag=fullblock 2>/tmp/n`));
  await to.run('(nc -l -p 99 -e /tmp/x) & sleep 1');
  const used = () => movers.reduce((sum, pid) => sum + cpuMilliseconds(pid), 0);
  const before = used();
  await from.run('nc 10.0.0.2 99 -e /tmp/x');
  const cores = (used() - before) / 1000 / SECONDS;
  const sunk = await to.run('until grep out /tmp/n; do sleep 0.2; done');
  const blocks = Number(/\n(\d+)\+\d+ records/.exec(sunk)?.[1]);
  return { megabits: (blocks * BLOCK_BYTES * 8) / SECONDS / 1e6, milliseconds, cores };
}

/** Whether this QEMU has sockets of these types; they came with 7.2. */
function hasBackends(...types: string[]): boolean {
  const told = execFileSync('qemu-system-x86_64', ['-netdev', 'help'], { encoding: 'utf8', stdio: 'pipe' }).split('\n');
  return types.every((type) => told.includes(type));
}

const RELAYS = 'UDP sockets and a relay at each end (socat)';
const kernel = hasVhost ? 'vhost' : 'without vhost, which this kernel does not have';
const BRIDGE = `bridge of Linux, TAPs of the same guests (${kernel})`;
const hasUnixSockets = noQemu === false && hasBackends('dgram', 'stream');
const ways: [title: string, make: () => Promise<Pair>][] = [
  ['Labwire, UDP', () => labwire('udp')],
  [`Labwire, TAP (${kernel})`, () => labwire('tap')],
  ['UDP sockets, straight', udpStraight],
  [RELAYS, udpRelayed],
  ...(hasUnixSockets
    ? ([
        ['Unix datagrams, straight', datagramsStraight],
        ['Unix datagrams and one relay (socat)', datagramsRelayed],
        ['Unix stream, straight', streamStraight],
        ['Unix stream and one relay (socat)', streamRelayed],
      ] satisfies typeof ways)
    : []),
  ['bridge of Linux, TAP without virtio-net header', () => bridged({ header: false })],
  ['bridge of Linux, TAP without vhost', () => bridged({ header: true })],
  [BRIDGE, () => labwire('tap', true)],
];

const hasSocat = (await findProgram('socat')) !== undefined;
const reason =
  noQemu ||
  noGuest ||
  noTaps ||
  cannotMakeInterfaces ||
  (hasSocat ? false : 'socat is not installed (Debian: apt-get install socat)') ||
  (freemem() < (ways.length * 2 + 2) * MEGABYTES * 2 ** 20
    ? `there is too little memory for ${ways.length * 2} guests`
    : false);
if (reason !== false) {
  process.stdout.write(`Skipped: ${reason}.\n`);
} else {
  try {
    const pairs: Pair[] = [];
    for (const [, make] of ways) pairs.push(await make());
    const figures = pairs.map((): Figure[] => []);
    // QEMU translates the guests' code when it is first run, which is not counted.
    for (const pair of pairs) await measure(pair);
    // In turn, so that whatever else the machine does hits all.
    for (let round = 0; round < ROUNDS; round++)
      for (const [index, pair] of pairs.entries()) figures[index]!.push(await measure(pair));
    const of = (index: number, member: keyof Figure): number => median(figures[index]!.map((each) => each[member]));
    const speedOf = (wanted: string): number =>
      of(
        ways.findIndex(([title]) => title === wanted),
        'megabits',
      );
    const rows = ways.map(([title], index) => {
      const megabits = of(index, 'megabits');
      return [
        title,
        `${megabits.toFixed(0)} (${figures[index]!.map((each) => each.megabits.toFixed(0)).join(', ')})`,
        (megabits / speedOf(BRIDGE)).toFixed(2),
        (megabits / speedOf(RELAYS)).toFixed(2),
        of(index, 'milliseconds').toFixed(2),
        pairs[index]!.movers.length === 0 ? '' : of(index, 'cores').toFixed(2),
      ];
    });
    const head = ['path', 'TCP, Mbit/s (each run)', 'to the bridge', 'to the relays', 'ping, ms', 'cores between'];
    process.stdout.write(
      `${cpus()[0]?.model}, ${cpus().length} CPUs, Node ${process.version}; guests of one emulated processor (TCG); ` +
        `median of ${ROUNDS} times ${SECONDS} s, and of ${PINGS} pings each\n\n${table([head, ...rows])}\n` +
        (hasUnixSockets ? '' : '\nThis QEMU is older than 7.2 and has no Unix sockets for frames.\n'),
    );
  } finally {
    await bench.end();
  }
}
