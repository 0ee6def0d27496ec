// Labs as text, by the executable on a server: planned, applied, applied again, changed, broken off and destroyed.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the placeholders of the format look so
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { findProgram } from '../../src/host/processes/program-path.ts';
import { fill, scratchFileSystem } from '../store/scratch.ts';
import { BUILT_IN, type Client, client as newClient, Terminal } from './client.ts';
import { eventually } from './daemon.ts';
import type { NodeObject } from './lab.ts';
import { releaseServer } from './release-server.ts';
import { pidOf } from './survivors.ts';

const CLASS = `
name: Büro 1
variables: {net: 10.0.0}
nodes:
  PC{1..4}:
    template: VPCS
    config: |
      ip \${net}.\${n}/24
  SW 1: {type: ethernet_switch, z: 3}
  Hubä: {type: ethernet_hub, at: [300, 300]}
links:
  - PC{1..4}:e0 -- SW 1:{0..3}
  - link: Hubä -- SW 1
    filters: {packet_loss: 5}
    impairments: {preset: adsl}
drawings:
  - {svg: '<svg height="10" width="10"><rect/></svg>', at: [5, 6]}
`;

interface Bench {
  client: Client;
  /** Writes lab.yaml. */
  file(text: string): void;
  /** How often the server was asked so since the last time. */
  asked(): string[];
  nodes(): Promise<NodeObject[]>;
  counts(): Promise<{ nodes: string[]; links: number; drawings: number }>;
}

async function bench(t: TestContext, config = BUILT_IN): Promise<Bench> {
  const client = await newClient(t, { config });
  const { daemon } = client;
  let seen = daemon.log.length;
  const labs = async (): Promise<string[]> =>
    ((await daemon.get('/v2/projects')) as { project_id: string }[]).map(({ project_id }) => project_id);
  const list = async <T>(kind: string): Promise<T[]> => {
    const all = await labs();
    assert.equal(all.length, 1, 'there is one lab');
    return (await daemon.get(`/v2/projects/${all[0]}/${kind}`)) as T[];
  };
  return {
    client,
    file: (text) => writeFileSync(join(daemon.directory, 'lab.yaml'), text),
    asked: () => {
      const lines = [...daemon.log.slice(seen).matchAll(/request method=(\w+) path=(\S+)/g)];
      seen = daemon.log.length;
      return lines.map(([, method, path]) => `${method} ${path}`).filter((line) => !line.startsWith('GET'));
    },
    nodes: () => list('nodes'),
    counts: async () => ({
      nodes: (await list<{ name: string }>('nodes')).map(({ name }) => name).sort(),
      links: (await list('links')).length,
      drawings: (await list('drawings')).length,
    }),
  };
}

const WHOLE = { nodes: ['Hubä', 'PC1', 'PC2', 'PC3', 'PC4', 'SW1'], links: 5, drawings: 1 };

test('a lab is made as its file says, and a second apply asks the server for nothing but to read', async (t) => {
  const { client, file, asked, counts } = await bench(t);
  file(CLASS);
  const planned = await client.run('plan');
  assert.equal(planned.code, 2, 'there is something to do');
  assert.match(planned.out, /\+ node PC4 \(VPCS\)[\s\S]*to create: the lab, /);
  assert.deepEqual(asked(), [], 'a plan changes nothing');
  assert.match(await client.say('apply'), /is up to date \(17 changes applied\)/);
  assert.deepEqual(await counts(), WHOLE);
  asked();
  assert.match(await client.say('plan'), /nothing to do/);
  assert.equal(await client.say('apply'), 'Lab "Büro 1" is up to date.');
  assert.equal(await client.say('diff'), '');
  assert.deepEqual(asked(), []);
});

