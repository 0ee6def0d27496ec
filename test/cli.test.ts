// The command line: what each word and flag means, and what is said to words that mean nothing.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCommand } from '../src/cli.ts';

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
    [['serv'], /There is no command "serv"/],
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
    assert.throws(() => parseCommand(words), message, words.join(' '));
  }
});
