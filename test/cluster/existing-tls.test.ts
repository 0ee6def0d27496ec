// A cluster on an existing NATS with TLS, whose certificate is of a CA that the administrator has added to this system's.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { nkeys } from '@nats-io/transport-node';
import { createCertificate } from '../../src/host/network/self-signed-certificate.ts';
import { freeTcpPort } from '../free-tcp-port.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { eventually, ownDaemon } from '../system/daemon.ts';
import { FROM_SOURCE } from '../system/executable.ts';
import { missing } from '../system/lab.ts';
import { Nats } from './nats.ts';

const CONFIG = '[VPCS]\nengine = built-in\n';

/** A NATS with one user on this host. */
async function served(t: TestContext, { address = '127.0.0.1', tls = true } = {}) {
  const directory = await scratchDirectory(t);
  const file = (name: string, content = ''): string => {
    const path = join(directory, name);
    if (content) writeFileSync(path, content);
    return path;
  };
  const about = { days: 1, directory, fix: '' };
  const authority = await createCertificate({
    ...{ ...about, subject: 'Company' },
    extensions: ['keyUsage=critical,keyCertSign'],
  });
  const issuer = { certificate: file('ca.pem', authority.certificate), key: file('ca-key.pem', authority.key) };
  const { certificate, key } = await createCertificate({
    ...{ ...about, subject: 'nats', issuer },
    extensions: [`subjectAltName=IP:${address}`],
  });
  const user = nkeys.createUser();
  const port = await freeTcpPort();
  const configuration = [
    `listen: "127.0.0.1:${port}"`,
    `authorization { users: [{ nkey: ${user.getPublicKey()} }] }`,
    `jetstream { store_dir: ${JSON.stringify(file('jetstream'))} }`,
    ...(tls
      ? [`tls ${JSON.stringify({ cert_file: file('cert.pem', certificate), key_file: file('key.pem', key) })}`]
      : []),
  ];
  await new Nats(t, file('nats.conf', configuration.join('\n'))).start();
  const credentials = file('credentials', new TextDecoder().decode(user.getSeed()));
  return { server: `127.0.0.1:${port}`, credentials, trust: { SSL_CERT_FILE: issuer.certificate } };
}

test('hosts form a cluster on a NATS with TLS of a CA that the system trusts; other certificates are refused with the reason', {
  skip: missing('nats-server', 'openssl'),
}, async (t) => {
  const secure = await served(t);
  const host = ownDaemon(t, { program: FROM_SOURCE, config: CONFIG, environment: secure.trust, flags: ['--insecure'] });
  const init = ({ server, credentials, trust }: Awaited<ReturnType<typeof served>>, scheme = 'tls', trusts = true) => {
    const [program, ...words] = FROM_SOURCE as [string, ...string[]];
    const nats = ['--nats', `${scheme}://${server}`, '--credentials', credentials];
    const all = [...words, 'cluster', 'init', '--name', 'lab', '--host-name', 'a', ...nats, '--state', host.state];
    const { status, stdout, stderr } = spawnSync(program, all, {
      env: { ...process.env, ...(trusts && trust) },
      encoding: 'utf8',
    });
    return { status, said: stdout + stderr };
  };
  const refused = (given: ReturnType<typeof init>, reason: RegExp): void => {
    assert.notEqual(given.status, 0);
    assert.match(given.said, reason);
  };
  refused(init(secure, 'tls', false), /not of a CA that this system trusts: add the CA/);
  refused(init(secure, 'nats'), /not of a CA that this system trusts: .*write tls:/);
  refused(init(await served(t, { tls: false })), /has no TLS: write nats:/);
  refused(init(await served(t, { address: '192.0.2.1' })), /is for another name: write that one with --nats/);
  const { status, said } = init(secure);
  assert.equal(status, 0, said);
  await host.start();
  await eventually(
    'the host in the cluster',
    () => host.log,
    (log) => log.includes('this host takes part in the cluster'),
  );
});