test('nodes of a type look and begin as those of its built-in template, and the text of the lab does not say so', async (t) => {
  const { client, file, nodes } = await bench(t);
  const { daemon } = client;
  file(
    'name: Looks\nnodes:\n  PC1: {type: vpcs}\n  PC2: {type: vpcs, config: ""}\n  SW: {type: ethernet_switch}\n  H: {type: ethernet_hub, symbol: ":/symbols/computer.svg"}\n',
  );
  await client.say('apply');
  assert.match(await client.say('plan'), /nothing to do/);
  await client.say('node', 'create', 'PC3', '--type', 'vpcs');
  const made = (await nodes()) as (NodeObject & { symbol: string; node_type: string; project_id: string })[];
  const symbols = made.map(({ name, symbol }) => `${name} ${symbol.replace('/classic/', '/')}`).sort();
  assert.deepEqual(symbols, [
    'H :/symbols/computer.svg',
    ...['PC1', 'PC2', 'PC3'].map((name) => `${name} :/symbols/vpcs_guest.svg`),
    'SW :/symbols/ethernet_switch.svg',
  ]);
  for (const { name, node_id: id, project_id: lab } of made.filter(({ node_type: type }) => type === 'vpcs')) {
    const script = await fetch(`${daemon.url}/v2/projects/${lab}/nodes/${id}/files/startup.vpc`);
    const content = script.status === 200 ? await script.text() : '';
    assert.equal(/set pcname/.test(content), name !== 'PC2', name);
  }
  const text = await client.say('export', 'Looks', '--yaml');
  assert.doesNotMatch(text, /vpcs_guest|ethernet_switch\.svg|pcname/);
  assert.match(text, /symbol: :\/symbols\/computer\.svg/);
});

test('a change is shown before, and touches nothing else', async (t) => {
  const { client, file, asked, counts } = await bench(t);
  file(CLASS);
  await client.say('apply');
  asked();
  file(CLASS.replace('z: 3', 'z: 4').replace('packet_loss: 5', 'packet_loss: 7').replace('[5, 6]', '[5, 7]'));
  const { out, code } = await client.run('diff');
  assert.equal(code, 2);
  assert.match(out, /~ node SW1, line 9\n- +z: 3\n\+ +z: 4/);
  assert.match(out, /\{"packet_loss":\[5\]\}[\s\S]*\{"packet_loss":\[7\]\}/);
  await client.say('apply');
  const changed = asked();
  assert.equal(changed.length, 3, changed.join('\n'));
  assert.ok(
    changed.every((line) => line.startsWith('PUT')),
    changed.join('\n'),
  );
  assert.deepEqual(await counts(), WHOLE);
  const plan = JSON.parse(await client.say('plan', '--json'));
  assert.deepEqual(plan.changes, []);
});

test('what the file does not have is deleted on confirmation, and the question is asked at its place', async (t) => {
  const { client, file, asked, counts } = await bench(t);
  file(CLASS);
  await client.say('apply');
  asked();
  file(CLASS.replace('PC{1..4}:\n', 'PC{1..3}:\n').replace('PC{1..4}:e0 -- SW 1:{0..3}', 'PC{1..3}:e0 -- SW 1:{0..2}'));
  const refused = await client.run('apply');
  assert.equal(refused.code, 1);
  assert.match(refused.error, /deletes what the file does not have.*node PC4.*--yes/);
  assert.deepEqual(asked(), [], 'nothing was done');
  await client.say('apply', '--yes');
  assert.deepEqual(await counts(), { ...WHOLE, nodes: WHOLE.nodes.filter((name) => name !== 'PC4'), links: 4 });

  file(CLASS.replace('template: VPCS', 'template: VCPS'));
  await client.fails(
    1,
    /lab\.yaml:5:3: nodes\.PC1\.template: the server has no template "VCPS"; did you mean "VPCS"\?/,
    'plan',
  );
  file(CLASS.replace('{0..3}', '{6..9}'));
  const port = await client.run('plan');
  assert.match(port.error, /lab\.yaml:12:5: links "PC3:e0 -- SW 1:8": SW 1 has no port "8"; it has e0/);
  await client.fails(1, /no file or directory|none\.yaml/, 'plan', 'none.yaml');

  asked();
  for (const [from, to, said] of [
    [
      'template: VPCS',
      'template: VPCS\n    properties: {ram: 1}',
      /lab\.yaml:7:18: nodes\.PC\{1\.\.4\}\.properties\.ram: /,
    ],
    [
      'template: VPCS',
      'template: VPCS\n    console: {type: vnc}',
      /lab\.yaml:7:21: nodes\..*\.console\.type: .*telnet/,
    ],
    [
      'z: 3',
      'compute: elsewhere',
      /lab\.yaml:9:42: nodes\.SW 1\.compute: the server knows no host "elsewhere"; available: local/,
    ],
    [
      'z: 3',
      'symbol: ":/symbols/ruoter.svg"',
      /lab\.yaml:9:41: nodes\.SW 1\.symbol: the server has no symbol ":\/symbols\/ruoter\.svg"; did you mean ".*router\.svg"\?/,
    ],
    [
      'z: 3}',
      'z: 3}\n  Box: {type: qemu, properties: {platform: x86_64, hdb_disk_image: none.qcow2}}',
      /lab\.yaml:10:68: nodes\.Box\.properties\.hdb_disk_image: there is no image "none\.qcow2" on local; none is available\. Upload it: labwired image upload none\.qcow2 --type qemu$/m,
    ],
    ['Hubä -- SW 1', 'Hubä:e8 -- SW 1', /lab\.yaml:13:11: links "Hubä:e8 -- SW 1": Hubä has no port "e8"; it has e0/],
  ] as const) {
    file(CLASS.replace('Büro 1', 'Büro 2').replace(from, to));
    await client.fails(1, said, 'apply', '--yes');
  }
  assert.deepEqual(asked(), [], 'what is wrong is said before anything is made');
  await client.fails(1, /one argument too many/, 'plan', 'a', 'b');
});

