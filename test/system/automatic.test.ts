// What starts by itself: labs with auto_open when the server starts, nodes with auto_start when their lab opens.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually, startDaemon } from './daemon.ts';
import { Lab, type NodeObject } from './lab.ts';

/** Built-in PCs: nothing else needs to be installed. */
const config = '[VPCS]\nengine = built-in\n';

const statusesOf = (nodes: NodeObject[]) => nodes.map(({ name, status }) => `${name} ${status}`).sort();

test('a lab with auto_open and auto_start is open and its nodes run after a start of the server; others wait', async (t) => {
  const daemon = await startDaemon(t, { config });
  const lab = await Lab.create(daemon, 'Automatic', { auto_open: true, auto_start: true });
  await lab.pc('PC1');
  await lab.pc('PC2');
  const waiting = await Lab.create(daemon, 'Waiting', { auto_start: true });
  await waiting.pc('PC1');
  const quiet = await Lab.create(daemon, 'Quiet', { auto_open: true });
  await quiet.pc('PC1');
  assert.deepEqual(statusesOf(await lab.nodes()), ['PC1 stopped', 'PC2 stopped']);
  await daemon.end('SIGTERM');

  await daemon.start();
  await eventually('the nodes to run', async () => {
    if ((await daemon.get(lab.path)).status !== 'opened') return false;
    return (await lab.nodes()).every(({ status }) => status === 'started');
  });
  await eventually('the quiet lab to be open', async () => (await daemon.get(quiet.path)).status === 'opened');
  assert.deepEqual(statusesOf(await quiet.nodes()), ['PC1 stopped']);
  assert.equal((await daemon.get(waiting.path)).status, 'closed');

  await daemon.post(`${waiting.path}/open`);
  await eventually('the node to run', async () => (await waiting.nodes()).every(({ status }) => status === 'started'));
});

test('a lab with auto_start that was open when the server was killed is as it was: what was stopped stays so', async (t) => {
  const daemon = await startDaemon(t, { config });
  const lab = await Lab.create(daemon, 'Automatic', { auto_start: true });
  await lab.pc('PC1');
  await lab.pc('PC2');
  await daemon.post(`${lab.path}/nodes/start`);
  const [first] = await lab.nodes();
  await daemon.post(`${lab.path}/nodes/${first!.node_id}/stop`);
  const before = statusesOf(await lab.nodes());
  await daemon.kill();
  await daemon.start();
  await eventually('the lab to be open', async () => (await daemon.get(lab.path)).status === 'opened');
  assert.deepEqual(statusesOf(await lab.nodes()), before);
});
