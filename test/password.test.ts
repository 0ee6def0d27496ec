// `labwired password`: what it refuses before it asks for anything.
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { test } from 'node:test';
import { setPassword } from '../src/commands/password.ts';
import { loadConfig } from '../src/config/load.ts';
import { AccountFile } from '../src/store/account.ts';
import { failure, scratchDirectory } from './store/scratch.ts';

test('where the configuration names the user nothing is said to be changed', async (t) => {
  const state = await scratchDirectory(t);
  const environment = { LABWIRE_SERVER_USER: 'ann', LABWIRE_SERVER_PASSWORD: 'secret' };
  const { config } = loadConfig({ flags: [], environment, workingDirectory: state, home: state, state });
  await assert.rejects(setPassword(config, { generate: true }), failure('conflict', /names the user "ann"/));
  await assert.rejects(setPassword(config, { user: 'bob', generate: true }), failure('conflict', /leave out user/));
  assert.deepEqual(await readdir(state), []);
});

test('elsewhere the password that was made is the one that counts', async (t) => {
  const state = await scratchDirectory(t);
  const { config } = loadConfig({ flags: [], environment: {}, workingDirectory: state, home: state, state });
  const said = await setPassword(config, { user: 'bob', generate: true });
  assert.match(said, /^user bob, password \S+\n$/);
  assert.equal((await new AccountFile(state).read())?.user, 'bob');
});
