// What changes may leave on a host is removed there once the host is back and the change has ended.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Compute } from '../../src/controller/computes/compute.ts';
import { PendingRemoteChanges } from '../../src/controller/lab/pending-remote-changes.ts';
import { Store } from '../../src/store/store.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { until } from './lab-server.ts';

const PATH = '/projects/p/vpcs/nodes/n';

/** A host that has the node of an open lab, and changes that note what is on it. */
async function moving(t: TestContext) {
  const store = await Store.open({ stateDirectory: await scratchDirectory(t) });
  t.after(() => store[Symbol.asyncDispose]());
  const changes = new PendingRemoteChanges(store.remoteObjects);
  const removed: string[] = [];
  const host = {
    ...{ id: 'b', connected: true },
    post: async () => ({}),
    remove: async (path: string) => void removed.push(path),
  } as unknown as Compute;
  const project = {
    ...{ id: 'p', record: { path: '/nowhere', name: 'Lab' } },
    ...{ state: 'opened' as const, isOpen: true, leftOpen: false },
    nodes: new Map([['n', { compute: host }]]),
    hasLinkAt: () => false,
    hosts: new Set<Compute>(),
  };
  return { store, changes, host, project, removed };
}

test('a node that is moved away while its host comes back is removed there when the move has ended', async (t) => {
  const { store, changes, host, project, removed } = await moving(t);
  const departure = await changes.begin(host, 'p', PATH);
  await changes.joined(host, new Set(['p']), [project]);
  assert.deepEqual(removed, []);
  // The other host has it.
  project.nodes.set('n', { compute: { id: 'local' } as Compute });
  departure[Symbol.dispose]();
  await until(async () => (await store.remoteObjects.list()).length === 0, 'the end of the note');
  assert.deepEqual(removed, [PATH]);
});

test('a node stays on a host that comes back during a move that fails', async (t) => {
  const { store, changes, host, project, removed } = await moving(t);
  const departure = await changes.begin(host, 'p', PATH);
  await changes.joined(host, new Set(['p']), [project]);
  departure[Symbol.dispose]();
  await until(async () => (await store.remoteObjects.list()).length === 0, 'the end of the note');
  assert.deepEqual(removed, []);
});
