// Long topology files are read beside the main thread: with the same outcome, and while others go on.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Failure } from '../../src/failures.ts';
import { parseTopologyBytes } from '../../src/store/topology/document.ts';
import { parseBeside } from '../../src/store/topology/parsing-thread.ts';

const bytesOf = (document: unknown): Buffer => Buffer.from(JSON.stringify(document));

function topology(nodes: number, more: object = {}): object {
  return {
    ...{ type: 'topology', revision: 9, version: '2.2.57', auto_close: true, name: 'Long' },
    project_id: '00000000-0000-4000-8000-000000000000',
    topology: {
      ...{ computes: [], drawings: [], links: [] },
      nodes: Array.from({ length: nodes }, (_, number) => ({
        ...{ node_id: `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`, compute_id: 'local' },
        ...{ node_type: 'vpcs', name: `PC${number}`, console: null, properties: {}, x: number, y: 0, ...more },
      })),
    },
  };
}

for (const [what, document] of Object.entries({
  'a long lab': topology(3_000),
  'a long lab with members that are not known': topology(2_000, { surprise: true }),
  'many nodes that are none': { ...topology(0), topology: { nodes: Array(90_000).fill({}) } },
  'too many small objects': Array(300_000).fill({}),
}))
  test(`${what} has the same outcome here and in the thread`, async () => {
    const bytes = bytesOf(document);
    assert.ok(bytes.length > 256 * 1024, `${bytes.length} bytes are read here`);
    const outcome = async (read: () => unknown) => {
      try {
        return await read();
      } catch (error) {
        assert.ok(error instanceof Failure, String(error));
        return [error.code, error.message];
      }
    };
    assert.deepEqual(await outcome(() => parseBeside(bytes, {})), await outcome(() => parseTopologyBytes(bytes)));
  });

test('others go on while a long lab is read', async () => {
  const bytes = bytesOf(topology(20_000));
  let turns = 0;
  const count = (): void => {
    turns += 1;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  await parseBeside(bytes, {});
  clearImmediate(next);
  assert.ok(turns > 20, `${turns} turns of the main thread`);
});
