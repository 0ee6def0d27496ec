// Loaded before each file of tests: what V8 has made of a source file is kept in dist/test/compiled, so that the next process or worker
// thread that reads the file starts sooner. Processes that a test starts from the sources inherit it.
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import './bundled-threads.ts';

const directory = join(import.meta.dirname, '../dist/test/compiled');
process.env['NODE_COMPILE_CACHE'] ??= directory;
enableCompileCache(directory);
