// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the placeholders of the format look so
// Labs as text: what a file says, counted out and filled in; and every kind of mistake, with its place and its fix.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Ajv } from 'ajv';
import { LabFileMistakes } from '../../../src/client/labfile/file-mistakes.ts';
import { labSchemaText } from '../../../src/client/labfile/json-schema.ts';
import { portMistakes, portsByFile } from '../../../src/client/labfile/link-ports.ts';
import { parseLab, readLab } from '../../../src/client/labfile/read.ts';
import { copiesOf, filled, literal } from '../../../src/client/labfile/substitution.ts';
import { scratchDirectory } from '../../store/scratch.ts';

const directory = mkdtempSync(join(tmpdir(), 'labfile-'));
after(() => rmSync(directory, { recursive: true }));

const lab = (lines: string) => parseLab(lines, 'lab.yaml', { directory, outside: false });

test('files outside of the folder, by any way, are refused unless they are allowed, and only regular files are read', async (t) => {
  const folder = await scratchDirectory(t);
  const inside = join(folder, 'lab');
  mkdirSync(join(inside, 'cfg'), { recursive: true });
  writeFileSync(join(folder, 'secret'), 'secret');
  writeFileSync(join(inside, 'cfg/r1'), 'ip 10.0.0.1/24');
  symlinkSync('../secret', join(inside, 'link'));
  symlinkSync('..', join(inside, 'up'));
  symlinkSync('cfg/r1', join(inside, 'near'));
  execFileSync('mkfifo', [join(inside, 'pipe')]);
  writeFileSync(join(inside, 'large'), '');
  truncateSync(join(inside, 'large'), 65 * 2 ** 20);
  const read = async (path: string, outside = false) => {
    const text = `name: x\nnodes:\n  PC1: {type: vpcs, config: {file: "${path}"}}\n`;
    return (await parseLab(text, 'lab.yaml', { directory: inside, outside })).nodes[0]!.config!;
  };
  for (const path of ['cfg/r1', './cfg/../cfg/r1', 'near', join(inside, 'near')]) {
    const { bytes, from } = await read(path);
    assert.deepEqual([bytes.toString(), from], ['ip 10.0.0.1/24', path]);
  }
  for (const path of ['../secret', join(folder, 'secret'), 'link', 'up/secret', '/dev/zero', '..']) {
    await assert.rejects(
      read(path),
      /3:\d+: nodes\.PC1\.config: .* is outside the lab file's folder \S+: copy it there, or allow it with --allow-outside/,
      path,
    );
  }
  const { bytes, from } = await read('link', true);
  assert.deepEqual([bytes.toString(), from], ['secret', join(folder, 'secret')], 'where it leads is shown');
  for (const [path, why] of [
    ['/dev/zero', /zero: .*regular file/],
    ['pipe', /pipe: .*regular file/],
    ['large', /large: it is longer than 67108864 bytes/],
    ['cfg', /cfg: /],
  ] as const)
    await assert.rejects(read(path, true), why);
  const drawing = 'name: x\ndrawings: [{at: [0, 0], svg: {file: ../secret}}]\n';
  await assert.rejects(parseLab(drawing, 'lab.yaml', { directory: inside, outside: false }), /outside the lab file/);
});

