// Why a refusal reads the same wherever it is told, whatever its status: its sentence is made in one place, and nobody looks at the status but
// those who do something else then. What each call says of each outcome is in api.test.ts, where it stands on the page in test/web.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const WEB = join(import.meta.dirname, '../../src/web');

/** Sources of the page in which this is found, by their path. */
function filesWith(pattern: RegExp): string[] {
  return readdirSync(WEB, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path) && pattern.test(readFileSync(join(WEB, path), 'utf8')))
    .sort();
}

test('requests are sent by the client of the API, and by those alone that cannot use it', () => {
  assert.deepEqual(filesWith(/\bfetch\(|XMLHttpRequest\(|sendBeacon\(/), [
    'model/server/api.ts',
    'model/server/server-page.ts', // whether the page itself has changed
    'model/server/sockets.ts', // tickets, also in workers
    'tasks/send.ts', // tells how much has been sent
  ]);
  assert.deepEqual(filesWith(/new Refusal\(/), ['model/server/api.ts', 'tasks/send.ts']);
});

test('the sentence of an error is made in one place, and does not depend on the status', () => {
  assert.deepEqual(filesWith(/instanceof Error\b|\bas Error\)|: Error\)|String\((error|reason)\)/), [
    'model/server/sentence.ts',
  ]);
  assert.deepEqual(filesWith(/\b(error|reason|refusal)\.message\b/), [
    'capture/worker.ts', // what is wrong with a filter, which no server has seen
    'model/server/sentence.ts',
    'model/transfer/image-upload.ts', // goes on at another byte
    'panels/message.tsx', // whether the number of the request belongs to it
  ]);
  assert.deepEqual(filesWith(/instanceof Refusal\b|\b(error|refusal|reason)( as [^)]+\))?\.status\b/), [
    'model/lab/lab.ts', // is gone, is refused, or is asked again
    'model/lab/undo.ts', // a step that can never be undone does not block earlier ones
    'model/server/api.ts',
    'model/transfer/image-upload.ts', // tries again where the way was cut
    'tasks/image-uploads.ts', // the server has forgotten it
  ]);
});
