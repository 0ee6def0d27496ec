// The account of a state directory: made once, readable by its user alone, changed while the server runs, never guessed at when damaged.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { verifyPassword } from '../../src/host/values/password-hash.ts';
import { AccountFile } from '../../src/store/account.ts';
import { scratchDirectory } from './scratch.ts';

test('the first start makes a random password, for this user to read, and the next one keeps it', async (t) => {
  const directory = await scratchDirectory(t);
  const file = new AccountFile(directory);
  const made = await file.ensure();
  assert.equal(made?.user, 'admin');
  assert.match(made!.password, /^[\w-]{20}$/);
  assert.equal(readFileSync(made!.file, 'utf8'), `${made!.password}\n`);
  for (const path of [made!.file, file.path]) assert.equal(statSync(path).mode & 0o777, 0o600, path);
  assert.ok(!readFileSync(file.path, 'utf8').includes(made!.password), 'at rest there is only the hash');
  assert.ok(await verifyPassword(made!.password, (await file.read())!.password));
  assert.equal(await new AccountFile(directory).ensure(), undefined);
});

test('a changed password is seen by who has read the file before, and the initial one is gone', async (t) => {
  const directory = await scratchDirectory(t);
  const running = new AccountFile(directory);
  const made = await running.ensure();
  await new AccountFile(directory).change(undefined, 'another one');
  assert.ok(await verifyPassword('another one', (await running.read())!.password));
  assert.ok(!existsSync(made!.file));
  assert.equal((await new AccountFile(directory).change('zoe', 'a third one')).user, 'zoe');
});

test('a damaged account file is an error that names the way out, not a new account', async (t) => {
  const file = new AccountFile(await scratchDirectory(t));
  await file.ensure();
  for (const text of ['', '{}', '{"user":"admin","password":"in clear"}']) {
    writeFileSync(file.path, text);
    await assert.rejects(file.ensure(), {
      code: 'conflict',
      message: /account\.json cannot be used .*labwired password/s,
    });
    assert.equal(readFileSync(file.path, 'utf8'), text);
  }
});
