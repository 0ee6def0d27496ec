// Many containers whose starts are asked for at the same moment, one request each: once they are to stop right after, and once they may start.
import assert from 'node:assert/strict';
import { type Answer, eventually, startDaemon } from '../system/daemon.ts';
import { Lab, type NodeObject } from '../system/lab.ts';
import { container, engineFor, withEngine } from '../system/machines.ts';
import { censusOf, changes, memoryOf } from './census.ts';
import { FULL, rig } from './rig.ts';

const CROWD = FULL ? 300 : 60;
/** The server's own, which it makes when it first needs them. */
const OWN = /^(threads|descriptors|files|processes: supervisor)/;

/** More consoles than a daemon of the tests has. */
const PORTS = {
  LABWIRE_SERVER_CONSOLE_START_PORT_RANGE: '30001',
  LABWIRE_SERVER_CONSOLE_END_PORT_RANGE: '30999',
  LABWIRE_SERVER_UDP_START_PORT_RANGE: '31001',
  LABWIRE_SERVER_UDP_END_PORT_RANGE: '31999',
};

rig(
  {
    name: 'crowd',
    promise: 'any number of containers can start at once, and a stop does not wait for those that have not begun',
  },
  async (t) => {
    const engine = await engineFor(t);
    if (typeof engine === 'string') return void t.skip(engine);
    const daemon = await startDaemon(t, { environment: { ...withEngine(engine).environment, ...PORTS } });
    const before = await censusOf(daemon, engine);
    const lab = await Lab.create(daemon);
    const nodes: NodeObject[] = [];
    for (let index = 0; index < CROWD; index++) nodes.push(await container(lab, `C${index}`));
    const startAll = (): Promise<Answer>[] =>
      nodes.map(({ node_id: id }) => daemon.ask('POST', `${lab.path}/nodes/${id}/start`, { body: {} }));
    const statuses = async (): Promise<string[]> => [...new Set((await lab.nodes()).map(({ status }) => status))];
    const running = (): number => engine.docker('ps', '-q').split('\n').filter(Boolean).length;

    const cancelled = startAll();
    await eventually('the first to run', () => running() > 0);
    const stopping = performance.now();
    await daemon.post(`${lab.path}/nodes/stop`);
    const stopped = performance.now() - stopping;
    const answers = await Promise.all(cancelled);
    const refused = answers.filter(({ status }) => status === 409);
    assert.ok(refused.length > 0, 'none was taken out of the line');
    for (const { text } of refused) assert.match(text, /was stopped before it started/);
    assert.deepEqual([await statuses(), running()], [['stopped'], 0]);

    const starting = performance.now();
    const started = await Promise.all(startAll());
    const took = performance.now() - starting;
    assert.deepEqual(
      started.filter(({ status }) => status !== 200).map(({ text }) => text),
      [],
    );
    assert.deepEqual([await statuses(), running()], [['started'], CROWD]);
    const { daemon: memory } = memoryOf(daemon);
    await daemon.delete(lab.path);
    await eventually(
      'all to be gone',
      async () => changes(before, await censusOf(daemon, engine)).filter((what) => !OWN.test(what)),
      (left) => left.length === 0,
    );
    return [
      { what: 'containers', value: CROWD },
      { what: 'begun before the stop', value: CROWD - refused.length },
      { what: 'until all were stopped', value: `${(stopped / 1000).toFixed(1)} s` },
      { what: 'until all were started', value: `${(took / 1000).toFixed(1)} s` },
      { what: 'memory of the server then', value: `${memory.toFixed(0)} MiB` },
    ];
  },
);
