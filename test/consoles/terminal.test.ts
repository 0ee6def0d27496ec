// Programs under a pseudo-terminal: real ones.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Terminal, type TerminalExit, type TerminalOptions } from '../../src/consoles/terminal.ts';
import { childEnvironment } from '../../src/host/processes/child-processes.ts';
import { eventually } from '../eventually.ts';
import { judge, OtherLoad } from '../other-load.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { testSupervisor } from '../supervisor/harness.ts';
import { isRunning } from './harness.ts';

const supervisor = testSupervisor();

interface Shell {
  terminal: Terminal;
  text(): string;
  exit: Promise<TerminalExit>;
  sees(pattern: RegExp): Promise<boolean>;
}

/** Runs a shell script under a terminal and collects its output. */
async function run(t: TestContext, script: string, options: Partial<TerminalOptions> = {}): Promise<Shell> {
  const terminal = new Terminal({
    supervisor,
    program: '/bin/sh',
    arguments: ['-c', script],
    directory: '/',
    environment: childEnvironment(),
    ...options,
  });
  t.after(() => terminal.stop());
  const chunks: Buffer[] = [];
  terminal.on('output', (chunk) => chunks.push(chunk));
  const text = () => Buffer.concat(chunks).toString('latin1');
  const exit = once(terminal, 'exit').then(([event]) => event as TerminalExit);
  await terminal.start();
  return {
    terminal,
    text,
    exit,
    sees: (pattern) =>
      eventually(
        () => `${pattern} in ${text().slice(-500)}`,
        () => pattern.test(text()),
      ),
  };
}

test('every byte passes unchanged both ways', async (t) => {
  const shell = await run(t, 'stty raw -echo; echo ready; head -c 256');
  await shell.sees(/ready\n/);
  const every = Buffer.from(Array.from({ length: 256 }, (_, value) => value));
  assert.equal(shell.terminal.write(every), true);
  await shell.exit;
  assert.equal(shell.text(), `ready\n${every.toString('latin1')}`);
});

test('a program gets the environment, directory and window it is given and nothing of the daemon', async (t) => {
  const directory = await scratchDirectory(t);
  process.env['DAEMON_SECRET'] = 'secret';
  t.after(() => delete process.env['DAEMON_SECRET']);
  const environment = childEnvironment({ LABWIRE_NODE: 'n1' });
  const shell = await run(t, 'env; pwd; stty size', { directory, environment, columns: 132, rows: 43 });
  const { code } = await shell.exit;
  assert.equal(code, 0);
  assert.match(shell.text(), /LABWIRE_NODE=n1\r\n/);
  assert.match(shell.text(), new RegExp(`${directory}\r\n43 132\r\n$`));
  assert.doesNotMatch(shell.text(), /secret/);
});

test('a program learns of a new window size; nonsense sizes are ignored', async (t) => {
  const shell = await run(t, 'trap "stty size" WINCH; echo ready; while :; do sleep 0.05; done');
  await shell.sees(/ready/);
  for (const [columns, rows] of [
    [0, 10],
    [10, 70_000],
    [Number.NaN, 1],
  ] as const) {
    shell.terminal.resize(columns, rows);
  }
  shell.terminal.resize(100, 30);
  await shell.sees(/30 100\r\n/);
  assert.match(shell.text(), /^ready\r\n30 100\r\n$/);
});

test('all output is seen before the exit, and the exit reports code and last lines without escape sequences', async (t) => {
  const script =
    'i=0; while [ $i -lt 2000 ]; do echo line $i; i=$((i+1)); done; printf "\\033[1mthe end\\033[0m\\n"; exit 7';
  const shell = await run(t, script);
  const exit = await shell.exit;
  assert.match(shell.text(), /line 1999\r\n/);
  assert.deepEqual({ ...exit, lastOutput: '' }, { code: 7, signal: undefined, expected: false, lastOutput: '' });
  assert.match(exit.lastOutput, /^line 1991\n(.*\n)*line 1999\nthe end$/);
});

test('kill -9 is seen at once, with the last output', async (t) => {
  const shell = await run(t, 'echo it was here; exec sleep 1000');
  await shell.sees(/here/);
  process.kill(shell.terminal.pid!, 'SIGKILL');
  const [load, at] = [new OtherLoad(), performance.now()];
  const exit = await shell.exit;
  await judge(t, { what: 'the end is seen', value: performance.now() - at, limit: 1000, unit: 'ms', load });
  assert.deepEqual(exit, { code: 0, signal: 'SIGKILL', expected: false, lastOutput: 'it was here' });
  assert.equal(shell.terminal.pid, undefined);
});

test('stop ends a program that ignores SIGTERM, and what it started', async (t) => {
  const shell = await run(t, 'trap "" TERM HUP; sleep 1000 & echo child $!; while :; do sleep 0.1; done');
  await shell.sees(/child \d+/);
  const child = Number(/child (\d+)/.exec(shell.text())![1]);
  const pid = shell.terminal.pid!;
  const [exit] = await Promise.all([shell.exit, shell.terminal.stop(), shell.terminal.stop()]);
  assert.equal(exit.signal, 'SIGKILL');
  assert.equal(exit.expected, true);
  assert.equal(isRunning(pid), false);
  await eventually('the end of the child', () => !isRunning(child));
});

