// Clients that vanish without a word: their network is taken away.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

test('a client that vanishes is let go, whether it is sent something or nothing; one that is merely slow stays', async (t) => {
  try {
    await run('unshare', ['--net', 'true']);
  } catch {
    t.skip('a network of its own is not allowed here');
    return;
  }
  const script = fileURLToPath(new URL('vanishing-peer.ts', import.meta.url));
  const { stdout } = await run('unshare', ['--net', process.execPath, script]);
  assert.equal(stdout, '3 before, 0 after, 3 clients\n');
});
