// Hosts of a cluster whose clocks are ten minutes apart.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { begun, connected, noCluster, run } from './cluster-hosts.ts';
import { eventually } from './daemon.ts';
import { executable } from './executable.ts';
import { Lab, missing } from './lab.ts';
import { type } from './pc-typing.ts';
import { TwoHosts } from './two-daemons-network.ts';

const LIBRARY = '/usr/$LIB/faketime/libfaketime.so.1';

/** Words before a program whose clock is that far from the others'. */
const apart = (offset: string): string[] => [
  'env',
  `LD_PRELOAD=${LIBRARY}`,
  `FAKETIME=${offset}`,
  'FAKETIME_DONT_FAKE_MONOTONIC=1',
];

test('a host ten minutes ahead joins, runs nodes and is replaced; one ten minutes behind a new cluster is refused with the reason', {
  skip: noCluster() || missing('faketime'),
}, async (t) => {
  const hosts = TwoHosts.make(t);
  const { inside } = hosts.compute;
  const settings = '[Cluster]\nfailover_seconds = 2\ncheckpoint_seconds = 1\n';
  const { a, b, line } = await begun(t, hosts, [...inside, ...apart('+10m')], { settings });
  const join = (offset: string): string => {
    const words = [...inside, ...apart(offset), ...executable(), 'cluster', 'join', line, '--host-name', 'b'];
    return run(...words, '--state', b.state);
  };
  assert.throws(() => join('-10m'), /certificate is not valid yet: compare the clocks of both hosts/);
  join('+10m');
  await b.start();
  const { compute_id } = await connected(a);
  assert.ok(Number(run(...apart('+10m'), 'date', '+%s')) > Date.now() / 1000 + 500, 'the clock is another one');
  const lab = await Lab.create(a, 'Apart');
  const pc = await lab.pc('PC', { compute_id });
  await lab.start(pc);
  assert.match(await type(lab, pc, 'ip 10.0.0.1/24'), /10\.0\.0\.1/);
  await type(lab, pc, 'save');
  // Many times longer than a lease lasts without a renewal.
  const age = async (): Promise<number> => {
    const { hosts: all } = (await a.get('/v2/cluster')) as { hosts: { name: string; lease_age_seconds: number }[] };
    return all.find(({ name }) => name === 'b')?.lease_age_seconds ?? Number.NaN;
  };
  for (let seconds = 0; seconds < 12; seconds += 1) {
    await sleep(1_000);
    assert.ok((await age()) < 5, 'the lease is renewed');
  }
  assert.doesNotMatch(a.log, /lease of a host has ended|a host is gone/);
  await b.kill();
  await eventually(
    'the PC on a',
    async () => (await lab.node(pc)) as unknown as { compute_id: string; status: string },
    (node) => node.compute_id === 'local' && node.status === 'started',
  );
  assert.match(await type(lab, pc, 'show ip'), /10\.0\.0\.1\/24/);
});
