// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the placeholders of labs as text look so
// What commands set of nodes, links, labs, templates and hosts: names and values as the API has them, and nothing half done.
import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { zip } from '../controller/archives-zip.ts';
import { client } from './client.ts';

interface NodeObject {
  name: string;
  symbol: string;
  x: number;
  console: number;
  properties: Record<string, unknown>;
}

test('nodes are made of a type and changed, with settings that are checked by their names and forms', async (t) => {
  const labwired = await client(t);
  await labwired.say('lab', 'create', 'Büro');
  await labwired.fails(2, /--type TYPE/, 'node', 'create', 'x');
  await labwired.fails(2, /--template TEMPLATE/, 'node', 'create', 'x', '--type', 'vpcs', '--template', 'VPCS');
  await labwired.fails(2, /--type "qemo": did you mean "qemu"\?/, 'node', 'create', '--type', 'qemo');
  await labwired.fails(2, /--set rma: .*did you mean "ram"\?/, 'node', 'create', '--type', 'qemu', '--set', 'rma=5');
  await labwired.fails(2, /"ram": write NAME=VALUE/, 'node', 'create', '--type', 'qemu', '--set', 'ram');
  await labwired.fails(2, /ram="much": write a whole number/, 'node', 'create', '--type', 'qemu', '--set', 'ram=much');
  await labwired.fails(
    2,
    /boot_priority="q": write c, d, /,
    'node',
    'create',
    '--type',
    'qemu',
    '--set',
    'boot_priority=q',
  );
  await labwired.fails(2, /--set node_id: .*no such setting/, 'node', 'create', '--type', 'vpcs', '--set', 'node_id=1');
  assert.equal(await labwired.say('node', 'list', '-q'), '', 'nothing was made');

  const say = async (...words: string[]): Promise<NodeObject> =>
    JSON.parse(await labwired.say(...words, '--json')) as NodeObject;
  const hub = await say(
    'node',
    'create',
    'Hub ä',
    '--type',
    'ethernet_hub',
    '--set',
    'ports_mapping=[{"name":"p0","port_number":0}]',
  );
  assert.deepEqual(hub.properties['ports_mapping'], [{ name: 'p0', port_number: 0 }]);
  const symbol = ':/symbols/router.svg';
  const pc = await say('node', 'create', '--template', 'VPCS', '--set', `symbol=${symbol}`);
  assert.equal(pc.symbol, symbol);
  await labwired.fails(1, /console/, 'node', 'create', 'broken', '--template', 'VPCS', '--set', 'console=70000');
  assert.equal((await labwired.say('node', 'list', '-q')).split('\n').length, 2, 'the one that could not be is gone');
  const taken = `console=${pc.console}`;
  const refused = new RegExp(`--set ${taken}: this port is unavailable`);
  for (const kind of [
    ['--type', 'vpcs'],
    ['--template', 'VPCS'],
  ])
    await labwired.fails(1, refused, 'node', 'create', ...kind, '--set', taken);
  const free = pc.console + 50;
  const other = await say('node', 'create', '--type', 'vpcs', '--set', `console=${free}`);
  assert.equal(other.console, free);
  await labwired.fails(1, refused, 'node', 'update', other.name, '--set', taken, '--name', 'Renamed', '--at=70,70');
  assert.match(
    await labwired.say('node', 'list'),
    new RegExp(`${other.name} +vpcs +stopped +telnet ${free} `),
    'as it was',
  );
  await labwired.say('node', 'delete', other.name);
  assert.equal((await labwired.say('node', 'list', '-q')).split('\n').length, 2, 'nothing else was made');

  await labwired.say('node', 'update', pc.name, '--name', 'Ünï', '--at=7,8');
  await labwired.say('node', 'update', 'Ünï', hub.name, '--set', 'symbol=:/symbols/cloud.svg');
  const nodes = JSON.parse(await labwired.say('node', 'list', '--json')) as NodeObject[];
  assert.deepEqual(
    nodes.map((node) => node.symbol),
    [':/symbols/cloud.svg', ':/symbols/cloud.svg'],
  );
  assert.equal(nodes.find(({ name }) => name === 'Ünï')?.x, 7);
  await labwired.fails(2, /Say what to change/, 'node', 'update', 'Ünï');
  const noConsole = /--set console: nodes of this type have no such setting/;
  await labwired.fails(2, noConsole, 'node', 'update', 'Ünï', hub.name, '--set', `console=${free}`);
  assert.doesNotMatch(await labwired.say('node', 'list'), new RegExp(` ${free} `), 'nothing was changed');
  await labwired.fails(2, /need a single node/, 'node', 'update', 'Ünï', hub.name, '--name', 'x');
});

