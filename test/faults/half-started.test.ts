// SIGKILL for the server at any moment while machines and containers start, stop, change and go: the next one goes on with what is there, and in
// the end nothing of them is left on the host.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { seeded } from '../seeded.ts';
import { eventually, startDaemon } from '../system/daemon.ts';
import { Lab, missing, type NodeObject } from '../system/lab.ts';
import { container, engineFor, machine, withEngine } from '../system/machines.ts';
import { openAgain } from '../system/survivors.ts';
import { censusOf, changes } from './census.ts';
import { FULL, rig, seedOfRun } from './rig.ts';

const KILLS = FULL ? 100 : 4;
/** Of machines, and of containers. */
const NODES = 2;
/** A start or a stop takes about as long. */
const LATEST_MS = 1_000;

/** The server's own, which it makes when it first needs them. */
const OWN = /^(threads|descriptors|processes: supervisor|files in the)/;

rig(
  {
    name: 'half-started',
    promise: 'a killed server leaves no part of a machine or container that the next one does not know',
    skip: missing('qemu-system-x86_64'),
  },
  async (t) => {
    const engine = await engineFor(t);
    const ours = typeof engine === 'string' ? undefined : engine;
    const seed = seedOfRun();
    t.diagnostic(`seed ${seed}`);
    const random = seeded(seed);
    const daemon = await startDaemon(t, withEngine(engine));
    const before = await censusOf(daemon, ours);
    const lab = await Lab.create(daemon);
    const make = (index: number): Promise<NodeObject> =>
      index % 2 === 0 || !ours
        ? machine(lab, `M${index}`)
        : container(lab, `C${index}`, { extra_volumes: ['/kept'], start_command: '/bin/sh' });
    const nodes: NodeObject[] = [];
    for (let index = 0; index < 2 * NODES; index++) nodes.push(await make(index));
    for (const index of [0, 2]) await lab.link(nodes[index]!, nodes[index + 1]!);

    let made = nodes.length;
    const actions: (() => Promise<unknown>)[] = [
      () => daemon.post(`${lab.path}/nodes/start`),
      () => daemon.post(`${lab.path}/nodes/stop`),
      () => daemon.put(lab.path, { variables: [{ name: 'TURN', value: `${random()}` }] }),
      async () => {
        const { node_id: id } = await make(made++);
        await daemon.post(`${lab.path}/nodes/${id}/start`);
        await daemon.delete(`${lab.path}/nodes/${id}`);
      },
    ];
    for (let kill = 0; kill < KILLS; kill++) {
      // Its answer dies with the server.
      const acting = actions[kill % actions.length]!().catch(() => {});
      await sleep(random() * LATEST_MS);
      await daemon.kill();
      await acting;
      await daemon.start();
      await openAgain(lab);
    }

    await daemon.post(`${lab.path}/nodes/start`);
    assert.deepEqual([...new Set((await lab.nodes()).map(({ status }) => status))], ['started']);
    await daemon.delete(lab.path);
    await eventually(
      'nothing to be left',
      async () => changes(before, await censusOf(daemon, ours)).filter((what) => !OWN.test(what)),
      (left) => left.length === 0,
    );
    return [
      { what: `machines${ours ? ' and containers' : ''}`, value: nodes.length },
      { what: 'kills', value: KILLS },
      { what: 'processes, interfaces, ports, containers, volumes left over', value: 0 },
      { what: 'seed', value: seed },
    ];
  },
);
