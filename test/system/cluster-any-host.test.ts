// Three hosts that run NATS, on this machine: clients of any host go on after the controller's host has died as a whole.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { WebSocket } from 'ws';
import { ClusterFiles } from '../../src/cluster/layout.ts';
import { copied, Nats } from '../cluster/nats.ts';
import { freeTcpPort } from '../free-tcp-port.ts';
import { noCluster, run } from './cluster-hosts.ts';
import { type Daemon, eventually, ownDaemon } from './daemon.ts';
import { executable } from './executable.ts';

const CONFIG = '[Cluster]\nfailover_seconds = 0\n[VPCS]\nengine = built-in\n';

const takesPart = (host: Daemon): Promise<unknown> =>
  eventually(
    'the host in the cluster',
    () => host.log,
    (log) => log.includes('this host takes part in the cluster'),
  );

/** Opens the stream of events. */
async function events(host: Daemon): Promise<{ ended: Promise<void> }> {
  const socket = new WebSocket(`${host.url.replace('http', 'ws')}/v2/notifications/ws`);
  const { promise: opened, resolve, reject } = Promise.withResolvers<void>();
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  socket.once('message', () => resolve());
  socket.on('error', reject);
  socket.once('close', () => {
    reject(new Error('closed'));
    end();
  });
  await opened;
  return { ended };
}

/** Opens it as clients do: until that succeeds. */
const again = (host: Daemon): Promise<unknown> =>
  eventually('events', () =>
    events(host).then(
      () => true,
      () => false,
    ),
  );

test('clients of another host go on after the death of the host that is the controller and runs a NATS', {
  skip: noCluster(),
}, async (t) => {
  const hosts = ['a', 'b', 'c'].map(() => ownDaemon(t, { config: CONFIG, flags: ['--insecure'] }));
  const [a, b, c] = hosts as [Daemon, Daemon, Daemon];
  const cluster = (host: Daemon, ...words: string[]): string =>
    run(...executable(), 'cluster', ...words, '--state', host.state);
  const address = async (): Promise<string> => `127.0.0.1:${await freeTcpPort()}`;
  const natsOf = (host: Daemon): Promise<Nats> => new Nats(t, join(host.state, 'cluster/nats.conf')).start();
  const named = ['--name', 'lab', '--host-name', 'a', '--servers', '3', '--address', await address()];
  const line = /lab:\/\/[^']+/.exec(cluster(a, 'init', ...named))?.[0] as string;
  const first = await natsOf(a);
  await a.start();
  const more = [line, cluster(a, 'token', '--storage').trim()];
  for (const [index, host] of [b, c].entries()) {
    // One that runs NATS takes over unless it is not to.
    const words = ['--host-name', index === 0 ? 'b' : 'c', ...(index === 0 ? [] : ['--no-standby'])];
    cluster(host, 'join', more[index] as string, ...words, '--address', await address());
    await natsOf(host);
  }
  for (const host of [b, c]) await host.start();
  for (const host of hosts) await takesPart(host);
  const names = async (host: Daemon): Promise<string[]> => {
    const answer = await host.ask('GET', '/v2/projects').catch(() => undefined);
    return answer?.status === 200 ? (answer.json as { name: string }[]).map(({ name }) => name).sort() : [];
  };
  const add = (host: Daemon, name: string): Promise<number> =>
    host.ask('POST', '/v2/projects', { body: { name } }).then(
      ({ status }) => status,
      () => 0,
    );
  const made = (host: Daemon, name: string): Promise<unknown> =>
    eventually(
      `the lab ${name}`,
      () => add(host, name),
      (status) => status === 201,
    );
  await made(c, 'One');
  const listed = (host: Daemon, wanted: string): Promise<unknown> =>
    eventually(
      `the labs ${wanted}`,
      () => names(host),
      (found) => found.join() === wanted,
    );
  for (const host of hosts) await listed(host, 'One');
  const controlledBy = (wanted: string): Promise<unknown> =>
    eventually(
      'the status',
      () => said(c, 'status'),
      (line) => line === `cluster lab, seen from c: the controller is ${wanted}`,
    );
  const said = (host: Daemon, ...words: string[]): string => {
    try {
      return cluster(host, ...words).split('\n', 1)[0] as string;
    } catch (error) {
      return String(error); // NATS agrees on another leader
    }
  };
  await controlledBy('a');
  await copied(new ClusterFiles(b.state), 5);
  const streams = [await events(b), await events(c)];

  const begin = performance.now();
  await Promise.all([a.kill(), first.stop()]);
  await Promise.all(streams.map(({ ended }) => ended));
  const refusal = await c.ask('GET', '/v2/projects');
  assert.equal(refusal.status, 503, refusal.text);
  assert.match(refusal.text, /controller of the cluster cannot be reached .* Try again in some seconds/);
  for (const host of [c, b]) await listed(host, 'One');
  t.diagnostic(`both other hosts answer ${Math.round(performance.now() - begin)} ms after the death`);
  assert.match(b.log, /this host is the controller now/);
  // It has needed nothing that only the dead NATS could answer.
  assert.doesNotMatch(b.log, /this host is the controller no more|cannot be the controller yet/);
  for (const host of [b, c]) await again(host);
  await made(c, 'Two');
  await controlledBy('b');

  // Back, the first host passes its clients on, too.
  await Promise.all([first.start(), a.start()]);
  await listed(a, 'One,Two');
  await again(a);

  // Where it is forgotten, the controller is another host.
  await c.end('SIGTERM');
  assert.match(cluster(a, 'forget', 'c'), /c is forgotten/);
  await eventually(
    'the controller to forget c, too',
    // With one NATS less the role may go to another host, and for a moment nobody has it.
    () => b.ask('GET', '/v2/computes').catch(() => undefined),
    (answer) => answer?.status === 200 && (answer.json as { name: string }[]).every(({ name }) => name !== 'c'),
  );
});