test('cables are impaired, cleared, unplugged and plugged, and a lab is renamed and copied with what it has', async (t) => {
  const labwired = await client(t);
  await labwired.say('lab', 'create', 'Büro');
  for (const name of ['PC1', 'PC2']) await labwired.say('node', 'create', name, '--template', 'VPCS');
  await labwired.say('link', 'create', 'PC1', 'PC2');
  const set = async (...words: string[]) =>
    JSON.parse(await labwired.say('link', 'update', 'PC1', ...words, '--json')) as {
      suspend: boolean;
      impairments?: object;
    };
  const delayed = await set('--impair', 'delay.ms=60', '--impair', 'delay.jitter=0', '--impair', 'loss={"percent":1}');
  const both = { delay: { ms: 60, jitter: 0 }, loss: { percent: 1 } };
  assert.partialDeepStrictEqual(delayed.impairments, { forward: both, backward: both });
  const oneWay = await set('--from', 'PC2', '--impair', 'rate.kbit=2000');
  assert.partialDeepStrictEqual(oneWay.impairments, { forward: both, backward: { rate: { kbit: 2000 } } });
  const other = await set('--from', 'PC1', '--clear');
  assert.deepEqual(Object.keys((other.impairments as { forward: object }).forward), [], 'the other direction stays');
  assert.partialDeepStrictEqual(other.impairments, { backward: { rate: { kbit: 2000 } } });
  const line = await set('--impair', 'preset=geo_satellite', '--impair', 'loss.percent=0', '--suspend');
  assert.equal(line.suspend, true);
  assert.match(await labwired.say('link', 'list'), /suspended, impaired/);

  await labwired.say('node', 'start', 'PC1', 'PC2');
  await labwired.say('node', 'exec', 'PC1', 'ip 10.0.0.1/24');
  await labwired.say('node', 'exec', 'PC2', 'ip 10.0.0.2/24');
  const ping = () => labwired.say('node', 'exec', 'PC1', '--', 'ping', '10.0.0.2', '-c', '1');
  assert.doesNotMatch(await ping(), /icmp_seq/, 'unplugged');
  await set('--resume');
  const [, milliseconds] = /time=(\d+)/.exec(await ping()) ?? [];
  assert.ok(Number(milliseconds) > 400, 'there and back by a satellite');
  const clear = await set('--clear');
  assert.deepEqual([clear.suspend, clear.impairments], [false, undefined]);
  assert.match(await ping(), /time=\d{1,2}\./);

  const refused = (code: number, message: RegExp, ...words: string[]) =>
    labwired.fails(code, message, 'link', 'update', 'PC1', ...words);
  await refused(
    2,
    /--impair loss\.percent=101: use a number from 0 to 100 \(percent\)$/m,
    '--impair',
    'loss.percent=101',
  );
  await refused(2, /--impair delay\.ms=much: use a number$/m, '--impair', 'delay.ms=much');
  await refused(2, /--impair preset=geo_sat: did you mean "geo_satellite"\?/, '--impair', 'preset=geo_sat');
  await refused(2, /--impair preset=x: use one of adsl, /, '--impair', 'preset=x');
  await refused(2, /write NAME=VALUE, such as delay\.ms=30/, '--impair', 'delay.ms');
  await refused(2, /write KIND\.MEMBER=VALUE/, '--impair', 'delay.ms.x=1');
  await refused(2, /Say what to change/);
  await refused(2, /choose one of two/, '--suspend', '--resume');
  await refused(2, /a preset applies to both directions/, '--from', 'PC1', '--impair', 'preset=adsl');
  await labwired.say('node', 'create', 'PC3', '--template', 'VPCS');
  await refused(2, /the link does not end at this node/, '--from', 'PC3', '--clear');

  await labwired.fails(1, /running: stop it/, 'node', 'duplicate', 'PC1');
  await labwired.say('lab', 'stop', 'Büro');
  const twin = JSON.parse(await labwired.say('node', 'duplicate', 'PC1', '--at=7,8', '--json')) as NodeObject;
  assert.deepEqual([twin.x, twin.name], [7, 'PC4']);
  await labwired.say('lab', 'update', 'Büro', '--name', 'Büro 2', '--set', 'auto_start=true', '--set', 'grid_size=50');
  await labwired.fails(
    2,
    /labs have no such setting; did you mean "auto_start"/,
    'lab',
    'update',
    'Büro 2',
    '--set',
    'auto_strat=1',
  );
  await labwired.fails(
    2,
    /--set grid_size="wide": write a whole number/,
    'lab',
    'update',
    'Büro 2',
    '--set',
    'grid_size=wide',
  );
  await labwired.fails(2, /Say what to change/, 'lab', 'update', 'Büro 2');
  await labwired.say('lab', 'duplicate', 'Büro 2', 'Kopie', '--new-macs');
  assert.match(await labwired.say('lab', 'list'), /Büro 2 +opened[\s\S]*Kopie +closed/);
  const labs = async (): Promise<string[]> => (await labwired.say('lab', 'list', '-q')).split('\n');
  const before = await labs();
  const isTaken = /The name "Kopie" is taken: choose another one, or append a number with --number/;
  await labwired.fails(1, isTaken, 'lab', 'duplicate', 'Büro 2', 'Kopie');
  await labwired.say('lab', 'export', 'Kopie', '--to', 'Kopie.gns3project');
  await labwired.fails(1, isTaken, 'lab', 'import', 'Kopie.gns3project');
  await labwired.fails(1, isTaken, 'lab', 'import', 'Kopie.gns3project', '--name', 'Kopie', '--quiet');
  await labwired.fails(1, /there is already a .*"Kopie"/, 'lab', 'create', 'Kopie');
  // What else is called so in the projects directory makes the server number a name, too.
  mkdirSync(join(labwired.daemon.state, 'projects', 'Folder'), { recursive: true });
  await labwired.fails(1, /"Folder" is taken/, 'lab', 'duplicate', 'Büro 2', 'Folder');
  await labwired.fails(1, /"Folder" is taken/, 'lab', 'import', 'Kopie.gns3project', '--name', 'Folder');
  assert.deepEqual(await labs(), before, 'no lab was made');
  assert.match(await labwired.say('lab', 'duplicate', 'Büro 2', 'Kopie', '--number'), /Lab "Kopie-1" created/);
  assert.match(await labwired.say('lab', 'import', 'Kopie.gns3project', '--number'), /Lab "Kopie-2" imported/);
});

