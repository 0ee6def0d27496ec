// Runs first in the packed executable and each of its threads, and chooses the script to run.
import { isMainThread, threadName } from 'node:worker_threads';
import { runCompiled } from '../host/processes/compiled-script.ts';

if (!isMainThread) runCompiled(threadName ?? '');
else runCompiled(process.argv[2] === 'supervise' ? 'supervisor' : 'program');