test('a terminal can be started again', async (t) => {
  const shell = await run(t, 'echo once; exec cat');
  await shell.sees(/once/);
  await shell.terminal.stop();
  await shell.terminal.stop();
  assert.equal(shell.terminal.write(Buffer.from('lost')), false);
  await shell.terminal.start();
  await shell.sees(/once\r\nonce/);
});

test('programs come and go without leaving a descriptor or a zombie', async (t) => {
  const descriptors = () => readdirSync(`/proc/${supervisor.pid}/fd`).length;
  const children = () => readFileSync(`/proc/${supervisor.pid}/task/${supervisor.pid}/children`, 'utf8').trim();
  const warmUp = await run(t, 'exit');
  await warmUp.exit;
  const before = descriptors();
  for (let round = 0; round < 5; round++) {
    const shells = await Promise.all([run(t, 'exit'), run(t, 'exec sleep 1000'), run(t, 'echo x; exec sleep 1000')]);
    await Promise.all([shells[0]!.exit, ...shells.map(({ terminal }) => terminal.stop())]);
  }
  await eventually('the descriptors to be closed', () => descriptors() <= before);
  assert.equal(children(), '');
});

/** Where a descriptor leads; nowhere if it was closed meanwhile, as by a program that is only beginning. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

test("one node's program cannot reach the terminals of the others", async (t) => {
  const shells: Shell[] = [];
  for (let i = 0; i < 4; i++) {
    const shell = await run(t, 'echo ready; exec sleep 1000');
    await shell.sees(/ready/);
    shells.push(shell);
  }
  for (const { terminal } of shells) {
    const open = readdirSync(`/proc/${terminal.pid}/fd`).map((fd) => linkOf(`/proc/${terminal.pid}/fd/${fd}`));
    assert.deepEqual(
      open.filter((file) => file.endsWith('ptmx')),
      [],
    );
  }
});

test('a program that does not read costs no CPU, loses its excess input only, and reads the rest later', async (t) => {
  const shell = await run(
    t,
    'stty raw -echo; echo ready; while [ ! -e go ]; do sleep 0.02; done; head -c 262144 | wc -c',
    {
      directory: await scratchDirectory(t),
    },
  );
  await shell.sees(/ready/);
  const block = Buffer.alloc(64 * 1024, 0x61);
  const taken = [1, 2, 3, 4].map(() => shell.terminal.write(block));
  assert.deepEqual(taken, [true, true, true, true]);
  // The kernel's own buffer has taken a little; what does not fit any more is refused whole.
  assert.equal(shell.terminal.write(block), false);
  const before = process.cpuUsage();
  await sleep(500);
  const { user, system } = process.cpuUsage(before);
  assert.ok(user + system < 250_000, `${user + system} µs of CPU in half a second of waiting`);
  const directory = readlinkSync(`/proc/${shell.terminal.pid}/cwd`);
  await writeFile(join(directory, 'go'), '');
  await shell.sees(/262144/);
});

test('input for a program that dies while it does not read goes nowhere', async (t) => {
  const shell = await run(t, 'stty raw -echo; echo ready; exec sleep 1000');
  await shell.sees(/ready/);
  shell.terminal.write(Buffer.alloc(200 * 1024, 0x61));
  process.kill(shell.terminal.pid!, 'SIGKILL');
  await shell.exit;
  assert.equal(shell.terminal.write(Buffer.from('x')), false);
});

test('a program that polls is woken less often on request, with all its threads', async (t) => {
  const script = 'cat /proc/self/timerslack_ns';
  const shell = await run(t, script, { timerSlackMilliseconds: 5 });
  await shell.exit;
  if (/No such file/.test(shell.text())) return t.skip('this kernel has no timerslack_ns');
  assert.equal(shell.text(), '5000000\r\n');
  const other = await run(t, script);
  await other.exit;
  assert.notEqual(other.text(), '5000000\r\n');
});

test('a missing program or directory is a conflict that names it and the fix', async (t) => {
  const directory = await scratchDirectory(t);
  const file = join(directory, 'not-executable');
  await writeFile(file, '');
  await chmod(file, 0o600);
  const start = (options: Partial<TerminalOptions>) =>
    new Terminal({
      supervisor,
      program: 'sh',
      arguments: [],
      directory,
      environment: childEnvironment(),
      ...options,
    }).start();
  for (const program of ['no-such-program', '/no/such/program', file, directory, '']) {
    const expected = { name: 'Failure', code: 'conflict', message: new RegExp(`'${program}'.*install it or correct`) };
    await assert.rejects(start({ program }), expected);
  }
  await assert.rejects(start({ directory: join(directory, 'gone') }), {
    code: 'conflict',
    message: /'.*gone' does not exist/,
  });
});