test('ports that a node is yet to get are joined in the same go', async (t) => {
  const { client, file, counts } = await bench(t);
  const mapping = (ports: number): string =>
    JSON.stringify(Array.from({ length: ports }, (_, number) => ({ name: `Ethernet${number}`, port_number: number })));
  const lab = (ports: number, links: string): string =>
    `name: Growing\nnodes:\n  PC{1..3}: {template: VPCS}\n  H: {type: ethernet_hub, properties: {ports_mapping: ${mapping(ports)}}}\nlinks: [${links}]\n`;
  file(lab(1, 'PC1 -- PC2'));
  await client.say('apply');
  file(lab(3, 'PC1 -- PC2, PC3 -- H:2'));
  await client.say('apply');
  assert.deepEqual(await counts(), { nodes: ['H', 'PC1', 'PC2', 'PC3'], links: 2, drawings: 0 });
  assert.match(await client.say('plan'), /nothing to do/);
});

test('what a lab has that its text has not is said with the text', {
  skip: (await findProgram('qemu-system-x86_64')) === undefined && 'qemu-system-x86_64 is not installed',
}, async (t) => {
  const { client, file, counts, nodes } = await bench(t);
  file('name: Whole\nnodes:\n  PC1: {template: VPCS}\n');
  await client.say('apply');
  const whole = await client.run('export', 'Whole', '--yaml');
  assert.equal(whole.error, '', 'nothing is left out');
  assert.doesNotMatch(whole.out, /console/, 'numbers of consoles are given anew');
  const [{ project_id: lab }] = (await client.daemon.get('/v2/projects')) as [{ project_id: string }];
  const [pc] = (await client.daemon.get(`/v2/projects/${lab}/nodes`)) as [{ node_id: string; console: number }];
  const number = pc.console + 40;
  await client.daemon.ask('PUT', `/v2/projects/${lab}/nodes/${pc.node_id}`, { body: { console: number } });
  file(await client.say('export', 'Whole', '--yaml', '--consoles'));
  await client.say('destroy', '-y');
  await client.say('apply');
  const [again] = (await nodes()) as unknown as [{ console: number }];
  assert.equal(again.console, number, 'unless they are asked for');
  await client.fails(2, /--consoles needs --yaml/, 'export', 'Whole', '--consoles');
  // An image that is there is no mistake.
  const { daemon } = client;
  const box = 'name: Box\nnodes:\n  Box: {type: qemu, properties: {platform: x86_64, hda_disk_image: disk.raw}}\n';
  writeFileSync(join(daemon.directory, 'box.yaml'), box);
  await client.fails(1, /box\.yaml:3:\d+: .*hda_disk_image: there is no image/, 'plan', 'box.yaml');
  writeFileSync(join(daemon.directory, 'disk.raw'), Buffer.alloc(65_536));
  await client.say('image', 'upload', 'disk.raw', '--type', 'qemu');
  assert.match((await client.run('plan', 'box.yaml')).out, /\+ node Box/);
  const [{ project_id: id }] = (await daemon.get('/v2/projects')) as [{ project_id: string }];
  await daemon.post(`/v2/projects/${id}/snapshots`, { name: 'before' });
  await daemon.post(`/v2/projects/${id}/nodes`, {
    name: 'Box',
    node_type: 'qemu',
    compute_id: 'local',
    properties: { platform: 'x86_64' },
  });
  const { out, error } = await client.run('export', 'Whole', '--yaml');
  for (const said of [
    /Disks and other files of nodes are not in it \(Box\): an archive has them/,
    /Snapshots are not in it \(1\)/,
  ]) {
    assert.match(error, said);
    assert.match(out, new RegExp(`^# .*${said.source}`, 'm'), 'in the file, too');
  }
  assert.deepEqual((await counts()).nodes, ['Box', 'PC1']);
});

