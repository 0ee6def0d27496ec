// The command line of a virtual PC, and its MAC address.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { vpcsCommand } from '../../src/compute/emulators/vpcs/command.ts';

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
