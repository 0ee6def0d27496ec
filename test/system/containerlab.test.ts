// A topology file of containerlab, imported, made and started by the executable: its commands and files are in the containers.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the variables of the format look so
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
    n3:
      kind: linux
      image: '\${IMAGE:=${BUSYBOX}}'
      env: {GREETING: hello from __clabNodeName__}
      binds: ['n1:/opt/folder:ro', common:/opt/both]
      exec: [ip address add 10.0.0.3/24 dev eth1]
    lan: {kind: bridge}
  links:
    - endpoints: ['n1:eth1', 'lan:p1']
    - type: veth
      endpoints: [{node: n2, interface: eth1, mac: '02:00:00:00:00:02'}, {node: lan, interface: p2}]
      mtu: 1400
    - endpoints: ['n3:eth1', 'lan:p3']
`,
  );
  mkdirSync(join(daemon.directory, 'common/deep'), { recursive: true });
  writeFileSync(join(daemon.directory, 'common/deep/file'), 'from the folder\n');
  const { code, error } = await labwired.run('lab', 'import-containerlab', 'two.clab.yml', '--to', 'lab.yaml');
  assert.deepEqual(
    [code, error.split('\n').slice(0, -1)],
    [
      0,
      [
        'two.clab.yml:11: ports of "n2" has no equivalent: containers have no network but their cables, so no port is published',
        'two.clab.yml:16: binds of "n3": common:/opt/both is copied at the start; what the node writes does not come back',
        'two.clab.yml:18: the bridge "lan" of the host is a switch of the lab here; what else is on the bridge is not',
        '4 nodes and 3 links, 3 remarks.',
      ],
    ],
  );
  await labwired.fails(1, /lab\.yaml exists already/, 'lab', 'import-containerlab', 'two.clab.yml', '--to', 'lab.yaml');
  await labwired.say('apply', '--start', '--quiet');
  assert.match(await labwired.say('node', 'exec', 'n1', 'cat /opt/deep/motd'), /^welcome to n1$/m);
  writeFileSync(
    join(daemon.directory, 'checks.yaml'),
    `checks:
  - ping: {from: n1, to: n2, round_trip: {min: 150}}
  - ping: {from: n3, to: n2}
  - console: {node: n3, send: 'echo "$GREETING" and $(cat /opt/both/deep/file) and $(cat /opt/folder/motd)', expect: hello from n3 and from the folder and welcome to n1}
  - console: {node: n2, send: ip link show eth1, expect: {regex: 'mtu 1400[^]*02:00:00:00:00:02'}}
`,
  );
  const tested = await labwired.run('test', 'checks.yaml');
  assert.equal(tested.code, 0, tested.out);
});
