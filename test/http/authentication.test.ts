// Who gets in: the right user and password, also when only a hash is known, and guessing that gets slower and slower.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashPassword, isPasswordHash, verifyPassword } from '../../src/host/values/password-hash.ts';
import {
  Authentication,
  basicHeader,
  credentialsOf,
  type KnownAccounts,
  oneAccount,
} from '../../src/http/access/authentication.ts';
import { Guesses, sourceOf } from '../../src/http/access/password-guesses.ts';
import type { Sessions } from '../../src/http/access/sessions.ts';
import { hashOfToken } from '../../src/store/roles.ts';

const account = { user: 'ann', password: 'p:ss wörd' };

test('credentials are read from the header as clients write it, and from nothing else', () => {
  assert.deepEqual(credentialsOf(basicHeader(account)), account);
  assert.deepEqual(credentialsOf(basicHeader(account).replace('Basic', 'bAsIc')), account);
  assert.deepEqual(credentialsOf(basicHeader({ user: '', password: '' })), { user: '', password: '' });
  const noColon = `Basic ${Buffer.from('ann').toString('base64')}`;
  for (const header of [undefined, '', 'Basic', 'Bearer x', noColon, 'Basic !!!', 'Digest username="ann"']) {
    assert.equal(credentialsOf(header), undefined, header);
  }
});

test('only the right user with the right password gets in, whether the password or its hash is known', async () => {
  for (const password of [account.password, await hashPassword(account.password)]) {
    const authentication = new Authentication(() => oneAccount({ user: 'ann', password }));
    const decide = async (header?: string) => (await authentication.decide(header, '192.0.2.1')).kind;
    assert.equal(await decide(basicHeader(account)), 'right');
    assert.equal(await decide(basicHeader({ ...account, user: 'Ann' })), 'wrong');
    assert.equal(await decide(basicHeader({ ...account, password: 'p:ss word' })), 'wrong');
    assert.equal(
      await decide(basicHeader({ ...account, password })),
      password === account.password ? 'right' : 'wrong',
    );
    assert.equal(await decide(undefined), 'wrong');
    assert.equal(await decide(basicHeader(account)), 'right');
  }
});

test('an empty password is always wrong, also for an account that has none or the hash of an empty one', async () => {
  for (const password of ['', await hashPassword('')]) {
    const known = oneAccount({ user: 'ann', password });
    const sessions = { begin: async () => 'a token' } as unknown as Sessions;
    const authentication = new Authentication(() => known, undefined, sessions);
    for (const user of ['ann', '', 'nobody']) {
      const given = { user, password: '' };
      assert.equal((await authentication.decide(basicHeader(given), '192.0.2.1')).kind, 'wrong', user);
      assert.equal((await authentication.logIn(given, '192.0.2.2')).kind, 'wrong', user);
    }
  }
});

test('a new password counts at once, and the old one no more', async () => {
  let current = { user: 'ann', password: 'old password' };
  const authentication = new Authentication(() => oneAccount(current));
  const decide = async (password: string) =>
    (await authentication.decide(basicHeader({ user: 'ann', password }), '::1')).kind;
  assert.equal(await decide('old password'), 'right');
  current = { user: 'ann', password: 'new password' };
  assert.equal(await decide('old password'), 'wrong');
  assert.equal(await decide('new password'), 'right');
});

test('a client that guesses waits longer and longer; others, and clients that are already authenticated, are served', async () => {
  let now = 0;
  const authentication = new Authentication(() => oneAccount(account), new Guesses(() => now));
  const guess = (password: string, address: string) =>
    authentication.decide(basicHeader({ user: 'ann', password }), address);
  assert.equal((await guess(account.password, '192.0.2.1')).kind, 'right');
  for (let index = 0; index < 5; index++) assert.equal((await guess(`guess ${index}`, '192.0.2.1')).kind, 'wrong');
  assert.deepEqual(await guess('guess 6', '192.0.2.1'), { kind: 'later', wait: 1_000 });
  assert.equal((await guess(account.password, '192.0.2.1')).kind, 'right', 'the client at the same address goes on');
  assert.equal((await guess('guess', '192.0.2.2')).kind, 'wrong', 'another address has its own count');
  let waited = 0;
  for (const wait of [1, 2, 4, 8, 16, 32, 60, 60]) {
    now += wait * 1000 - 1;
    assert.deepEqual(await guess('early', '192.0.2.1'), { kind: 'later', wait: 1 });
    now += 1;
    assert.equal((await guess(`late ${waited++}`, '192.0.2.1')).kind, 'wrong');
  }
  now += 16 * 60_000;
  assert.equal((await guess('after a quarter of an hour', '192.0.2.1')).kind, 'wrong');
  assert.equal((await guess('at once', '192.0.2.1')).kind, 'wrong');
});

