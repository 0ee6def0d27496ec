// Loaded before each file of tests: runs it in a network namespace of its own, so that two at a time never want the same port.
// Where that cannot be (root may, others not), the file runs where it is.
import { spawnSync } from 'node:child_process';
import { relative } from 'node:path';
import { HOST_NETWORK, isIn } from './runner/lanes.ts';

const UNSHARE = '/usr/bin/unshare';
/** Of a new namespace even this interface is down. */
const LOOPBACK = ['ip', 'link', 'set', 'lo', 'up'];
const MARK = 'LABWIRE_TEST_OWN_NETWORK';

/** Only processes that run a file; the one that starts them has no such variable. */
const file = relative(process.cwd(), process.argv[1] ?? '');
const runsFile =
  process.env['NODE_TEST_CONTEXT'] !== undefined && process.env[MARK] === undefined && !isIn(file, HOST_NETWORK);
if (runsFile && spawnSync(UNSHARE, ['--net', ...LOOPBACK]).status === 0) {
  const begin = ['sh', '-c', `${LOOPBACK.join(' ')} && exec "$@"`, 'sh'];
  const node = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  process.execve?.(UNSHARE, ['unshare', '--net', '--', ...begin, ...node], { ...process.env, [MARK]: '1' });
}
