// A server without a cluster has no code for NATS: it is not in the server's script.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { build } from 'esbuild';

const root = join(import.meta.dirname, '../..');

/** The sources of the script that build.mjs makes of `entry`, which has all that it may ever import. */
async function sourcesOf(entry: string): Promise<string[]> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [entry],
    bundle: true,
    platform: 'node',
    format: 'cjs',
    write: false,
    metafile: true,
    logLevel: 'error',
    external: ['bindings', 'koffi', 'node-pty', 'sqlite3'],
    logOverride: { 'empty-import-meta': 'silent' },
  });
  return Object.keys(metafile.inputs);
}

test("NATS and the cluster are in the cluster's script alone, and not in the server's", async () => {
  const ofCluster = (path: string): boolean =>
    path.includes('node_modules/@nats-io/') || path.startsWith('src/cluster/');
  const [server, client, cluster] = await Promise.all(
    ['src/main.ts', 'src/client/main.ts', 'src/cluster/main.ts'].map(sourcesOf),
  );
  assert.deepEqual(server!.filter(ofCluster), []);
  assert.deepEqual(client!.filter(ofCluster), []);
  assert.ok(
    cluster!.some((path) => path.includes('node_modules/@nats-io/')),
    'the search would find it',
  );
  assert.ok(server!.includes('src/start/load-cluster.ts'), 'the server could load it');
});
