// Who gets in, and over what: passwords, TLS, and an open door that is not left open by mistake.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { WebSocket } from 'ws';
import { eventually, ownDaemon, startDaemon } from './daemon.ts';
import { executable } from './executable.ts';
import { Lab, missing } from './lab.ts';

/** Opens a WebSocket; gives the status of the refusal, or 101 and what was received within a moment. */
function handshake(url: string, headers: Record<string, string> = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, { headers, rejectUnauthorized: false });
    socket.on('unexpected-response', (_request, response) => resolve(response.statusCode!));
    socket.on('message', () => {
      resolve(101);
      socket.terminate();
    });
    socket.on('error', reject);
  });
}

const basic = (credentials: string) => ({ authorization: `Basic ${Buffer.from(credentials).toString('base64')}` });

test('with auth no client gets in without the password: no request, no page, no notification, no console', {
  skip: missing('vpcs'),
}, async (t) => {
  const daemon = await startDaemon(t, { config: '[Server]\nauth = True\nuser = ann\npassword = p:ss wörd\n' });
  const right = basic('ann:p:ss wörd');
  const everywhere = ['/v2/version', '/v2/projects', '/', '/v2/nothing'];
  // Guesses are few: more of them would be told to wait.
  for (const [headers, paths] of [
    [{}, everywhere],
    [{ authorization: 'Bearer x' }, everywhere],
    [basic('ann:wrong'), ['/v2/version']],
    [basic('ann:'), ['/v2/projects']],
    [basic('bob:p:ss wörd'), ['/']],
  ] as const) {
    for (const path of paths) {
      const answer = await daemon.ask('GET', path, { headers });
      assert.deepEqual([answer.status, answer.text], [401, ''], path);
      assert.equal(answer.headers['www-authenticate'], 'Basic realm="GNS3 server"');
    }
  }
  const post = async (path: string, body?: unknown) => {
    const { status, text, json } = await daemon.ask('POST', path, { body, headers: right });
    assert.ok(status < 300, `${path}: ${status} ${text}`);
    return json;
  };
  const { project_id } = await post('/v2/projects', { name: 'Lab', auto_close: false });
  const nodes = `/v2/projects/${project_id}/nodes`;
  const { node_id } = await post(nodes, { name: 'PC1', node_type: 'vpcs', compute_id: 'local' });
  await post(`${nodes}/${node_id}/start`);
  const sockets = daemon.url.replace('http', 'ws');
  for (const path of [`${nodes}/${node_id}/console/ws`, '/v2/notifications/ws', '/v2/compute/notifications/ws']) {
    assert.equal(await handshake(sockets + path), 401, path);
    assert.equal(await handshake(sockets + path, basic('ann:wrong')), 401, path);
    assert.equal(await handshake(sockets + path, right), 101, path);
  }
});

test('with a certificate everything is HTTPS, consoles in the browser included', {
  skip: missing('openssl', 'vpcs'),
}, async (t) => {
  const daemon = ownDaemon(t, { scheme: 'https', flags: ['--ssl', '--certfile', 'cert.pem', '--certkey', 'key.pem'] });
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost'];
  const files = ['-keyout', 'key.pem', '-out', 'cert.pem'];
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '1'];
  execFileSync('openssl', ['req', ...kind, ...names, ...files], { cwd: daemon.directory, stdio: 'pipe' });
  await daemon.start();
  assert.equal((await daemon.get('/v2/version')).version, '2.2.57');
  const curl = ['--silent', '--cacert', join(daemon.directory, 'cert.pem'), `${daemon.url}/v2/version`];
  if (!missing('curl')) assert.match(execFileSync('curl', curl).toString(), /2\.2\.57/);
  const lab = await Lab.create(daemon);
  const pc = await lab.pc('PC1');
  await lab.start(pc);
  const console = `${lab.path}/nodes/${pc.node_id}/console/ws`;
  assert.equal(await handshake(daemon.url.replace('https', 'wss') + console), 101);
  await assert.rejects(fetch(daemon.url.replace('https', 'http')));
  assert.equal((await daemon.get('/v2/computes'))[0].connected, true);
});

test('a missing certificate stops the start by name', async (t) => {
  const { code, said } = await ownDaemon(t, {
    flags: ['--ssl', '--certfile', '/none.pem', '--certkey', '/none.pem'],
  }).refusal();
  assert.equal(code, 1);
  assert.match(said, /^labwired: certfile \/none\.pem cannot be read: ENOENT$/m);
});

