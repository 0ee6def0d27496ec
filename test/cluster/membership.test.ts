// Joining, leases and streams of a cluster, over a real NATS on this host.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { clusterCommand } from '../../src/cluster/commands.ts';
import { connectNats, pinnedAuthority } from '../../src/cluster/connection.ts';
import { examineCluster } from '../../src/cluster/health.ts';
import { ClusterFiles } from '../../src/cluster/layout.ts';
import { JOIN_USER } from '../../src/cluster/nats-configuration.ts';
import { newJoinLine } from '../../src/cluster/registry.ts';
import { type Cluster, type ClusterParts, startCluster } from '../../src/cluster/service.ts';
import { JOIN_INBOX, JOIN_SUBJECT } from '../../src/cluster/subjects.ts';
import { parseJoinLine } from '../../src/cluster/token.ts';
import type { Verdict } from '../../src/host/values/check-result.ts';
import { freeTcpPort } from '../free-tcp-port.ts';
import { eventually } from '../system/daemon.ts';
import { Nats } from './nats.ts';

/** Gives NATS a certificate of the cluster's CA that was valid until yesterday. */
function expire(files: ClusterFiles): void {
  const openssl = (...words: string[]): void =>
    void execFileSync('openssl', words, { cwd: files.directory, stdio: 'pipe' });
  const name = 'lab.labwire.internal';
  writeFileSync(files.path('names'), `subjectAltName=DNS:${name}\n`);
  openssl('req', '-new', '-key', 'key.pem', '-subj', `/CN=${name}`, '-out', 'request.pem');
  openssl(
    ...['x509', '-req', '-in', 'request.pem', '-CA', 'ca.pem', '-CAkey', 'ca-key.pem', '-set_serial', '7'],
    ...['-extfile', 'names', '-days', '-1', '-out', 'expired.pem'],
  );
  writeFileSync(
    files.path('certificate.pem'),
    readFileSync(files.path('expired.pem'), 'utf8') + readFileSync(files.path('ca.pem'), 'utf8'),
  );
}

type Command = Partial<Parameters<typeof clusterCommand>[0]>;

class Host {
  readonly state = mkdtempSync(join(tmpdir(), 'labwire-cluster-'));
  readonly files = new ClusterFiles(this.state);
  readonly said: string[] = [];
  /** Names of the hosts that have held a lease, and of those among them that were forgotten, as the controller sees it. */
  readonly held = new Set<string>();
  readonly forgotten: string[] = [];
  readonly absent: string[] = [];
  cluster: Cluster | undefined;
  readonly name: string;

  constructor(t: TestContext, name: string) {
    this.name = name;
    t.after(async () => {
      await this.cluster?.stop();
      rmSync(this.state, { recursive: true, force: true });
    });
  }

  run(verb: string, argument?: string, more: Command = {}): Promise<string> {
    return clusterCommand({ verb, argument, state: this.state, hostName: this.name, json: false, ...more });
  }

  async start(accept: (stream: Duplex) => void = () => {}): Promise<void> {
    const say = (message: string, details: object = {}): void =>
      void this.said.push(`${message} ${JSON.stringify(details)}`);
    const parts: ClusterParts = {
      state: this.state,
      cluster: 'lab',
      log: { info: say, warn: say, error: say },
      describe: async () => ({ version: '1', port: 3080, free_memory_bytes: 1, cores: 1, kvm: false, node_types: [] }),
      accept,
      held: ({ name }) => void this.held.add(name),
      failoverMs: 500,
      absent: ({ name }) => void this.absent.push(name),
      forgotten: ({ name }) => void this.forgotten.push(name),
    };
    this.cluster = await startCluster(parts);
  }

  /** As the controller: resolves when others can join. */
  async takePart(): Promise<void> {
    await this.start();
    await eventually(
      'the controller',
      () => this.said.join(),
      (said) => said.includes('takes part'),
    );
  }

  doctor(configured = ''): Promise<Verdict> {
    return examineCluster(this.state, configured);
  }

  line(): Promise<string> {
    return this.run('token').then((text) => text.trim());
  }
}

