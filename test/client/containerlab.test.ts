// Topology files of containerlab become labs in text, and what has no equivalent is said with its line.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the variables of the format look so
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { stringify } from 'yaml';
import { convertTopology } from '../../src/client/containerlab/convert.ts';
import { readTopology } from '../../src/client/containerlab/file.ts';
import { netemCommand, shownNetem } from '../../src/client/containerlab/netem.ts';
import { parseLab } from '../../src/client/labfile/read.ts';
import { literal } from '../../src/client/labfile/substitution.ts';

type Netem = Parameters<typeof convertTopology>[1]['netem'];

/** The lab and the remarks, as `LINE: TEXT`. */
async function imported(
  text: string,
  {
    files = {},
    netem = new Map() as Netem,
    environment = {},
    templates = new Map<string, string>(),
  }: {
    files?: Record<string, string[]>;
    netem?: Netem;
    environment?: Record<string, string>;
    templates?: ReadonlyMap<string, string>;
  } = {},
) {
  const binds = {
    files: (source: string) =>
      files[source] === undefined
        ? `/labs/${source} is missing`
        : new Map(files[source].map((path) => [path, `${source}${path && '/'}${path}`])),
  };
  const topology = readTopology(text, 'x.clab.yml', environment);
  const { lab, report, placeholders } = convertTopology(topology, { binds, netem, templates });
  return {
    lab,
    placeholders: placeholders.map(({ name }) => name),
    remarks: report.remarks.map((one) => `${one.line}: ${one.text}`),
  };
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
  const text = stringify(
    JSON.parse(JSON.stringify(lab), (_key, value) => (typeof value === 'string' ? literal(value) : value)),
  );
  const [node] = (await parseLab(text, 'lab.yaml')).nodes;
  assert.equal((node!.properties as { image: string }).image, `a:\${TAG}`);
  assert.equal(node!.files['etc/network/setup.sh']!.bytes.toString(), `sh -c 'echo \${HOME} > /x'\n`);
});

