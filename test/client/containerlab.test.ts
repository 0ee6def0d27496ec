// Topology files of containerlab become labs in text, and what has no equivalent is said with its line.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stringify } from 'yaml';
import { convertTopology } from '../../src/client/containerlab/convert.ts';
import { readTopology } from '../../src/client/containerlab/file.ts';
import { netemCommand, shownNetem } from '../../src/client/containerlab/netem.ts';
import { parseLab } from '../../src/client/labfile/read.ts';

type Netem = Parameters<typeof convertTopology>[1]['netem'];

/** The lab and the remarks, as `LINE: TEXT`. */
async function imported(
  text: string,
  { files = {}, netem = new Map() as Netem }: { files?: Record<string, string[]>; netem?: Netem } = {},
) {
  const binds = {
    files: (source: string) =>
      files[source] && new Map(files[source].map((path) => [path, `${source}${path && '/'}${path}`])),
  };
  const { lab, report } = convertTopology(readTopology(text, 'x.clab.yml'), { binds, netem });
  return { lab, remarks: report.remarks.map((one) => `${one.line}: ${one.text}`) };
}

const TRIANGLE = `name: triangle
topology:
  defaults:
    kind: linux
    env: {A: 1, B: all}
  kinds:
    linux:
      image: frr:1
      exec: [ip link set lo up]
  groups:
    edge:
      env: {B: edge}
      startup-delay: 3
  nodes:
    r1:
      group: edge
      binds: ['r1/frr.conf:/etc/frr/frr.conf:ro', 'shared:/opt/shared:ro', /var/log]
      exec:
        - ip address add 10.0.12.1/24 dev eth1
        - tc qdisc add dev eth1 root netem delay 100ms 10ms 25% loss 1% rate 2mbit
      sysctls: {net.ipv4.ip_forward: 1}
    r2: {cmd: sleep 9999, wait-for: [r1]}
    lan: {kind: bridge}
  links:
    - endpoints: ['r1:eth1', 'r2:eth1']
    - endpoints: ['r1:eth3', 'lan:r1']
    - type: veth
      endpoints:
        - {node: r2, interface: eth2, mac: '02:00:00:00:00:01'}
        - {node: lan, interface: r2}
      mtu: 1400
`;

test('containers, bridges, links and netem become nodes, switches, links and impairments', async () => {
  const { lab, remarks } = await imported(TRIANGLE, {
    files: { 'r1/frr.conf': [''], shared: ['a', 'deep/b'] },
    netem: new Map([['clab-triangle-r2', new Map([['eth1', { loss: { percent: 5 } }]])]]),
  });
  const { r1, r2, lan } = lab.nodes!;
  assert.deepEqual(r1!.properties, {
    image: 'frr:1',
    adapters: 4,
    environment: 'A=1\nB=edge',
    extra_volumes: ['/var/log'],
  });
  assert.deepEqual(r1!.start, { delay: 3 });
  const setup = r1!.files!['etc/network/setup.sh'] as string;
  assert.deepEqual(setup.trimEnd().split('\n'), [
    'sysctl -w net.ipv4.ip_forward=1',
    'mkdir -p /etc/frr',
    'cp /etc/network/binds/0 /etc/frr/frr.conf',
    'mkdir -p /opt/shared',
    'cp -R /etc/network/binds/1/. /opt/shared/',
    'ip link set lo up',
    'ip address add 10.0.12.1/24 dev eth1',
  ]);
  assert.deepEqual(r1!.files!['etc/network/binds/1/deep/b'], { file: 'shared/deep/b' });
  assert.deepEqual(r2!.properties, {
    image: 'frr:1',
    adapters: 3,
    start_command: 'sleep 9999',
    environment: 'A=1\nB=all',
  });
  assert.deepEqual(
    [r2!.start, r2!.custom_adapters],
    [{ after: ['r1'] }, [{ adapter_number: 2, mac_address: '02:00:00:00:00:01' }]],
  );
  assert.match(r2!.files!['etc/network/setup.sh'] as string, /^ip link set dev eth2 mtu 1400\n/);
  assert.deepEqual(lan, { type: 'ethernet_switch' });
  assert.deepEqual(lab.links, [
    {
      link: 'r1:eth1 -- r2:eth1',
      impairments: {
        forward: { delay: { ms: 100, jitter: 10, correlation: 25 }, loss: { percent: 1 }, rate: { kbit: 2000 } },
        backward: { loss: { percent: 5 } },
      },
    },
    'r1:eth3 -- lan:e0',
    'r2:eth2 -- lan:e1',
  ]);
  assert.deepEqual(remarks, [
    '23: the bridge "lan" of the host is a switch of the lab here; what else is on the bridge is not',
  ]);
});

test('what comes out is a lab that the reader takes, whatever stands in the texts', async () => {
  const { lab } = await imported(
    `name: odd\ntopology:\n  nodes:\n    n1: {kind: linux, image: 'a:\${TAG}', exec: ['sh -c "echo $\${HOME} > /x"']}\n`,
  );
  const { literal } = await import('../../src/client/labfile/substitution.ts');
  const text = stringify(
    JSON.parse(JSON.stringify(lab), (_key, value) => (typeof value === 'string' ? literal(value) : value)),
  );
  const [node] = (await parseLab(text, 'lab.yaml')).nodes;
  assert.equal((node!.properties as { image: string }).image, `a:\${TAG}`);
  assert.equal(node!.files['etc/network/setup.sh']!.toString(), `sh -c "echo \${HOME} > /x"\n`);
});

