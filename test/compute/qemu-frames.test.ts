// Two guests whose frames go by TAPs: what passes between them, and what of it the host sees.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { defaultsOf } from '../../src/api/kinds/property.ts';
import { qemuSettings } from '../../src/api/kinds/qemu.ts';
import { machineWords } from '../../src/compute/emulators/qemu/command.ts';
import { chooseFrames } from '../../src/compute/emulators/qemu/frames.ts';
import { IMAGE_MEMBERS, type Images } from '../../src/compute/emulators/qemu/settings.ts';
import { cannotMakeInterfaces } from '../fabric/namespaces.ts';
import { Peer, until } from '../fabric/peers.ts';
import { recordedTcp } from '../fabric/recorded.ts';
import { carrier, copyGuest, guestSettings, noGuest, Typist } from '../guest/guest.ts';
import { nodeLinks, runAmongNodes } from '../node-network.ts';
import { machines, noQemu, noTaps, SMALL } from './qemu-support.ts';
import type { Lab } from './support.ts';
import { programsOf } from './support.ts';

const MEGABYTE = 2 ** 20;

/** An ARP question of 10.0.0.9 for 10.0.0.2, and the begin of the answer but for who sends it. */
const WHO_HAS_SECOND = Buffer.concat(
  [
    Buffer.from(
      'ffffffffffff02000000000908060001080006040001 020000000009 0a000009 000000000000 0a000002'.replaceAll(' ', ''),
      'hex',
    ),
  ],
  60,
);
const IT_IS_SECOND = '020000000009';

interface Guest {
  node: string;
  port: string;
  nio: { type: string; lport: number; rhost: string; rport: number };
  /** The state directory of its server. */
  state: string;
  /** Its interface outside. */
  tap: string;
  shell: Typist;
  address: string;
}

/** A card that takes neither super-frames nor frames without a checksum; it sends them all the same. */
const SIMPLE = ['ecn', 'tso4', 'tso6', 'csum'].map((what) => ` -global virtio-net-pci.guest_${what}=off`).join('');

/** Two guests that are joined, the second one with a simpler card. */
async function twoGuests(t: TestContext): Promise<{ lab: Lab; instance: string; first: Guest; second: Guest }> {
  const { lab, project, images, instance } = await machines(t, { frames: 'tap' });
  await copyGuest(images);
  const lports: number[] = [];
  for (let count = 0; count < 2; count += 1)
    lports.push((await lab.expect(201, 'POST', `${project}/ports/udp`)).udp_port);
  const { state } = lab.config;
  const before = new Set(nodeLinks(state).map(({ name }) => name));
  const guest = async (index: 0 | 1): Promise<Guest> => {
    const address = `10.0.0.${index + 1}`;
    const options = `${SMALL.options}${index === 0 ? '' : SIMPLE}`;
    const settings = { ...SMALL, ...guestSettings(`${address}/24`), options };
    const node = await lab.node(project, 'qemu', { name: `G${index + 1}`, ...settings });
    const nio = { type: 'nio_udp', lport: lports[index]!, rhost: '127.0.0.1', rport: lports[1 - index]! };
    const port = `${node}/adapters/0/ports/0`;
    await lab.expect(201, 'POST', `${port}/nio`, nio);
    const { console } = await lab.expect(200, 'POST', `${node}/start`);
    const tap = nodeLinks(state).find(({ name }) => /^lw[0-9a-f]{8}-0$/.test(name) && !before.has(name))!.name;
    before.add(tap);
    return { state, node, port, nio, tap, shell: new Typist(t, console), address };
  };
  const [first, second] = [await guest(0), await guest(1)];
  await first.shell.until(/guest is ready/);
  await second.shell.until(/guest is ready/);
  return { lab, instance, first, second };
}

/** What a guest has sent (`rx`) or heard (`tx`), in frames as the kernel hands them over. */
async function traffic({ state, tap }: Guest, direction: 'rx' | 'tx'): Promise<{ bytes: number; packets: number }> {
  const [{ stats64 }] = JSON.parse(runAmongNodes(state, 'ip', '-json', '-s', 'link', 'show', 'dev', tap));
  return stats64[direction];
}

