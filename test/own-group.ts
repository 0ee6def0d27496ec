// Loaded before each file of tests: lets the runner measure the processor time of the file with all that it starts.
import { relative } from 'node:path';
import { joinGroupOf } from './runner/processor-time.ts';

if (process.env['NODE_TEST_CONTEXT'] !== undefined) joinGroupOf(relative(process.cwd(), process.argv[1] ?? ''));