test('everything without an equivalent is said once, with its line', async () => {
  const { lab, remarks } = await imported(`name: vendors
mgmt: {network: x}
topology:
  kinds:
    linux: {memory: 1Gb}
  nodes:
    srl: {kind: nokia_srlinux, image: srl}
    n1:
      kind: linux
      image: alpine
      ports: ['80:80']
      startup-config: x.cfg
      binds: ['/var/run/docker.sock:/var/run/docker.sock']
      exec: [vtysh -b]
      stages: {create: {wait-for: [{node: n2, stage: healthy}]}}
    n2: {kind: linux, image: alpine}
    n3: {kind: linux}
    h: {kind: host}
  links:
    - endpoints: ['n1:eth1', 'srl:e1-1']
    - endpoints: ['n1:net0', 'n2:eth1']
    - endpoints: ['n1:eth9', 'macvlan:eno1']
    - {type: dummy, endpoint: 'n2:d0'}
    - {type: vxlan, endpoint: {node: n2, interface: eth5}, remote: 10.0.0.1, vni: 1}
    - endpoints: ['n1:eth4', 'nobody:eth1']
`);
  assert.deepEqual(Object.keys(lab.nodes!), ['n1', 'n2']);
  assert.deepEqual(lab.links, ['n1:eth2 -- n2:eth1']);
  assert.deepEqual(lab.nodes!['n1']!.start, { after: ['n2'] });
  const expected = [
    [2, /^mgmt has no equivalent/],
    [5, /^memory has no equivalent: containers are not limited/],
    [7, /"srl" is left out with its links: its kind nokia_srlinux/],
    [11, /^ports has no equivalent/],
    [12, /^startup-config has no equivalent/],
    [13, /docker\.sock: there is no such file/],
    [14, /vtysh -b: it runs before the image's own command/],
    [15, /starts after "n2" has started, not when that is healthy/],
    [17, /"n3" has no image/],
    [18, /"h" is left out with its links: its kind host/],
    [21, /interface net0 of "n1" is eth2 here/],
    [22, /macvlan:eno1 to an interface of the host/],
    [23, /n2:d0 to nothing/],
    [24, /n2:eth5 to another host/],
    [25, /there is no node "nobody"/],
  ] as const;
  assert.equal(remarks.length, expected.length, remarks.join('\n'));
  for (const [index, [line, text]] of expected.entries()) {
    const [at, said] = remarks[index]!.split(': ', 1).concat(remarks[index]!.replace(/^\d+: /, ''));
    assert.equal(Number(at), line, remarks[index]);
    assert.match(said!, text);
  }
});

test('netem is understood as tc writes it, and as containerlab shows it', () => {
  const of = (words: string) => netemCommand(`tc qdisc add dev eth1 root ${words}`)?.impairments;
  assert.deepEqual(of('netem delay 50ms 5ms distribution normal'), {
    delay: { ms: 50, jitter: 5, distribution: 'normal' },
  });
  assert.deepEqual(of('handle 1: netem delay 1s'), { delay: { ms: 1000 } });
  assert.deepEqual(of('netem delay 100'), { delay: { ms: 0.1 } }, 'microseconds');
  assert.deepEqual(of('netem loss random 10% 25%'), { loss: { percent: 10, correlation: 25 } });
  assert.deepEqual(of('netem loss gemodel 1% 10% 70% 0.1%'), {
    burst_loss: { p: 1, r: 10, loss_bad: 70, loss_good: 0.1 },
  });
  assert.deepEqual(of('netem duplicate 1% corrupt 0.1%'), { duplicate: { percent: 1 }, corrupt: { percent: 0.1 } });
  assert.deepEqual(of('netem delay 10ms reorder 25% 50% gap 5'), {
    delay: { ms: 10 },
    reorder: { percent: 25, correlation: 50, gap: 5 },
  });
  assert.deepEqual(of('netem rate 512kbit'), { rate: { kbit: 512 } });
  assert.deepEqual(of('netem rate 1mbps'), { rate: { kbit: 8000 } });
  assert.deepEqual(netemCommand('tc qdisc add dev eth1 root netem limit 5 slot')?.strange, ['limit 5', 'slot']);
  assert.equal(netemCommand('tc qdisc add dev eth1 root tbf rate 1mbit'), undefined);
  const shown = JSON.stringify({
    r1: [
      { interface: 'mgmt0-0 (mgmt0.0)', delay: '1m0.5s', jitter: '5ms', packet_loss: 0.1, rate: 64, corruption: 0.2 },
    ],
  });
  assert.deepEqual(shownNetem(shown, 'x').get('r1')?.get('mgmt0-0'), {
    delay: { ms: 60_500, jitter: 5 },
    loss: { percent: 0.1 },
    rate: { kbit: 64 },
    corrupt: { percent: 0.2 },
  });
  assert.throws(() => shownNetem('x', 'shown.json'), /shown\.json: it is not JSON/);
  assert.throws(() => shownNetem('{"r1": 5}', 'shown.json'), /shown\.json: r1/);
});

test('what is no topology file is refused with the line', () => {
  assert.throws(() => readTopology('name: x\ntopology:\n  nodes: [1]\n', 'x.yml'), /x\.yml:3:\d+: topology\.nodes/);
  assert.throws(() => readTopology('name: x\n', 'x.yml'), /topology: is required/);
  assert.throws(() => readTopology('a: [', 'x.yml'), /x\.yml:1/);
});
