import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { test } from 'node:test';
import { compileFilter } from '../../src/host/network/libpcap.ts';
import { failure } from '../store/scratch.ts';
import { cannotUnshare, noLibpcap } from './missing.ts';

/** Why there is nothing to test here. */
const skip = noLibpcap;

const BPF_LENGTH = 0x80;

test('an expression becomes the program that libpcap documents for it', { skip }, async () => {
  // ldh [12]; jeq #0x800, 0, 3; ldb [23]; jeq #1, 0, 1; ret #65535; ret #0
  const program = [0x28, 12, 0x15 | (3 << 24), 0x800, 0x30, 23, 0x15 | (1 << 24), 1, 6, 65535, 6, 0];
  assert.deepEqual([...(await compileFilter('icmp'))], program);
  const [code] = await compileFilter('len > 100');
  assert.equal(code! & BPF_LENGTH, BPF_LENGTH);
});

test('the same expression reads other link types in their own way', { skip }, async () => {
  const ethernet = await compileFilter('ip', 'DLT_EN10MB');
  assert.deepEqual(ethernet, await compileFilter('ip', 'EN10MB'));
  for (const linkType of ['FRELAY', 'C_HDLC', 'PPP_SERIAL', 'ATM_RFC1483']) {
    assert.notDeepEqual(await compileFilter('ip', linkType), ethernet, linkType);
  }
});

for (const [what, expression, message] of [
  ['a word that is none', 'bogus thing', /"bogus thing": .*syntax error/],
  ['an open parenthesis', '(ip', /syntax error/],
  ['a sign of another script', 'ip ü', /syntax error/],
  ['what no frame can fit', 'ip and arp', /rejects all packets/],
  ['more than anybody writes', 'ip or '.repeat(200), /at most 1000 characters/],
  ['a NUL', 'ip\0', /NUL/],
] as const) {
  test(`an expression is refused, and named, that holds ${what}`, { skip }, async () => {
    await assert.rejects(compileFilter(expression), failure('conflict', message));
  });
}

test('a link type that libpcap does not know is refused', { skip }, async () => {
  await assert.rejects(compileFilter('ip', 'DLT_PIGEON'), failure('conflict', /DLT_PIGEON/));
});

test('many expressions at once each get their own program', { skip }, async () => {
  const ports = Array.from({ length: 200 }, (_, n) => n + 1);
  const programs = await Promise.all(ports.map((port) => compileFilter(`udp dst port ${port}`)));
  for (const [index, program] of programs.entries()) assert.ok(program.includes(ports[index]!));
});

test('without libpcap it is said what is missing and what to install', {
  skip: skip || cannotUnshare('mount namespaces', '--mount', 'mount', '--bind', '/dev/null', '/etc/hostname'),
}, () => {
  const library = execFileSync('sh', ['-c', 'ldconfig -p | sed -n "s/.*libpcap.so.* => //p" | head -n 1'], {
    encoding: 'utf8',
  }).trim();
  const script = `
    import { compileFilter } from ${JSON.stringify(new URL('../../src/host/network/libpcap.ts', import.meta.url).href)};
    await compileFilter('icmp').catch(({ code, message }) => process.stdout.write(code + ' ' + message));`;
  // In a mount namespace of its own, where the library is an empty file.
  const shell = 'mount --bind /dev/null "$1" && exec "$2" --input-type=module --eval "$3"';
  const hidden = ['-m', 'sh', '-c', shell, 'sh', realpathSync(library), process.execPath, script];
  const { status, stdout, stderr } = spawnSync('unshare', hidden, { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  assert.match(stdout, /^conflict libpcap is not installed .*apt install libpcap0\.8/);
});
