// Twenty machines and ten containers in one lab above which the daemon is killed: what runs, its consoles and limits, its cables and the
// pings across them. Most machines have no guest and rest in their BIOS.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { TestEngine } from '../compute/docker-engine.ts';
import { Client } from '../consoles/harness.ts';
import { guestSettings, noGuest, Typist } from '../guest/guest.ts';
import { judge, OtherLoad } from '../other-load.ts';
import { DAEMON_HOMES, type Daemon, eventually, startDaemon } from './daemon.ts';
import { Lab, missing, type NodeObject } from './lab.ts';
import { container, engineFor, guestImages, MACHINE, machine, withEngine } from './machines.ts';
import { processesIn } from './processes.ts';
import { openAgain } from './survivors.ts';

/** Machines beside the two guests. */
const MACHINES = 18;
/** One adapter without a ROM, whose program would ask the network for a system and keep a processor busy meanwhile. */
const RESTING = { options: `${MACHINE.options} -global e1000.rombar=0` };
/** Each of two containers, of which the first pings the second. */
const PAIRS = 5;
/** Seconds between two requests of a ping. */
const INTERVAL = 0.2;
/** Answers that come again after the daemon is back. */
const AGAIN = 10;
const PROMISED_SECONDS = 2;

interface Started {
  daemon: Daemon;
  lab: Lab;
  engine: TestEngine | string;
  machines: NodeObject[];
  /** That ping. */
  containers: NodeObject[];
}

async function startedLab(t: TestContext): Promise<Started> {
  const engine = await engineFor(t);
  const daemon = await startDaemon(t, withEngine(engine));
  await guestImages(daemon);
  const lab = await Lab.create(daemon);
  const machines = [
    await machine(lab, 'G1', guestSettings('10.0.0.1/24')),
    await machine(lab, 'G2', guestSettings('10.0.0.2/24')),
  ];
  for (let index = 0; index < MACHINES; index++) {
    const throttled = index === 0 && !missing('cpulimit') ? { cpu_throttling: 10 } : {};
    machines.push(await machine(lab, `Q${index}`, { ...RESTING, ...throttled }));
  }
  for (let index = 0; index < machines.length; index += 2) await lab.link(machines[index]!, machines[index + 1]!);
  const containers: NodeObject[] = [];
  for (let pair = 0; pair < (typeof engine === 'string' ? 0 : PAIRS); pair++) {
    const inside = (address: number, more: string) =>
      `/bin/busybox sh -c 'ip addr add 10.1.${pair}.${address}/24 dev eth0; ${more} exec /bin/sh'`;
    const pings = `ping -i ${INTERVAL} 10.1.${pair}.2 >/pings 2>&1 &`;
    const ends = [
      await container(lab, `C${pair}`, { start_command: inside(1, pings) }),
      await container(lab, `D${pair}`, { start_command: inside(2, '') }),
    ];
    await lab.link(ends[0]!, ends[1]!);
    containers.push(ends[0]!);
  }
  await daemon.post(`${lab.path}/nodes/start`);
  return { daemon, lab, engine, machines, containers };
}

/** Numbers of the requests that were answered, in the words of busybox. */
const answered = (said: string): number[] => [...said.matchAll(/seq=(\d+) ttl/g)].map(([, number]) => Number(number));

/** Requests in a row that nobody has answered, between two that somebody has: the most. */
function lost(said: string): number {
  const numbers = answered(said).sort((left, right) => left - right);
  return Math.max(0, ...numbers.slice(1).map((number, index) => number - numbers[index]! - 1));
}

test('machines and containers go on while the daemon is killed, and all are reattached; pings across their cables are lost for a moment', {
  skip: missing('qemu-system-x86_64') || noGuest,
}, async (t) => {
  const { daemon, lab, engine, machines, containers } = await startedLab(t);
  const [first, second, ...others] = machines as [NodeObject, NodeObject, ...NodeObject[]];
  const typist = new Typist(t, first.console);
  await typist.until(/guest is ready/);
  await new Typist(t, second.console).until(/guest is ready/);
  assert.match(await typist.run('ping -c 1 -W 20 10.0.0.2'), /1 packets received/);
  await typist.run(`(ping -i ${INTERVAL} 10.0.0.2 >/pings 2>&1 &)`);
  let guest = typist;
  /** What the pings have said so far: the guest's, and one of each pair of containers. */
  const said = async (): Promise<string[]> => [
    await guest.run('cat /pings'),
    ...containers.map(({ name }) => {
      const id = (engine as TestEngine).docker('ps', '-q', '--filter', `name=GNS3.${name}.`).trim();
      return (engine as TestEngine).docker('exec', id, '/gns3/bin/busybox', 'cat', '/pings');
    }),
  ];
  const processes = (): number[][] => machines.map(({ node_directory }) => processesIn(node_directory));
  const ids = (): string[] => (typeof engine === 'string' ? [] : engine.containers().sort());
  const before = { processes: processes(), containers: ids() };
  assert.equal(before.processes.flat().length, machines.length + (missing('cpulimit') ? 0 : 1));
  assert.equal(before.containers.length, 2 * containers.length);
  await eventually('all to ping', said, (texts) => texts.every((text) => answered(text).length >= AGAIN));

  const load = new OtherLoad(DAEMON_HOMES);
  await daemon.kill();
  assert.deepEqual(processes(), before.processes);
  await daemon.start();
  await openAgain(lab);
  const nodes = await lab.nodes();
  assert.deepEqual(
    nodes.map(({ status }) => status),
    nodes.map(() => 'started'),
  );
  assert.deepEqual({ processes: processes(), containers: ids() }, before);
  const again = new Typist(t, first.console);
  guest = again;
  const then = (await said()).map((text) => Math.max(-1, ...answered(text)));
  const goesOn = (text: string, index: number): boolean =>
    answered(text).filter((number) => number > then[index]!).length >= AGAIN;
  const texts = await eventually('all pings to go on', said, (now) => now.every(goesOn), 60_000);
  const seconds = texts.map((text) => lost(text) * INTERVAL);
  t.diagnostic(`seconds without answers: ${seconds.map((value) => value.toFixed(1)).join(', ')}`);
  const what = `pings of ${machines.length} machines and ${before.containers.length} containers are lost`;
  await judge(t, { what, value: Math.max(...seconds), limit: PROMISED_SECONDS, unit: 's', load });
  await t.test('with containers', { skip: typeof engine === 'string' ? engine : false }, () => {
    assert.equal(seconds.length, 1 + PAIRS);
  });

  const reset = await Client.open(t, others[0]!.console);
  await daemon.post(`${lab.path}/nodes/${others[0]!.node_id}/console/reset`);
  await reset.ends();
  const [link] = await lab.links();
  await daemon.delete(`${lab.path}/links/${link!.link_id}`);
  assert.match(await again.run('ping -c 1 -W 1 10.0.0.2'), /0 packets received/, 'a cable that is taken away');
  const { files } = await daemon.get(`${lab.path}/nodes/${first.node_id}/disk_use`);
  assert.deepEqual(
    files.map(({ path }: { path: string }) => path),
    ['qemu.log'],
  );
  await daemon.post(`${lab.path}/nodes/stop`);
  await eventually('all processes to be over', () => processes().flat().length === 0);
  await daemon.delete(lab.path);
  await eventually('all containers to be gone', () => ids().length === 0);
});
