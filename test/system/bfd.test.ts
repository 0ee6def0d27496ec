// FRR's BFD daemon in two containers at a switch: a session of 3 x 50 ms stays up while the host is busy with other labs.
// LABWIRE_TEST_BFD_SECONDS: how long, by default 60.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { kernelLinksUnavailable } from '../../src/host/network/kernel-link-support.ts';
import { eventually, MANY_PORTS, startDaemon } from './daemon.ts';
import { Lab, type LinkObject, missing } from './lab.ts';
import { container, engineFor, withEngine } from './machines.ts';

const BFDD = '/usr/lib/frr/bfdd';
const SECONDS = Number(process.env['LABWIRE_TEST_BFD_SECONDS'] ?? 60);
/** Hubs of eight PCs. */
const HUBS = 25;

const skip = kernelLinksUnavailable() ?? (existsSync(BFDD) ? missing('nsenter') : 'frr is not installed');

interface Session {
  /** How often it went up, and down; a try of a session that failed counts as down. */
  up: number;
  down: number;
  status: string;
}

/** Starts the daemon in a container's network. @param process the container's first one */
function speak(t: TestContext, folder: string, process: number, own: number, peer: number): () => Session {
  const directory = join(folder, `${own}`);
  mkdirSync(directory);
  const lines = [`peer 10.1.0.${peer} local-address 10.1.0.${own}`, 'detect-multiplier 3'];
  const intervals = ['receive-interval 50', 'transmit-interval 50', 'no shutdown'];
  writeFileSync(join(directory, 'bfdd.conf'), ['bfd', ...lines, ...intervals, ''].join('\n'));
  execFileSync('chown', ['-R', 'frr:frr', directory]);
  const inNetwork = ['-t', `${process}`, '-n'];
  const files = ['-f', 'bfdd.conf', '-i', 'pid', '--bfdctl', 'control', '-z', 'zserv'].map((word) =>
    word.startsWith('-') ? word : join(directory, word),
  );
  const words = [...inNetwork, BFDD, ...files, '--vty_socket', directory, '-A', '127.0.0.1', '-P', '0'];
  const daemon = spawn('nsenter', words, { stdio: 'ignore' });
  t.after(() => daemon.kill('SIGKILL'));
  const ask = (command: string) => {
    const shell = ['--vty_socket', directory, '-d', 'bfdd', '-c', command];
    const [answer] = JSON.parse(execFileSync('vtysh', shell, { encoding: 'utf8' }));
    return answer;
  };
  return () => {
    const counters = ask('show bfd peers counters json');
    const { status } = ask('show bfd peers json');
    return { up: counters['session-up'], down: counters['session-down'], status };
  };
}

test(`a BFD session of 3 x 50 ms over a switch does not flap in ${SECONDS} s while 200 PCs run and labs come and go`, {
  skip,
  timeout: (SECONDS + 300) * 1000,
}, async (t) => {
  const engine = await engineFor(t);
  if (typeof engine === 'string') return t.skip(engine);
  const folder = mkdtempSync(join(tmpdir(), 'labwire-bfd-'));
  chmodSync(folder, 0o755);
  t.after(() => rmSync(folder, { recursive: true }));
  const { environment } = withEngine(engine);
  const daemon = await startDaemon(t, { environment: { ...environment, ...MANY_PORTS } });

  const crowd = await Lab.create(daemon, 'Crowd');
  for (let count = 0; count < HUBS; count++) await crowd.pcsOnHub(8);
  const guests = await Lab.create(daemon, 'Guests');
  await guests.pcsOnHub(8);

  const lab = await Lab.create(daemon, 'BFD');
  const device = await daemon.post(`${lab.path}/nodes`, {
    ...{ name: 'S1', node_type: 'ethernet_switch', compute_id: 'local' },
  });
  const links: LinkObject[] = [];
  for (const number of [1, 2]) {
    const start_command = `/bin/busybox sh -c 'ip addr add 10.1.0.${number}/24 dev eth0; exec /bin/sh'`;
    links.push(await lab.link(await container(lab, `C${number}`, { start_command }), device, number));
  }
  await daemon.post(`${lab.path}/nodes/start`);
  const processOf = (name: string): number => {
    const id = engine.docker('ps', '-q', '--filter', `name=GNS3.${name}.`).trim();
    return Number(engine.docker('inspect', '-f', '{{.State.Pid}}', id));
  };
  const processes = [processOf('C1'), processOf('C2')] as const;
  // A daemon that begins before its address is there never sends.
  const addressesOf = (process: number): string =>
    execFileSync('nsenter', ['-t', `${process}`, '-n', 'ip', 'address'], { encoding: 'utf8' });
  await eventually('the addresses', () => processes.every((process) => addressesOf(process).includes('10.1.0.')));
  const one = speak(t, folder, processes[0], 1, 2);
  const two = speak(t, folder, processes[1], 2, 1);
  const sessions = (): Session[] => [one(), two()];
  await eventually('the daemons', () => [1, 2].every((own) => existsSync(join(folder, `${own}`, 'bfdd.vty'))));
  await eventually('the sessions', sessions, (all) => all.every(({ status }) => status === 'up'));
  const link = `${lab.path}/links/${links[0]!.link_id}`;
  const { ends } = await daemon.get(`${link}/statistics`);
  assert.deepEqual(ends[0].statistics.path, { by: 'kernel', reason: null });

  const before = sessions();
  let rounds = 0;
  for (const end = Date.now() + SECONDS * 1000; Date.now() < end; rounds++) {
    await guests.reopen();
    await daemon.post(`${guests.path}/nodes/start`);
    await sleep(500);
  }
  t.diagnostic(`${rounds} times closed and opened; ${JSON.stringify(sessions())}`);
  assert.deepEqual(sessions(), before);

  await daemon.put(link, { suspend: true });
  await eventually('the sessions to end', sessions, (all) => all.every(({ status }) => status === 'down'));
});