test('in a class behind one address no client waits because another one mistypes, and none can guess at all accounts at once', async () => {
  let now = 0;
  const names = Array.from({ length: 30 }, (_, index) => `student ${index}`);
  const accounts = names.map((name, index) => ({
    id: `${index}`,
    name,
    role: 'user' as const,
    password: `pw ${index}`,
  }));
  const known: KnownAccounts = { asked: true, accounts, tokens: [] };
  const authentication = new Authentication(() => known, new Guesses(() => now));
  const tell = (user: string, password: string, address = '192.0.2.1') =>
    authentication.decide(basicHeader({ user, password }), address);
  for (let index = 0; index < 5; index++) assert.equal((await tell('student 0', `guess ${index}`)).kind, 'wrong');
  assert.equal((await tell('student 0', 'pw 0')).kind, 'later', 'this one waits');
  assert.equal((await tell('student 1', 'pw 1')).kind, 'right', 'the others do not');
  for (const name of names.slice(2)) for (const slip of ['a', 'b', 'c']) await tell(name, slip);
  assert.equal((await tell('student 2', 'pw 2')).kind, 'right', 'a whole class mistypes');

  // A program with an old password says one thing again and again, and costs the class nothing.
  for (let index = 0; index < 200; index++) {
    now += 60_000;
    assert.equal((await tell('student 3', 'old')).kind, 'wrong');
  }
  assert.equal((await tell('student 4', 'pw 4')).kind, 'right');

  // Guesses at as many names as there are, known or not, come to an end; to be right with one's own name gives no more of them.
  let looked = 0;
  for (; (await tell(`name ${looked}`, 'password')).kind === 'wrong'; looked++)
    if (looked === 50) assert.equal((await tell('student 5', 'pw 5')).kind, 'right');
  assert.equal(looked, 100);
  assert.deepEqual(await tell('student 6', 'pw 6'), { kind: 'later', wait: 30_000 });
  assert.equal((await tell('student 4', 'pw 4')).kind, 'right', 'who was let in before goes on');
  assert.equal((await tell('student 6', 'pw 6', '192.0.2.2')).kind, 'right', 'as do other addresses');
  now += 30_000;
  assert.equal((await tell('student 6', 'pw 6')).kind, 'right');
  assert.equal((await tell('name', 'password')).kind, 'wrong');
  assert.equal((await tell('another name', 'password')).kind, 'later');
});

test('a host with many IPv6 addresses is one guesser, and ten thousand guessers take bounded memory', () => {
  assert.equal(sourceOf('2001:db8:0:7::1'), sourceOf('2001:db8::7:aaaa:bbbb:cccc:1'));
  assert.notEqual(sourceOf('2001:db8:0:7::1'), sourceOf('2001:db8:0:8::1'));
  assert.equal(sourceOf('::ffff:192.0.2.1'), '192.0.2.1');
  assert.equal(sourceOf('fe80::1%eth0'), 'fe80::/64');
  assert.equal(sourceOf('fe80::1%eth0 through host b'), 'fe80::/64 through host b');
  const guesses = new Guesses(() => 0);
  const wrong = (source: string) => guesses.wrong({ source, account: 'ann', password: 'x' });
  for (let index = 0; index < 10_000; index++) wrong(`10.0.${index >> 8}.${index & 255}`);
  for (let index = 0; index < 5; index++) wrong('10.0.0.0');
  assert.equal(wrong('10.0.0.0'), 6, 'the oldest were forgotten, not the newest');
});

test('equal passwords have different hashes, and a damaged or absurdly costly hash admits no client', async () => {
  const [one, two] = await Promise.all([hashPassword('same'), hashPassword('same')]);
  assert.notEqual(one, two);
  assert.ok(await verifyPassword('same', one!));
  assert.ok(!(await verifyPassword('Same', one!)));
  assert.ok(await verifyPassword('e\u0301', await hashPassword('\u00e9')), 'however the keyboard composes letters');
  for (const hash of ['', 'same', one!.slice(0, -30), one!.replace('ln=15', 'ln=31'), one!.replace('scrypt', 'md5')]) {
    assert.ok(!isPasswordHash(hash), hash);
    assert.ok(!(await verifyPassword('same', hash)), hash);
  }
});

