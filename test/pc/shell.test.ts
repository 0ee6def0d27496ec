// The command language of a PC: what users type, and what their scripts read on the console.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { COMMANDS } from '../../src/pc/shell/commands.ts';
import { twoPcs, Wire } from './wire.ts';

test('a console begins as scripts that wait for it know it', () => {
  const pc = new Wire().add().start();
  assert.match(
    pc.text,
    /^\r\nWelcome to Virtual PC Simulator, version 0\.8[\s\S]*Press '\?' to get help\.\r\n\r\n\rVPCS> $/,
  );
});

test('a start-up script runs with its comments passed over, and names the prompt', () => {
  const script = '# comment\n! comment\n\nset pcname alpha\r\nip 10.0.0.7/24 10.0.0.1\nfoo\n';
  const pc = new Wire().add().start(script);
  const shown = pc.text.slice(pc.text.indexOf('Executing')).replaceAll('\r\n', '\n');
  assert.equal(
    shown,
    'Executing the startup file\n\nChecking for duplicate address...\nalpha : 10.0.0.7 255.255.255.0 gateway 10.0.0.1\n' +
      'Bad command: "foo". Use ? for help.\n\n\ralpha> ',
  );
});

test('every form of an address is taken, and what cannot be one is refused with the reason', () => {
  const pc = new Wire().add().start();
  const set: [string, RegExp][] = [
    ['ip 10.0.0.1/26 10.0.0.2', /PC1 : 10\.0\.0\.1 255\.255\.255\.192 gateway 10\.0\.0\.2/],
    ['ip 10.0.0.1 10.0.0.2 26', /255\.255\.255\.192 gateway 10\.0\.0\.2/],
    ['ip 10.0.0.1 255.255.0.0 10.0.9.2', /PC1 : 10\.0\.0\.1 255\.255\.0\.0 gateway 10\.0\.9\.2/],
    ['ip 10.0.0.1 /30', /255\.255\.255\.252\n/],
    ['ip 10.0.0.1', /PC1 : 10\.0\.0\.1 255\.255\.255\.0\n/],
    ['ip 2001:db8::1', /PC1 : 2001:db8::1\/64/],
    ['ip 2001:DB8:0:0:1::1/48', /PC1 : 2001:db8::1:0:0:1\/48/],
    ['ip foo', /^Invalid address\n/],
    ['ip 300.0.0.1', /^Invalid address\n/],
    ['ip 10.0.0.0/24', /^Invalid host address\n/],
    ['ip 10.0.0.255/24', /^Invalid host address\n/],
    ['ip 224.0.0.1/24', /^Invalid host address\n/],
    ['ip 10.0.0.1/33', /^Invalid mask: \/33/],
    ['ip 10.0.0.1/24 11.0.0.1', /^not same subnet\n/],
    ['ip mtu 100', /^Invalid MTU, should bigger than 576\n/],
    ['ip dns foo', /^Invalid address\n/],
  ];
  for (const [line, answer] of set) assert.match(pc.type(line), answer, line);
});

test('`show` lists the settings in the forms that scripts read', () => {
  const { one } = twoPcs();
  one.type('ip dns 8.8.8.8 8.8.4.4');
  one.type('ip domain lab.test');
  assert.equal(
    one.type('show ip'),
    '\nNAME        : VPCS[1]\nIP/MASK     : 10.0.0.1/24\nGATEWAY     : 10.0.0.254\nDNS         : 8.8.8.8  8.8.4.4  \n' +
      'DOMAIN NAME : lab.test\nMAC         : 00:50:79:66:68:00\nLPORT       : 0\nRHOST:PORT  : 127.0.0.1:0\nMTU:        : 1500\n',
  );
  assert.match(one.type('sh ipv6'), /LINK-LOCAL SCOPE {2}: fe80::250:79ff:fe66:6800\/64\nGLOBAL SCOPE {6}: \n/);
  assert.match(one.type('show'), /\nVPCS1 {2}10\.0\.0\.1\/24 {10}10\.0\.0\.254 {8}00:50:79:66:68:00/);
  assert.equal(one.type('arp'), '\narp table is empty\n');
  one.type('ping 10.0.0.2 -c 1');
  assert.match(one.type('show arp'), /^\n00:50:79:66:68:01 {2}10\.0\.0\.2 expires in 1\d\d seconds \n$/);
  one.type('clear arp');
  assert.equal(one.type('arp'), '\narp table is empty\n');
});

