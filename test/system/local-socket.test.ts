// The server's socket in the file system, and contexts: which server a command finds, and who needs no password.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { basicHeader } from '../../src/http/access/authentication.ts';
import { Client, client, Terminal } from './client.ts';
import { startDaemon } from './daemon.ts';
import { missing } from './lab.ts';
import { NOBODY } from './unprivileged.ts';

const ANN = '[VPCS]\nengine = built-in\n[Server]\nauth = True\nuser = ann\npassword = secret12\n';

/** A client to which nobody has named a server. */
const alone = ({ daemon }: Client): Client =>
  new Client(daemon, { LABWIRE_SERVER: undefined, LABWIRE_STATE: daemon.state });

const socketOf = ({ daemon }: Client): string => join(daemon.state, 'labwired.sock');

/** The status of an answer at the local socket. */
function status(socket: string, words: readonly string[] = [], before: readonly string[] = []): number {
  const url = 'http://localhost/v2/version';
  const curl = [
    ...before,
    'curl',
    '-s',
    '-o',
    '/dev/null',
    '-w',
    '%{http_code}',
    '--unix-socket',
    socket,
    ...words,
    url,
  ];
  return Number(execFileSync(curl[0]!, curl.slice(1), { encoding: 'utf8' }));
}

test('a command that names no server finds the one of this host, and needs no password there', async (t) => {
  const labwired = alone(await client(t, { config: ANN }));
  await labwired.say('lab', 'create', 'Büro');
  await labwired.say('node', 'create', 'PC1', '--template', 'VPCS');
  await labwired.say('node', 'start', 'PC1');
  assert.match(await labwired.say('node', 'exec', 'PC1', 'echo hello'), /hello/, 'a WebSocket, too');
  assert.equal(statSync(socketOf(labwired)).mode & 0o777, 0o600);

  await labwired.daemon.kill();
  assert.ok(existsSync(socketOf(labwired)), 'kill -9 leaves it');
  await labwired.fails(1, /^labwired: http:\/\/127\.0\.0\.1:3080 cannot be reached: /, 'lab', 'list');
  await labwired.daemon.start();
  assert.match(await labwired.say('lab', 'list'), /Büro/, 'the next one has it');

  const socket = socketOf(labwired);
  const second = await startDaemon(t, { environment: { LABWIRE_SERVER_SOCKET_PATH: socket } });
  assert.match(second.log, /there is no local socket reason="another program listens at .*labwired\.sock/);
  assert.match(await labwired.say('lab', 'list'), /Büro/, 'it is not taken away');
  await second.end('SIGTERM');
  assert.match(await labwired.say('lab', 'list', '--server', `unix:${socket}`), /Büro/, 'nor when the other one ends');

  await labwired.daemon.end('SIGTERM');
  assert.equal(existsSync(socket), false, 'it goes with its server');
  await labwired.fails(1, /unix:.*there is no such socket/, 'lab', 'list', '--server', `unix:${socket}`);

  writeFileSync(socket, 'kept');
  await labwired.daemon.start();
  assert.match(labwired.daemon.log, /is there and is no socket: remove it/);
  assert.equal(readFileSync(socket, 'utf8'), 'kept');
});

test('the local socket opens nothing to browsers and proxies', { skip: missing('curl') }, async (t) => {
  const labwired = await client(t, { config: ANN });
  const socket = socketOf(labwired);
  assert.equal(status(socket), 200);
  assert.equal(status(socket, ['-H', 'Origin: http://evil.example']), 403, 'a page of others');
  assert.equal(status(socket, ['-H', 'Host: evil.example']), 403, 'a name of others');
  for (const header of ['Origin: http://localhost', 'Sec-Fetch-Site: same-origin', 'X-Forwarded-For: 10.0.0.1']) {
    assert.equal(status(socket, ['-H', header]), 401, header);
    assert.equal(status(socket, ['-H', header, '-u', 'ann:secret12']), 200, header);
  }
});

test('the local socket opens nothing to other users', {
  skip: missing('curl', 'setpriv') || (process.getuid?.() === 0 ? false : 'only root can become another user'),
}, async (t) => {
  const labwired = await client(t, { config: ANN });
  const socket = socketOf(labwired);
  const asNobody = ['setpriv', `--reuid=${NOBODY}`, '--clear-groups'];
  assert.throws(() => status(socket, [], asNobody), 'the file is for its owner');
  for (const path of [labwired.daemon.directory, labwired.daemon.state]) chmodSync(path, 0o755);
  chmodSync(socket, 0o666);
  assert.equal(status(socket, [], asNobody), 401, 'who asks is known, whatever the file says');
  assert.equal(status(socket, ['-u', 'ann:secret12'], asNobody), 200);
});

test('no local socket is made where none is wanted', async (t) => {
  const labwired = await client(t, { config: '[Server]\nsocket_path = off\n' });
  assert.equal(existsSync(socketOf(labwired)), false);
  const refused = await startDaemon(t, { config: '[Server]\nsocket_path = here\n' }).catch(String);
  assert.match(String(refused), /socket_path = "here" is not possible: name an absolute path, or off/);
});

/** Another server, as ann names it, and a token of hers. */
async function other(t: TestContext): Promise<{ url: string; token: string }> {
  const { daemon } = await client(t, { config: ANN });
  const headers = { authorization: basicHeader({ user: 'ann', password: 'secret12' }) };
  const { json } = await daemon.ask('POST', '/v2/account/tokens', { body: { name: 'robot' }, headers });
  return { url: daemon.url.replace('//', '//ann@'), token: json.token };
}

test('contexts name servers, and hold no password', async (t) => {
  const labwired = alone(await client(t));
  await labwired.say('lab', 'create', 'here');
  const { url, token } = await other(t);
  writeFileSync(join(labwired.daemon.directory, 'my password'), 'secret12\n');
  await labwired.say('context', 'add', 'Schule 1', '--server', url, '--password-file', 'my password', '--lab', 'there');
  await labwired.say('lab', 'create', 'there', '--context', 'Schule 1');
  assert.match(await labwired.say('lab', 'list'), /\nhere +opened [^\n]*$/, 'it is not in use yet');
  await labwired.say('context', 'use', 'Schule 1');
  assert.match(await labwired.say('lab', 'list'), /\nthere +opened [^\n]*$/);
  await labwired.say('lab', 'create', 'also open');
  assert.equal(await labwired.say('node', 'list', '-q'), '', 'its lab is the usual one');
  assert.match(
    await labwired.say('context', 'list'),
    /Schule 1 \* +http:\/\/ann@127\.0\.0\.1:\d+ +there +\/.*my password$/,
  );
  const named = new Client(labwired.daemon, { LABWIRE_CONTEXT: 'Schule 1' });
  assert.match(await named.say('lab', 'list'), /there/, 'the variable goes before that of the server');
  const elsewhere = new Client(labwired.daemon);
  assert.match(await elsewhere.say('lab', 'list'), /here/, 'a server that is named goes before the one in use');

  const kept = join(labwired.daemon.directory, '.config/labwire/contexts.json');
  const tokenFile = join(labwired.daemon.directory, 'token');
  writeFileSync(tokenFile, `${token}\n`);
  const adding = ['context', 'add', 'robot', '--server', url.replace('ann@', '')];
  const shown = [await labwired.say(...adding, '--token-file', 'token', '--json')];
  rmSync(tokenFile);
  assert.equal(JSON.parse(shown[0]!).has_token, true);
  const robot = ['--context', 'robot'];
  assert.match(await labwired.say('lab', 'list', ...robot), /there/, 'the token itself is kept');
  shown.push(await labwired.say('context', 'list', '--json'), await labwired.say('context', 'list'));
  assert.match(shown[2]!, /\nrobot +http:\/\/127\.0\.0\.1:\d+ +a token$/m);
  shown.push(await labwired.say('context', 'use', 'robot', '--json'));
  await labwired.say('context', 'use', 'Schule 1');
  const asked = new Terminal(t, labwired, 80, [...adding, '--force', '--token']);
  await asked.shows(/Token for http:\/\/127\.0\.0\.1:\d+: $/);
  asked.type(`${token}\r`);
  assert.deepEqual(await asked.ended, [0, null]);
  shown.push(asked.text);
  assert.match(await labwired.say('lab', 'list', ...robot), /there/);
  assert.equal(shown.join('').includes('lwt_'), false, 'it is never shown');
  chmodSync(kept, 0o644);
  await labwired.fails(1, /contexts\.json holds a token, and others can read it: chmod 600 /, 'lab', 'list', ...robot);
  chmodSync(kept, 0o600);
  writeFileSync(tokenFile, 'secret12\n');
  await labwired.fails(
    2,
    /--token-file token: its first line is not a token: tokens begin with lwt_/,
    ...adding,
    '--force',
    '--token-file',
    'token',
  );
  await labwired.fails(
    2,
    /--token and --token-file: choose one/,
    ...adding,
    '--force',
    '--token-file',
    'token',
    '--token',
  );
  await labwired.fails(1, /context "Robot"/, 'context', 'remove', 'Robot');
  await labwired.say('context', 'remove', 'robot');
  assert.equal(readFileSync(kept, 'utf8').includes('lwt_'), false, 'and forgotten with its context');
  assert.equal(statSync(kept).mode & 0o777, 0o600);
  assert.doesNotMatch(readFileSync(kept, 'utf8'), /secret12/);
  await labwired.fails(2, /already: replace it with --force/, 'context', 'add', 'Schule 1', '--server', url);
  await labwired.fails(2, /All users of this host/, 'context', 'add', 'x', '--server', 'http://ann:secret@h');
  await labwired.fails(2, /--server is missing/, 'context', 'add', 'x');
  await labwired.fails(1, /There is no context "x"\. Contexts: "Schule 1"/, 'lab', 'list', '--context', 'x');
  await labwired.fails(2, /choose one/, 'lab', 'list', '--context', 'Schule 1', '--server', url);
  await labwired.say('context', 'use');
  assert.match(await labwired.say('lab', 'list'), /here/);
  await labwired.say('context', 'use', 'Schule 1');
  await labwired.say('context', 'remove', 'Schule 1');
  assert.equal(await labwired.say('context', 'list', '-q'), '');
  assert.match(await labwired.say('lab', 'list'), /here/, 'what is forgotten is not in use');

  writeFileSync(kept, 'no JSON');
  await labwired.fails(1, /contexts\.json is not a valid list of contexts/, 'lab', 'list');
  assert.match(await elsewhere.say('lab', 'list'), /here/);
});
