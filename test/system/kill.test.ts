// What a user keeps when something is killed with signal 9: the daemon, or a virtual PC.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judge, OtherLoad } from '../other-load.ts';
import { DAEMON_HOMES, eventually, ownDaemon, startDaemon } from './daemon.ts';
import { Lab, missing } from './lab.ts';
import { Listener } from './notifications.ts';
import { processesIn } from './processes.ts';

test('kill -9 of the daemon loses nothing that it had acknowledged a moment before', async (t) => {
  const daemon = await startDaemon(t);
  const lab = await Lab.create(daemon);
  const [first, second, doomed, hub] = [
    await lab.pc('PC1'),
    await lab.pc('PC2'),
    await lab.pc('PC3'),
    await lab.hub('Hub1'),
  ];
  await lab.link(first, hub, 0);
  const link = await lab.link(second, hub, 1);
  await lab.link(doomed, hub, 2);
  const { drawing_id } = await daemon.post(`${lab.path}/drawings`, { svg: '<svg height="1" width="1"/>', x: 1, y: 2 });
  await daemon.put(`${lab.path}/nodes/${first.node_id}`, { x: -77, y: 33, name: 'Moved' });
  await daemon.put(`${lab.path}/links/${link.link_id}`, { suspend: true });
  await daemon.put(lab.path, { name: 'Renamed', scene_width: 3210 });
  await daemon.delete(`${lab.path}/nodes/${doomed.node_id}`);
  await daemon.put(`${lab.path}/drawings/${drawing_id}`, { x: 11, y: 22 });
  const contents = async () => ({
    nodes: (await lab.nodes()).map((node) => ({ ...node, console_type: node.console_type ?? 'none' })),
    links: await lab.links(),
    drawings: await daemon.get(`${lab.path}/drawings`),
    project: await daemon.get(lab.path),
  });
  const before = await contents();
  await daemon.put(`${lab.path}/nodes/${second.node_id}`, { x: 999 });
  await daemon.kill();

  await daemon.start();
  before.nodes[1]!.x = 999;
  assert.deepEqual(await contents(), before);
});

test('a second daemon on the same state directory refuses with the directory and the process of the first, which goes on', async (t) => {
  const daemon = await startDaemon(t);
  const lab = await Lab.create(daemon);
  const load = new OtherLoad(DAEMON_HOMES);
  const { code, said, milliseconds } = await ownDaemon(t, { flags: ['--state', daemon.state] }).refusal();
  assert.equal(code, 1);
  assert.match(said, new RegExp(`${daemon.state}.*${daemon.pid}`));
  await judge(t, { what: 'the second one ends', value: milliseconds, limit: 1000, unit: 'ms', load });
  await lab.pc('PC1');
});

test('kill -9 of a virtual PC is reported with its last words, and it can be started again', {
  skip: missing('vpcs'),
}, async (t) => {
  const daemon = await startDaemon(t);
  const lab = await Lab.create(daemon);
  const { pcs } = await lab.pcsOnHub(2);
  const [victim, other] = [pcs[0]!, pcs[1]!];
  const listener = await Listener.at(t, daemon, `${lab.path}/notifications`);
  const [pid] = processesIn(victim.node_directory);
  const load = new OtherLoad(DAEMON_HOMES);
  const killed = performance.now();
  process.kill(pid!, 'SIGKILL');
  const isVictim = (event: { node_id: string; status: string }) => event.node_id === victim.node_id;
  await listener.sees('node.updated', (event) => isVictim(event) && event.status === 'stopped');
  const { message } = await listener.sees('log.error');
  await judge(t, { what: 'it is told', value: performance.now() - killed, limit: 1000, unit: 'ms', load });
  assert.match(message, /^PC1 .*SIGKILL.*\S/s);
  assert.equal((await lab.node(other)).status, 'started');

  await lab.start(victim);
  assert.equal((await lab.node(victim)).status, 'started');
  await eventually('its program', () => processesIn(victim.node_directory).length === 1);
});