test('nodes by template or type, counted out, with their configurations and files', async () => {
  writeFileSync(join(directory, 'r1.cfg'), 'hostname ${keep}\n');
  const { nodes, variables } = await lab(`
name: Class
variables: {net: 10.0.0, ram: 256}
nodes:
  PC{1..3}:
    template: VPCS
    at: [0, 50]
    step: [100, 10]
    config: |
      ip \${net}.\${n}/24 \${net}.\${n+100}
      echo $\${literally}
  R1:
    type: dynamips
    properties: {platform: c3725, image: c3725.image, ram: "\${ram}"}
    config: {file: r1.cfg}
    start: {order: 2, delay: 5, after: [PC1], ready: {console: "Press RETURN", timeout: 90}}
  Box:
    type: docker
    properties: {image: busybox}
    files: {etc/hosts: "::1 box"}
`);
  assert.deepEqual(
    nodes.map(({ name, at }) => [name, at]),
    [
      ['PC1', [0, 50]],
      ['PC2', [100, 60]],
      ['PC3', [200, 70]],
      ['R1', undefined],
      ['Box', undefined],
    ],
  );
  assert.equal(nodes[1]!.config!.bytes.toString(), 'ip 10.0.0.2/24 10.0.0.102\necho ${literally}\n');
  assert.deepEqual(nodes[3]!.properties!['ram'], 256, 'a placeholder alone keeps the type of its value');
  assert.equal(nodes[3]!.config!.bytes.toString(), 'hostname ${keep}\n', 'another file is taken as it is');
  assert.deepEqual(nodes[3]!.start, {
    order: 2,
    delay: 5,
    after: ['PC1'],
    ready: { console: 'Press RETURN', timeout: 90 },
  });
  assert.equal(nodes[4]!.files['etc/hosts']!.bytes.toString(), '::1 box');
  assert.deepEqual(nodes[3]!.place, { line: 12, column: 3 });
  assert.deepEqual(variables, [
    { name: 'net', value: '10.0.0' },
    { name: 'ram', value: '256' },
  ]);
});

test('links, drawings and checks', async () => {
  const { links, drawings, checks } = await lab(`
name: Wires
nodes:
  PC{1..2}: {type: vpcs}
  "Größe:1": {type: ethernet_switch}
links:
  - PC{1..2}:e0 -- Größe:1:{3..4}
  - link: PC1 -- PC2
    filters: {packet_loss: 5, delay: [10, 2]}
    impairments: {preset: adsl}
drawings:
  - {svg: <svg/>, at: [1, 2]}
checks:
  - ping: {from: PC1, to: PC2, count: 3}
  - console: {node: PC1, send: show ip, expect: {regex: "IP\\\\s"}, timeout: 5}
  - frame: {link: "PC1:e0", filter: icmp, timeout: 5}
`);
  assert.deepEqual(
    links.map(({ ends }) => ends.map(({ node, port }) => `${node} ${port}`)),
    [
      ['PC1 e0', 'Größe:1 3'],
      ['PC2 e0', 'Größe:1 4'],
      ['PC1 undefined', 'PC2 undefined'],
    ],
  );
  assert.deepEqual(links[2]!.filters, { packet_loss: 5, delay: [10, 2] });
  assert.deepEqual(
    drawings.map(({ svg, at }) => [svg, at]),
    [['<svg/>', [1, 2]]],
  );
  assert.deepEqual(
    checks.map((check) => Object.keys(check)[0]),
    ['ping', 'console', 'frame'],
  );
});

