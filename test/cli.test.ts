// The command line: what each word and flag means, and what is said to words that mean nothing.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { auditCommand } from '../src/commands/audit.ts';
import { helpOf, parseCommand, USER_VERBS } from '../src/commands/definitions.ts';
import { WrongUsage } from '../src/commands/wrong-usage.ts';
import type { Config } from '../src/config/schema.ts';
import { AuditFile } from '../src/store/audit.ts';
import { scratchDirectory } from './store/scratch.ts';

test('serve is the default, and the flags of the release are understood', () => {
  const command = parseCommand([
    '--host',
    '127.0.0.1',
    '--port=3081',
    '-L',
    '-A',
    '-d',
    '--log',
    '/x',
    '--pid',
    '/p',
    '--state',
    '/s',
  ]);
  assert.equal(command.name, 'serve');
  if (command.name !== 'serve') return;
  assert.deepEqual(
    command.flags.map(({ key, value, flag }) => `${flag} ${key}=${value}`).sort(),
    [
      '--allow allow_remote_console=true',
      '--debug debug=true',
      '--host host=127.0.0.1',
      '--local local=true',
      '--log log=/x',
      '--port port=3081',
    ].sort(),
  );
  assert.deepEqual([command.state, command.pidFile], ['/s', '/p']);
});

test('flags that systemd makes needless are named as ignored', () => {
  const command = parseCommand(['serve', '--logmaxsize', '10', '--logcompression', '--daemon']);
  assert.deepEqual(command.name === 'serve' && command.ignored, ['daemon', 'logmaxsize', 'logcompression']);
});

test('the other commands', () => {
  assert.equal(parseCommand(['version']).name, 'version');
  assert.equal(parseCommand(['--version']).name, 'version');
  assert.equal(parseCommand(['-h']).name, 'help');
  assert.deepEqual(parseCommand(['help']), { name: 'help', topic: [] });
  assert.deepEqual(parseCommand(['help', 'qemu', 'disk', 'space']), { name: 'help', topic: ['qemu', 'disk', 'space'] });
  assert.deepEqual(parseCommand(['help', 'compute']), { name: 'client', words: ['compute', '--help'] });
  assert.deepEqual(parseCommand(['help', 'compute.md']), { name: 'help', topic: ['compute.md'] });
  assert.equal(parseCommand(['doctor', '--port', '1']).name, 'doctor');
  const backup = parseCommand(['backup', '/b', '--state', '/s']);
  assert.deepEqual(backup.name === 'backup' && [backup.directory, backup.state], ['/b', '/s']);
  assert.deepEqual(parseCommand(['demo', 'http://127.0.0.1:3080']), { name: 'demo', url: 'http://127.0.0.1:3080' });
});

test('words that mean nothing are refused with what would', () => {
  for (const [words, message] of [
    [['serv'], /There is no command "serv"; did you mean "serve"\?/],
    [['nodes'], /There is no command "nodes"; did you mean "node"\?/],
    [['foo'], /There is no command "foo"\. See/],
    [['--stat', '/x'], /Unknown option --stat; did you mean --state\?/],
    [['user'], /Say what to do: labwired user add\|remove/],
    [['user', 'ad', 'x'], /There is no "labwired user ad"; did you mean "add"\?/],
    [['user', 'add'], /NAME is missing\. Write: labwired user add NAME\.\.\. \[--role ROLE\]/],
    [['user', 'add', ''], /NAME is missing/],
    [['user', 'remove', 'a', ''], /A name is empty\. Write: labwired user remove NAME\.\.\./],
    [['user', 'list', 'a'], /"a" is one argument too many\. Write: labwired user list/],
    [['user', 'role', 'a'], /--role ROLE is missing/],
    [['serve', 'x'], /"x" is not expected/],
    [['--prot', '1'], /--prot.*labwired --help/],
    [['--port'], /--port.*labwired --help/],
    [['serve', '--fix'], /--fix is an option of labwired doctor/],
    [['serve', '--json'], /--json is an option of labwired doctor and labwired user and labwired audit/],
    [['doctor', '--role', 'admin'], /--role is an option of labwired user/],
    [['backup'], /labwired backup \/backup/],
    [['backup', 'a', 'b'], /"b" is not expected/],
    [['demo'], /labwired demo http/],
    [['demo', 'nowhere'], /labwired demo http/],
  ] as const) {
    assert.throws(
      () => parseCommand(words),
      (error) => error instanceof WrongUsage && message.test(error.message),
      words.join(' '),
    );
  }
});