test('what was saved makes the same PC again', () => {
  const { wire, one } = twoPcs();
  for (const line of ['set pcname alpha', 'ip 2001:db8::1/64 2001:db8::ff', 'ip dns 8.8.8.8', 'ip mtu 1400'])
    one.type(line);
  assert.equal(one.type('save'), 'Saving startup configuration to startup.vpc\n.  done\n');
  const saved = one.files.get('startup.vpc')!;
  assert.equal(
    saved,
    'set pcname alpha\nip 10.0.0.1 10.0.0.254 24\nip mtu 1400\nip dns 8.8.8.8\nip 2001:db8::1/64 2001:db8::ff\n',
  );
  wire.pcs.shift();
  const again = wire.add().start(saved);
  again.type('save copy');
  assert.equal(again.files.get('copy.vpc'), saved);
  assert.equal(again.type('load nosuch'), 'Can\'t open "nosuch.vpc"\n');
  assert.match(again.type('save ../../etc/passwd'), /^Invalid file name/);
});

test('a name that is taken is not changed to, and the old one stays', () => {
  const { one } = twoPcs();
  assert.match(one.type('ip 10.0.0.2/24'), /10\.0\.0\.2 is being used by MAC 00:50:79:66:68:01\nAddress not changed/);
  assert.match(one.type('show ip'), /IP\/MASK {5}: 10\.0\.0\.1\/24/);
});

test('commands may be shortened, and one that is not clear lists what it may be', () => {
  const { one } = twoPcs();
  assert.match(one.type('pi 10.0.0.2 -c 1'), /icmp_seq=1/);
  assert.equal(one.type('s'), 'save\nset\nshow\nsleep\n');
  assert.equal(one.type('foo bar'), 'Bad command: "foo bar". Use ? for help.\n');
  assert.match(one.type('! id'), /not run from here/);
  assert.match(one.type('rlogin 127.0.0.1 22'), /no rlogin/);
});

test('every command has a page of help, and is in the list', () => {
  const pc = new Wire().add().start();
  const list = pc.type('?');
  for (const name of Object.keys(COMMANDS).filter((command) => command !== '?')) {
    assert.match(pc.type(`${name} ?`), /\S/, name);
    if (name !== 'relay' && name !== 'rlogin') assert.match(list, new RegExp(`^${name}\\b`, 'm'));
  }
});

test('Ctrl+C ends a command and what was typed ahead; other input waits for the prompt', () => {
  const { wire, one } = twoPcs();
  const from = one.text.length;
  one.pc.input('ping 10.0.0.2 -t\rshow ip\r');
  wire.run(2500);
  assert.equal(one.text.slice(from).match(/icmp_seq/g)?.length, 3);
  one.pc.input('echo lost\r\x03');
  wire.run(2500);
  assert.match(one.text, /\^C\r\n\r\n\rVPCS> $/);
  one.pc.input('sleep 5 waiting\recho kept\r');
  wire.run(4000);
  assert.match(one.text, /waiting \r\n$/);
  wire.run(2000);
  assert.match(one.text, /kept\r\n\rVPCS> $/);
});

test('Ctrl+C in one piece with its command ends it, and CR LF is one Enter and no key', () => {
  const { wire, one } = twoPcs();
  const from = one.text.length;
  one.pc.input('ping 10.0.0.2 -t\rsho\x03echo kept\r');
  wire.run(5000);
  assert.doesNotMatch(one.text.slice(from), /icmp_seq/);
  assert.match(one.text, /\^C\r\n\r\n\rVPCS> echo kept\r\nkept\r\n\rVPCS> $/);
  for (const pieces of [['sleep\r\n'], ['sleep\r', '\n'], ['sleep 0 wait\n']]) {
    for (const piece of pieces) one.pc.input(piece);
    wire.run(1000);
    assert.doesNotMatch(one.text, /> $/, `${pieces}`);
    one.pc.input('\r\n');
    wire.run(1000);
    assert.match(one.text, /\n\rVPCS> $/);
    assert.doesNotMatch(one.text, /VPCS> \r\n\rVPCS> $/);
  }
});

