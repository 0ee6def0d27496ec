// Guests of QEMU that outlive the daemon: their interfaces, and what goes on between them when the next one is there.
import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { kernelLinksUnavailable } from '../../src/host/network/kernel-link-support.ts';
import { noQemu, noTaps, SMALL } from '../compute/qemu-support.ts';
import { copyGuest, guestSettings, noGuest, Typist } from '../guest/guest.ts';
import { keeperOf, nodeLinks } from '../node-network.ts';
import { eventually, startDaemon } from './daemon.ts';
import { executable } from './executable.ts';
import { Lab, missing, type NodeObject } from './lab.ts';
import { openAgain, pidsOf } from './survivors.ts';

/** Interfaces of guests. */
const taps = (state: string) =>
  new Set(nodeLinks(state).flatMap(({ name }) => (/^lw[0-9a-f]{8}-\d+$/.test(name) ? [name] : [])));

async function runOn(t: TestContext, program: readonly string[], hasNetwork: boolean): Promise<void> {
  const daemon = await startDaemon(t, { config: '[Qemu]\nframes = tap\n', program });
  const others = taps(daemon.state);
  const own = () => [...taps(daemon.state)].filter((name) => !others.has(name));
  const images = join(daemon.state, 'images', 'QEMU');
  await mkdir(images, { recursive: true });
  await copyGuest(images);
  const lab = await Lab.create(daemon);
  const guest = (name: string, address: string): Promise<NodeObject> =>
    daemon.post(`${lab.path}/nodes`, {
      ...{ name, node_type: 'qemu', compute_id: 'local', properties: { ...SMALL, ...guestSettings(address) } },
    });
  const guests = [await guest('G1', '10.0.0.1/24'), await guest('G2', '10.0.0.2/24')] as const;
  await lab.link(guests[0], guests[1]);
  for (const each of guests) await lab.start(each);
  const [first, second] = guests.map(({ console }) => new Typist(t, console)) as [Typist, Typist];
  await first.until(/guest is ready/);
  await second.until(/guest is ready/);
  first.socket.write('ping 10.0.0.2\r');
  await first.until(/seq=2 /);
  const before = { pids: pidsOf(guests), taps: own() };
  assert.equal(before.taps.length, 2);
  assert.equal(keeperOf(daemon.state) !== undefined, hasNetwork);

  await daemon.kill();
  assert.deepEqual({ pids: pidsOf(guests), taps: own() }, before);
  await daemon.start();
  await openAgain(lab);
  assert.deepEqual({ pids: pidsOf(guests), taps: own() }, before);
  const again = new Typist(t, guests[0].console);
  const answers = () => [...again.heard.matchAll(/seq=(\d+) /g)].map(([, number]) => Number(number));
  // What was said before comes first, and the numbers that were lost are left out.
  await eventually('the history', () => answers().length > 0);
  const last = Math.max(...answers());
  await eventually('the ping to go on', () => answers().some((number) => number > last + 3), Boolean, 90_000);
  again.socket.write('\x03');
  const [told] = /\d+ packets transmitted, \d+ packets received/.exec(
    await again.until(/\d+ packets transmitted, \d+ packets received/),
  )!;
  t.diagnostic(`over the end of the daemon: ${told}`);

  await daemon.end('SIGTERM');
  await eventually('the end of the interfaces', () => own().length === 0);
}

test(
  'guests on TAPs run on without the daemon, and hear each other again when the next one is there',
  {
    skip: noQemu || noGuest || noTaps,
  },
  (t) => runOn(t, executable(), kernelLinksUnavailable() === undefined),
);

test("without CAP_SYS_ADMIN their interfaces are in the host's own network, and all is the same", {
  skip: noQemu || noGuest || noTaps || missing('setpriv'),
}, (t) => {
  const weaker = ['setpriv', '--bounding-set', '-sys_admin', '--inh-caps', '-sys_admin'];
  return runOn(t, [...weaker, ...executable()], false);
});
