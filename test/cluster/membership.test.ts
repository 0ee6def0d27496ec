// Joining, leases and streams of a cluster, over a real NATS on this host.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import type { Duplex } from 'node:stream';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { jetstream } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import { nkeys } from '@nats-io/transport-node';
import { connectNats, pinnedAuthority } from '../../src/cluster/connection.ts';
import type { ClusterFiles } from '../../src/cluster/layout.ts';
import { joinUser } from '../../src/cluster/nats-users.ts';
import { newJoinLine } from '../../src/cluster/registry.ts';
import { CONTROLLER_BUCKET, CONTROLLER_KEY, JOIN_INBOX, JOIN_SUBJECT } from '../../src/cluster/subjects.ts';
import { parseJoinLine } from '../../src/cluster/token.ts';
import { eventually } from '../system/daemon.ts';
import { first, Host, refused, two } from './joined-host.ts';
import { PUT, TurnHost } from './turn-host.ts';

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
  const expired = await newJoinLine(a.files, await a.files.member(), { lifetime: -1_000 });
  await refused(c.run('join', expired), /token expired at/);
  await refused(b.run('token'), /not the controller/);
  const authority = await a.files.authorityCertificate();
  const stranger = await connectNats(server, cluster, authority, {
    authenticator: joinUser(authority),
    inboxPrefix: JOIN_INBOX,
  });
  t.after(() => stranger.close());
  const request = { name: 'd', id: randomUUID(), user: 'no key', cluster, secret: parseJoinLine(fresh).secret };
  const answer = await stranger.request(JOIN_SUBJECT, JSON.stringify(request), { timeout: 10_000 });
  assert.match(answer.json<{ refused: string }>().refused, /request to join is damaged/);
  // A request that is known to others gets no second host, and no more rights.
  const { seed, id: idOfB } = await b.files.member();
  const user = nkeys.fromSeed(new TextEncoder().encode(seed)).getPublicKey();
  const again = async (more: object): Promise<string | undefined> => {
    const repeated = { name: 'b', id: idOfB, user, cluster, secret, ...more };
    const said = await stranger.request(JOIN_SUBJECT, JSON.stringify(repeated), { timeout: 10_000 });
    return said.json<{ refused?: string }>().refused;
  };
  for (const more of [{ name: 'x' }, { standby: true }, { id: randomUUID() }])
    assert.match((await again(more)) ?? '', /has joined otherwise/);
  assert.equal(await again({}), undefined);
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
  await eventually(
    'the refusal of c',
    () => c.run('status').catch(String),
    (said) => /does not know this host/.test(said),
  );
  assert.equal((await a.doctor()).detail, 'lab, as a (the host of "init"); 2 hosts hold a lease');
  assert.equal((await b.doctor()).detail, 'lab, as b; 2 hosts hold a lease');
  const { state, detail } = await c.doctor();
  assert.deepEqual([state, /does not know this host/.test(detail)], ['warning', true]);
  assert.match((await b.doctor('other')).detail, /is in the cluster "lab": the server does not start/);
  await refused(a.run('leave'), /controller of b/);
  assert.match(await b.run('leave'), /has left the cluster "lab"\. Start the server again/);
  await eventually('a without b', () => a.forgotten.includes('b'));
  assert.deepEqual([a.forgotten, await a.files.hostNames()], [['b'], ['a']]);
  assert.match((await again({})) ?? '', /was forgotten/);
  assert.equal(await pinnedAuthority(server, fingerprint), await a.files.authorityCertificate());
});

test('a host with an expired certificate of NATS, or a second host of one name, does not take part and says why', async (t) => {
  const { a, b } = await two(t);
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

test('NATS goes down and comes back: streams end, and leases are held again', async (t) => {
  const { a, nats } = await two(t, (stream) => void stream.pipe(stream));
  const stream = a.cluster!.dial('b');
  stream.write('before');
  assert.equal(String((await once(stream, 'data'))[0]), 'before');
  const broken = new Promise((resolve) => stream.once('close', resolve));
  await nats.stop();
  await broken;
  const refusal = (): string => {
    try {
      a.cluster!.dial('b').on('error', () => {});
      return '';
    } catch (error) {
      return String(error);
    }
  };
  // A stream may end a moment before the connection does.
  await eventually('a refusal', refusal, (reason) => /not connected to NATS/.test(reason));
  a.held.clear();
  await nats.start();
  await eventually('b again', () => a.held.has('b'));
  assert.match(a.said.join('\n'), /connection to NATS was lost; running nodes go on[\s\S]*connected to NATS again/);
});

test('a NATS that stalls again and again, as on a slow disk, loses neither a lease nor an acknowledged change', async (t) => {
  const { a, nats } = await two(t);
  const controller = new TurnHost(t, 'a', a.files, await a.files.member());
  await controller.connect();
  const database = await controller.leads();
  const acknowledged: string[] = [];
  const bucket = await new Kvm(jetstream(controller.nats!)).open(CONTROLLER_BUCKET);
  const renewal = async (): Promise<number> => (await bucket.get(CONTROLLER_KEY))?.revision ?? 0;
  for (let round = 0; round < 8; round += 1) {
    // One stall alone is shorter than the key and the leases; the machine may be slow, too.
    const last = await renewal();
    await eventually('the key', async () => (await renewal()) > last);
    process.kill(nats.pid, 'SIGSTOP');
    const id = `change ${round}`;
    const change = database.run(PUT, id).then(() => acknowledged.push(id));
    await sleep(800);
    process.kill(nats.pid, 'SIGCONT');
    await change;
  }
  assert.doesNotMatch(a.said.join(), /lease of a host has ended|is gone/);
  const rows = await database.all<{ id: string }>('SELECT id FROM document ORDER BY position');
  assert.deepEqual([rows.map(({ id }) => id), controller.turns], [acknowledged, 1]);
  assert.equal(acknowledged.length, 8);
});

test('a stream carries any number of bytes in order, and a reader that waits makes the writer wait', async (t) => {
  const accepted = Promise.withResolvers<Duplex>();
  const { a } = await two(t, (stream) => accepted.resolve(stream));
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
