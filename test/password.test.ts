// `labwired password`: what it refuses before it asks for anything.
import assert from 'node:assert/strict';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setPassword } from '../src/commands/password.ts';
import { loadConfig } from '../src/config/load.ts';
import { accountsOf } from '../src/start/access.ts';
import { AccountFile } from '../src/store/account.ts';
import { daemonHere } from './daemon-here.ts';
import { failure, scratchDirectory } from './store/scratch.ts';

test('where the configuration names the user nothing is said to be changed', async (t) => {
  const state = await scratchDirectory(t);
  const environment = { LABWIRE_SERVER_USER: 'ann', LABWIRE_SERVER_PASSWORD: 'secret' };
  const { config } = loadConfig({ flags: [], environment, workingDirectory: state, home: state, state });
  await assert.rejects(setPassword(config, { generate: true }), failure('conflict', /names the user "ann"/));
  await assert.rejects(setPassword(config, { user: 'bob', generate: true }), failure('conflict', /leave out user/));
  assert.deepEqual(await readdir(state), []);
});

test('where the configuration names a user without a password the server does not start, wherever the two come from', async (t) => {
  const state = await scratchDirectory(t);
  const file = join(state, 'labwired.conf');
  for (const [lines, environment] of [
    ['host = 0.0.0.0\nuser = ann', {}],
    ['auth = true\nuser = ann\npassword =', {}],
    ['auth = true\nuser = ann\npassword = secret', { LABWIRE_SERVER_PASSWORD: '' }],
    ['auth = true', { LABWIRE_SERVER_USER: 'ann', LABWIRE_SERVER_PASSWORD: '\n' }],
  ] as const) {
    await writeFile(file, `[Server]\nport = 0\n${lines}\n`);
    const { config } = loadConfig({ flags: [], environment, workingDirectory: state, home: state, state, file });
    const sentence = /^user = ann is set without a password: set password in \[Server\] .*or leave out user\.$/;
    await assert.rejects(async () => (await daemonHere(config)).stop(), failure('invalid', sentence), lines);
    const accounts = accountsOf(config);
    assert.equal(await accounts.hostName(), undefined);
    await assert.rejects(accounts.known(), failure('unavailable', /no client can log in/));
  }
});

test('elsewhere the password that was made is the one that counts', async (t) => {
  const state = await scratchDirectory(t);
  const { config } = loadConfig({ flags: [], environment: {}, workingDirectory: state, home: state, state });
  const said = await setPassword(config, { user: 'bob', generate: true });
  assert.match(said, /^user bob, password \S+\n$/);
  assert.equal((await new AccountFile(state).read())?.user, 'bob');
});
