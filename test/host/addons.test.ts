// The packed form: addons out of the executable's own image, on hosts that do not let programs be put just anywhere.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { assetNames } from '../../src/host/files/assets.ts';
import { cannotUnshare } from './missing.ts';

const root = join(import.meta.dirname, '../..');
const scratch = mkdtempSync(join(tmpdir(), 'labwire-packed-'));
const program = join(scratch, 'program');
const ADDONS = ['frame_loop.node', 'koffi.node', 'node_sqlite3.node', 'pty.node'];

before(() => {
  const words = ['build.mjs', '--entry', 'test/host/packed-program.ts', '--out', program];
  const built = spawnSync(process.execPath, words, { cwd: root, encoding: 'utf8' });
  assert.equal(built.status, 0, built.stdout + built.stderr);
});
after(() => rmSync(scratch, { recursive: true, force: true }));

/** A fresh directory in the scratch directory. */
function place(name: string): string {
  const path = join(scratch, name);
  mkdirSync(path);
  return path;
}

function run(words: string[], environment: Record<string, string>, around: string[] = []) {
  const [command = program, ...rest] = [...around, program, ...words];
  return spawnSync(command, rest, { cwd: '/', env: { PATH: process.env['PATH'], ...environment }, encoding: 'utf8' });
}

/** What the program reports, with the directory that its addons came from. */
function report(words: string[], environment: Record<string, string>) {
  const { status, stdout, stderr } = run(words, environment);
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout);
}

test('every addon works out of the executable, in threads too, and leaves no file behind', () => {
  const home = place('home');
  const temporary = place('temporary');
  assert.deepEqual(report([], { TMPDIR: temporary, HOME: home }), {
    isPackaged: true,
    version: JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version,
    sum: { sum: 2 },
    isTerminal: true,
    unheard: 'ENOENT',
    places: ADDONS.map((addon) => `${addon} from ${temporary}`),
    symbols: assetNames('symbols').length,
    missing: null,
    climbing: null,
  });
  assert.deepEqual(readdirSync(temporary), []);
  assert.deepEqual(readdirSync(home), []);
});

test('the directory that the administrator names is taken first', () => {
  const chosen = place('chosen');
  const { places } = report([chosen], { TMPDIR: scratch });
  assert.deepEqual(
    places,
    ADDONS.map((addon) => `${addon} from ${chosen}`),
  );
  assert.deepEqual(readdirSync(chosen), []);
});

test('a missing temporary directory is skipped', () => {
  const { places } = report([], { TMPDIR: '/nonexistent' });
  assert.equal(places.length, ADDONS.length);
  for (const line of places) assert.doesNotMatch(line, /nonexistent/);
});

test('where no directory allows execution, the message names the variable that helps', {
  skip: cannotUnshare('mount namespaces', '--mount', 'mount', '-t', 'tmpfs', '-o', 'noexec', 'tmpfs', '/tmp'),
}, () => {
  const empty = place('empty');
  // The program lies below /tmp itself: it is held open before that is covered.
  const script = `
    exec 9<"$0" || exit 99
    for place in /tmp /var/tmp /dev/shm; do mount -t tmpfs -o noexec tmpfs $place || exit 99; done
    exec /proc/self/fd/9`;
  const { status, stderr } = run([], { HOME: empty }, ['unshare', '--mount', 'sh', '-c', script]);
  assert.equal(status, 1);
  assert.match(stderr, /set LABWIRE_ADDON_DIR to a directory that can be written and is not mounted noexec/);
  assert.match(stderr, /\/dev\/shm: .*failed to map segment/);
});
