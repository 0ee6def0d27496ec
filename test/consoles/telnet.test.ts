// The telnet protocol, as clients speak it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { escapeTelnet, TelnetSession } from '../../src/consoles/telnet.ts';

const [IAC, DONT, DO, WONT, WILL, SB, AYT, BREAK, INTERRUPT, NOP, SE] = [
  255, 254, 253, 252, 251, 250, 246, 243, 244, 241, 240,
] as const;
const [BINARY, ECHO, SGA, STATUS, TERMINAL_TYPE, NAWS] = [0, 1, 3, 5, 24, 31] as const;

type Piece = string | readonly number[];

const bytes = (...pieces: Piece[]): Buffer => Buffer.concat(pieces.map((piece) => Buffer.from(piece as string)));

function session(windowSize = true): TelnetSession {
  const made = new TelnetSession({ windowSize, greeting: 'PC1 is here' });
  made.start();
  return made;
}

/** Everything that comes out of the chunks together. */
function receive(made: TelnetSession, chunks: Buffer[]) {
  const got = chunks.map((chunk) => made.receive(chunk));
  return {
    data: Buffer.concat(got.map(({ data }) => data)).toString('latin1'),
    reply: [...Buffer.concat(got.map(({ reply }) => reply))],
    windowSize: got.map(({ windowSize }) => windowSize).findLast((size) => size !== undefined),
  };
}

test('a client learns that the server echoes, sends no go-aheads and speaks binary, and is asked for its window', () => {
  const options = { greeting: '' };
  const common = [IAC, WILL, ECHO, IAC, WILL, SGA, IAC, WILL, BINARY, IAC, DO, BINARY];
  assert.deepEqual([...new TelnetSession({ ...options, windowSize: false }).start()], common);
  assert.deepEqual([...new TelnetSession({ ...options, windowSize: true }).start()], [...common, IAC, DO, NAWS]);
});

interface Case {
  name: string;
  input: Piece[];
  data?: string;
  reply?: Piece[];
  windowSize?: { columns: number; rows: number };
}

const cases: Case[] = [
  { name: 'keystrokes pass', input: ['show ip'], data: 'show ip' },
  { name: 'a line feed alone passes', input: ['show\n'], data: 'show\n' },
  { name: 'CR NUL is Enter', input: ['show\r\0arp\r\0'], data: 'show\rarp\r' },
  { name: 'CR LF is one Enter', input: ['show\r\narp\r\n'], data: 'show\rarp\r' },
  { name: 'CR before another character stays', input: ['a\rb\r\rc'], data: 'a\rb\r\rc' },
  { name: 'a command after CR is understood', input: ['a\r', [IAC, NOP], 'b'], data: 'a\rb' },
  { name: 'in binary mode CR LF and CR NUL are data', input: [[IAC, WILL, BINARY], 'a\r\nb\r\0'], data: 'a\r\nb\r\0' },
  { name: 'a doubled 255 is a data byte', input: ['a', [IAC, IAC], 'b'], data: 'a\xffb' },
  {
    name: 'answers to the offers are taken in silence',
    input: [[IAC, DO, ECHO], [IAC, DO, SGA], [IAC, DO, BINARY], [IAC, WILL, BINARY], [IAC, WILL, NAWS], 'x'],
    data: 'x',
  },
  {
    name: 'refusals of the offers are taken in silence',
    input: [[IAC, DONT, ECHO], [IAC, DONT, BINARY], [IAC, WONT, BINARY], [IAC, WONT, NAWS], 'x'],
    data: 'x',
  },
  {
    name: 'DO of an unknown option is answered WONT',
    input: [
      [IAC, DO, STATUS],
      [IAC, DO, NAWS],
    ],
    reply: [
      [IAC, WONT, STATUS],
      [IAC, WONT, NAWS],
    ],
  },
  {
    name: 'WILL of an unknown option is answered DONT',
    input: [
      [IAC, WILL, TERMINAL_TYPE],
      [IAC, WILL, ECHO],
    ],
    reply: [
      [IAC, DONT, TERMINAL_TYPE],
      [IAC, DONT, ECHO],
    ],
  },
  {
    name: 'DONT and WONT of what is off change nothing',
    input: [
      [IAC, DONT, STATUS],
      [IAC, WONT, STATUS],
    ],
  },
  { name: 'the client may suppress go-aheads too', input: [[IAC, WILL, SGA]], reply: [[IAC, DO, SGA]] },
  {
    name: 'an option can be switched off and on again, each change answered once',
    input: [
      [IAC, DO, ECHO],
      [IAC, DONT, ECHO],
      [IAC, DONT, ECHO],
      [IAC, DO, ECHO],
      [IAC, DO, ECHO],
    ],
    reply: [
      [IAC, WONT, ECHO],
      [IAC, WILL, ECHO],
    ],
  },
  { name: 'are you there?', input: ['a', [IAC, AYT], 'b'], data: 'ab', reply: ['\r\n[PC1 is here]\r\n'] },
  {
    name: 'interrupt process and break are Ctrl+C',
    input: [
      [IAC, INTERRUPT],
      [IAC, BREAK],
    ],
    data: '\x03\x03',
  },
  { name: 'other commands are skipped', input: ['a', [IAC, NOP], [IAC, 242], [IAC, 249], [IAC, SE], 'b'], data: 'ab' },
  {
    name: 'a window size',
    input: ['a', [IAC, SB, NAWS, 0, 132, 0, 43, IAC, SE], 'b'],
    data: 'ab',
    windowSize: { columns: 132, rows: 43 },
  },
  {
    name: 'a window of 255 columns, doubled on the wire',
    input: [[IAC, SB, NAWS, 0, IAC, IAC, 1, 0, IAC, SE]],
    windowSize: { columns: 255, rows: 256 },
  },
  { name: 'a window of unknown size is no size', input: [[IAC, SB, NAWS, 0, 0, 0, 24, IAC, SE], 'x'], data: 'x' },
  { name: 'a window size of the wrong length is no size', input: [[IAC, SB, NAWS, 0, 80, 0, IAC, SE], 'x'], data: 'x' },
  {
    name: 'another subnegotiation is skipped',
    input: ['a', [IAC, SB, TERMINAL_TYPE, 0, 65, IAC, SE], 'b'],
    data: 'ab',
  },
  {
    name: 'a subnegotiation without an end, then a command',
    input: [[IAC, SB, TERMINAL_TYPE, 0, IAC, DO, STATUS], 'x'],
    data: 'x',
    reply: [[IAC, WONT, STATUS]],
  },
];