/** Lines behind `name: Lab`, and what is said of them: `line:column` and a part of the message. */
const MISTAKES: readonly [what: string, lines: string, said: RegExp][] = [
  [
    'a member that is written wrongly',
    'nodes:\n  PC1:\n    tempalte: VPCS',
    /lab\.yaml:4:5: nodes\.PC1\.tempalte: .* did you mean "template"\?/,
  ],
  ['a member of the whole', 'node: {}', /lab\.yaml:2:1: node: there is no "node" here; did you mean "nodes"\?/],
  [
    'a type that there is not',
    'nodes:\n  PC1: {type: vpsc}',
    /lab\.yaml:3:15: nodes\.PC1\.type: there is no "vpsc"; did you mean "vpcs"\?/,
  ],
  [
    'a value of another kind',
    'nodes:\n  PC1: {type: vpcs, z: high}',
    /lab\.yaml:3:24: nodes\.PC1\.z: expected number, received "high"/,
  ],
  [
    'a place of one number',
    'nodes:\n  PC1:\n    type: vpcs\n    at: [1]',
    /lab\.yaml:5:9: nodes\.PC1\.at\.1: expected number|lab\.yaml:5:9: nodes\.PC1\.at\.1: is required/,
  ],
  ['nothing behind a name', 'nodes:\n  PC1:', /lab\.yaml:3:3: nodes\.PC1: expected members/],
  [
    'neither template nor type',
    'nodes:\n  PC1: {}',
    /lab\.yaml:3:3: nodes\.PC1: say what it is: template: NAME, or type: vpcs/,
  ],
  [
    'template and type',
    'nodes:\n  PC1: {template: a, type: vpcs}',
    /3:3: nodes\.PC1: it has a template and a type; leave one of them out/,
  ],
  ['a node twice', 'nodes:\n  PC1: {type: vpcs}\n  PC1: {type: vpcs}', /lab\.yaml:4:3: this name stands here twice/],
  [
    'a node twice after counting',
    'nodes:\n  PC{1..3}: {type: vpcs}\n  PC2: {type: vpcs}',
    /4:3: nodes\.PC2: there is a node "PC2" already \(PC\{1\.\.3\}\)/,
  ],
  [
    'names that differ by a blank',
    'nodes:\n  PC 1: {type: vpcs}\n  PC1: {type: vpcs}',
    /4:3: .*there is a node "PC1" already/,
  ],
  [
    'a name that servers number',
    'nodes:\n  "PC{0}": {type: vpcs}',
    /3:3: .*write the names out, or a range such as PC\{1\.\.3\}/,
  ],
  ['a range backwards', 'nodes:\n  PC{3..1}: {type: vpcs}', /3:3: .*\{3\.\.1\} counts backwards: write \{1\.\.3\}/],
  ['a range without end', 'nodes:\n  PC{1..999999}: {type: vpcs}', /3:3: .*the most is 10000/],
  [
    'a link to nobody',
    'nodes:\n  PC1: {type: vpcs}\nlinks:\n  - PC1:e0 -- PC12:e0',
    /5:5: links\.0: there is no node "PC12"; did you mean "PC1"\?/,
  ],
  [
    'a link without dashes',
    'nodes:\n  PC1: {type: vpcs}\nlinks: [PC1 PC1]',
    /4:9: links\.0: "PC1 PC1" is not a link: write NODE:PORT -- NODE:PORT/,
  ],
  [
    'a link to itself',
    'nodes:\n  PC1: {type: vpcs}\nlinks: ["PC1:0 -- PC1:1"]',
    /4:9: .*both ends are at the same node/,
  ],
  [
    'a port twice',
    'nodes:\n  PC{1..3}: {type: vpcs}\nlinks:\n  - PC1:e0 -- PC2:e0\n  - PC1:e0 -- PC3:e0',
    /6:5: .*PC1:e0 is an end of "PC1:e0 -- PC2:e0" already \(line 5\)/,
  ],
  [
    'a port without a name',
    'nodes:\n  PC{1..2}: {type: vpcs}\nlinks: ["PC1: -- PC2"]',
    /4:9: .*the port of PC1 is missing/,
  ],
  [
    'ranges that differ',
    'nodes:\n  PC{1..5}: {type: vpcs}\nlinks: ["PC{1..3} -- PC{4..5}"]',
    /4:9: .*have different lengths/,
  ],
  [
    'an object in the place of a link',
    'nodes: {}\nlinks:\n  - {lnk: x}',
    /4:6: links\.0\.lnk: there is no "lnk" here; did you mean "link"\?/,
  ],
  [
    'an impairment out of its range',
    'nodes:\n  PC{1..2}: {type: vpcs}\nlinks:\n  - link: PC1 -- PC2\n    impairments: {both: {loss: {percent: 101}}}',
    /6:42: links\.0\.impairments\.both\.loss\.percent: expected a number from 0 to 100 \(percent\)/,
  ],
  [
    'a variable that there is not',
    'nodes:\n  PC1:\n    type: vpcs\n    config: ip ${net}.1',
    /5:13: nodes\.PC1\.config: there is no variable "net": give it a value in variables, or write \$\$\{net\}/,
  ],
  ['the number of no copy', 'nodes:\n  PC1:\n    type: vpcs\n    symbol: s${n}', /3:3|4:5: .*exists only in copies/],
  [
    'a file that is not there',
    'nodes:\n  PC1:\n    type: vpcs\n    config: {file: none.vpc}',
    /5:13: nodes\.PC1\.config: none\.vpc: .*/,
  ],
  [
    'a file outside',
    'nodes:\n  D:\n    type: docker\n    files: {../x: a}',
    /5:19: nodes\.D\.files\.\.\.\/x: "\.\.\/x" is not below the directory/,
  ],
  [
    'a configuration of what has none',
    'nodes:\n  S: {type: ethernet_switch, config: x}',
    /3:3: nodes\.S: a node of the type ethernet_switch has no start-up configuration/,
  ],
  [
    'nodes that wait in a circle',
    'nodes:\n  A: {type: vpcs, start: {after: [B]}}\n  B: {type: vpcs, start: {after: [A]}}',
    /3:3: nodes\.A\.start\.after: these nodes wait for each other in a circle/,
  ],
  [
    'waiting for nobody',
    'nodes:\n  Router: {type: vpcs, start: {after: [Ruoter]}}',
    /3:3: .*there is no node "Ruoter"; did you mean "Router"\?/,
  ],
  [
    'a check of nothing',
    'checks:\n  - {name: x}',
    /3:5: checks\.0: a check has exactly one of ping, console and frame/,
  ],
  ['a check that is written wrongly', 'checks:\n  - {pnig: {}}', /3:6: checks\.0\.pnig: .*did you mean "ping"\?/],
  [
    'an expression that is none',
    'nodes:\n  P: {type: vpcs}\nchecks:\n  - console: {node: P, expect: {regex: "("}}',
    /5:5: checks\.0: "\(" is no regular expression/,
  ],
  [
    'a check of a link that there is not',
    'nodes:\n  P: {type: vpcs}\nchecks:\n  - frame: {link: "P:e0"}',
    /5:5: checks\.0: there is no link "P:e0"/,
  ],
  [
    'a property that there is not',
    'nodes:\n  S:\n    type: qemu\n    properties:\n      rom: 256',
    /6:7: nodes\.S\.properties\.rom: there is no "rom" here; did you mean "ram"\?/,
  ],
  [
    'a property of another type of node',
    'nodes:\n  PC1: {type: vpcs, properties: {cpus: 2}}',
    /3:34: nodes\.PC1\.properties\.cpus: there is no "cpus" here, nor anything else; leave it out/,
  ],
  [
    'a property of another kind',
    'nodes:\n  S: {type: qemu, properties: {ram: much}}',
    /3:37: nodes\.S\.properties\.ram: expected number, received "much"/,
  ],
  [
    'a property out of its range',
    'nodes:\n  S: {type: qemu, properties: {cpus: 0}}',
    /3:38: nodes\.S\.properties\.cpus: expected >=1, received 0/,
  ],
  [
    'a property that is none of a list',
    'nodes:\n  S: {type: qemu, properties: {on_close: power_of}}',
    /3:42: nodes\.S\.properties\.on_close: there is no "power_of"; did you mean "power_off"\?/,
  ],
  [
    'a property that a variable fills in wrongly',
    'variables: {cores: many}\nnodes:\n  S{1..9}: {type: qemu, properties: {cpus: "${cores}"}}',
    /4:44: nodes\.S\{1\.\.9\}\.properties\.cpus: expected number, received "many"$/,
  ],
  ['a property that a node needs', 'nodes:\n  D: {type: docker}', /3:6: nodes\.D\.properties\.image: is required/],
  [
    'a property that the server numbers',
    'nodes:\n  D: {type: docker, properties: {image: x, console_type: telnet}}',
    /3:44: nodes\.D\.properties\.console_type: write console: \{type: NAME\} beside properties/,
  ],
  [
    'a console that the type has not',
    'nodes:\n  PC1: {type: vpcs, console: {type: vnc}}',
    /3:37: nodes\.PC1\.console\.type: there is no "vnc"; available: telnet, none/,
  ],
  [
    'a member of a port of a switch',
    'nodes:\n  S:\n    type: ethernet_switch\n    properties:\n      ports_mapping:\n        - {name: e0, port_number: 0, type: acess}',
    /7:44: nodes\.S\.properties\.ports_mapping\.0\.type: there is no "acess"; did you mean "access"\?/,
  ],
  [
    'a card that there is not',
    `nodes:\n  R: {type: dynamips, properties: {${'platform: c3725, image: a, ram: 128'}, slot1: NM-1FE-TY}}`,
    /3:80: nodes\.R\.properties\.slot1: there is no "NM-1FE-TY" for it; did you mean "NM-1FE-TX"\?/,
  ],
  [
    'a card in a slot that does not take it',
    `nodes:\n  R: {type: dynamips, properties: {${'platform: c7200, image: a, ram: 128'}, slot1: NM-1FE-TX}}`,
    /3:80: nodes\.R\.properties\.slot1: a c7200 does not take NM-1FE-TX there/,
  ],
  [
    'an adapter that the node has not',
    'nodes:\n  S:\n    type: qemu\n    properties: {adapters: 2}\n    custom_adapters: [{adapter_number: 2}]',
    /6:40: nodes\.S\.custom_adapters\.0\.adapter_number: the node has no adapter 2; it has 0 to 1/,
  ],
  [
    'a slip in the type of all adapters',
    'nodes:\n  S: {type: qemu, properties: {adapter_type: virtoi}}',
    /3:46: nodes\.S\.properties\.adapter_type: there is no adapter "virtoi"; did you mean "virtio"\?/,
  ],
  [
    'a slip in the type of one adapter',
    'nodes:\n  S: {type: qemu, custom_adapters: [{adapter_number: 0, adapter_type: vmxnet4}]}',
    /3:71: nodes\.S\.custom_adapters\.0\.adapter_type: there is no adapter "vmxnet4"; did you mean "vmxnet3"\?/,
  ],
  [
    'a MAC address of an adapter',
    'nodes:\n  S: {type: qemu, custom_adapters: [{adapter_number: 0, mac_address: 00-11}]}',
    /3:70: nodes\.S\.custom_adapters\.0\.mac_address: .*MAC address/,
  ],
  [
    'a format of port names that nobody can expand',
    'nodes:\n  S: {type: qemu, ports: {format: "eth{2}"}}',
    /3:35: nodes\.S\.ports\.format: "eth\{2\}" cannot be expanded; use \{0\}/,
  ],
  [
    'a filter out of its range',
    'nodes:\n  P{1..2}: {type: vpcs}\nlinks:\n  - {link: P1 -- P2, filters: {packet_loss: 101}}',
    /5:45: links\.0\.filters\.packet_loss: .* must be from 0 to 100/,
  ],
  [
    'a filter that is written wrongly',
    'nodes:\n  P{1..2}: {type: vpcs}\nlinks:\n  - {link: P1 -- P2, filters: {packet_los: 1}}',
    /5:44: links\.0\.filters\.packet_los: there is no filter "packet_los"; did you mean "packet_loss"\?/,
  ],
  [
    'a setting that there is not',
    'settings: {auto_strat: true}',
    /2:12: settings\.auto_strat: .*did you mean "auto_start"\?/,
  ],
  ['a setting of another kind', 'settings: {zoom: big}', /2:18: settings\.zoom: expected number, received "big"/],
  ['a drawing without a place', 'drawings:\n  - {svg: <svg/>}', /3:5: drawings\.0\.at: is required/],
  [
    'seconds that nobody waits',
    'nodes:\n  P: {type: vpcs}\nchecks:\n  - ping: {from: P, to: 10.0.0.1, timeout: 0}',
    /5:44: checks\.0\.ping\.timeout: expected >0, received 0/,
  ],
  ['a tab', 'nodes:\n\tPC1: {type: vpcs}', /3:1: a tab cannot indent a line in YAML; use blanks/],
  ['a bracket that is missing', 'nodes: {PC1: {type: vpcs}\nlinks: []', /lab\.yaml:3:\d+: /],
  ['an id that is none', 'id: 5', /2:5: id: expected/],
  ...['__proto__', 'constructor', 'prototype'].map((name): (typeof MISTAKES)[number] => [
    `a node with a name that every object has: ${name}`,
    `nodes:\n  A: {type: vpcs}\n  ${name}: {type: vpcs}\nlinks: ["A -- ${name}"]`,
    new RegExp(`^lab\\.yaml:4:3: nodes\\.${name}: "${name}" cannot be a name here; choose another$`),
  ]),
  [
    'a file with such a name',
    'nodes:\n  A: {type: vpcs, files: {constructor: x}}',
    /3:27: nodes\.A\.files\.constructor: "constructor" cannot be a name here/,
  ],
  ['a variable with such a name', 'variables: {constructor: 1}', /2:13: variables\.constructor: "constructor" cannot/],
  [
    'a variable that every object has',
    'nodes:\n  A: {type: vpcs, config: "${constructor} ${toString}"}',
    /3:27: nodes\.A\.config: there is no variable "constructor"/,
  ],
  ...['../../nodes', '..', '', '/etc/hosts', 'etc//hosts', './a'].map((path): (typeof MISTAKES)[number] => [
    `a path of a file that a variable leads out of the node's directory: "${path}"`,
    `variables: {p: "${path}"}\nnodes:\n  PC1: {type: vpcs, files: {"\${p}": x}}`,
    /4:37: nodes\.PC1\.files\.\$\{p\}: ".*" is not below the directory of the node; write a path such as etc\/hosts/,
  ]),
  [
    'one file twice, once its variables are filled in',
    'variables: {p: a}\nnodes:\n  PC1: {type: vpcs, files: {a: x, "${p}": y}}',
    /4:43: nodes\.PC1\.files\.\$\{p\}: there is a file "a" already; choose another path/,
  ],
  [
    'one member twice, once its variables are filled in',
    'variables: {p: ram}\nnodes:\n  S: {type: qemu, properties: {ram: 1, "${p}": 2}}',
    /4:6: nodes\.S: "ram" is there twice once its variables are filled in/,
  ],
];