test('mistakes are answered with the fix: names, options, links, filters and files', async (t) => {
  const labwired = await client(t);
  const { daemon } = labwired;
  await labwired.say('lab', 'create', 'My first lab');
  for (const name of ['PC1', 'PC2']) await labwired.say('node', 'create', name, '--type', 'vpcs');
  await labwired.say('node', 'create', 'Switch1', '--type', 'ethernet_switch');
  await labwired.say('link', 'create', 'PC1', 'Switch1:e1');
  await labwired.say('node', 'start', 'PC1');
  writeFileSync(join(daemon.directory, 'no.gns3project'), 'root:x:0:0\n');
  writeFileSync(join(daemon.directory, 'open.yaml'), 'name: x\nnodes: [a\n');
  for (const [code, message, ...words] of [
    [2, /--impair delay=30: write delay\.ms=30 /, 'link', 'update', 'PC1', '--impair', 'delay=30'],
    [2, /--impair loss=5%: write loss\.percent=5 /, 'link', 'update', 'PC1', '--impair', 'loss=5%'],
    [2, /unknown impairment "dealy"; did you mean "delay"\?/, 'link', 'update', 'PC1', '--impair', 'dealy.ms=3'],
    [2, /unknown impairment "constructor"/, 'link', 'update', 'PC1', '--impair', 'constructor.ms=3'],
    [2, /nodes of this type have no such setting/, 'node', 'update', 'PC1', '--set', 'constructor=3'],
    [2, /delay has no "jiter"; did you mean "jitter"\?/, 'link', 'update', 'PC1', '--impair', 'delay.jiter=3'],
    [1, /no node or link "SwitchX"; did you mean "Switch1"\?/, 'capture', 'SwitchX'],
    [1, /There is no link "core"\. Links: "PC1:e0 -- Switch1:e1"/, 'capture', 'core'],
    [
      1,
      /"PC1" is running: add --running to include their state, or .* lab stop 'My first lab'/,
      'snapshot',
      'create',
      'x',
    ],
    [
      1,
      /no\.gns3project: This is not a lab archive \(\.gns3project\), or it is damaged/,
      'lab',
      'import',
      'no.gns3project',
    ],
    [1, /There is no node "PC9"; did you mean "PC1"\?/, 'node', 'start', 'PC9'],
    [1, /There is no node "Core"\. Nodes: "PC1", "PC2", "Switch1" \(labwired node list\)/, 'node', 'start', 'Core'],
    [1, /Both ends are at node "PC2": a link joins two nodes/, 'link', 'create', 'PC2', 'PC2'],
    [1, /Node "PC1" has no free port: e0 is linked to Switch1:e1/, 'link', 'create', 'PC1', 'PC2'],
    [1, /Switch1:e1 is not free: e1 is linked to PC1:e0/, 'link', 'create', 'PC2', 'Switch1:e1'],
    [1, /icmp and and.*\(labwired help captures\)/, 'capture', 'PC1', '--filter', 'icmp and and', '--to', 'x.pcap'],
    [1, /The name "PC1" is taken: .*--number/, 'node', 'create', 'P C1', '--type', 'vpcs'],
    [2, /--type "qem": did you mean "qemu"\?/, 'image', 'upload', 'new.yaml', '--type', 'qem'],
    [2, /--port 99999: use a whole number from 0 to 65535/, 'serve', '--port', '99999'],
    [1, /There is no lab "Nope"\. Labs: "My first lab" \(labwired lab list\)/, 'lab', 'start', 'Nope'],
    [1, /there is already a lab "My first lab"/, 'lab', 'create', 'My first lab'],
    [1, /open\.yaml:3:1: "\]" is missing: the list above is not closed/, 'lab', 'check', 'open.yaml'],
  ] as const)
    await labwired.fails(code, message, ...words);
  await labwired.say('link', 'create', 'PC2', 'Switch1');
  const both = /"Switch1" has 2 links; name a port: "PC1:e0 -- Switch1:e1", "PC2:e0 -- Switch1:e0"/;
  await labwired.fails(1, both, 'capture', 'Switch1');
  await labwired.say('link', 'delete', 'Switch1 -- PC2');
  assert.match(await labwired.say('link', 'list', '-q'), /^[0-9a-f-]{36}$/);
  assert.match(await labwired.say('node', 'create', 'PC1', '--type', 'vpcs', '--number'), /Node "PC3" created/);
  writeFileSync(
    join(daemon.directory, 'new.yaml'),
    'name: New\nnodes:\n  PC{1..2}: {type: vpcs, config: "ip 10.0.0.${n}/24"}\nlinks: [PC1:e0 -- PC2:e0]\n',
  );
  const counts = /: to create: the lab, 2 nodes, 1 link, 2 files\.$/m;
  assert.match((await labwired.run('plan', 'new.yaml')).out, counts);
});

