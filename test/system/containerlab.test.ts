// A topology file of containerlab, imported, made and started by the executable: its commands and files are in the containers.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { BUSYBOX } from '../compute/docker-engine.ts';
import { Client } from './client.ts';
import { startDaemon } from './daemon.ts';
import { engineFor, withEngine } from './machines.ts';

test('containers of an imported topology have their addresses, files and delays', async (t) => {
  const engine = await engineFor(t);
  if (typeof engine === 'string') return t.skip(engine);
  const daemon = await startDaemon(t, withEngine(engine));
  const labwired = new Client(daemon);
  mkdirSync(join(daemon.directory, 'n1'));
  writeFileSync(join(daemon.directory, 'n1/motd'), 'welcome to n1\n');
  writeFileSync(
    join(daemon.directory, 'two.clab.yml'),
    `name: two
topology:
  defaults: {kind: linux, image: '${BUSYBOX}'}
  nodes:
    n1:
      binds: [n1/motd:/opt/deep/motd:ro]
      exec: [ip address add 10.0.0.1/24 dev eth1, tc qdisc add dev eth1 root netem delay 150ms]
    n2:
      wait-for: [n1]
      exec: [ip address add 10.0.0.2/24 dev eth1]
      ports: ['80:80']
  links:
    - endpoints: ['n1:eth1', 'n2:eth1']
`,
  );
  const { code, error } = await labwired.run('lab', 'import-containerlab', 'two.clab.yml', '--to', 'lab.yaml');
  assert.deepEqual(
    [code, error.split('\n').slice(0, -1)],
    [
      0,
      [
        'two.clab.yml:11: ports has no equivalent: containers have no network but their cables, so no port is published',
        '2 nodes and 1 links, 1 remark.',
      ],
    ],
  );
  await labwired.fails(
    1,
    /lab\.yaml is there already/,
    'lab',
    'import-containerlab',
    'two.clab.yml',
    '--to',
    'lab.yaml',
  );
  await labwired.say('apply', '--start', '--quiet');
  assert.match(await labwired.say('node', 'exec', 'n1', 'cat /opt/deep/motd'), /^welcome to n1$/m);
  writeFileSync(
    join(daemon.directory, 'checks.yaml'),
    `checks:
  - ping: {from: n1, to: n2, round_trip: {min: 150}}
`,
  );
  await labwired.say('test', 'checks.yaml');
});
