// A host that dies as a whole: the controller's server and its NATS at the same moment.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { jetstreamManager } from '@nats-io/jetstream';
import { connectMember } from '../../src/cluster/connection.ts';
import { BUCKET_STREAM, CHANGES_STREAM, CONTROLLER_STREAM, OBJECTS_STREAM } from '../../src/cluster/subjects.ts';
import { eventually } from '../system/daemon.ts';
import { missing } from '../system/lab.ts';
import { type KillableHost, killableHosts } from './killable-hosts.ts';

const skip = missing('nats-server', 'openssl');
const STREAMS = [CONTROLLER_STREAM, CHANGES_STREAM, BUCKET_STREAM, OBJECTS_STREAM];
/** How long (ms) the role of the controller may be held by none. */
const GAP_MS = 15_000;

/** The leaders of the streams; undefined while one has none, or not a whole copy at each host. */
async function leadersOf(host: KillableHost, hosts: number): Promise<string[] | undefined> {
  const { files } = host.host;
  const nats = await connectMember(files, await files.member(), { reconnect: false });
  try {
    const { streams } = await jetstreamManager(nats, { timeout: 2_000, checkAPI: false });
    const infos = await Promise.all(STREAMS.map((name) => streams.info(name)));
    const isWhole = infos.every(
      ({ cluster }) => cluster?.leader && cluster.replicas?.filter(({ current }) => current).length === hosts - 1,
    );
    return isWhole ? infos.map(({ cluster }) => cluster!.leader!) : undefined;
  } finally {
    await nats.close();
  }
}

/** Resolves when all streams are at all hosts, and led by other servers than the controller's. */
async function settled(controller: KillableHost, hosts: number): Promise<void> {
  await eventually(
    'the leaders of all streams at other hosts',
    () => leadersOf(controller, hosts).catch(() => undefined),
    (leaders) => leaders?.every((leader) => leader !== `lab-${controller.name}`) === true,
    60_000,
  );
}

/** Kills these hosts, the controller first; resolves to the next controller, which has all that was acknowledged. */
async function killed(
  t: TestContext,
  hosts: readonly KillableHost[],
  dying: readonly KillableHost[],
): Promise<KillableHost> {
  const begin = Date.now();
  await Promise.all(dying.map((host) => host.kill(true)));
  const acknowledged = dying[0]!.wrote;
  const others = hosts.filter((host) => !dying.includes(host));
  const changed = (host: KillableHost) => host.since(begin).find(({ what }) => what === 'wrote');
  const next = await eventually(
    'the next controller',
    () => others.find((host) => changed(host)),
    (host) => host !== undefined,
  );
  const gap = changed(next!)!.at - begin;
  t.diagnostic(`the next controller has made a change after ${gap} ms`);
  assert.ok(gap < GAP_MS, `${gap} ms`);
  const { ids = [] } = next!.since(begin).find(({ what }) => what === 'leads')!;
  assert.ok(acknowledged.length > 0);
  assert.deepEqual(
    acknowledged.filter((id) => !ids.includes(id)),
    [],
  );
  return next!;
}

async function returned(host: KillableHost, controller: KillableHost): Promise<void> {
  await host.nats.start();
  host.start();
  const begin = Date.now();
  await eventually('the host that is back', () =>
    controller.since(begin).some(({ host: name, standby }) => name === host.name && standby === 'ready'),
  );
}

test('the controller and its NATS die together: another host has all changes, and need not wait for NATS to elect leaders', {
  skip,
}, async (t) => {
  const hosts = await killableHosts(t, ['a', 'b', 'c']);
  let controller = hosts[0]!;
  for (let round = 0; round < 2; round += 1) {
    await settled(controller, hosts.length);
    const dead = controller;
    controller = await killed(t, hosts, [dead]);
    await returned(dead, controller);
  }
});

test('of five hosts the controller and another one die as a whole, and the rest goes on', { skip }, async (t) => {
  const hosts = await killableHosts(t, ['a', 'b', 'c', 'd', 'e']);
  const dying = hosts.slice(0, 2);
  await settled(dying[0]!, hosts.length);
  const next = await killed(t, hosts, dying);
  for (const host of dying) await returned(host, next);
  const begin = Date.now();
  const wrote = (host: KillableHost): boolean => host.since(begin).some(({ what }) => what === 'wrote');
  await eventually('another change', () => wrote(next));
  assert.deepEqual(
    hosts.filter((host) => host !== next && wrote(host)).map(({ name }) => name),
    [],
    'no other host writes',
  );
});