/** An archive of a lab with one PC of this name. */
function archiveOf(project_id: string, name: string): Buffer {
  const node = { node_id: randomUUID(), name, node_type: 'vpcs', compute_id: 'local', properties: {} };
  const lab = {
    project_id,
    name: 'evil',
    auto_close: false,
    revision: 9,
    type: 'topology',
    version: '2.2.57',
    topology: { nodes: [node], links: [], drawings: [], computes: [] },
  };
  return zip([{ name: 'project.gns3', data: JSON.stringify(lab) }]);
}

test('names with control characters do not reach the terminal: errors, JSON and YAML', async (t) => {
  const labwired = await client(t);
  const { daemon } = labwired;
  const name = 'a\u001b]0;PWN\u0007\u009b31m\u202eevil';
  // No request may give such a name, but a file may have it.
  const id = randomUUID();
  const { status, text } = await daemon.ask('POST', `/v2/projects/${id}/import?name=evil`, {
    body: archiveOf(id, name),
  });
  assert.equal(status, 201, text);
  await daemon.post(`/v2/projects/${id}/open`, {});
  writeFileSync(
    join(daemon.directory, 'bad.yaml'),
    `name: x\nnodes:\n  PC1: {type: vpcs, start: {after: ["${'\\u009b'}2J"]}}\n`,
  );
  for (const words of [
    ['node', 'start', 'nope'],
    ['lab', 'open', 'nope'],
    ['link', 'create', `${name}:e9`, name],
    ['node', 'list'],
    ['node', 'list', '--json'],
    ['lab', 'list', '--json'],
    ['top', '--json', '--once'],
    ['export', id, '--yaml'],
    ['plan', 'bad.yaml'],
  ]) {
    const { out, error } = await labwired.run(...words);
    assert.match(out + error, /\S/, words.join(' '));
    assert.doesNotMatch((out + error).replaceAll('\n', ''), /[\p{Cc}\u202e]/u, words.join(' '));
  }
  const [node] = JSON.parse(await labwired.say('node', 'list', '--json')) as NodeObject[];
  assert.equal(node!.name, name, 'programs get the name as it is');
  assert.deepEqual(Object.keys(parse(await labwired.say('export', id, '--yaml')).nodes), [name]);
});

