// Labs that run outlive the daemon: what goes on while it is not there, what the next one takes back, and what it ends. test/faults/survival.test.ts does
// it with fifty PCs.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { suite, type TestContext, test } from 'node:test';
import { Client } from '../consoles/harness.ts';
import { type Daemon, eventually, ownDaemon, startDaemon } from './daemon.ts';
import { executable } from './executable.ts';
import { Lab, type LinkObject, missing, type NodeObject } from './lab.ts';
import { Listener } from './notifications.ts';
import { processesIn } from './processes.ts';
import { openAgain, pidOf, pidsOf, pingIsAnswered } from './survivors.ts';

const skip = missing('vpcs');

/** The process that holds the programs of a daemon: it works in its own directory. */
const supervisorOf = (daemon: Daemon): number | undefined => processesIn(join(daemon.state, 'supervisor'))[0];

const statuses = async (lab: Lab) => (await lab.nodes()).map(({ status }) => status);

async function startedLab(
  t: TestContext,
  pcs = 2,
  options = {},
): Promise<{ daemon: Daemon; lab: Lab; pcs: NodeObject[]; links: LinkObject[] }> {
  const daemon = await startDaemon(t, options);
  const lab = await Lab.create(daemon);
  return { daemon, lab, ...(await lab.pcsOnHub(pcs)) };
}

