// The commands of the client: what their words mean, and that help, completions and man page come from the same definitions.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { freePlace, placeOf } from '../../src/client/commands/node.ts';
import { NOUNS } from '../../src/client/commands/nouns.ts';
import { sharingBody } from '../../src/client/commands/share.ts';
import { tokenBody } from '../../src/client/commands/token.ts';
import { commandOf, flagsOf, parseInvocation } from '../../src/client/frame/command.ts';
import { nounHelp, verbHelp } from '../../src/client/frame/help.ts';
import { Session } from '../../src/client/frame/session.ts';
import { momentOf } from '../../src/client/terminal/parse-time.ts';
import { secondsOf } from '../../src/client/terminal/seconds.ts';
import { CLIENT_NOUNS, HELP, parseCommand } from '../../src/commands/definitions.ts';
import { WrongUsage } from '../../src/commands/wrong-usage.ts';
import { scratchDirectory } from '../store/scratch.ts';

const parse = (line: string) => parseInvocation(NOUNS, line.split(' '));

test('a noun begins a command of the client, and nothing else does', () => {
  assert.deepEqual(parseCommand(['lab', 'list', '--json']), { name: 'client', words: ['lab', 'list', '--json'] });
  assert.deepEqual(parseCommand(['help', 'node']), { name: 'client', words: ['node', '--help'] });
  for (const flag of ['--host', '--server'])
    assert.throws(() => parseCommand([flag, 'x', 'lab', 'list']), /Write flags after the command: labwired lab/);
  assert.deepEqual(
    [...CLIENT_NOUNS],
    NOUNS.map(({ name }) => name),
    'src/commands/definitions.ts lists the nouns',
  );
});

test('words, flags and the flags of all commands are understood', () => {
  const { noun, verb, words, values, common } = parse(
    'node create PC1 -t VPCS --at=-100,50 -l Lab --server http://h -q',
  );
  assert.deepEqual([noun.name, verb?.name, words], ['node', 'create', ['PC1']]);
  assert.deepEqual([values['template'], values['at']], ['VPCS', '-100,50']);
  assert.deepEqual([common.lab, common.server, common.quiet, common.json], ['Lab', 'http://h', true, undefined]);
  assert.deepEqual(parse('capture PC1:e0 --to -').words, ['PC1:e0']);
  assert.deepEqual(parse('node exec PC1 ping 10.0.0.2').words, ['PC1', 'ping', '10.0.0.2']);
  assert.deepEqual(parse('node exec PC1 -- ping 10.0.0.2 -c 2').words, ['PC1', 'ping', '10.0.0.2', '-c', '2']);
  assert.deepEqual(parse('wait started').words, ['started']);
  assert.deepEqual(parse('node exec R1 ').words, ['R1', ''], 'a line may be Return alone');
  assert.equal(parse('lab --help').verb, undefined);
  assert.equal(parse('lab create --help').common.help, true, 'no name is missed when help is wanted');
});

test('words that mean nothing are wrong usage, with the fix', () => {
  for (const [line, message] of [
    ['lab', /Say what to do: labwired lab list\|create/],
    ['lab lst', /There is no "labwired lab lst"; did you mean "list"\? See labwired lab --help/],
    ['lab list --sever x', /Unknown option --sever; did you mean --server\?/],
    ['lab --json list', /after the verb: labwired lab VERB --json/],
    ['lab create', /NAME is missing. Write: labwired lab create NAME/],
    ['lab create a b', /"b" is one argument too many/],
    ['lab create ', /An argument is empty/],
    ['node start', /NODE is missing. Write: labwired node start NODE\.\.\./],
    ['node list --lab', /--lab.*See labwired node --help/],
    ['node list --colour', /--colour.*See labwired node --help/],
    ['lab list --lab x', /--lab/],
    ['link create PC1', /NODE\[:PORT\] is missing/],
    ['nod list', /There is no command "nod"; did you mean "node"\? See labwired --help$/],
    ['xyz', /There is no command "xyz"\. See/],
    ['lab list --sever x', /did you mean --server\? See/],
  ] as const) {
    assert.throws(
      () => parse(line),
      (error) => error instanceof WrongUsage && message.test(error.message),
      line,
    );
  }
  for (const given of ['', 'x', '0', '-1', '1e9']) {
    assert.throws(() => secondsOf('--timeout', given, 1), WrongUsage, given);
  }
  assert.equal(secondsOf('--timeout', '0.5', 1), 0.5);
  assert.throws(() => placeOf('1;2'), WrongUsage);
});

