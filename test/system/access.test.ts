// Who gets in, and over what: passwords, TLS, and an open door that is not left open by mistake.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { WebSocket } from 'ws';
import { eventually, ownDaemon, startDaemon } from './daemon.ts';
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

test('with auth nobody gets in without the password: no request, no page, no notification, no console', {
  skip: missing('vpcs'),
}, async (t) => {
  const daemon = await startDaemon(t, { config: '[Server]\nauth = True\nuser = ann\npassword = p:ss wörd\n' });
  const right = basic('ann:p:ss wörd');
  for (const headers of [
    {},
    basic('ann:wrong'),
    basic('ann:'),
    basic('bob:p:ss wörd'),
    { authorization: 'Bearer x' },
  ]) {
    for (const path of ['/v2/version', '/v2/projects', '/', '/v2/nothing']) {
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

test('a certificate that is not there stops the start by name', async (t) => {
  const { code, said } = await ownDaemon(t, {
    flags: ['--ssl', '--certfile', '/none.pem', '--certkey', '/none.pem'],
  }).refusal();
  assert.equal(code, 1);
  assert.match(said, /^labwired: certfile \/none\.pem cannot be read: ENOENT$/m);
});

test('nobody opens a server to the network without a password by mistake', async (t) => {
  const { code, said } = await ownDaemon(t, { host: '0.0.0.0' }).refusal();
  assert.equal(code, 1);
  assert.match(said, /host = 0\.0\.0\.0 is open to the network without a password: .*--insecure/);
  const meant = await startDaemon(t, { host: '0.0.0.0', flags: ['--insecure'] });
  assert.equal((await meant.ask('GET', '/v2/version')).status, 200);
  const locked = await startDaemon(t, { host: '0.0.0.0', config: '[Server]\nauth = true\nuser = a\npassword = b\n' });
  await eventually('an answer', async () => (await locked.ask('GET', '/v2/version')).status === 401);
});