// Each has a daemon of its own, and waits for PCs most of the time.
suite('labs that run', { concurrency: 3 }, () => {
  test('a ping and a capture go on where the daemon is back; the capture in a file of its own', {
    skip: missing('vpcs', 'tshark'),
  }, async (t) => {
    const { daemon, lab, pcs, links } = await startedLab(t);
    const link = `${lab.path}/links/${links[0]!.link_id}`;
    const first = (await daemon.post(`${link}/start_capture`, { capture_file_name: 'ping.pcap' })).capture_file_path;
    const console = await Client.open(t, pcs[0]!.console);
    await console.sees(/> $/);
    console.send('ping 10.0.0.2 -c 1000\r');
    await console.sees(/icmp_seq=2 /);
    const requests = (file: string) =>
      execFileSync('tshark', ['-n', '-r', file, '-Y', 'icmp.type == 8'], { stdio: ['ignore', 'pipe', 'pipe'] })
        .toString()
        .split('\n').length;
    await eventually('two requests in the file', () => requests(first) > 2);
    await daemon.kill();
    const kept = readFileSync(first);
    await daemon.start();
    await openAgain(lab);

    const again = await Client.open(t, pcs[0]!.console);
    await again.sees(/icmp_seq=2 /);
    const answers = () => [...again.text.matchAll(/icmp_seq=(\d+) ttl/g)].map(([, number]) => Number(number));
    const last = Math.max(...answers());
    await eventually('the ping to go on', () => answers().some((number) => number > last + 1));
    const { capturing, capture_file_path: second } = await daemon.get(link);
    assert.equal(capturing, true);
    assert.match(second, /ping-2\.pcap$/);
    await eventually('requests in the second file', () => requests(second) > 1);
    assert.deepEqual(readFileSync(first), kept);
    again.send('\x03');
    await again.sees(/> $/);
    await daemon.post(`${link}/stop_capture`);
    assert.equal((await daemon.get(link)).capturing, false);
  });

  test('another copy of the executable takes over from one that SIGUSR2 has ended, as for an upgrade', {
    skip,
  }, async (t) => {
    const copy = ownDaemon(t);
    const upgraded = join(copy.directory, 'labwired');
    const [old] = executable();
    copyFileSync(old!, upgraded);
    const program = [upgraded];
    const daemon = ownDaemon(t, { program });
    await daemon.start();
    const lab = await Lab.create(daemon);
    const { pcs } = await lab.pcsOnHub(2);
    const pids = pidsOf(pcs);
    const { code } = await daemon.end('SIGUSR2');
    assert.equal(code, 75, 'asks the unit for another start');
    assert.deepEqual(pidsOf(pcs), pids);
    // A new file in the place of the one that still runs as the supervisor.
    rmSync(upgraded);
    copyFileSync(old!, upgraded);
    await daemon.start();
    await openAgain(lab);
    assert.deepEqual(pidsOf(pcs), pids);
    await pingIsAnswered(lab, pcs[0]!, '10.0.0.2');
  });

  test('SIGTERM ends the nodes and what holds them, unless nodes_on_stop = keep', { skip }, async (t) => {
    const { daemon, pcs } = await startedLab(t);
    await daemon.end('SIGTERM');
    assert.deepEqual([...pidsOf(pcs), supervisorOf(daemon)], [undefined, undefined, undefined]);

    const config = '[Server]\nnodes_on_stop = keep\n';
    const kept = await startedLab(t, 2, { config });
    const pids = pidsOf(kept.pcs);
    assert.equal((await kept.daemon.end('SIGTERM')).code, 0);
    assert.deepEqual(pidsOf(kept.pcs), pids);
    await kept.daemon.start();
    await openAgain(kept.lab);
    await pingIsAnswered(kept.lab, kept.pcs[0]!, '10.0.0.2');
    assert.deepEqual(pidsOf(kept.pcs), pids);
  });

  test('PCs keep their MAC addresses, and a new one gets none of them', { skip }, async (t) => {
    const { daemon, lab, pcs } = await startedLab(t, 3);
    await daemon.delete(`${lab.path}/nodes/${pcs[0]!.node_id}`);
    await daemon.kill();
    await daemon.start();
    await openAgain(lab);
    const fresh = await lab.pc('PC4');
    await lab.start(fresh);
    const macs = async () => (await lab.nodes()).map(({ command_line }) => /-m (\d+)/.exec(command_line ?? '')?.[1]);
    await eventually('the MAC addresses', macs, (bytes) => bytes.join() === ',1,2,0');
  });

  test('built-in PCs that were on are on again, as their files say, at the same addresses; others stay off', async (t) => {
    const { daemon, lab, pcs } = await startedLab(t, 3, { config: '[VPCS]\nengine = built-in\n' });
    await daemon.post(`${lab.path}/nodes/${pcs[2]!.node_id}/stop`);
    const before = await lab.nodes();
    await daemon.kill();
    await daemon.start();
    await openAgain(lab);
    const seen = (nodes: NodeObject[]) => nodes.map(({ name, status, console }) => ({ name, status, console }));
    assert.deepEqual(seen(await lab.nodes()), seen(before));
    const lines = (nodes: NodeObject[]) => nodes.slice(1, 3).map(({ command_line }) => command_line);
    assert.deepEqual(lines(await lab.nodes()), lines(before));
    await pingIsAnswered(lab, pcs[0]!, '10.0.0.2');
    await daemon.end('SIGTERM');
    await daemon.start();
    await daemon.post(`${lab.path}/open`);
    assert.deepEqual(await statuses(lab), ['started', 'stopped', 'stopped', 'stopped']);
  });

  test('a PC that ended while the daemon was away is reported with its last words, and can be started', {
    skip,
  }, async (t) => {
    const { daemon, lab, pcs } = await startedLab(t);
    await daemon.kill();
    process.kill(pidOf(pcs[1]!)!, 'SIGKILL');
    await daemon.start();
    await openAgain(lab);
    assert.deepEqual(await statuses(lab), ['started', 'started', 'stopped']);
    await eventually('the news in the log', () => /a node ended while the server was away .*SIGKILL/.test(daemon.log));
    await lab.start(pcs[1]!);
    await pingIsAnswered(lab, pcs[0]!, '10.0.0.2');
  });

  test('a supervisor that is killed takes its PCs along: clients are informed, nothing stays, and nodes start again', {
    skip,
  }, async (t) => {
    const { daemon, lab, pcs } = await startedLab(t);
    const listener = await Listener.at(t, daemon, `${lab.path}/notifications`);
    process.kill(supervisorOf(daemon)!, 'SIGKILL');
    for (const { node_id } of pcs) {
      await listener.sees('node.updated', (event) => event.node_id === node_id && event.status === 'stopped');
    }
    await listener.sees('log.error');
    await eventually('the end of the PCs', () => pidsOf(pcs).every((pid) => pid === undefined));
    await daemon.post(`${lab.path}/nodes/start`);
    await pingIsAnswered(lab, pcs[0]!, '10.0.0.2');
  });

  test('kill -9 in the middle of reattaching, again and again, loses no PC', { skip }, async (t) => {
    const { daemon, lab, pcs } = await startedLab(t, 5);
    const pids = pidsOf(pcs);
    await daemon.kill();
    for (const milliseconds of [60, 90, 110, 130, 150, 180]) {
      await daemon.spawn();
      const dead = new Promise((resolve) => setTimeout(resolve, milliseconds)).then(() => daemon.kill());
      await dead;
    }
    await daemon.start();
    await openAgain(lab);
    assert.deepEqual(pidsOf(pcs), pids);
    assert.deepEqual(await statuses(lab), ['started', ...pcs.map(() => 'started')]);
    await pingIsAnswered(lab, pcs[0]!, '10.0.0.2');
  });

  test('a supervisor that is slow to answer, as on a busy host, keeps its programs', { skip }, async (t) => {
    const { daemon, lab, pcs } = await startedLab(t);
    const pids = pidsOf(pcs);
    const supervisor = supervisorOf(daemon)!;
    await daemon.kill();
    process.kill(supervisor, 'SIGSTOP');
    setTimeout(() => process.kill(supervisor, 'SIGCONT'), 4000);
    await daemon.start();
    await openAgain(lab);
    assert.deepEqual(pidsOf(pcs), pids, daemon.log);
  });

  test('what cannot be reattached is ended and reported: a supervisor without its socket, one that does not answer', {
    skip,
  }, async (t) => {
    const { daemon, lab, pcs } = await startedLab(t);
    await daemon.kill();
    rmSync(join(daemon.state, 'supervisor/socket'));
    await daemon.start();
    await openAgain(lab);
    assert.deepEqual(pidsOf(pcs), [undefined, undefined]);
    assert.match(daemon.log, /ended processes of a former run found=3/);
    assert.deepEqual(await statuses(lab), ['started', 'stopped', 'stopped']);

    await daemon.post(`${lab.path}/nodes/start`);
    await daemon.kill();
    const supervisor = supervisorOf(daemon)!;
    process.kill(supervisor, 'SIGSTOP');
    await daemon.start();
    await openAgain(lab);
    assert.match(daemon.log, /does not answer/);
    assert.deepEqual(pidsOf(pcs), [undefined, undefined]);
    await eventually(
      'the end of the supervisor',
      () => !processesIn(join(daemon.state, 'supervisor')).includes(supervisor),
    );
    await daemon.post(`${lab.path}/nodes/start`);
    await pingIsAnswered(lab, pcs[0]!, '10.0.0.2');
  });

  test('a lab whose file is gone when the daemon is back has its PCs ended', { skip }, async (t) => {
    const { daemon, lab, pcs } = await startedLab(t);
    await daemon.kill();
    rmSync(lab.project.path, { recursive: true });
    await daemon.start();
    await eventually('the end of the PCs', () => pidsOf(pcs).every((pid) => pid === undefined));
    await eventually('the news in the log', () => /could not be reattached/.test(daemon.log));
  });
});