for (const [what, lines, said] of MISTAKES) {
  test(`a mistake is said with its place and its fix: ${what}`, async () => {
    await assert.rejects(lab(`name: Lab\n${lines}\n`), (error: unknown) => {
      assert.ok(error instanceof LabFileMistakes, String(error));
      assert.match(error.message, said);
      return true;
    });
  });
}

/** What links say of ports, as far as the file alone tells. */
const PORT_MISTAKES: readonly [what: string, lines: string, said: RegExp][] = [
  [
    'a port that a PC has not',
    'nodes:\n  P{1..2}: {type: vpcs}\nlinks:\n  - P1:e1 -- P2:e0',
    /5:5: links "P1:e1 -- P2:e0": P1 has no port "e1"; it has e0/,
  ],
  [
    'a port beyond those of a switch',
    'nodes:\n  P: {type: vpcs}\n  S: {type: ethernet_switch}\nlinks: ["P -- S:8"]',
    /5:9: links "P -- S:8": S has no port "8"; it has e0, .*e7/,
  ],
  [
    'more links than ports',
    'nodes:\n  P{1..3}: {type: vpcs}\nlinks: [P1 -- P2, P1 -- P3]',
    /4:19: links "P1 -- P3": this is link 2 of P1; it has e0/,
  ],
  [
    'an adapter that properties do not give',
    'nodes:\n  P: {type: vpcs}\n  Q: {type: qemu, properties: {adapters: 2}}\nlinks: ["P -- Q:e2"]',
    /5:9: .*Q has no port "e2"; it has e0, e1$/,
  ],
  [
    'a port of a card that is not in the router',
    `nodes:\n  P: {type: vpcs}\n  R: {type: dynamips, properties: {${'platform: c3725, image: a, ram: 128'}}}\nlinks: ["P -- R:f1/0"]`,
    /5:9: .*R has no port "f1\/0"; it has f0\/0, f0\/1$/,
  ],
  [
    'a serial port and an Ethernet one',
    `nodes:\n  P: {type: vpcs}\n  R: {type: dynamips, properties: {${'platform: c3725, image: a, ram: 128, wic0: WIC-1T'}}}\nlinks: ["P:e0 -- R:s0/0"]`,
    /5:9: .*e0 is ethernet, s0\/0 is serial; a link joins two of a kind/,
  ],
];