test('only the lab of the file is destroyed, and it is found by its id under another name', async (t) => {
  const { client, file } = await bench(t);
  await client.say('lab', 'create', 'Other');
  file(CLASS);
  await client.say('apply', '--json');
  const { lab } = JSON.parse(await client.say('plan', '--json'));
  file(CLASS.replace('name: Büro 1', `name: Büro 2\nid: ${lab.project_id}`));
  await client.say('apply');
  assert.match(await client.say('lab', 'list'), /Büro 2/);
  const refused = await client.run('destroy');
  assert.match(refused.error, /deletes lab "Büro 2" with 6 nodes.*--yes/);
  await client.say('destroy', '-y');
  assert.match(await client.say('lab', 'list'), /^LAB.*\nOther .*$/);
  assert.match(await client.say('destroy', '-y'), /nothing to delete/);
});

const PCS = `
name: Running
nodes:
  PC{1..3}:
    template: VPCS
    config: set pcname \${n}-one
`;

test('nodes that run stay running, and a restart is done for what needs it and when it is allowed', {
  skip: (await findProgram('vpcs')) === undefined && 'vpcs is not installed',
}, async (t) => {
  const { client, file, nodes } = await bench(t, '[VPCS]\nengine = vpcs\n');
  file(PCS);
  await client.say('apply');
  await client.say('lab', 'start', 'Running');
  await client.say('wait', 'started');
  const pids = async () => (await nodes()).map(pidOf);
  const before = await pids();
  assert.ok(before.every((pid) => pid !== undefined));
  file(`${PCS}  PC4: {template: VPCS}\nlinks: ["PC1 -- PC4"]\n`);
  await client.say('apply');
  assert.deepEqual((await pids()).slice(0, 3), before, 'a node more and a link change no process');

  file(
    `${PCS.replace('1..3', '1..2')}  PC3: {template: VPCS, config: "set pcname three"}\n  PC4: {template: VPCS}\nlinks: ["PC1 -- PC4"]\n`,
  );
  const plan = await client.run('plan');
  assert.match(plan.out, /write file PC3: startup\.vpc, needs a restart\n.*to change: 1 file \(1 with a restart\)/);
  const left = await client.run('apply');
  assert.deepEqual([left.code, (await pids()).slice(0, 3)], [2, before]);
  assert.match(left.error, /Left for a restart, which --restart does: PC3/);
  await client.say('apply', '--restart');
  const after = await pids();
  assert.deepEqual(after.slice(0, 2), before.slice(0, 2));
  assert.ok(after[2] !== undefined && after[2] !== before[2], 'PC3 was started anew');
  assert.match(await client.say('plan'), /nothing to do/);
});

