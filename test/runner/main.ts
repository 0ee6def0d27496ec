// Runs the checks and tests of the project in the working directory; bin/test starts it. The last line is the sum.
//   main.ts [--quick | --all] [--setup] [--again] [--suite NAME ...] [--concurrency N] [--test-timeout MS] [--silence MS]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
// Inherited by the processes of the files: what V8 has made of the first sources that they load is kept, too.
import '../keep-compiled.ts';
import { allowedSkips } from './allowed-skips.ts';
import { type CommandResult, runCommand } from './commands.ts';
import { type Extent, lanesOf, SUITES, type SuiteName } from './lanes.ts';
import { measureFiles } from './processor-time.ts';
import { type FileResult, runTestFiles } from './test-files.ts';
import { costOf, durationOf, failureOf, verdictOf } from './verdict.ts';

/** npm scripts that are run beside the files, one after the other. The first one needs no build. */
const COMMANDS: Record<Extent, readonly string[]> = {
  quick: ['check'],
  usual: ['check', 'test:old-projects', 'test:conformance'],
  all: ['check', 'test:old-projects', 'test:conformance', 'test:firefox'],
};
/** For each processor: tests wait more than they work. */
const FILES_EACH = 3;
const TEST_TIMEOUT_MS = 900_000;
/** With more failed files than this nothing is tried again. */
const MOST_AGAIN = 8;
/** Default of --silence: how long a file may say nothing beyond the time limit of one test. It is loaded, and ends. */
const SLACK_MS = 60_000;

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean' },
    all: { type: 'boolean' },
    setup: { type: 'boolean' },
    again: { type: 'boolean' },
    suite: { type: 'string', multiple: true },
    concurrency: { type: 'string', default: `${FILES_EACH * availableParallelism()}` },
    'test-timeout': { type: 'string', default: `${TEST_TIMEOUT_MS}` },
    silence: { type: 'string', default: `${SLACK_MS}` },
  },
});
const root = process.cwd();
const extent: Extent = options.quick ? 'quick' : options.all ? 'all' : 'usual';
const testTimeoutMs = Number(options['test-timeout']);
const started = performance.now();
/**
 * V8 does all its work in the thread that needs it: threads beside it gain nothing while all processors are busy, and threads of V8 that
 * wait for each other are the likely cause of a file that hung once with a busy processor.
 */
const V8_OPTIONS = ['--single-threaded'];
const PRELOADED = ['own-group', 'idle-processor', 'report-hangs', 'keep-compiled', 'own-network'].map(
  (name) => `./test/${name}.ts`,
);

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

function sayFile(result: FileResult, hasPassed: boolean): void {
  const { file, failed, passed } = result;
  const word = hasPassed ? 'ok    ' : 'FAILED';
  say(`${durationOf(performance.now() - started)}  ${word} ${file} (${passed} in ${costOf(result)})`);
  if (failed.length > 0) say(failureOf(result));
}

/** With --setup: runs the rest of bin/setup. @returns false when it failed */
async function setUp(): Promise<boolean> {
  if (!options.setup) return true;
  const words = extent === 'quick' ? [] : ['--tests'];
  const child = spawn('bin/setup', words, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
  const [code] = await once(child, 'close');
  return code === 0;
}

async function runCommands(ready: Promise<boolean>): Promise<CommandResult[]> {
  const results: CommandResult[] = [];
  for (const script of options.suite === undefined ? COMMANDS[extent] : []) {
    if (results.length > 0 && !(await ready)) break;
    const result = await runCommand(script, root);
    const word = result.failed > 0 ? 'FAILED' : 'ok    ';
    say(
      `${durationOf(performance.now() - started)}  ${word} npm run ${script} (${durationOf(result.milliseconds).trim()})`,
    );
    if (result.failed > 0) say(result.lines.join('\n'));
    results.push(result);
  }
  return results;
}

/** With --again: runs each file that has failed once more, alone. Those that pass then count as passed, and are named: each is a defect. */
async function tryAgain(all: FileResult[]): Promise<{ files: FileResult[]; lucky: string[] }> {
  const broken = all.filter(({ failed }) => failed.length > 0);
  if (broken.length > MOST_AGAIN) return { files: all, lucky: [] };
  const second = await run(
    broken.map(({ file }) => file),
    1,
  );
  const lucky = second.filter(({ failed }) => failed.length === 0);
  const files = all.map((result) => lucky.find(({ file }) => file === result.file) ?? result);
  return { files, lucky: lucky.map(({ file }) => file) };
}

const unknown = options.suite?.find((name) => !(name in SUITES));
if (unknown !== undefined) {
  process.stderr.write(`--suite: there is no suite "${unknown}". Suites: ${Object.keys(SUITES).join(', ')}\n`);
  process.exit(2);
}
const { together, alone } = lanesOf(root, extent, options.suite as SuiteName[] | undefined);
const run = (files: readonly string[], concurrency: number): Promise<FileResult[]> =>
  runTestFiles({
    root,
    files,
    concurrency,
    nodeOptions: [
      ...V8_OPTIONS,
      ...PRELOADED.filter((path) => existsSync(join(root, path))).flatMap((path) => ['--import', path]),
      ...(Number.isFinite(testTimeoutMs) ? [`--test-timeout=${testTimeoutMs}`] : []),
    ],
    silenceMs: testTimeoutMs + Number(options.silence),
    onEnd: sayFile,
  });
measureFiles();
const ready = setUp();
const [first, commands] = await Promise.all([
  ready.then((isReady) => (isReady ? run(together, Number(options.concurrency)) : [])),
  runCommands(ready),
]);
const triedOnce = (await ready) ? [...first, ...(await run(alone, 1))] : [];
const { files, lucky } = options.again ? await tryAgain(triedOnce) : { files: triedOnce, lucky: [] };
const { lines, passed, failed, skipped } = verdictOf({
  files,
  commands,
  allowed: allowedSkips(join(root, 'test/allowed-skips.json')),
  isRoot: process.getuid?.() === 0,
});
say(`\n${lines.join('\n')}`);
for (const file of lucky) say(`passed only when run again alone: ${file}`);
const isEmpty = files.length === 0;
if (isEmpty) say((await ready) ? 'no test file was found' : 'bin/setup failed');
say(`${passed} passed, ${failed + Number(isEmpty)} failed, ${skipped} skipped`);
process.exitCode = failed > 0 || isEmpty ? 1 : 0;