test('a mistake in a flag of a host command names the help of that command', () => {
  assert.throws(() => parseCommand(['user', 'add', 'x', '--rle', 'admin']), /mean --role\? See labwired user --help$/);
  assert.throws(() => parseCommand(['--prt', '1']), /did you mean --port\? See labwired --help$/);
  assert.throws(() => parseCommand(['user', 'remove']), /NAME is missing. Write: labwired user remove NAME\.\.\.$/);
  assert.throws(() => parseCommand(['user', 'role', 'a', 'b', '--role', 'user']), /"b" is one argument too many/);
});

test('a lab is shared with several accounts by one command, and the flags are checked first', () => {
  assert.equal(sharingBody({}), undefined);
  assert.deepEqual(sharingBody({ with: ['bob,eve', 'Zoë Müller'], role: 'change', remove: ['olga'] }), {
    update: { bob: 'change', eve: 'change', 'Zoë Müller': 'change', olga: 'none' },
  });
  assert.deepEqual(sharingBody({ with: ['bob'] }), { update: { bob: 'watch' } });
  assert.deepEqual(sharingBody({ 'with-groups': ['class'], role: 'change', 'remove-groups': ['old'] }), {
    groups: { class: 'change', old: 'none' },
  });
  assert.deepEqual(sharingBody({ everybody: 'none', owner: 'bob' }), { everybody: 'none', owner: 'bob' });
  for (const [flags, message] of [
    [{ with: ['bob'], role: 'chnage' }, /--role "chnage": did you mean "change"\?/],
    [{ everybody: 'all' }, /--everybody "all": available: watch, change, none/],
    [{ role: 'watch' }, /--role needs accounts: add --with NAMES/],
    [{ with: ['bob,'] }, /--with "bob,": a name is empty; write bob,eve/],
    [{ with: ['bob'], remove: ['bob'] }, /"bob" is in --with and in --remove: choose one/],
  ] as const)
    assert.throws(
      () => sharingBody(flags),
      (error) => error instanceof WrongUsage && message.test(error.message),
    );
});

test('a token has a role that there is, and ends after so many days or never', () => {
  assert.deepEqual(tokenBody('x', {}), { name: 'x' });
  assert.deepEqual(tokenBody('x', { days: 'never', role: 'user' }), { name: 'x', days: null, role: 'user' });
  assert.deepEqual(tokenBody('x', { days: '0.5', account: 'bob' }), { name: 'x', days: 0.5, account: 'bob' });
  for (const days of ['', '0', '-1', 'soon', '3651', 'Infinity']) {
    assert.throws(() => tokenBody('x', { days }), /--days ".*": write days, more than 0 and at most 3650, or never/);
  }
  assert.throws(() => tokenBody('x', { role: 'king' }), /--role "king": choose observer, user, admin/);
});

test('a moment is so long ago, a time of today, or a date', () => {
  const now = new Date('2026-11-23T12:00:00');
  for (const [given, meant] of [
    ['90s', '2026-11-23T11:58:30'],
    ['1h30m', '2026-11-23T10:30:00'],
    ['2d', '2026-11-21T12:00:00'],
    ['09:12', '2026-11-23T09:12:00'],
    ['2026-11-01', '2026-11-01T00:00:00'],
    ['2026-11-01 08:00', '2026-11-01T08:00:00'],
    ['2026-11-01T08:00:00.120Z', '2026-11-01T08:00:00.120Z'],
    ['2026-11-01T08:00+02:00', '2026-11-01T06:00:00Z'],
  ] as const) {
    assert.equal(momentOf('--since', given, now).toISOString(), new Date(meant).toISOString(), given);
  }
  for (const given of ['', 'soon', '10', '10w', '25:00', '2026-13-01', '2026-11-01 8']) {
    assert.throws(() => momentOf('--since', given, now), WrongUsage, given);
  }
});