test('guesses that come at the same time count one by one: none is looked at after the last free one', async () => {
  const authentication = new Authentication(() => oneAccount(account), new Guesses(() => 0));
  const guess = (text: string, address = '192.0.2.1') =>
    authentication.decide(basicHeader({ user: 'ann', password: text }), address);
  const decisions = await Promise.all(Array.from({ length: 16 }, (_, index) => guess(`guess ${index}`)));
  const looked = decisions.filter(({ kind }) => kind !== 'later').length;
  assert.equal(looked, 5, 'as many as cost nothing one after the other');
  // The right one, hidden behind wrong ones, is not found by sending all at once; a stranger's guesses do not hinder others.
  const hidden = await Promise.all([...'abcdefgh', account.password].map((text) => guess(text, '192.0.2.2')));
  assert.deepEqual([hidden.at(-1)?.kind, hidden.filter(({ kind }) => kind === 'wrong').length], ['later', 5]);
  assert.equal((await guess(account.password, '192.0.2.3')).kind, 'right');
});

test('each account has its own password, an unknown name costs as much as a known one, and tokens are known by their hash', async () => {
  const [first, second] = await Promise.all([hashPassword('password of ann'), hashPassword('password of bob')]);
  const token = `lwt_${'x'.repeat(43)}`;
  let accounts: KnownAccounts = {
    asked: true,
    accounts: [
      { id: '1', name: 'ann', role: 'admin', password: first! },
      { id: '2', name: 'Zo\u00eb', role: 'user', password: second! },
    ],
    tokens: [
      { id: 't', account: '1', name: 'robot', hash: hashOfToken(token), role: 'observer', expires: null },
      { id: 'u', account: 'gone', name: 'of nobody', hash: hashOfToken(`${token}x`), role: null, expires: null },
    ],
  };
  const authentication = new Authentication(() => accounts);
  const decide = async (header: string) => {
    const decision = await authentication.decide(header, '192.0.2.7');
    return decision.kind === 'right' ? `${decision.identity.name} ${decision.identity.role}` : decision.kind;
  };
  const basic = (user: string, password: string) => basicHeader({ user, password });
  assert.equal(await decide(basic('ann', 'password of ann')), 'ann admin');
  assert.equal(await decide(basic('Zoe\u0308', 'password of bob')), 'Zo\u00eb user');
  assert.equal(await decide(basic('ann', 'password of bob')), 'wrong');
  assert.equal(await decide(basic('nobody', 'password of bob')), 'wrong');
  assert.equal(await decide(basic('nobody', '')), 'wrong');
  assert.equal(await decide(`Bearer ${token}`), 'ann observer');
  for (const other of [`${token}x`, `${token}y`, 'lwt_', 'x'])
    assert.equal(await decide(`Bearer ${other}`), 'wrong', other);

  const decision = await authentication.decide(basic('ann', 'password of ann'), '192.0.2.7');
  assert.ok(decision.kind === 'right');
  const { tag } = decision.identity;
  assert.equal((await authentication.stillThere(tag))?.identity?.name, 'ann');
  assert.equal(await authentication.stillThere(undefined), undefined, 'nobody comes in unasked');
  accounts = { ...accounts, accounts: [{ ...accounts.accounts[0]!, role: 'user' }, accounts.accounts[1]!] };
  assert.equal(await authentication.stillThere(tag), undefined, 'another role ends what lasts');
  assert.equal(await decide(basic('ann', 'password of ann')), 'ann user');
  accounts = { asked: false, accounts: [], tokens: [] };
  assert.equal(await decide(basic('ann', 'whatever')), 'off');
});

test('a host that passes clients on gets no more guesses by inventing addresses, and delays only its own clients', async () => {
  let now = 0;
  const authentication = new Authentication(() => oneAccount(account), new Guesses(() => now));
  const guess = async (password: string, address: string) =>
    (await authentication.decide(basicHeader({ user: 'ann', password }), address)).kind;
  let checked = 0;
  for (let index = 0; index < 1_200; index++)
    if ((await guess(`guess ${index}`, `10.0.${index >> 8}.${index & 255} through host b`)) === 'wrong') checked++;
  assert.equal(checked, 1_000);
  assert.equal(await guess('another', '10.9.9.9 through host b'), 'later');
  assert.equal(await guess('another', '10.9.9.9 through host c'), 'wrong');
  for (let index = 0; index < 9; index++) await guess(`guess ${index}`, '192.0.2.1 through host c');
  assert.equal(await guess(account.password, '192.0.2.1'), 'right');
  now += 3_000;
  assert.equal(await guess('another', '10.9.9.9 through host b'), 'wrong');
});