/** Sends a file as `transfer` does, and gives the mean length of frames as they were sent, and as they were heard. */
async function frameBytes(from: Guest, to: Guest): Promise<{ sent: number; heard: number }> {
  const counts = () => Promise.all([traffic(from, 'rx'), traffic(to, 'tx')]);
  const before = await counts();
  const [sum, gotSum] = await transfer(from, to, 4);
  assert.equal(gotSum, sum);
  const [sent, heard] = (await counts()).map(
    ({ bytes, packets }, index) => (bytes - before[index]!.bytes) / (packets - before[index]!.packets),
  ) as [number, number];
  return { sent, heard };
}

/** Sends a file of random bytes from one guest to the other; answers what both say of it. */
async function transfer(from: Guest, to: Guest, megabytes: number): Promise<[string, string]> {
  const sum = /[0-9a-f]{32}/;
  // A listener of busybox whose own input ends would end the connection.
  await to.shell.run('rm -f /tmp/got; (sleep 600 | (nc -l -p 99 >/tmp/got; touch /tmp/over)) & true');
  await from.shell.run(`dd if=/dev/urandom of=/tmp/data bs=64k count=${megabytes * 16}`);
  await from.shell.run(`for i in $(seq 50); do nc ${to.address} 99 </tmp/data && break; sleep 0.2; done`);
  const sent = sum.exec(await from.shell.run('md5sum /tmp/data'))![0];
  await to.shell.run('while [ ! -e /tmp/over ]; do sleep 0.1; done; rm /tmp/over');
  return [sent, sum.exec(await to.shell.run('md5sum /tmp/got'))![0]];
}

/** Of a process that has none of root's rights. */
async function powerless(t: TestContext): Promise<number> {
  const child = spawn('sleep', ['600'], { stdio: 'ignore', ...(process.getuid!() === 0 ? { uid: 65_534 } : {}) });
  t.after(() => child.kill('SIGKILL'));
  await once(child, 'spawn');
  return child.pid!;
}

test('the kernel serves virtio adapters at TAPs where it can, and no others', () => {
  const settings = { ...defaultsOf(qemuSettings, randomUUID()), adapters: 3, adapter_type: 'virtio-net-pci' };
  const custom_adapters = [{ adapter_number: 1, adapter_type: 'e1000' }];
  const image = { shown: '', path: '', md5sum: '' };
  const words = (vhost: boolean) =>
    machineWords({
      ...{ emulator: '', platform: 'x86_64', name: 'N', nodeId: '', settings, vhost, accelerated: false },
      ...{ hidden: { linked_clone: true, custom_adapters }, disks: [], options: [] },
      images: Object.fromEntries(IMAGE_MEMBERS.map((member) => [member, image])) as Images,
      console: { type: 'none', host: '', port: null },
      adapters: [{ tap: 'lw0-0' }, { tap: 'lw0-1' }, { program_port: 7, cable_port: 8 }],
    }).filter((_word, index, all) => all[index - 1] === '-netdev');
  assert.deepEqual(words(true), [
    'tap,id=gns3-0,fd=3,vhost=on',
    'tap,id=gns3-1,fd=4',
    'socket,id=gns3-2,udp=127.0.0.1:8,localaddr=127.0.0.1:7',
  ]);
  assert.equal(words(false)[0], 'tap,id=gns3-0,fd=3');
});

test('without the rights for TAPs frames go by UDP, or machines are refused with the reason', {
  skip: cannotMakeInterfaces,
}, async (t) => {
  const pid = await powerless(t);
  const missing = 'the server has no CAP_NET_ADMIN and no CAP_NET_RAW';
  const server = { server: pid, makesTaps: true };
  assert.deepEqual(await chooseFrames('automatic', server), { by: 'udp', vhost: false, reason: missing });
  await assert.rejects(chooseFrames('tap', server), {
    code: 'conflict',
    message: `Frames cannot go by TAPs: ${missing}; mend that, or set frames = automatic in section [Qemu].`,
  });
  const starter = await chooseFrames('automatic', { server: 'self', supervisor: pid, makesTaps: true });
  assert.match(starter.reason ?? '', /keeps them has no CAP_NET_ADMIN$/);
  const old = await chooseFrames('automatic', { server: 'self', supervisor: process.pid, makesTaps: false });
  assert.match(old.reason ?? '', /keeps them is of an older release$/);
  assert.equal((await chooseFrames('udp', { server: 'self', makesTaps: true })).by, 'udp');
});