async function first(t: TestContext): Promise<{ a: Host; nats: Nats; line: string }> {
  const a = new Host(t, 'a');
  const out = await a.run('init', undefined, { name: 'lab', address: `127.0.0.1:${await freeTcpPort()}` });
  const line = /lab:\/\/[^']+/.exec(out)?.[0] as string;
  const nats = await new Nats(t, a.files.path('nats.conf')).start();
  return { a, nats, line };
}

const refused = (work: Promise<unknown>, reason: RegExp): Promise<void> =>
  assert.rejects(
    work,
    (error: Error) => error.name === 'Failure' && reason.test(error.message) && !error.message.includes('\n'),
  );

test('a host joins by a token that is used once; every refusal says its reason', async (t) => {
  const { a, line } = await first(t);
  const b = new Host(t, 'b');
  await refused(b.run('status'), /in no cluster.*labwired cluster init/);
  await a.takePart();
  assert.match(await b.run('join', line), /b, has joined the cluster "lab"/);
  const c = new Host(t, 'c');
  await refused(c.run('join', line), /token was used at .*labwired cluster token/);
  const { server, cluster, fingerprint, secret } = parseJoinLine(line);
  const fresh = await a.line();
  const wrong = fresh.replace(
    /.{32}$/,
    secret.replace(/^./, (letter) => (letter === 'A' ? 'B' : 'A')),
  );
  await refused(c.run('join', wrong), /token is not known here/);
  await refused(c.run('join', fresh.replace(`#${cluster}.`, '#other.')), /belongs to another cluster/);
  await refused(
    c.run('join', fresh.replace(fingerprint, fingerprint.split('').reverse().join(''))),
    /another fingerprint/,
  );
  await refused(new Host(t, 'b').run('join', fresh), /already a host "b"/);
  const expired = await newJoinLine(a.files, await a.files.member(), -1_000);
  await refused(c.run('join', expired), /token expired at/);
  await refused(b.run('token'), /not the controller/);
  const stranger = await connectNats(server, cluster, await a.files.authorityCertificate(), {
    ...JOIN_USER,
    inboxPrefix: JOIN_INBOX,
  });
  t.after(() => stranger.close());
  const request = { name: 'd', id: randomUUID(), user: 'no key', cluster, secret: parseJoinLine(fresh).secret };
  const answer = await stranger.request(JOIN_SUBJECT, JSON.stringify(request), { timeout: 10_000 });
  assert.match(answer.json<{ refused: string }>().refused, /request to join is damaged/);
  // Nothing of the refused attempts is left, and the token that was not used is valid.
  assert.match(await c.run('join', fresh), /c, has joined/);
  assert.equal(
    readFileSync(a.files.path('nats.conf'), 'utf8').includes(secret),
    false,
    'no secret in the configuration',
  );
  await b.start();
  await eventually('b', () => a.held.has('b'));
  const status = JSON.parse(await b.run('status', undefined, { json: true }));
  assert.deepEqual(
    status.hosts.map(({ name, lease }: { name: string; lease: boolean }) => [name, lease]),
    [
      ['a', true],
      ['b', true],
    ],
  );
  assert.match(await a.run('status'), /^c +none$/m);
  assert.match(await a.run('forget', 'c'), /forgotten and disconnected/);
  await refused(c.run('status'), /does not know this host/);
  assert.equal((await a.doctor()).detail, 'lab, as a (the controller); 2 hosts hold a lease');
  assert.equal((await b.doctor()).detail, 'lab, as b; 2 hosts hold a lease');
  const { state, detail } = await c.doctor();
  assert.deepEqual([state, /does not know this host/.test(detail)], ['warning', true]);
  assert.match((await b.doctor('other')).detail, /is in the cluster "lab": the server does not start/);
  await refused(a.run('leave'), /controller of b/);
  assert.match(await b.run('leave'), /has left the cluster "lab"\. Start the server again/);
  await eventually('a without b', () => a.forgotten.includes('b'));
  assert.deepEqual([a.forgotten, await a.files.hostNames()], [['b'], ['a']]);
  assert.equal(await pinnedAuthority(server, fingerprint), await a.files.authorityCertificate());
});

test('a host with an expired certificate of NATS, or a second host of one name, does not take part and says why', async (t) => {
  const { a, line } = await first(t);
  await a.takePart();
  const b = new Host(t, 'b');
  await b.run('join', line);
  await b.start();
  await eventually('b', () => a.held.has('b'));
  const copy = new Host(t, 'b');
  await copy.files.create();
  for (const name of ['ca.pem', 'membership.json'])
    await copy.files.write(name, readFileSync(b.files.path(name), 'utf8'));
  await copy.start();
  await eventually(
    'its refusal',
    () => copy.said.join(),
    (said) => /Another host holds the name \\"b\\"/.test(said),
  );
  const fresh = await a.line();
  expire(a.files);
  process.kill(Number(readFileSync(a.files.path('nats.pid'), 'utf8')), 'SIGHUP');
  const c = new Host(t, 'c');
  await eventually(
    'the expired certificate',
    () => c.run('join', fresh).catch(({ message }) => message),
    (said) => /has expired.*cluster renew.*clocks/.test(said),
  );
  assert.deepEqual(await a.doctor(), {
    state: 'missing',
    detail: 'the certificate of NATS has expired: no host can connect',
    fix: 'labwired cluster renew',
    commands: ['labwired cluster renew'],
  });
});

test('NATS goes down and comes back: leases end, are reported, and are held again', async (t) => {
  const { a, nats, line } = await first(t);
  await a.takePart();
  const b = new Host(t, 'b');
  await b.run('join', line);
  await b.start((stream) => void stream.pipe(stream));
  await eventually('b', () => a.held.has('b'));
  const stream = a.cluster!.dial('b');
  stream.write('before');
  assert.equal(String((await once(stream, 'data'))[0]), 'before');
  const broken = new Promise((resolve) => stream.once('close', resolve));
  await nats.stop();
  await broken;
  await eventually('the end of the lease', () => a.said.join().includes('the lease of a host has ended'));
  a.held.clear();
  assert.throws(() => a.cluster!.dial('b'), /holds no lease/);
  await nats.start();
  await eventually('b again', () => a.held.has('b'));
  assert.match(
    a.said.join('\n'),
    /connection to NATS was lost; running nodes go on[\s\S]*lease of a host has ended[\s\S]*connected to NATS again/,
  );
});

test('a stream carries any number of bytes in order, and a reader that waits makes the writer wait', async (t) => {
  const { a, line } = await first(t);
  await a.takePart();
  const b = new Host(t, 'b');
  await b.run('join', line);
  const accepted = Promise.withResolvers<Duplex>();
  await b.start((stream) => accepted.resolve(stream));
  await eventually('b', () => a.held.has('b'));
  const near = a.cluster!.dial('b');
  const piece = Buffer.alloc(1 << 20, 7);
  let written = 0;
  for (let more = true; more; written++) more = near.write(piece);
  const far = await accepted.promise;
  // Nobody reads: what was written stays here but for the window.
  await eventually(
    'the window',
    () => near.writableLength,
    (length) => length > 0,
  );
  let read = 0;
  far.on('data', (data: Buffer) => {
    read += data.length;
  });
  for (; written < 20; written++) if (!near.write(piece)) await once(near, 'drain');
  near.end();
  await once(far, 'end');
  assert.equal(read, written * piece.length);
});