for (const { name, input, data = '', reply = [], windowSize } of cases) {
  test(`telnet input, in whatever packets it arrives: ${name}`, () => {
    const whole = bytes(...input);
    const expected = { data, reply: [...bytes(...reply)], windowSize };
    for (let first = 0; first <= whole.length; first++) {
      for (let second = first; second <= whole.length; second++) {
        const chunks = [whole.subarray(0, first), whole.subarray(first, second), whole.subarray(second)];
        assert.deepEqual(receive(session(), chunks), expected, `split at ${first} and ${second}`);
      }
    }
  });
}

test('a window size that was not asked for does not reach the program', () => {
  const input = bytes([IAC, WILL, NAWS], [IAC, SB, NAWS, 0, 80, 0, 24, IAC, SE]);
  assert.deepEqual(receive(session(false), [input]), { data: '', reply: [IAC, DONT, NAWS], windowSize: undefined });
});

test('an endless subnegotiation takes no memory and its end is found', () => {
  const made = session();
  made.receive(bytes([IAC, SB, NAWS]));
  const filler = Buffer.alloc(1 << 20, 65);
  for (let i = 0; i < 64; i++) made.receive(filler);
  assert.deepEqual(receive(made, [bytes([IAC, SE], 'x')]), { data: 'x', reply: [], windowSize: undefined });
});

test('output bytes of value 255 are doubled and nothing else is touched', () => {
  const every = Buffer.from(Array.from({ length: 256 }, (_, value) => value));
  assert.deepEqual(escapeTelnet(every), Buffer.concat([every, Buffer.of(255)]));
  assert.deepEqual(escapeTelnet(Buffer.of(255, 255, 1)), Buffer.of(255, 255, 255, 255, 1));
  const plain = Buffer.from('PC1> ');
  assert.equal(escapeTelnet(plain), plain);
});

test('a question that is repeated in one piece is answered once, as an answer costs more than a question', () => {
  const session = new TelnetSession({ windowSize: false, greeting: 'PC1 is here' });
  for (let piece = 0; piece < 2; piece += 1)
    assert.equal(String(session.receive(Buffer.alloc(1_000, Buffer.from([IAC, AYT]))).reply), '\r\n[PC1 is here]\r\n');
});
