// What the packed executable and each of its threads run first: they choose the script by what they are.
import { isMainThread, threadName } from 'node:worker_threads';
import { runCompiled } from '../host/processes/compiled-script.ts';

if (!isMainThread) runCompiled(threadName ?? '');
else runCompiled(process.argv[2] === 'supervise' ? 'supervisor' : 'program');