test('guests on TAPs: super-frames pass uncut, a capture has real frames, cables are suspended, nothing stays', {
  skip: noQemu || noGuest || noTaps,
}, async (t) => {
  const { lab, instance, first, second } = await twoGuests(t);
  assert.match(await first.shell.run('ping -c 3 -W 20 10.0.0.2'), /3 packets transmitted, 3 packets received/);

  // To the card that takes them super-frames come as they were sent; the kernel cuts them for the one that does not.
  const back = await frameBytes(second, first);
  assert.ok(back.sent > 3000 && back.heard > 3000, JSON.stringify(back));
  const forth = await frameBytes(first, second);
  assert.ok(forth.sent > 3000 && forth.heard <= 1514, JSON.stringify(forth));

  const capture = { capture_file_name: 'flow.pcap', data_link_type: 'DLT_EN10MB' };
  const { pcap_file_path: file } = await lab.expect(200, 'POST', `${first.port}/start_capture`, capture);
  const [again, gotAgain] = await transfer(first, second, 1);
  assert.equal(gotAgain, again);
  await lab.expect(204, 'POST', `${first.port}/stop_capture`);
  const frames = await recordedTcp(file);
  assert.ok(frames.length > MEGABYTE / 1500, `${frames.length} frames`);
  assert.deepEqual(
    frames.filter(({ bytes, intact }) => bytes > 1514 || !intact),
    [],
  );

  await lab.expect(201, 'PUT', `${first.port}/nio`, { ...first.nio, suspend: true });
  assert.match(await first.shell.run(carrier(0)), /\ncarrier 0\r/);
  assert.match(await second.shell.run('ping -c 1 -W 1 10.0.0.1'), /0 packets received/);
  await lab.expect(201, 'PUT', `${first.port}/nio`, { ...first.nio, suspend: false });
  assert.match(await first.shell.run(carrier(1)), /\ncarrier 1\r/);
  assert.match(await second.shell.run('ping -c 1 -W 20 10.0.0.1'), /1 packets received/);

  // The other end of the cable may be anybody who speaks UDP, as another compute does.
  const peer = await Peer.open(t);
  const { lport } = second.nio;
  await lab.expect(204, 'DELETE', `${second.port}/nio`);
  await lab.expect(201, 'POST', `${second.port}/nio`, { ...second.nio, rport: peer.port });
  await until(async () => {
    await peer.send(lport, WHO_HAS_SECOND);
    return peer.heard.some((frame) => frame.toString('hex').startsWith(IT_IS_SECOND));
  });
  await lab.expect(204, 'DELETE', `${second.port}/nio`);
  await lab.expect(201, 'POST', `${second.port}/nio`, second.nio);
  assert.match(await first.shell.run('ping -c 1 -W 20 10.0.0.2'), /1 packets received/);

  // Filters work on real frames; TCP makes good what is lost.
  await lab.expect(201, 'PUT', `${first.port}/nio`, { ...first.nio, filters: { frequency_drop: [50] } });
  const [lossy, gotLossy] = await transfer(first, second, 1);
  assert.equal(gotLossy, lossy);

  assert.deepEqual(
    (await lab.expect(200, 'GET', '/network/interfaces')).filter(({ name }: { name: string }) =>
      [first.tap, second.tap].includes(name),
    ),
    [],
  );
  const isThere = ({ state, tap }: Guest) => nodeLinks(state).some(({ name }) => name === tap);
  assert.ok(isThere(first));
  await lab.expect(204, 'POST', `${first.node}/stop`);
  assert.ok(!isThere(first));
  // One that is killed: its end is told, and nothing else.
  process.kill(programsOf(instance)[0]!.pid, 'SIGKILL');
  await lab.told('log.error', ({ message }) => /G2 ended unexpectedly by SIGKILL/.test(message));
  await until(async () => !isThere(second));
  assert.deepEqual(
    lab.messages.filter(({ line }) => line.includes(second.tap)),
    [],
  );
});