test('mistakes of links are reported with their place, as far as the file describes the ports', async () => {
  for (const [what, lines, said] of PORT_MISTAKES) {
    const mistakes = portMistakes(await lab(`name: Lab\n${lines}\n`), portsByFile);
    assert.match(mistakes.map(({ line, column, message }) => `${line}:${column}: ${message}`).join('\n'), said, what);
  }
  const clouds = await lab('name: Lab\nnodes:\n  C: {type: cloud}\n  P: {type: vpcs}\nlinks: ["P -- C:eth7"]\n');
  assert.deepEqual(portMistakes(clouds, portsByFile), [], 'the ports of a cloud are those of its host');
});

test('all mistakes are said at once, in the order of the file, and no more than a person reads', async () => {
  const nodes = Array.from({ length: 30 }, (_, index) => `  N${index}: {tipe: vpcs}`).join('\n');
  const error = (await lab(`name: Lab\nnodes:\n${nodes}\n`).catch((caught) => caught)) as LabFileMistakes;
  const lines = error.message.split('\n');
  assert.equal(lines.length, 21);
  assert.match(lines[0]!, /:3:/);
  assert.match(lines[20]!, /and 10 more/);
  // An unknown member hides nothing else.
  const other =
    'name: Lab\nnodes:\n  PC1: {tempalte: x}\n  Box: {type: qemu, properties: {ram: much}}\nlinks: [PC1 -- PC8]\n';
  await assert.rejects(lab(other), /:3:9: .*"template"\?\n.*:4:39: .*"much"\n.*:5:9: .*there is no node "PC8"/);
  await assert.rejects(lab(other.replace('nodes:', 'nodse:')), /^[^\n]*"nodes"\?$/);
});

