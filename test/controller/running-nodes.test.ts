// Which nodes run, as the next controller of a cluster reads it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAnnouncer } from '../../src/controller/events.ts';
import { RunningNodes } from '../../src/controller/placement/running-nodes.ts';
import { Store } from '../../src/store/store.ts';
import { eventually } from '../eventually.ts';
import { refuseWrites } from '../store/refused-writes.ts';
import { scratchDirectory } from '../store/scratch.ts';

test('what cannot be noted while the log takes no changes is noted later, as it is then', async (t) => {
  const stateDirectory = await scratchDirectory(t);
  await using store = await Store.open({ stateDirectory });
  const announcer = createAnnouncer();
  const nodes = new RunningNodes(store.documents);
  t.after(() => nodes.stop());
  await nodes.start(announcer);
  const noted = async (): Promise<string> =>
    (await store.documents.list('running-nodes'))
      .map(({ id }) => id)
      .sort()
      .join();
  const tell = (node_id: string, status: string): void =>
    announcer.project.emit('node.updated', { node_id, status } as never, 'lab');
  const accept = await refuseWrites(stateDirectory, "INSERT ON document WHEN NEW.kind = 'running-nodes'");
  tell('one', 'started');
  tell('two', 'started');
  tell('two', 'stopped');
  assert.equal(await noted(), '');
  await accept();
  await eventually('the note', noted, (ids) => ids === 'one');
  tell('one', 'stopped');
  await eventually('no note', noted, (ids) => ids === '');
});