/** Twelve nodes, a star. */
const STAR = `
name: Star
nodes:
  PC{1..11}: {template: VPCS, config: "ip 10.0.0.\${n}/24"}
  Hub{1..2}: {type: ethernet_hub, properties: {ports_mapping: [{name: Ethernet0, port_number: 0}, {name: Ethernet1, port_number: 1}]}}
links:
  - PC{1..2}:e0 -- Hub{1..2}:e0
drawings:
  - {svg: <svg/>, at: [0, 0]}
  - {svg: <svg/>, at: [10, 0]}
`;

const STAR_WHOLE = {
  nodes: [...Array.from({ length: 11 }, (_, index) => `PC${index + 1}`), 'Hub1', 'Hub2'].sort(),
  links: 2,
  drawings: 2,
};

test('an apply that is killed or interrupted anywhere is made whole by the next one', async (t) => {
  const { client, file, counts, nodes } = await bench(t);
  file(STAR);
  await client.say('apply');
  const places = (await nodes()).map(({ name, x, y }) => [name, x, y]).sort();
  await client.say('destroy', '--yes');
  for (const [after, signal] of [
    ['POST /v2/projects ', 'SIGKILL'],
    ['POST nodes 3', 'SIGKILL'],
    ['POST nodes 8', 'SIGINT'],
    ['POST files 2', 'SIGKILL'],
    ['POST links 1', 'SIGTERM'],
    ['POST drawings 1', 'SIGKILL'],
  ] as const) {
    const [, kind, count = '1'] = after.split(' ');
    const begin = client.daemon.log.length;
    const child = client.spawn(['apply'], ['ignore', 'ignore', 'pipe']);
    const pattern = new RegExp(`request method=POST path=\\S*/${kind === '/v2/projects' ? 'projects' : kind}\\b`, 'g');
    await eventually(
      after,
      () => client.daemon.log.slice(begin).match(pattern)?.length ?? 0,
      (seen) => seen >= Number(count) || child.exitCode !== null,
    );
    child.kill(signal);
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    await client.say('apply', '-q');
    assert.deepEqual(await counts(), STAR_WHOLE, `broken off after ${after} by ${signal}`);
    assert.deepEqual(
      (await nodes()).map(({ name, x, y }) => [name, x, y]).sort(),
      places,
      'it looks as if nothing had happened',
    );
    assert.match(await client.say('plan'), /nothing to do/);
    await client.say('destroy', '--yes');
  }
});

test('an apply during which the server dies, or finds its disk full, says so, and the next one makes the lab whole', async (t) => {
  const projects = await scratchFileSystem(t, '1m');
  if (projects === undefined) return;
  const { client, file, counts } = await bench(t, `${BUILT_IN}[Server]\nprojects_path = ${projects}\n`);
  const { daemon } = client;
  file(STAR);
  const begin = daemon.log.length;
  const broken = client.run('apply');
  const made = (): number => daemon.log.slice(begin).match(/request method=POST path=\S*\/nodes /g)?.length ?? 0;
  await eventually('some nodes', made, (count) => count >= 4);
  await daemon.kill();
  const { code, error } = await broken;
  assert.equal(code, 1);
  assert.match(error, /^labwired: http.* cannot be reached: .*\n$/);
  await daemon.start();
  client.environment['LABWIRE_SERVER'] = daemon.url;
  await client.say('apply', '-q');
  assert.deepEqual(await counts(), STAR_WHOLE, 'after the death of the server');
  assert.match(await client.say('plan'), /nothing to do/);

  const ballast = join(projects, 'ballast');
  fill(ballast);
  const long = `ip 10.0.0.99/24\n${'#'.repeat(200_000)}\n`;
  writeFileSync(join(daemon.directory, 'long.vpc'), long);
  file(STAR.replace('  Hub{1..2}', '  Last: {template: VPCS, config: {file: long.vpc}}\n  Hub{1..2}'));
  await client.fails(1, /lab\.yaml:\d+:\d+: (node Last|file Last: startup\.vpc): .*no space/i, 'apply', '-q');
  rmSync(ballast);
  await client.say('apply', '-q');
  const whole = { ...STAR_WHOLE, nodes: [...STAR_WHOLE.nodes, 'Last'].sort() };
  assert.deepEqual(await counts(), whole, 'after the disk was full');
  assert.match(await client.say('plan'), /nothing to do/);
});