test('a file without a name, an empty file, a missing file, and a file that is a list', async () => {
  await assert.rejects(lab('nodes: {}'), /lab\.yaml:1:1: name: is required/);
  await assert.rejects(lab(''), /lab\.yaml:1:1: the file: expected members/);
  await assert.rejects(lab('- a'), /lab\.yaml:1:1: /);
  await assert.rejects(readLab(join(directory, 'none.yaml')), /none\.yaml/);
});

test('aliases and merged keys are YAML as ever, but cannot fill the memory', async () => {
  const { nodes } = await lab('name: A\nnodes:\n  A: &a {type: vpcs, z: 3}\n  B: {<<: *a, z: 4}\n');
  assert.deepEqual(
    nodes.map(({ type, z }) => [type, z]),
    [
      ['vpcs', 3],
      ['vpcs', 4],
    ],
  );
  const level = (name: string, of: string) => `${name}: &${name} [${Array(10).fill(`*${of}`).join(', ')}]`;
  const bomb = `name: A\na: &a [x]\n${level('b', 'a')}\n${level('c', 'b')}\n${level('d', 'c')}\n`;
  await assert.rejects(lab(bomb), /Excessive alias count/);
});

test('ranges and placeholders', () => {
  assert.deepEqual(
    copiesOf('R{08..10}').map(({ text }) => text),
    ['R08', 'R09', 'R10'],
  );
  assert.deepEqual(
    copiesOf('S{1..2}:e{5..6}').map(({ text }) => text),
    ['S1:e5', 'S2:e6'],
  );
  assert.deepEqual(filled({ a: ['${n*2}', '${n-1}', '${n}'] }, { n: 3 }), { a: [6, 2, 3] });
  for (const text of ['$${a}', '${a}', 'a $ {b', '$$${n}', '${']) {
    assert.equal(filled(`x${literal(text)}`, { n: 3 }), `x${text}`);
  }
});

