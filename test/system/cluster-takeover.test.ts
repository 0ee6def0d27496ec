// The end of the controller's server: another host of the cluster is the controller, with every acknowledged change.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { begun, noCluster, run } from './cluster-hosts.ts';
import { type Daemon, eventually } from './daemon.ts';
import { executable } from './executable.ts';
import { Lab } from './lab.ts';
import { TwoHosts } from './two-daemons-network.ts';

const skip = noCluster();
const SETTINGS = '[Cluster]\nfailover_seconds = 2\ncheckpoint_seconds = 1\n';

interface Answer {
  status: number;
  body: unknown;
}

test('another host takes over from a controller that is killed, and hands back nothing that it does not have', {
  skip,
}, async (t) => {
  const hosts = TwoHosts.make(t);
  const { inside } = hosts.compute;
  const { a, b, line } = await begun(t, hosts, inside, { settings: SETTINGS });
  run(...inside, ...executable(), 'cluster', 'join', line, '--host-name', 'b', '--standby', '--state', b.state);
  if (process.env['SHOW']) t.after(() => console.error(a.log, '-----', b.log));
  await a.end('SIGUSR2');
  await a.start();
  await b.start();
  /** Asks the server of b, which only its own host reaches. */
  const onB = async (method: string, path: string, body?: object): Promise<Answer> => {
    const words = body ? ['--data', JSON.stringify(body), '-H', 'Content-Type: application/json'] : [];
    const asked = ['curl', '--silent', '-X', method, ...words, '-w', '\n%{http_code}', `${b.url}${path}`];
    // The server listens anew when it becomes the controller.
    const text = run(...inside, 'sh', '-c', '"$@" || true', 'sh', ...asked);
    const at = text.lastIndexOf('\n');
    const content = text.slice(0, at);
    return { status: Number(text.slice(at + 1)), body: content === '' ? undefined : JSON.parse(content) };
  };
  const controls = (host: Daemon) =>
    eventually(
      'the controller',
      () => host.log,
      (log) => /this host is the controller now/.test(log),
    );
  await controls(a);
  await eventually(
    'b',
    async () => (await a.ask('GET', '/v2/computes')).text,
    (text) => /"name": ?"b"/.test(text) && !/"connected": ?false/.test(text),
  );
  const refusal = await onB('GET', '/v2/projects');
  assert.equal(refusal.status, 503);
  assert.match(JSON.stringify(refusal.body), /controller of the cluster is the host a/);
  const lab = await Lab.create(a, 'Stays');
  const computes = (await a.get('/v2/computes')) as { compute_id: string; name: string }[];
  const hostB = computes.find(({ name }) => name === 'b')!.compute_id;
  const one = await lab.pc('One', { compute_id: hostB });
  const two = await lab.pc('Two');
  await lab.link(one, two);
  await lab.start(one);
  await lab.start(two);
  await sleep(2_500);
  const last = await lab.pc('Last', { compute_id: hostB });
  const begin = performance.now();
  await a.kill();
  await eventually(
    'b answers',
    () => onB('GET', '/v2/projects'),
    ({ status }) => status === 200,
  );
  t.diagnostic(`another host answers after ${Math.round(performance.now() - begin)} ms`);
  const nodes = async () =>
    Object.fromEntries(
      ((await onB('GET', `${lab.path}/nodes`)).body as { name: string; compute_id: string; status: string }[]).map(
        ({ name, compute_id, status }) => [name, [compute_id, status]],
      ),
    );
  await eventually('the lab', nodes, (found) => Object.keys(found).length === 3 && found['One']?.[1] === 'started');
  await eventually('failover', nodes, (found) => found['Two']?.[0] === 'local' && found['Two'][1] === 'started');
  t.diagnostic(`all nodes run after ${Math.round(performance.now() - begin)} ms`);
  assert.ok(last);
  t.diagnostic(JSON.stringify(await nodes()));
});