test('two applies at once make one lab', async (t) => {
  const { client, file, counts } = await bench(t);
  file(STAR);
  for (let turn = 0; turn < 3; turn++) {
    const ended = await Promise.all([client.run('apply'), client.run('apply'), client.run('apply')]);
    for (const { code, error } of ended) assert.deepEqual([code, error], [0, '']);
    assert.deepEqual(await counts(), STAR_WHOLE);
    await client.say('destroy', '--yes');
  }
});

test('a lab that is closed is opened by apply, and a missing server is named', async (t) => {
  const { client, file } = await bench(t);
  file(CLASS);
  await client.say('apply');
  await client.say('lab', 'close', 'Büro 1');
  assert.match((await client.run('plan')).out, /~ open lab Büro 1\nLab "Büro 1": to change: the lab/);
  await client.say('apply');
  assert.match(await client.say('plan'), /nothing to do/);
  rmSync(join(client.daemon.directory, 'none'), { force: true });
  await client.fails(1, /cannot be reached: nothing listens there/, 'apply', '--server', 'http://127.0.0.1:9');
});

test('a server of the release is asked for nothing that it does not have, and what only Labwire has is said before', async (t) => {
  const { client, file, asked, counts } = await bench(t);
  const { url, refused } = await releaseServer(t, client.daemon);
  client.environment['LABWIRE_SERVER'] = url;
  const plain = CLASS.replace('    impairments: {preset: adsl}\n', '    impairments: {}\n');
  file(plain);
  await client.say('apply');
  assert.deepEqual(await counts(), WHOLE);
  await client.say('apply');
  const text = await client.say('export', 'Büro 1', '--yaml');
  await client.say('destroy', '-y');
  file(text);
  await client.say('apply');
  assert.match(await client.say('plan'), /nothing to do/);
  assert.deepEqual(refused, []);
  asked();
  file(CLASS);
  await client.fails(
    1,
    /lab\.yaml:13:11: links "Hubä -- SW 1": impairments are Labwire's own; use filters \(http.* no Labwire\)/,
    'apply',
  );
  file(plain.replace('z: 3', 'start: {order: 2}'));
  await client.fails(1, /lab\.yaml:9:48: nodes\.SW 1\.start\.order: it is Labwire's own; use start\.after/, 'apply');
  file(`${plain}checks:\n  - frame: {link: Hubä, filter: icmp, timeout: 1}\n`);
  const { out } = await client.run('test');
  assert.match(
    out,
    /FAILED {2}frame on Hubä: icmp: http.* is not a Labwire and cannot filter captures: leave out the filter/,
  );
  assert.deepEqual(asked(), [], 'nothing was tried');
  assert.deepEqual([...new Set(refused)], ['GET /v2/operations'], 'which is how a Labwire is known');
});

test('a plan fits a terminal of 40 columns, and a person is asked before something goes', async (t) => {
  const { client, file, counts } = await bench(t);
  file(CLASS);
  const narrow = new Terminal(t, client, 40, ['plan']);
  assert.deepEqual((await narrow.ended)[0], 2);
  const lines = narrow.text.trimEnd().split('\r\n').slice(0, -1);
  assert.ok(
    lines.every((line) => line.length <= 40),
    lines.join('\n'),
  );
  await client.say('apply');
  file(CLASS.replace(/drawings:[\s\S]*/, ''));
  // Enter, and Ctrl+D.
  for (const key of ['\r', '\x04']) {
    const no = new Terminal(t, client, 80, ['apply']);
    await no.shows(/\[y\/N\] /);
    no.type(key);
    assert.deepEqual((await no.ended)[0], 1);
    assert.match(no.text, /Nothing was done/);
  }
  assert.equal((await counts()).drawings, 1);
  const yes = new Terminal(t, client, 80, ['apply']);
  await yes.shows(/\[y\/N\] /);
  yes.type('y\r');
  assert.deepEqual((await yes.ended)[0], 0);
  assert.equal((await counts()).drawings, 0);
});