test('the JSON Schema of the documents is that of the reader', () => {
  const kept = readFileSync(new URL('../../../docs/lab.schema.json', import.meta.url), 'utf8');
  assert.equal(kept, labSchemaText(), 'labwired lab schema --to docs/lab.schema.json makes it again');
  assert.match(kept, /"additionalProperties": false/);
});

test('the schema for editors has the properties of each type of node', () => {
  const accepts = new Ajv({ strict: false, allErrors: true }).compile(JSON.parse(labSchemaText()));
  const wrong = (node: object): string[] => {
    accepts({ name: 'x', nodes: { N: node } });
    const errors = (accepts.errors ?? []).filter(({ keyword }) => keyword !== 'if' && keyword !== 'anyOf');
    return errors.map(({ instancePath, message, params }) =>
      [instancePath.replace('/nodes/N', ''), message, params['additionalProperty']].filter(Boolean).join(' '),
    );
  };
  for (const node of [
    { type: 'qemu', properties: { ram: 512, adapters: 2, hda_disk_image: 'a.qcow2', on_close: 'power_off' } },
    { type: 'qemu', properties: { ram: '${memory}', on_close: '${end}' } },
    { type: 'docker', properties: { image: 'busybox' } },
    { type: 'vpcs' },
    { template: 'VPCS', properties: { ram: 512 } },
  ])
    assert.deepEqual(wrong(node), [], JSON.stringify(node));
  for (const [node, ...said] of [
    [{ type: 'qemu', properties: { tempalte: 1 } }, '/properties must NOT have additional properties tempalte'],
    [{ type: 'vpcs', properties: { ram: 512 } }, '/properties must NOT have additional properties ram'],
    [{ type: 'docker', properties: {} }, "/properties must have required property 'image'"],
    [{ type: 'docker' }, " must have required property 'properties'"],
    [{ type: 'qemu', properties: { ram: 'much' } }, '/properties/ram must be integer'],
  ] as [object, ...string[]][])
    for (const text of said) assert.ok(wrong(node).includes(text.trim()), wrong(node).join('\n'));
  assert.notDeepEqual(wrong({ template: 'VPCS', properties: { nothing: 1 } }), [], 'no type has it');
});

