// Input for VPCS: every line of it is run, in order, and none that would kill the program. Conversations with a stand-in
// that talks as VPCS does; vpcs-process.test.ts has them with the real one.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { LineFeeder } from '../../src/compute/emulators/vpcs/line-feeder.ts';

const PROMPT = '\r\n\n\rPC1> ';

interface Conversation {
  /** What VPCS has got so far. */
  got: string;
  type(text: string): boolean;
  say(text: string): void;
}

function converse(t: TestContext): Conversation {
  const written: Buffer[] = [];
  const feeder = new LineFeeder((bytes) => written.push(bytes) > 0);
  t.after(() => feeder.stop());
  return {
    get got() {
      return Buffer.concat(written).toString('latin1');
    },
    type: (text) => feeder.input(Buffer.from(text, 'latin1')),
    say: (text) => feeder.output(Buffer.from(text, 'latin1')),
  };
}

test('pasted lines are run one after the other, each when the prompt is back', (t) => {
  const pc = converse(t);
  pc.say(`Press '?' to get help.${PROMPT}`);
  pc.type('ip 10.0.0.1/24\nshow ip\nsave');
  assert.equal(pc.got, 'ip 10.0.0.1/24\n');
  pc.say('ip 10.0.0.1/24');
  pc.say('\r\nChecking for duplicate address...\r\n');
  assert.equal(pc.got, 'ip 10.0.0.1/24\n');
  pc.say(`PC1 : 10.0.0.1 255.255.255.0\r\n${PROMPT}`);
  assert.equal(pc.got, 'ip 10.0.0.1/24\nshow ip\n');
  pc.say(`show ip\r\nNAME${PROMPT}`);
  assert.equal(pc.got, 'ip 10.0.0.1/24\nshow ip\nsave');
  pc.type('\n');
  assert.equal(pc.got, 'ip 10.0.0.1/24\nshow ip\nsave\n');
});

test('keystrokes at the prompt pass at once', (t) => {
  const pc = converse(t);
  pc.say(PROMPT);
  for (const key of ['s', 'h', '\x7f', '\t', '\x1b[A', '\xff']) pc.type(key);
  assert.equal(pc.got, 'sh\x7f\t\x1b[A\xff');
});

test('what is typed before VPCS is ready waits for its first prompt', (t) => {
  const pc = converse(t);
  pc.type('show ip\nshow arp\n');
  pc.say('\r\nWelcome to Virtual PC Simulator\r\nExecuting the startup file\r\n');
  assert.equal(pc.got, '');
  pc.say('\n\ralpha> ');
  assert.equal(pc.got, 'show ip\n');
});

test('CR, LF and CR LF each end one line', (t) => {
  const pc = converse(t);
  pc.say(PROMPT);
  pc.type('a\rb\r\nc\nd\r');
  for (let i = 0; i < 5; i++) pc.say(`x${PROMPT}`);
  assert.equal(pc.got, 'a\rb\rc\nd\r');
  pc.type('\ne\n');
  assert.equal(pc.got, 'a\rb\rc\nd\re\n');
});

test('Ctrl+C reaches a running command at once and takes what was typed ahead along', (t) => {
  const pc = converse(t);
  pc.say(PROMPT);
  pc.type('ping 10.0.0.2 -t\nshow ip\n');
  pc.type('show arp\n\x03version\n');
  assert.equal(pc.got, 'ping 10.0.0.2 -t\n\x03');
  pc.say(`ping 10.0.0.2 -t\r\n^C${PROMPT}`);
  assert.equal(pc.got, 'ping 10.0.0.2 -t\n\x03version\n');
});

test('the echo of a line that looks like a prompt is not one', (t) => {
  const pc = converse(t);
  pc.say(PROMPT);
  pc.type('echo>\nshow\n');
  pc.say('echo>');
  assert.equal(pc.got, 'echo>\n');
  pc.say(`\r\n${PROMPT}`);
  assert.equal(pc.got, 'echo>\nshow\n');
});

test('a prompt that arrives in pieces is a prompt, a new host name too', (t) => {
  const pc = converse(t);
  pc.say(PROMPT);
  pc.type('set pcname new\nshow\n');
  for (const piece of ['set pcname new\r\n\n', '\rn', 'e', 'w']) pc.say(piece);
  assert.equal(pc.got, 'set pcname new\n');
  pc.say('> ');
  assert.equal(pc.got, 'set pcname new\nshow\n');
});

test('rlogin talks to the user itself until the prompt of VPCS is back', (t) => {
  const pc = converse(t);
  pc.say(PROMPT);
  pc.type('rlogin 10.0.0.9 23\n');
  pc.say('rlogin 10.0.0.9 23\r\n\r\nConnect 10.0.0.9:23, press Ctrl+X to quit\r\nlogin: ');
  pc.type('me\r\nsecret\n');
  pc.say('\r\n\n\rRouter> ');
  pc.type('enable\nshow run\n');
  const talk = 'rlogin 10.0.0.9 23\nme\r\nsecret\nenable\nshow run\n';
  assert.equal(pc.got, talk);
  pc.type('\x18');
  pc.say(PROMPT);
  pc.type('a\nb\n');
  assert.equal(pc.got, `${talk}\x18a\n`);
});

test('a command of the host talks to the user itself until the prompt is back', (t) => {
  const pc = converse(t);
  pc.say(PROMPT);
  pc.type('! cat\none\ntwo\n');
  assert.equal(pc.got, '! cat\none\ntwo\n');
  pc.type('\x04');
  pc.say(`! cat\r\none\r\ntwo${PROMPT}`);
  pc.type('a\nb\n');
  assert.equal(pc.got, '! cat\none\ntwo\n\x04a\n');
});

test('a line that would kill VPCS is cut', (t) => {
  const pc = converse(t);
  pc.say(PROMPT);
  pc.type('x'.repeat(1000));
  pc.type('\n');
  assert.equal(pc.got, `${'x'.repeat(128)}\n`);
  pc.say(`${'x'.repeat(128)}${PROMPT}`);
  pc.type(`${'y'.repeat(200)}\x15${'z'.repeat(200)}\x7f\x7f${'a'.repeat(200)}\n`);
  assert.equal(pc.got, `${'x'.repeat(128)}\n${'y'.repeat(128)}\x15${'z'.repeat(128)}\x7f\x7faa\n`);
});

test('input beyond 64 KiB that VPCS does not get to is refused, the rest is kept', (t) => {
  const pc = converse(t);
  const line = `${'echo '.repeat(20)}\n`;
  let taken = 0;
  while (pc.type(line)) taken += line.length;
  assert.ok(taken > 64 * 1024 - line.length && taken <= 64 * 1024);
  for (let i = 0; i < 1000; i++) pc.say(`\n${PROMPT}`);
  assert.equal(pc.got.length, taken);
});

test('a program whose prompt is never recognised gets its lines all the same, late', (t) => {
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const pc = converse(t);
  const pass = (seconds: number) => {
    for (let i = 0; i < seconds; i++) {
      now += 1000;
      t.mock.timers.tick(1000);
    }
  };
  pc.say('something like a menu\r\n[1] ');
  pc.type('a\nb\nc\n');
  pass(14);
  assert.equal(pc.got, '');
  pass(3);
  assert.equal(pc.got, 'a\n');
  for (let i = 0; i < 20; i++) {
    pass(1);
    pc.say('. ');
  }
  assert.equal(pc.got, 'a\n', 'not while the program talks');
  pass(3);
  assert.equal(pc.got, 'a\nb\n');
});
