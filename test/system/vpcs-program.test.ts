// A vpcs program that is missing or hangs: the user is told what to do, in time, and nothing stays behind.
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Client } from '../consoles/harness.ts';
import { judge, OtherLoad } from '../other-load.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { DAEMON_HOMES, type Daemon, eventually, ownDaemon, startDaemon } from './daemon.ts';
import { Lab, missing, type NodeObject } from './lab.ts';
import { processesIn } from './processes.ts';

/** A daemon whose vpcs is this shell script, or is not there. */
async function daemonWith(t: TestContext, script: string | undefined): Promise<Daemon> {
  const directory = await scratchDirectory(t);
  const path = join(directory, 'vpcs');
  if (script !== undefined) {
    writeFileSync(path, `#!/bin/sh\n${script}\n`);
    chmodSync(path, 0o755);
  }
  return ownDaemon(t, { config: `[VPCS]\nvpcs_path = ${path}\n` }).start();
}

/** Starts a PC, which must fail; gives the message and the seconds that it took. */
async function failedStart(lab: Lab, pc: NodeObject): Promise<{ message: string; seconds: number }> {
  const start = performance.now();
  const { status, json } = await lab.daemon.ask('POST', `${lab.path}/nodes/${pc.node_id}/start`);
  const seconds = (performance.now() - start) / 1000;
  assert.equal(status, 409);
  assert.equal((await lab.node(pc)).status, 'stopped');
  const left = (): number[] => {
    const held = processesIn(join(lab.daemon.state, 'supervisor')); // the supervisor itself, if it was asked for
    return processesIn(lab.daemon.directory).filter((pid) => pid !== lab.daemon.pid && !held.includes(pid));
  };
  await eventually('the end of the program', left, (pids) => pids.length === 0);
  assert.equal(existsSync(pc.node_directory), false);
  return { message: json.message, seconds };
}

test('a missing vpcs is named when a PC starts, with the setting that reports where it is', async (t) => {
  const lab = await Lab.create(await daemonWith(t, undefined));
  const pc = await lab.pc('PC1');
  assert.match((await failedStart(lab, pc)).message, /no program '\/.*\/vpcs' found.*vpcs_path in section \[VPCS\]/);
  const onCompute = lab.path.replace('/v2/', '/v2/compute/');
  const refused = await lab.daemon.ask('POST', `${onCompute}/vpcs/nodes/${pc.node_id}/start`);
  assert.equal(refused.json.exception, 'VPCSError');
});

test('a vpcs that does not say its version is given up after five seconds, and ended', async (t) => {
  const lab = await Lab.create(await daemonWith(t, 'sleep 600'));
  const load = new OtherLoad(DAEMON_HOMES);
  const { message, seconds } = await failedStart(lab, await lab.pc('PC1'));
  assert.match(message, /did not answer within 5 s.*vpcs_path/);
  assert.ok(seconds > 4, `${seconds} s`);
  await judge(t, { what: 'it is given up', value: seconds, limit: 8, unit: 's', load });
});

test('a vpcs that says nothing when it is to run is given up after five seconds, and ended', async (t) => {
  const version = 'Welcome to Virtual PC Simulator, version 0.8.2';
  const lab = await Lab.create(await daemonWith(t, `[ "$1" = -v ] && echo ${version} && exit\nsleep 600`));
  const load = new OtherLoad(DAEMON_HOMES);
  const { message, seconds } = await failedStart(lab, await lab.pc('PC1'));
  assert.match(message, /PC1.*said nothing for 5 s.*vpcs_path/);
  assert.ok(seconds > 4, `${seconds} s`);
  await judge(t, { what: 'it is given up', value: seconds, limit: 8, unit: 's', load });
});

test('a PC gets ports of its own for all that the program opens, also for the relay of old versions', {
  skip: missing('vpcs'),
}, async (t) => {
  const daemon = await startDaemon(t);
  const lab = await Lab.create(daemon);
  const pc = await lab.pc('PC1');
  const reserve = (id: string): Promise<number> =>
    daemon.post(`/v2/compute/projects/${id}/ports/udp`).then(({ udp_port }) => udp_port);
  // One free port, and behind it some that others have reserved, but not bound yet.
  const other = '11111111-2222-4333-8444-555555555555';
  await daemon.post('/v2/compute/projects', { name: 'Other', project_id: other });
  await reserve(other);
  const reserved: number[] = [];
  for (let count = 0; count < 12; count++) reserved.push(await reserve(lab.project.project_id));
  await daemon.post(`/v2/compute/projects/${other}/close`);
  await lab.start(pc);
  await (await Client.open(t, pc.console)).sees(/VPCS> $/);
  for (const port of reserved) {
    const socket = createSocket('udp4').bind(port, '0.0.0.0');
    await once(socket, 'listening');
    socket.close();
  }
});