test('no server is opened to the network without a password by mistake', async (t) => {
  const { code, said } = await ownDaemon(t, { host: '0.0.0.0', config: '[Server]\nauth = false\n' }).refusal();
  assert.equal(code, 1);
  assert.match(said, /host = 0\.0\.0\.0 is open to the network without a password: .*--insecure/);
  const meant = await startDaemon(t, { host: '0.0.0.0', flags: ['--insecure'] });
  assert.equal((await meant.ask('GET', '/v2/version')).status, 200);
  const locked = await startDaemon(t, { host: '0.0.0.0', config: '[Server]\nauth = true\nuser = a\npassword = b\n' });
  await eventually('an answer', async () => (await locked.ask('GET', '/v2/version')).status === 401);
});

test('beyond loopback the first start makes a password that is not logged, and "labwired password" changes it', async (t) => {
  const daemon = await startDaemon(t, { host: '0.0.0.0' });
  const file = join(daemon.state, 'initial-password');
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const password = readFileSync(file, 'utf8').trim();
  const status = async (headers = {}) => (await daemon.ask('GET', '/v2/version', { headers })).status;
  assert.equal(await status(), 401);
  assert.equal(await status(basic(`admin:${password}`)), 200);
  assert.ok(!daemon.log.includes(password));
  assert.match(daemon.log, /an account was made user=admin password="in .*initial-password"/);

  await daemon.end('SIGTERM');
  await daemon.start();
  assert.equal(await status(basic(`admin:${password}`)), 200, 'the next start keeps it');

  const [program, ...words] = executable() as [string, ...string[]];
  const run = (flags: string[], input: string) =>
    spawnSync(program, [...words, 'password', '--state', daemon.state, ...flags], { input, encoding: 'utf8' });
  assert.match(run([], 'short\n').stderr, /at least 8 characters/);
  assert.equal(await status(basic(`admin:${password}`)), 200);
  assert.equal(run(['--user', 'zoe'], 'a longer one\n').stdout, 'The password of zoe was changed.\n');
  assert.equal(await status(basic(`admin:${password}`)), 401);
  assert.equal(await status(basic('zoe:a longer one')), 200);
  assert.ok(!existsSync(file));
  const [, generated] = /^user zoe, password (\S{20})\n$/.exec(run(['--generate'], '').stdout) ?? [];
  assert.equal(await status(basic(`zoe:${generated}`)), 200);
});

test('a client that guesses passwords must wait, and authenticated ones go on', async (t) => {
  const daemon = await startDaemon(t, { config: '[Server]\nauth = True\nuser = ann\npassword = right one\n' });
  const ask = (credentials: string) => daemon.ask('GET', '/v2/version', { headers: basic(credentials) });
  assert.equal((await ask('ann:right one')).status, 200);
  let last = await ask('ann:guess');
  for (let index = 0; last.status === 401 && index < 50; index++) last = await ask(`ann:guess ${index}`);
  assert.equal(last.status, 429);
  assert.ok(Number(last.headers['retry-after']) >= 1);
  assert.equal((await ask('ann:right one')).status, 200);
  assert.ok(!/guess|right one/.test(daemon.log), 'the log has neither passwords nor guesses');
});

test('telnet consoles stay on loopback unless they are allowed elsewhere', {
  skip: missing('vpcs', 'ss'),
}, async (t) => {
  for (const [flags, address] of [
    [[], '127.0.0.1'],
    [['--allow'], '0.0.0.0'],
  ] as const) {
    const daemon = await startDaemon(t, { host: '0.0.0.0', flags: ['--insecure', ...flags] });
    const lab = await Lab.create(daemon);
    const pc = await lab.pc('PC1');
    await lab.start(pc);
    const listening = execFileSync('ss', ['-Hltn', `sport = :${pc.console}`]).toString();
    assert.match(listening, new RegExp(`${address.replaceAll('.', '\\.')}:${pc.console}\\b`));
  }
});

test('--ssl alone serves HTTPS with a certificate for this host that stays the same', {
  skip: missing('openssl'),
}, async (t) => {
  const daemon = await startDaemon(t, { scheme: 'https', flags: ['--ssl'] });
  const path = join(daemon.state, 'tls/certificate.pem');
  const before = readFileSync(path, 'utf8');
  assert.equal(statSync(join(daemon.state, 'tls/key.pem')).mode & 0o777, 0o600);
  const { subjectAltName } = new X509Certificate(before);
  assert.match(subjectAltName!, /DNS:localhost.*IP Address:127\.0\.0\.1/);
  if (!missing('curl')) {
    const curl = ['--silent', '--max-time', '20', '--cacert', path, `${daemon.url}/v2/version`];
    assert.match(execFileSync('curl', curl).toString(), /2\.2\.57/);
  }
  await daemon.end('SIGTERM');
  await daemon.start();
  assert.equal(readFileSync(path, 'utf8'), before);
});