test('a check with a range is one for each number', async () => {
  const { checks } = await lab(`
name: x
variables: {net: 10.1}
nodes: {'A{1..3}': {type: vpcs}}
checks:
  - {name: 'bench {1..3}', ping: {from: 'A{1..3}', to: '\${net}.\${n}.2'}}
  - ping: {from: A1, to: 10.0.0.1}
`);
  assert.deepEqual(
    checks.map(({ name, ping }) => [name, ping!.from, ping!.to]),
    [
      ...[1, 2, 3].map((number) => [`bench ${number}`, `A${number}`, `10.1.${number}.2`]),
      [undefined, 'A1', '10.0.0.1'],
    ],
  );
});

test('what a check or a start waits for stays a text, also where it is a number', async () => {
  const { checks, nodes } = await lab(
    `name: x
variables: {vlan: 10}
nodes:
  "R{1..2}": {type: vpcs, start: {ready: {console: "\${vlan}"}}}
checks:
  - console: {node: "R{1..2}", send: show, expect: "\${vlan}"}
  - console: {node: "R{1..2}", expect: "\${n}"}
`,
  );
  assert.deepEqual(
    checks.map(({ console }) => console?.expect),
    ['10', '10', '1', '2'],
  );
  assert.deepEqual(
    nodes.map(({ start }) => start.ready?.console),
    ['10', '10'],
  );
});

test('one port in two forms is one port', async () => {
  const links = 'links: ["A:e0 -- SW:e0", "B:e0 -- SW:0"]';
  const text = `name: x\nnodes:\n  A: {type: vpcs}\n  B: {type: vpcs}\n  SW: {type: ethernet_switch}\n${links}\n`;
  const messages = portMistakes(await lab(text), portsByFile).map(({ message }) => message);
  assert.deepEqual(messages, ['links "B:e0 -- SW:0": SW:0 is the same port as SW:e0; name another port']);
});
