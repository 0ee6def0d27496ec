// SIGTERM: what runs is ended, what is to be kept is written, nothing stays behind.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { isTemporaryName } from '../../src/host/files/atomic-file.ts';
import { Client } from '../consoles/harness.ts';
import { judge, OtherLoad } from '../other-load.ts';
import { DAEMON_HOMES, startDaemon } from './daemon.ts';
import { Lab, missing } from './lab.ts';
import { Listener } from './notifications.ts';
import { processesIn } from './processes.ts';

test('SIGTERM ends a busy daemon, with the last change written and nothing left behind', {
  skip: missing('vpcs'),
}, async (t) => {
  const daemon = await startDaemon(t);
  const lab = await Lab.create(daemon);
  const { pcs, links } = await lab.pcsOnHub(3);
  await daemon.post(`${lab.path}/links/${links[0]!.link_id}/start_capture`, {});
  // Clients of every kind, among them one that never finishes its request and one that never reads.
  const console = await Client.open(t, pcs[0]!.console);
  await Listener.at(t, daemon, `${lab.path}/notifications`);
  const upload = connect(daemon.port, '127.0.0.1');
  t.after(() => upload.destroy());
  upload.on('error', () => {});
  upload.write(`POST ${lab.path}/files/half.txt HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nhalf`);
  const follower = connect(daemon.port, '127.0.0.1');
  t.after(() => follower.destroy());
  follower.on('error', () => {});
  follower.write(`GET ${lab.path}/links/${links[0]!.link_id}/pcap HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  await once(follower, 'readable');
  await daemon.put(`${lab.path}/nodes/${pcs[2]!.node_id}`, { x: 4321 });

  const load = new OtherLoad(DAEMON_HOMES);
  const { code, signal, milliseconds } = await daemon.end('SIGTERM');
  assert.deepEqual({ code, signal }, { code: 0, signal: null }, daemon.log);
  await judge(t, { what: 'it ends', value: milliseconds, limit: 5000, unit: 'ms', load });
  await console.ends();
  assert.deepEqual(processesIn(daemon.directory), []);

  const topology = JSON.parse(readFileSync(join(lab.project.path, lab.project.filename), 'utf8'));
  assert.equal(topology.topology.nodes.find(({ name }: { name: string }) => name === 'PC3').x, 4321);
  const left = readdirSync(daemon.directory, { recursive: true, withFileTypes: true });
  assert.deepEqual(
    left.filter((entry) => entry.isSocket() || entry.isFIFO() || isTemporaryName(entry.name)),
    [],
  );
  assert.deepEqual(readdirSync(daemon.temporary), []);
  assert.doesNotMatch(left.map(({ name }) => name).join(), /half/);
});

test('a client that asks for the end gets it, as with SIGTERM', async (t) => {
  const daemon = await startDaemon(t, { flags: ['--local'] });
  const lab = await Lab.create(daemon);
  await lab.pc('PC1');
  const ended = daemon.ending();
  await daemon.post('/v2/shutdown');
  assert.equal((await ended).code, 0);
  assert.match(readFileSync(join(lab.project.path, lab.project.filename), 'utf8'), /"PC1"/);
});