test('each command has its own help, and a mistake in its words is exit code 2', () => {
  assert.deepEqual(parseCommand(['user', 'add', '--help']), { name: 'help', of: 'user' });
  assert.deepEqual(parseCommand(['backup', '-h']), { name: 'help', of: 'backup' });
  for (const verb of Object.keys(USER_VERBS))
    assert.match(helpOf('user'), new RegExp(`^ {2}labwired user ${verb}`, 'm'));
  for (const name of ['serve', 'doctor', 'demo', 'password', 'audit', 'recover', 'backup', 'version'] as const) {
    const [first = '', ...others] = helpOf(name).split('\n');
    assert.match(first, new RegExp(`^ {2}labwired \\[?${name}`), name);
    assert.doesNotMatch(others.join('\n'), /^ {2}labwired /m, name);
  }
  const missing = join(tmpdir(), `labwire-missing-${process.pid}`);
  const run = (...words: string[]) =>
    spawnSync(process.execPath, [join(import.meta.dirname, '../src/main.ts'), ...words], { encoding: 'utf8' });
  for (const words of [
    ['user', 'add'],
    ['user', 'add', 'x', '--role', 'boss', '--state', missing],
  ]) {
    const { status, stderr } = run(...words);
    assert.deepEqual([status, stderr.split('\n').length], [2, 2], stderr);
  }
  assert.equal(existsSync(missing), false, 'nothing is made for it');
});

test('only the server writes to the file of its log, and one that it cannot write stops the start by name', async (t) => {
  const state = await scratchDirectory(t);
  const run = (log: string, ...words: string[]) =>
    spawnSync(process.execPath, [join(import.meta.dirname, '../src/main.ts'), ...words, '--state', state], {
      encoding: 'utf8',
      env: { ...process.env, LABWIRE_SERVER_LOG: log, LABWIRE_SERVER_PORT: '0' },
      timeout: 60_000,
    });
  const file = join(state, 'labwired.log');
  for (const words of [['user', 'list'], ['audit']]) {
    const { status, stderr } = run(file, ...words);
    assert.equal(status, 0, stderr);
  }
  assert.equal(existsSync(file), false, 'the server makes it, as its own user');
  const refused = run(join(state, 'none/x.log'));
  assert.equal(refused.status, 1);
  assert.match(refused.stderr, /^labwired: log \S+none\/x\.log cannot be written: ENOENT\. Name a file .*\n$/);
});

test('a file for the process id that cannot be written stops the start by name, before the server serves', async (t) => {
  const state = await scratchDirectory(t);
  const words = ['serve', '--state', join(state, 'state'), '--pid', join(state, 'none/x.pid')];
  const { status, stderr } = spawnSync(process.execPath, [join(import.meta.dirname, '../src/main.ts'), ...words], {
    encoding: 'utf8',
    env: { ...process.env, LABWIRE_SERVER_PORT: '0' },
    timeout: 60_000,
  });
  assert.equal(status, 1);
  assert.match(stderr, /^labwired: --pid \S+none\/x\.pid cannot be written: ENOENT\. Name a file .*$/m);
  assert.doesNotMatch(stderr, / ready /);
  assert.equal(existsSync(join(state, 'state')), false);
});

test('names in the audit trail do not reach the terminal as they are', async (t) => {
  const state = await scratchDirectory(t);
  const audit = new AuditFile(state);
  const name = 'a\u001b]0;x\u0007\u009b31m\u202e\u2066b';
  const line = { time: '2026-01-01T00:00:00Z', account: name, address: '::1', action: 'POST /v2/x', status: 201 };
  audit.note({ ...line, objects: { project: name } });
  await audit.settled();
  for (const json of [true, false]) {
    const text = await auditCommand({ state } as Config, json);
    assert.doesNotMatch(text.trimEnd(), /[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
    assert.match(text, /b/);
    if (json) assert.equal(JSON.parse(text).objects.project, name);
  }
});