test('ten thousand pasted lines all run, in order', () => {
  const wire = new Wire();
  const pc = wire.add().start();
  const from = pc.text.length;
  for (let line = 0; line < 10_000; line++) {
    pc.pc.input(`echo ${line}\r\n`);
    wire.run(1);
  }
  const shown = [...pc.text.slice(from).matchAll(/\r\n(\d+)\r\n/g)].map(([, number]) => Number(number));
  assert.deepEqual(shown, [...shown.keys()]);
  assert.equal(shown.length, 10_000);
});

const LINES = 1000;
const HELP = '?\r'.repeat(LINES);
/** Keys that print much each, at the end of a long line. */
const LONG_LINES = `${'x'.repeat(1000)}\r${'\x1b[A\x1b[B'.repeat(LINES / 2)}\r`;
for (const [what, start, typed] of [
  ['typed commands', undefined, HELP],
  ['typed wrong words', undefined, `z\r`.repeat(LINES)],
  ['editing keys', undefined, LONG_LINES],
  ['a start-up script', HELP, ''],
  ['a script of silent commands', 'ip mtu 1400\r'.repeat(LINES), ''],
] as const) {
  test(`${what}: others get their turns in between, and Ctrl+C ends it`, () => {
    const wire = new Wire();
    const pc = wire.add();
    pc.pc.start(start);
    pc.pc.input(typed);
    let pieces = 1;
    for (let from = 0; pc.due !== undefined; pieces++) {
      assert.ok(pc.text.length - from < 32 * 1024, `${pc.text.length - from} characters at once`);
      from = pc.text.length;
      wire.run(10);
    }
    assert.ok(pieces > 10, `${pieces} pieces`);
    assert.match(pc.text.slice(-20), /\r\n\rVPCS> $/);

    pc.text = '';
    if (start !== undefined) {
      pc.files.set('startup.vpc', start);
      pc.pc.input('load\r');
      wire.run(0);
    }
    pc.pc.input(typed);
    pc.pc.input('sho\x03echo kept\r');
    wire.run(100);
    assert.match(pc.text, /VPCS> echo kept\r\nkept\r\n\rVPCS> $/);
  });
}

/** The screen's last line after these keys. */
function screenAfter(...keys: string[]): string {
  const pc = new Wire().add().start();
  for (const key of keys) pc.pc.input(key);
  const line: string[] = [];
  let column = 0;
  for (const character of pc.text.slice(pc.text.lastIndexOf('\n') + 1)) {
    if (character === '\r') column = 0;
    else if (character === '\b') column--;
    else line[column++] = character;
  }
  return line.join('').trimEnd();
}

const EDITS: [string, string[], string][] = [
  ['Backspace', ['shop', '\x7f', 'w'], 'show'],
  ['cursor keys insert in the middle', ['shw', '\x1b[D', 'o'], 'show'],
  ['Home and End', ['ow', '\x1b[H', 'sh', '\x1b[F', ' ip'], 'show ip'],
  ['Ctrl+A, Ctrl+D, Ctrl+E', ['xshow', '\x01', '\x04', '\x05', '!'], 'show!'],
  ['Ctrl+W removes a word', ['show ip', '\x17', 'arp'], 'show arp'],
  ['Ctrl+U removes the beginning, Ctrl+Y brings it back', ['show', '\x15', 'x', '\x19'], 'xshow'],
  ['Ctrl+K removes the end', ['show ip', '\x1b[D', '\x1b[D', '\x0b', 'arp'], 'show arp'],
  ['the history goes up and down', ['echo 1\r', 'echo 2\r', 'new', '\x1b[A', '\x1b[A', '\x1b[B'], 'echo 2'],
  ['and back to the line that was typed', ['echo 1\r', 'new', '\x1b[A', '\x1b[B'], 'new'],
  ['Tab completes a command', ['sho', '\t', 'i', '\t', 'v', '\t'], 'show ipv6'],
  ['strange sequences of keys leave nothing', ['a', '\x1b[15~', '\x1bOP', 'b'], 'ab'],
];
for (const [title, keys, line] of EDITS) {
  test(`line editing: ${title}`, () => {
    assert.equal(screenAfter(...keys), `VPCS> ${line}`);
  });
}