test('a password on the command line, which everybody can read, is refused; the address is shown without one', async () => {
  const environment = {
    server: undefined,
    lab: undefined,
    context: undefined,
    contexts: '/nowhere/contexts.json',
    variables: {},
    sockets: [],
  };
  await assert.rejects(Session.open({ server: 'http://ann:secret@h:1' }, environment), (error) => {
    assert.ok(error instanceof WrongUsage);
    assert.match(error.message, /--password-file/);
    return !error.message.includes('secret');
  });
  await assert.rejects(Session.open({}, { ...environment, server: 'ftp://ann:secret@h' }), (error: Error) => {
    assert.match(error.message, /"ftp:\/\/ann@h" is not a server address/);
    return true;
  });
  await assert.rejects(
    Session.open({ 'password-file': '/nowhere' }, environment),
    /--password-file \/nowhere: there is no/,
  );
});

test('a new node stands where no other is', () => {
  const taken: { x: number; y: number }[] = [];
  for (let count = 0; count < 20; count++) taken.push(freePlace(taken));
  assert.equal(new Set(taken.map(({ x, y }) => `${x},${y}`)).size, 20);
  assert.deepEqual(freePlace([{ ...taken[0]!, x: taken[0]!.x + 10 }, ...taken.slice(2)]), taken[1]);
});

test('help names every verb and flag once, and the first help every verb', () => {
  for (const noun of NOUNS) {
    const text = nounHelp(noun);
    for (const verb of noun.verbs) {
      assert.ok(text.includes(commandOf(noun, verb).replace('labwired ', '')), `${noun.name} ${verb.name}`);
      for (const flag of Object.keys(flagsOf(verb))) {
        assert.ok(text.includes(`--${flag}`), `${noun.name} --help has --${flag}`);
        assert.ok(verbHelp(noun, verb).includes(`--${flag}`), `${noun.name} ${verb.name} --help has --${flag}`);
      }
      // Long lists of verbs go on in the next line.
      assert.match(HELP.replaceAll(/\|\n +/g, '|'), new RegExp(`labwired ${noun.name} [a-z|-]*${verb.name}`));
    }
    for (const line of text.split('\n')) assert.ok(line.length <= 120, line);
  }
});

/** What bash offers for the last of these words. */
function offered(file: string, words: readonly string[]): string[] {
  const script = `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _labwired; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr, status } = spawnSync('bash', ['-c', script, 'bash', file, 'labwired', ...words], {
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  return stdout.split('\n').filter((word) => word !== '');
}

test('shells complete nouns, verbs and their flags, and the man page has them', async (t) => {
  const { bashCompletion, commandManual, fishCompletion, zshCompletion } = (await import(
    join(import.meta.dirname, '../../bin/completions.mjs')
  )) as Record<'bashCompletion' | 'fishCompletion' | 'zshCompletion', string> & {
    commandManual: (version: string) => string;
  };
  const directory = await scratchDirectory(t);
  const file = join(directory, 'labwired');
  writeFileSync(file, bashCompletion);
  assert.deepEqual(offered(file, ['sna']), ['snapshot']);
  assert.deepEqual(offered(file, ['lab', 'st']), ['start', 'stop']);
  assert.deepEqual(offered(file, ['node', 'exec', '--u']), ['--until']);
  assert.deepEqual(offered(file, ['capture', 'x', '--fi']), ['--filter']);
  assert.deepEqual(offered(file, ['serve', '--por']), ['--port'], 'flags of the server are not lost');
  const manual = commandManual('1');
  for (const noun of NOUNS) {
    assert.ok(zshCompletion.includes(`\n${noun.name})`) && fishCompletion.includes(`from ${noun.name}'`), noun.name);
    for (const verb of noun.verbs) {
      const command = commandOf(noun, verb).replace('labwired ', '').replaceAll('-', '\\-');
      assert.ok(manual.includes(command), command);
    }
  }
});
