// Consoles of running virtual PCs: nobody loses one because of somebody else.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { WebSocket } from 'ws';
import { Client } from '../consoles/harness.ts';
import { eventually, startDaemon } from './daemon.ts';
import { Lab, missing } from './lab.ts';
import { processesIn } from './processes.ts';

/** How long 17 MB may take on a busy machine. */
const BUSY_MS = 240_000;

test('a client that stops reading for a while gets the end of what it missed; the other goes on and gets everything', {
  skip: missing('vpcs'),
}, async (t) => {
  const lab = await Lab.create(await startDaemon(t));
  const pc = await lab.pc('PC1');
  await lab.start(pc);
  const stalled = await Client.open(t, pc.console);
  await stalled.sees(/VPCS> $/);
  stalled.socket.pause();
  const other = await Client.open(t, pc.console);
  await other.sees(/VPCS> $/);
  other.text = '';
  other.send('! seq 2000000\r');
  await eventually('more than the kernel keeps', () => other.text.length > 13_000_000, Boolean, BUSY_MS);
  stalled.socket.resume();
  await eventually('the last of 17 MB', () => /\n2000000\s+VPCS> $/.test(other.text.slice(-30)), Boolean, BUSY_MS);
  assert.match(other.text, /seq 2000000\s+1\s+2\s+3\s/);
  assert.ok(other.text.length > 14_000_000);

  await stalled.sees(/\[\d+ bytes of output left out: they came too fast\]\r\n[\s\S]*\n2000000\s+VPCS> $/);
  assert.ok(stalled.text.length < other.text.length);
  for (const client of [stalled, other]) {
    client.text = '';
    client.send('version\r');
    await client.sees(/version 0[\s\S]*VPCS> $/);
  }
});

test('a telnet client and a browser see the same console, and who comes later sees what was', {
  skip: missing('vpcs'),
}, async (t) => {
  const daemon = await startDaemon(t);
  const lab = await Lab.create(daemon);
  const pc = await lab.pc('PC1');
  await lab.start(pc);
  const telnet = await Client.open(t, pc.console);
  await telnet.sees(/Welcome to Virtual PC Simulator[\s\S]*VPCS> $/);
  const browser = new WebSocket(`${daemon.url.replace('http', 'ws')}${lab.path}/nodes/${pc.node_id}/console/ws`);
  t.after(() => browser.terminate());
  let seen = '';
  browser.on('message', (bytes) => {
    seen += bytes;
  });
  await eventually('what was', () => /Welcome to Virtual PC Simulator[\s\S]*VPCS> $/.test(seen));
  browser.send('set pcname abc\r');
  await telnet.sees(/abc> $/);
  telnet.send('set pcname xyz\r');
  await eventually('what the other typed', () => /set pcname xyz[\s\S]*xyz> $/.test(seen));

  await daemon.post(`${lab.path}/nodes/${pc.node_id}/console/reset`);
  await telnet.ends();
  await eventually('the end of the other console', () => browser.readyState === WebSocket.CLOSED);
  const again = await Client.open(t, pc.console);
  await again.sees(/xyz> $/);
});

test('a console port that another program took meanwhile is reported at the start, which leaves nothing behind', {
  skip: missing('vpcs'),
}, async (t) => {
  const daemon = await startDaemon(t);
  const lab = await Lab.create(daemon);
  const pc = await lab.pc('PC1');
  const other = createServer().listen(pc.console, '127.0.0.1');
  await once(other, 'listening');
  t.after(() => other.close());
  const refused = await daemon.ask('POST', `${lab.path}/nodes/${pc.node_id}/start`);
  assert.equal(refused.status, 409);
  assert.match(refused.json.message, new RegExp(`${pc.console}`));
  assert.equal((await lab.node(pc)).status, 'stopped');
  assert.deepEqual(processesIn(pc.node_directory), []);

  other.close();
  await once(other, 'close');
  await lab.start(pc);
  await (await Client.open(t, pc.console)).sees(/VPCS> $/);
});