test('everything without an equivalent is said once, with its line', async () => {
  const { lab, placeholders, remarks } = await imported(`name: vendors
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
  assert.deepEqual(Object.keys(lab.nodes!), ['srl', 'n1', 'n2', 'n3', 'h']);
  assert.deepEqual(placeholders, ['srl', 'n3', 'h']);
  assert.deepEqual(lab.nodes!['srl'], {
    type: 'docker',
    properties: {
      image: 'srl',
      adapters: 2,
      usage: 'Placeholder: its kind nokia_srlinux is unknown; name a template for it with --map nokia_srlinux=TEMPLATE',
    },
  });
  assert.deepEqual(lab.links, ['n1:eth1 -- srl:eth1', 'n1:eth2 -- n2:eth1']);
  assert.deepEqual(lab.nodes!['n1']!.start, { after: ['n2'] });
  const expected = [
    [2, /^mgmt has no equivalent/],
    [5, /^memory of kinds\.linux has no equivalent: containers are not limited/],
    [7, /"srl" is a placeholder, .*with --map nokia_srlinux=TEMPLATE/],
    [11, /^ports of "n1" has no equivalent/],
    [12, /^startup-config of "n1" has no equivalent/],
    [13, /^binds of "n1": \/var\S+ is left out: \/labs\/\/var\/run\/docker\.sock is missing/],
    [14, /^exec of "n1": vtysh -b runs before the image's own command/],
    [15, /starts after "n2" has started, not when that is healthy/],
    [17, /"n3" is a placeholder, .*it has no image/],
    [18, /"h" is a placeholder, .*--map host=TEMPLATE/],
    [20, /interface e1-1 of "srl" is eth1 here/],
    [21, /interface net0 of "n1" is eth2 here/],
    [22, /macvlan:eno1 to an interface of the host/],
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

/** Topologies as people write them, one for each thing that they use: what must be in the lab, and every remark. */
const SAMPLES: readonly {
  what: string;
  text: string;
  files?: Record<string, string[]>;
  environment?: Record<string, string>;
  nodes?: Record<string, object>;
  setup?: Record<string, string[]>;
  links?: unknown[];
  remarks?: RegExp[];
}[] = [
  {
    what: 'a fabric of leaves and spines by defaults, kinds and groups',
    text: `name: fabric
topology:
  defaults: {kind: linux, env: {LEVEL: all}}
  kinds: {linux: {image: 'frr:\${TAG:=10}'}}
  groups:
    spine: {env: {LEVEL: spine}, sysctls: {net.ipv4.ip_forward: 1}}
  nodes:
    s1: {group: spine}
    s2: {group: spine}
    l1:
    l2: {image: other, network-mode: none}
  links:
    - endpoints: [s1:eth1, l1:eth1]
    - endpoints: [s1:eth2, l2:eth1]
    - endpoints: [s2:eth1, l1:eth2]
    - endpoints: [s2:eth2, l2:eth2]
`,
    nodes: {
      s1: { image: 'frr:10', adapters: 3, environment: 'LEVEL=spine' },
      l1: { image: 'frr:10', adapters: 3, environment: 'LEVEL=all' },
      l2: { image: 'other', adapters: 3, environment: 'LEVEL=all' },
    },
    setup: { s2: ['sysctl -w net.ipv4.ip_forward=1'] },
    links: ['s1:eth1 -- l1:eth1', 's1:eth2 -- l2:eth1', 's2:eth1 -- l1:eth2', 's2:eth2 -- l2:eth2'],
  },
  {
    what: 'variables of the shell, with a value, a default, or neither',
    text: `name: vars
topology:
  nodes:
    n1: {kind: linux, image: '\${IMAGE:=alpine}:\${TAG}', cmd: 'run \${MODE-fast} $\${HOME}'}
    n2: {kind: linux, image: '\${NONE}'}
`,
    environment: { TAG: '3.20' },
    nodes: {
      n1: { image: 'alpine:3.20', adapters: 1, start_command: 'run fast $${HOME}' },
      n2: { image: '${NONE}', adapters: 1 },
    },
    remarks: [/^5: the variable NONE of the shell has no value and no default/],
  },
  {
    what: 'files and folders that are bound, the later of two at one place, and one that is not there',
    text: `name: binds
topology:
  kinds: {linux: {binds: ['common/daemons:/etc/frr/daemons:ro']}}
  nodes:
    r1:
      kind: linux
      image: frr
      binds: ['__clabNodeName__/daemons:/etc/frr/daemons:ro', '/lib/modules:/lib/modules']
`,
    files: { 'common/daemons': [''], 'r1/daemons': [''] },
    setup: {
      r1: [
        'mkdir -p /etc/frr',
        'cp /etc/network/binds/0 /etc/frr/daemons',
        'mkdir -p /etc/frr',
        'cp /etc/network/binds/1 /etc/frr/daemons',
      ],
    },
    remarks: [/^8: binds of "r1": \/lib\/modules:\/lib\/modules is left out: \/labs\/\/lib\/modules is missing/],
  },
  {
    what: 'the extended form of links, with addresses of hardware, an MTU and what only vendors use',
    text: `name: extended
topology:
  nodes: {a: {kind: linux, image: x}, b: {kind: linux, image: x}}
  links:
    - type: veth
      endpoints:
        - {node: a, interface: eth1, mac: '02:00:00:00:00:0a', ipv4: 10.0.0.1/24}
        - {node: b, interface: eth1}
      mtu: 9000
      vars: {port: 1}
      labels: {colour: red}
`,
    nodes: { a: { image: 'x', adapters: 2 } },
    setup: { a: ['ip link set dev eth1 mtu 9000'], b: ['ip link set dev eth1 mtu 9000'] },
    links: ['a:eth1 -- b:eth1'],
    remarks: [
      /^7: ipv4 of a:eth1 has no equivalent: say it in exec/,
      /^10: vars of the link of a:eth1, b:eth1 has no equivalent/,
    ],
  },
  {
    what: 'every type of link that leads out of a lab, and an interface that leads nowhere',
    text: `name: ways-out
mgmt: {network: custom, ipv4-subnet: 172.100.100.0/24}
topology:
  nodes: {n: {kind: linux, image: x}}
  links:
    - {type: host, endpoint: {node: n, interface: eth1}, host-interface: v1}
    - {type: mgmt-net, endpoint: {node: n, interface: eth2}, host-interface: v2}
    - {type: macvlan, endpoint: {node: n, interface: eth3}, host-interface: eno1, mode: bridge}
    - {type: vxlan, endpoint: {node: n, interface: eth4}, remote: 10.0.0.9, vni: 100, dst-port: 4789}
    - {type: vxlan-stitch, endpoint: {node: n, interface: eth5}, remote: 10.0.0.9, vni: 101}
    - {type: dummy, endpoint: {node: n, interface: lo1}}
    - endpoints: ['n:eth6', 'mgmt-net:n-eth6']
`,
    setup: { n: ['ip link add lo1 type dummy', 'ip link set lo1 up'] },
    links: [],
    remarks: [
      /^2: mgmt has no equivalent/,
      /^6: the link of n:eth1 to the host has no equivalent; a cloud node/,
      /^7: .*n:eth2 to the management network/,
      /^8: .*n:eth3 to an interface of the host/,
      /^9: .*n:eth4 to another host/,
      /^10: .*n:eth5 to another host/,
      /^12: .*n:eth6, mgmt-net:n-eth6 to the management network/,
    ],
  },
  {
    what: 'the order of starts in stages, and what cannot be waited for',
    text: `name: stages
topology:
  defaults: {kind: linux, image: x}
  nodes:
    db: {startup-delay: 5}
    web:
      stages:
        create: {wait-for: [{node: db, stage: create}]}
        configure: {wait-for: [db], exec: {on-enter: [echo hello]}}
    old: {wait-for: [db, web]}
`,
    remarks: [
      /^9: exec of the stage configure of "web" has no/,
      /^9: wait-for of "web" names no node: write \{node: NAME/,
    ],
  },
  {
    what: 'members of containers without an equivalent, each with a reason where there is one',
    text: `name: members
topology:
  nodes:
    n:
      kind: linux
      image: x
      entrypoint: /bin/sh
      user: root
      network-mode: container:other
      ports: ['8080:80']
      cpu: 1.5
      memory: 512mb
      shm-size: 256M
      cap-add: [NET_ADMIN]
      devices: [/dev/kvm]
      env-files: [.env]
      dns: {servers: [1.1.1.1]}
      runtime: podman
      restart-policy: always
      image-pull-policy: never
      mgmt_ipv4: 172.20.20.2
      publish: [tcp/22]
`,
    nodes: { n: { image: 'x', adapters: 1 } },
    remarks: [
      /^7: entrypoint .*: the image's own/,
      /^8: user .*: the programs run as the image says/,
      /^9: network-mode container:other of "n" has no equivalent: a container has a network of its own/,
      /^10: ports .*published/,
      /^11: cpu .*not limited/,
      /^12: memory .*not limited/,
      /^13: shm-size .*not limited/,
      /^14: cap-add .*the server says/,
      /^15: devices .*no devices/,
      /^16: env-files .*into env/,
      /^17: dns .*resolv\.conf/,
      /^18: runtime /,
      /^19: restart-policy /,
      /^21: mgmt_ipv4 .*no management network/,
      /^22: publish of "n" has no equivalent$/,
    ],
  },
  {
    what: 'a bridge between containers, and what it is told that only a container can do',
    text: `name: lan
topology:
  nodes:
    br: {kind: bridge, exec: [ip link set br up]}
    a: {kind: linux, image: x, labels: {graph-posX: '120.4', graph-posY: -30}}
    b: {kind: linux, image: x}
  links:
    - endpoints: [a:eth1, br:p1]
    - endpoints: [b:eth1, br:p2]
    - endpoints: [b:eth1, br:p3]
    - endpoints: [a:eth2, a:eth3]
  presets: {}
`,
    links: ['a:eth1 -- br:e0', 'b:eth1 -- br:e1'],
    remarks: [
      /^4: the bridge "br" of the host is a switch/,
      /^4: exec of "br" has no equivalent: a switch runs nothing/,
      /^10: the link of b:eth1, br:p3 is left out: another one is at b:eth1 already/,
      /^11: .*a:eth2, a:eth3 is left out: a link joins two nodes/,
      /^12: presets has no equivalent/,
    ],
  },
  {
    what: 'commands whose words the shell of the setup would read otherwise',
    text: `name: words
topology:
  nodes:
    a:
      kind: linux
      image: x
      sysctls: {net.ipv4.ping_group_range: 0 2147483647}
      exec:
        - sh -c "for i in 1 2; do echo $$i 'x y'; done"
        - ip link set eth1 up # a remark
        - echo a\\ b "c \\"d" $$x*
        - echo "no end
`,
    setup: {
      a: [
        "sysctl -w 'net.ipv4.ping_group_range=0 2147483647'",
        `sh -c 'for i in 1 2; do echo $i '\\''x y'\\''; done'`,
        'ip link set eth1 up',
        `echo 'a b' 'c "d' '$x*'`,
      ],
    },
    remarks: [
      /^9: exec of "a": sh -c .* runs before the image's own command/,
      /^12: exec of "a": echo "no end is left out: a quote has no end/,
    ],
  },
  {
    what: 'variables in all forms, some of which stay',
    text: `name: forms
topology:
  nodes:
    a: {kind: linux, image: $IMG, cmd: '\${IMG:?no} \${NONE:?no}', env: {A: $NONE, B: $$kept, C: '\${IMG%:*}', D: $constructor}}
`,
    environment: { IMG: 'frr:1' },
    nodes: {
      a: {
        image: 'frr:1',
        adapters: 1,
        start_command: 'frr:1 ${NONE:?no}',
        environment: 'A=$NONE\nB=$$kept\nC=${IMG%:*}\nD=$constructor',
      },
    },
    remarks: [
      /^4: the variable NONE of the shell has no value and no default/,
      /^4: the variable IMG of the shell/,
      /^4: the variable constructor of the shell/,
    ],
  },
  {
    what: 'anchors and merges of YAML, numbers and truth as values of variables',
    text: `name: anchors
topology:
  nodes:
    a: &pc {kind: linux, image: x, env: {N: 1, YES: true, EMPTY: , WHO: __clabNodeName__}}
    b: {<<: *pc, cmd: run __clabNodeName__}
`,
    nodes: {
      a: { image: 'x', adapters: 1, environment: 'N=1\nYES=true\nEMPTY=\nWHO=a' },
      b: { image: 'x', adapters: 1, start_command: 'run b', environment: 'N=1\nYES=true\nEMPTY=\nWHO=b' },
    },
  },
  {
    what: 'routers of vendors beside containers: all nodes and links stay',
    text: `name: mixed
topology:
  kinds: {nokia_srlinux: {image: srl, type: ixr-d3l, license: key}}
  nodes:
    srl1: {kind: nokia_srlinux, startup-config: srl1.cli}
    xr: {kind: cisco_xrd, image: xrd}
    c1: {kind: linux, image: x}
    c2: {kind: linux, image: x}
  links:
    - endpoints: [srl1:e1-1, xr:Gi0-0-0-0]
    - endpoints: [srl1:e1-2, c1:eth1]
    - endpoints: [c1:eth2, c2:eth1]
`,
    nodes: { c1: { image: 'x', adapters: 3 }, c2: { image: 'x', adapters: 2 } },
    links: ['srl1:eth1 -- xr:eth1', 'srl1:eth2 -- c1:eth1', 'c1:eth2 -- c2:eth1'],
    remarks: [
      /^5: node "srl1" is a placeholder.*nokia_srlinux=TEMPLATE/,
      /^6: node "xr" is a placeholder.*cisco_xrd=TEMPLATE/,
      /^10: the interface e1-1 of "srl1" is eth1 here/,
      /^10: the interface Gi0-0-0-0 of "xr" is eth1 here/,
      /^11: the interface e1-2 of "srl1" is eth2 here/,
    ],
  },
];

test('topologies as people write them are imported, and nothing of them is dropped without a word', async (t) => {
  for (const { what, text, files, environment, nodes = {}, setup = {}, links, remarks = [] } of SAMPLES) {
    await t.test(what, async () => {
      const result = await imported(text, { ...(files && { files }), ...(environment && { environment }) });
      const { lab } = result;
      for (const [name, properties] of Object.entries(nodes))
        assert.deepEqual(lab.nodes![name]!.properties, properties);
      for (const [name, lines] of Object.entries(setup)) {
        const script = lab.nodes![name]!.files!['etc/network/setup.sh'] as string;
        assert.deepEqual(script.trimEnd().split('\n'), lines);
      }
      if (links) assert.deepEqual(lab.links, links);
      assert.equal(result.remarks.length, remarks.length, result.remarks.join('\n'));
      for (const [index, remark] of remarks.entries()) assert.match(result.remarks[index]!, remark);
      // The files that are bound are none of this machine.
      if (files) return;
      const written = JSON.stringify(lab, (_key, value) => (typeof value === 'string' ? literal(value) : value));
      assert.equal((await parseLab(written, 'lab.yaml')).links.length, lab.links!.length, 'the reader takes it');
    });
  }
});

test('nodes of a kind with a template are made of it, and their links take its ports', async () => {
  const { lab, placeholders, remarks } = await imported(
    SAMPLES.find(({ what }) => what.startsWith('routers of vendors'))!.text,
    { templates: new Map([['nokia_srlinux', 'My SRL']]) },
  );
  assert.deepEqual(lab.nodes!['srl1'], { template: 'My SRL' });
  assert.deepEqual(lab.links, ['srl1 -- xr:eth1', 'srl1 -- c1:eth1', 'c1:eth2 -- c2:eth1']);
  assert.deepEqual(placeholders, ['xr']);
  assert.match(remarks.join('\n'), /^5: startup-config of "srl1" has no equivalent: its template says what it is$/m);
  assert.equal((await parseLab(stringify(lab), 'lab.yaml')).links.length, 3, 'the reader takes it');
});

test('a topology with nodes of unknown kinds is written and fails, unless that is allowed', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'labwire-containerlab-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const folder = join(directory, 'folder');
  mkdirSync(folder);
  const run = (...words: string[]) =>
    spawnSync(
      process.execPath,
      [join(import.meta.dirname, '../../src/main.ts'), 'lab', 'import-containerlab', ...words],
      {
        ...{ cwd: folder, encoding: 'utf8' },
      },
    );
  writeFileSync(
    join(folder, 'a.clab.yml'),
    'name: a\ntopology:\n  nodes:\n    c: {kind: ceos, image: "ceos:4"}\n    n: {kind: linux, image: x}\n' +
      '  links:\n    - endpoints: [c:eth1, n:eth1]\n',
  );
  const failed = run('a.clab.yml', '--to', 'lab.yaml');
  assert.equal(failed.status, 1);
  assert.match(failed.stderr, /a\.clab\.yml:4: node "c" is a placeholder, .*--map ceos=TEMPLATE/);
  assert.match(failed.stderr, /labwired: 1 node of unknown kind .*"c"\. Name .*--map ceos=TEMPLATE.*--partial/);
  assert.match(readFileSync(join(folder, 'lab.yaml'), 'utf8'), /image: ceos:4[\s\S]*c:eth1 -- n:eth1/);
  const partial = run('a.clab.yml', '--partial');
  assert.deepEqual([partial.status, /\n2 nodes and 1 link, 1 remark\.\n$/.test(partial.stderr)], [0, true]);
  const mapped = run('a.clab.yml', '--map', 'ceos=Arista vEOS');
  assert.deepEqual([mapped.status, /template: Arista vEOS/.test(mapped.stdout)], [0, true], mapped.stderr);
  const wrong = run('a.clab.yml', '--map', 'ceso=x');
  assert.deepEqual([wrong.status, /did you mean "ceos"/.test(wrong.stderr)], [2, true], wrong.stderr);

  writeFileSync(join(directory, 'secret'), 'secret\n');
  symlinkSync('../secret', join(folder, 'link'));
  mkdirSync(join(folder, 'files'));
  symlinkSync('../../secret', join(folder, 'files/link'));
  execFileSync('mkfifo', [join(folder, 'pipe')]);
  mkdirSync(join(folder, 'looped'));
  symlinkSync('.', join(folder, 'looped/up'));
  mkdirSync(join(folder, 'etc/deep'), { recursive: true });
  writeFileSync(join(folder, 'etc/deep/file'), 'x');
  mkdirSync(join(folder, 'linked'));
  symlinkSync('../etc', join(folder, 'linked/etc'));
  const linked = "name: c\ntopology:\n  nodes:\n    n: {kind: linux, image: x, binds: ['linked:/x:ro']}\n";
  writeFileSync(join(folder, 'c.clab.yml'), linked);
  assert.match(run('c.clab.yml').stdout, /binds\/0\/etc\/deep\/file:\n +file: linked\/etc\/deep\/file/);
  const binds = [
    ['../secret', /\/secret is outside of the topology file's folder; --allow-outside takes it$/],
    ['link', /folder\/link is outside of the topology/],
    ['files', /files\/link is outside of the topology/],
    ['looped', /looped\/up is .*, or leads back to a folder above it$/],
    ['pipe', /folder\/pipe is neither a file nor a folder$/],
    ['/dev/zero', /\/dev\/zero is outside/],
    ['router1/daemons', /folder\/router1\/daemons is missing$/],
  ] as const;
  const nodes = binds.map(([bind], index) => `    n${index}: {kind: linux, image: x, binds: ['${bind}:/x:ro']}\n`);
  writeFileSync(join(folder, 'b.clab.yml'), `name: b\ntopology:\n  nodes:\n${nodes.join('')}`);
  const { status, stdout, stderr } = run('b.clab.yml');
  assert.equal(status, 0, stderr);
  const lines = stderr.split('\n');
  for (const [index, [bind, reason]] of binds.entries()) {
    assert.ok(lines[index]!.startsWith(`b.clab.yml:${index + 4}: binds of "n${index}": ${bind}:/x:ro is left out: `));
    assert.match(lines[index]!, reason);
  }
  assert.doesNotMatch(stdout, /secret|binds/);
  assert.match(run('b.clab.yml', '--allow-outside').stdout, /file: \.\.\/secret/);
});

test('where a graph shows a node, the map does', async () => {
  const { lab } = await imported(SAMPLES.find(({ what }) => what.startsWith('a bridge'))!.text);
  assert.deepEqual(lab.nodes!['a']!.at, [120, -30]);
  assert.equal(lab.nodes!['b']!.at, undefined);
});

test('a template of Go is named as such', () => {
  for (const [name, text] of [
    ['x.clab.gotmpl', 'name: x\ntopology: {}\n'],
    ['x.clab.yml', 'name: x\ntopology:\n  nodes:\n{{ range $i := seq 3 }}\n    n{{ $i }}: {kind: linux}\n{{ end }}\n'],
    ['y.clab.yml', 'name: {{ .Name }}\n'],
  ] as const)
    assert.throws(
      () => readTopology(text, name),
      /\.clab\.(?:gotmpl|yml):[14]:1: this is a template of Go.*render it first/,
    );
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
  assert.throws(
    () => readTopology('name: x\ntopology:\n  nodes:\n    constructor: {kind: linux}\n', 'x.yml'),
    /x\.yml:4:5: topology\.nodes\.constructor: "constructor" cannot be a name here/,
  );
});
