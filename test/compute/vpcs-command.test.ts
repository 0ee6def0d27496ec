// The command line of a virtual PC, and its MAC address.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseMacByte, vpcsCommand } from '../../src/compute/emulators/vpcs/command.ts';

const pc = { program: '/usr/bin/vpcs', macByte: 7, localPort: 20000, remotePort: 20001, remoteHost: '127.0.0.1' };

const golden: { version: string; script?: string; line: string }[] = [
  { version: '0.5b2', line: '/usr/bin/vpcs -m 7 -i 1 -s 20000 -c 20001 -t 127.0.0.1' },
  {
    version: '0.5b2',
    script: 'startup.vpc',
    line: '/usr/bin/vpcs -m 7 -i 1 -s 20000 -c 20001 -t 127.0.0.1 startup.vpc',
  },
  { version: '0.6.1', line: '/usr/bin/vpcs -m 7 -i 1 -s 20000 -c 20001 -t 127.0.0.1' },
  { version: '0.8a', line: '/usr/bin/vpcs -m 7 -i 1 -s 20000 -c 20001 -t 127.0.0.1' },
  { version: '0.8b', line: '/usr/bin/vpcs -m 7 -i 1 -R -s 20000 -c 20001 -t 127.0.0.1' },
  { version: '0.8', line: '/usr/bin/vpcs -m 7 -i 1 -R -s 20000 -c 20001 -t 127.0.0.1' },
  {
    version: '0.8.3',
    script: 'startup.vpc',
    line: '/usr/bin/vpcs -m 7 -i 1 -R -s 20000 -c 20001 -t 127.0.0.1 startup.vpc',
  },
  { version: '0.10', line: '/usr/bin/vpcs -m 7 -i 1 -R -s 20000 -c 20001 -t 127.0.0.1' },
  { version: '1.0a', line: '/usr/bin/vpcs -m 7 -i 1 -R -s 20000 -c 20001 -t 127.0.0.1' },
];

for (const { version, script, line } of golden) {
  test(`VPCS ${version} ${script ? 'with' : 'without'} a script gets the options it knows and no others`, () => {
    assert.equal(vpcsCommand({ ...pc, version, script }).join(' '), line);
  });
}

test('256 PCs of a project have 256 addresses; the next share those that are used least', () => {
  const used: number[] = [];
  for (let i = 0; i < 256; i++) used.push(chooseMacByte(used));
  assert.deepEqual(
    used,
    Array.from({ length: 256 }, (_, byte) => byte),
  );
  for (let i = 0; i < 300; i++) used.push(chooseMacByte(used));
  assert.deepEqual(used.slice(256, 512), used.slice(0, 256));
});

test('the address of a PC that was deleted is given out again', () => {
  assert.equal(chooseMacByte([0, 1, 3]), 2);
  const all = Array.from({ length: 256 }, (_, byte) => byte);
  assert.equal(chooseMacByte([...all, ...all.filter((byte) => byte !== 9)]), 9);
});
