// A lab of real programs, and SIGKILL for the daemon above it.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { TestContext } from 'node:test';
import { Client, isRunning } from '../consoles/harness.ts';
import { type Daemon, startDaemon } from '../system/daemon.ts';
import { Lab, type LinkObject, missing, type NodeObject } from '../system/lab.ts';
import { openAgain, pidsOf, ping, pingIsAnswered } from '../system/survivors.ts';
import { bound, FULL, othersBeside, rig } from './rig.ts';

/** Hubs, and PCs at each of them. */
const [HUBS, PCS] = FULL ? [10, 5] : [2, 3];
const KILLS = FULL ? 5 : 1;
/** Milliseconds within which fifty PCs are to be back. */
const PROMISED_MS = 2_000;

/** A lab of that size needs more ports than a daemon of the tests has. */
const environment = {
  LABWIRE_SERVER_CONSOLE_START_PORT_RANGE: '28001',
  LABWIRE_SERVER_CONSOLE_END_PORT_RANGE: '28200',
  LABWIRE_SERVER_UDP_START_PORT_RANGE: '28201',
  LABWIRE_SERVER_UDP_END_PORT_RANGE: '28999',
};

/** Programs that look like those of a lab, and are not: of no installation, and of another one. */
function decoys(t: TestContext, daemon: Daemon, pc: NodeObject): number[] {
  const stranger = { LABWIRE_INSTANCE: 'a0000000-0000-4000-8000-000000000001', LABWIRE_NODE: pc.node_id };
  const places = [
    { env: {}, cwd: daemon.directory },
    { env: stranger, cwd: daemon.directory },
  ];
  const children = places.map((place) => spawn('sleep', ['600'], { ...place, argv0: 'vpcs', stdio: 'ignore' }));
  for (const child of children) t.after(() => child.kill('SIGKILL'));
  return children.map(({ pid }) => pid!);
}

rig(
  {
    name: 'survival',
    promise: 'running programs survive SIGKILL of the daemon, and the next one reattaches them',
    skip: missing('vpcs'),
  },
  async (t) => {
    const daemon = await startDaemon(t, { environment });
    const lab = await Lab.create(daemon);
    const pcs: NodeObject[] = [];
    const links: LinkObject[] = [];
    for (let hub = 0; hub < HUBS; hub++) {
      const made = await lab.pcsOnHub(PCS);
      pcs.push(...made.pcs);
      links.push(...made.links);
    }
    const asleep = await lab.pc('PC1'); // is stopped, and stays so
    await daemon.put(`${lab.path}/links/${links[1]!.link_id}`, { suspend: true });
    await pingIsAnswered(lab, pcs[0]!, '10.0.0.3');
    const before = { pids: pidsOf(pcs), nodes: await lab.nodes(), links: await lab.links() };
    assert.ok(before.pids.every(Boolean));
    const strangers = decoys(t, daemon, pcs[0]!);
    const seen = (nodes: NodeObject[]) =>
      nodes.map(({ node_id, name, status, console }) => ({ node_id, name, status, console }));

    const times: number[] = [];
    const load = othersBeside();
    for (let kill = 0; kill < KILLS; kill++) {
      await daemon.kill();
      assert.deepEqual(pidsOf(pcs), before.pids);
      const start = performance.now();
      await daemon.start();
      await openAgain(lab);
      times.push(performance.now() - start);
      assert.deepEqual(pidsOf(pcs), before.pids);
      assert.deepEqual(seen(await lab.nodes()), seen(before.nodes));
      assert.deepEqual(await lab.links(), before.links);
      assert.equal((await lab.node(asleep)).status, 'stopped');
      await pingIsAnswered(lab, pcs[0]!, '10.0.0.3');
    }

    const console = await Client.open(t, pcs[0]!.console);
    await console.sees(/ping 10\.0\.0\.3 -c 1[\s\S]*icmp_seq=1 ttl=/);
    assert.match(await ping(pcs[0]!, '10.0.0.2'), /not reachable/, 'a link that was suspended is');
    await daemon.put(`${lab.path}/links/${links[1]!.link_id}`, { suspend: false });
    await pingIsAnswered(lab, pcs[0]!, '10.0.0.2');

    await daemon.post(`${lab.path}/nodes/stop`);
    assert.deepEqual(new Set(pidsOf(pcs)), new Set([undefined]));
    const left = (await lab.nodes()).filter(({ name }) => name.startsWith('PC')).map(({ status }) => status);
    assert.deepEqual(new Set(left), new Set(['stopped']));
    assert.deepEqual(strangers.map(isRunning), [true, true]);
    const slowest = Math.max(...times);
    const what = `from the start until ${pcs.length} programs are reattached, at most`;
    const takenBack = await bound(t, { what, value: slowest, limit: PROMISED_MS, unit: 'ms', load });
    return [{ what: 'VPCS programs', value: pcs.length }, { what: 'kills', value: KILLS }, takenBack];
  },
);