test('templates are made of a type, or of an appliance whose image is there, and hosts are added, changed and removed', async (t) => {
  const labwired = await client(t);
  const { directory, state } = labwired.daemon;
  const made = await labwired.say(
    'template',
    'create',
    'Büro PC',
    '--type',
    'vpcs',
    '--set',
    'default_name_format=B{0}',
    '-q',
  );
  await labwired.say('lab', 'create', 'Lab');
  assert.match(await labwired.say('node', 'create', '--template', 'Büro PC'), /Node "B1" created/);
  await labwired.say('template', 'update', made, '--name', 'Host', '--set', 'default_name_format=H{0}');
  assert.match(await labwired.say('node', 'create', '--template', 'Host'), /Node "H1" created/);
  const router = ['template', 'create', 'R', '--type', 'dynamips', '--set'];
  await labwired.fails(2, /platform="c720": write c7200, /, ...router, 'platform=c720');
  await labwired.fails(2, /no such setting/, ...router, 'platform=c7200', '--set', 'iomem=5');
  await labwired.say(...router, 'platform=c2691', '--set', 'image=x.image', '--set', 'iomem=5');
  await labwired.fails(2, /did you mean "ram"\?/, 'template', 'update', 'R', '--set', 'rma=5');
  await labwired.fails(2, /"quemu": did you mean "qemu"/, 'template', 'create', 'Q', '--type', 'quemu');
  await labwired.fails(2, /NAME is missing/, 'template', 'create', '--type', 'qemu');
  await labwired.fails(2, /--type TYPE, such as qemu, or --appliance/, 'template', 'create', 'Q');
  await labwired.fails(1, /built-in/, 'template', 'delete', 'VPCS');
  await labwired.say('template', 'delete', 'Host', 'R');
  assert.equal((await labwired.say('node', 'list', '-q')).split('\n').length, 2, 'nodes stay');

  const image = 'an image';
  const md5sum = createHash('md5').update(image).digest('hex');
  mkdirSync(join(state, 'appliances'), { recursive: true });
  const box = {
    appliance_id: '5dbbbf90-0000-4000-8000-000000000001',
    name: 'Black Box',
    category: 'router',
    description: 'A box.',
    vendor_name: 'Nobody',
    vendor_url: 'https://nobody.example/',
    product_name: 'Box',
    registry_version: 4,
    status: 'stable',
    maintainer: 'Nobody',
    maintainer_email: 'nobody@nobody.example',
    qemu: {
      adapter_type: 'e1000',
      adapters: 2,
      ram: 64,
      hda_disk_interface: 'ide',
      arch: 'x86_64',
      console_type: 'telnet',
    },
    images: [{ filename: 'box.img', version: '1.0', md5sum, filesize: image.length }],
    versions: [{ name: '1.0', images: { hda_disk_image: 'box.img' } }],
  };
  writeFileSync(join(state, 'appliances/box.gns3a'), JSON.stringify(box));
  assert.match(await labwired.say('appliance', 'list', 'black'), /\nBlack Box +1\.0 +qemu +box\.img$/);
  await labwired.fails(
    1,
    /Black Box 1\.0 is missing box\.img \(MD5 /,
    'template',
    'create',
    '--appliance',
    'Black Box',
  );
  writeFileSync(join(directory, 'other-name.img'), image);
  await labwired.say('image', 'upload', 'other-name.img', '--type', 'qemu');
  assert.match(await labwired.say('appliance', 'list'), /\nBlack Box +1\.0 +qemu +all there$/);
  const ofBox = ['template', 'create', 'Mine', '--appliance', 'Black Box'];
  await labwired.fails(1, /there is no version "2\.0"; known are 1\.0/, ...ofBox, '--version', '2.0');
  const template = JSON.parse(await labwired.say(...ofBox, '--version', '1.0', '--json')) as Record<string, unknown>;
  assert.partialDeepStrictEqual(template, { name: 'Mine', ram: 64, hda_disk_image: 'other-name.img' });

  const { port } = labwired.daemon;
  const nowhere = 'http://127.0.0.1:1';
  const added = await labwired.say('compute', 'add', 'rack 2', nowhere, '-q');
  await labwired.fails(
    2,
    /can read a password in a command line/,
    'compute',
    'add',
    'x',
    `http://u:p@127.0.0.1:${port}`,
  );
  await labwired.fails(
    2,
    /is missing: use --compute-password-file/,
    'compute',
    'add',
    'x',
    `http://u@127.0.0.1:${port}`,
  );
  await labwired.fails(2, /is not a host address: write http/, 'compute', 'add', 'x', '127.0.0.1');
  writeFileSync(join(directory, 'secret'), 'p@ss\n');
  const withPassword = ['--compute-password-file', 'secret'];
  await labwired.fails(2, /needs a user in the URL/, 'compute', 'update', 'rack 2', ...withPassword);
  const changed = JSON.parse(
    await labwired.say(
      'compute',
      'update',
      'rack 2',
      '--url',
      'https://ann@[::1]:443',
      ...withPassword,
      '--name',
      'rack 3',
      '--json',
    ),
  ) as Record<string, unknown>;
  assert.partialDeepStrictEqual(changed, { protocol: 'https', host: '::1', port: 443, user: 'ann', name: 'rack 3' });
  await labwired.say('compute', 'update', 'rack 3', ...withPassword);
  await labwired.fails(2, /Say what to change/, 'compute', 'update', 'rack 3');
  await labwired.fails(1, /"local" is this server itself/, 'compute', 'remove', 'local');
  assert.equal(await labwired.say('compute', 'remove', 'rack 3', '-q'), added);
  assert.equal(await labwired.say('compute', 'list', '-q'), 'local');
});
