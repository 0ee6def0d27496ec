// `storage.json`, which commands and the server of a host change at the same time.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { completeKeys, writeConfiguration } from '../../src/cluster/registry.ts';
import { missing } from '../system/lab.ts';
import { threeMembers } from './hosts.ts';

const skip = missing('openssl');

/** Another program notes that it has forgotten some hosts. */
const NOTE = `
  const { ClusterFiles } = await import(process.argv[1]);
  const [, , state, name] = process.argv;
  const files = new ClusterFiles(state);
  for (let count = 0; count < 8; count += 1)
    await files.changeStorage((storage) => ({ ...storage, revoked: [...storage.revoked, name + count] }));
`;

test('changes of several programs at the same time are all there', { skip }, async (t) => {
  const { files } = await threeMembers(t);
  const layout = join(import.meta.dirname, '../../src/cluster/layout.ts');
  const note = (name: string): Promise<unknown> =>
    promisify(execFile)(process.execPath, [
      '--input-type=module',
      '-e',
      NOTE,
      layout,
      join(files.directory, '..'),
      name,
    ]);
  const here = Array.from({ length: 8 }, (_, count) =>
    files.changeStorage((storage) => ({ ...storage, revoked: [...storage.revoked, `c${count}`] })),
  );
  await Promise.all([note('a'), note('b'), ...here]);
  assert.equal(new Set((await files.storage())?.revoked).size, 24);
});

test('a cluster of an older release gets an account for hosts that only connect, once', { skip }, async (t) => {
  const { files, members } = await threeMembers(t);
  await files.changeStorage(({ keys: { joined: _, ...keys }, ...storage }) => ({ ...storage, keys }));
  const [member] = members;
  assert.equal(await writeConfiguration(files, member!), false);
  await completeKeys(files);
  assert.equal(await writeConfiguration(files, member!), true);
  const keys = (await files.storage())?.keys;
  assert.match(keys?.joined ?? '', /^SA/);
  await completeKeys(files);
  assert.deepEqual((await files.storage())?.keys, keys);
});

test('a file that is only half written is no host', { skip }, async (t) => {
  const { files } = await threeMembers(t);
  const names = await files.hostNames();
  await writeFile(files.path('hosts/.d.json.0123456789ab.labwire-tmp'), '{');
  assert.deepEqual(await files.hostNames(), names);
});

test('a list of hosts that cannot be read is an error, and not empty', { skip }, async (t) => {
  const { files } = await threeMembers(t);
  const hosts = files.path('hosts');
  await rm(hosts, { recursive: true });
  assert.deepEqual(await files.hostNames(), []);
  // As with too many open files.
  await symlink('hosts', hosts);
  await assert.rejects(files.hostNames(), { code: 'ELOOP' });
});
