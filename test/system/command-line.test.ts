// The executable as a client of another one that serves: a lab is made, started, used and removed by commands alone.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { BUILT_IN, Client, client, Terminal } from './client.ts';
import { eventually } from './daemon.ts';
import { executable } from './executable.ts';
import { Lab, missing } from './lab.ts';

test('a lab is made, started, pinged, captured, moved and removed by commands alone', {
  skip: missing('tshark'),
}, async (t) => {
  const labwired = await client(t);
  await labwired.say('lab', 'create', 'Büro 1');
  for (const name of ['PC1', 'PC2']) await labwired.say('node', 'create', name, '--template', 'VPCS');
  await labwired.say('node', 'create', 'Hubä', '--template', 'Ethernet hub');
  await labwired.say('link', 'create', 'PC1', 'Hubä');
  await labwired.say('link', 'create', 'PC2:e0', 'Hubä');
  await labwired.say('lab', 'start', 'Büro 1');
  await labwired.say('wait', 'started');
  assert.match(await labwired.say('lab', 'list'), /^LAB +STATUS +RUNNING +ID\nBüro 1 +opened +3\/3 +[0-9a-f-]{36}$/);
  assert.match(await labwired.say('node', 'list'), /PC2 +vpcs +started +telnet \d+/);
  assert.match(await labwired.say('link', 'list'), /PC1:e0 +Hubä:e0[\s\S]*PC2:e0 +Hubä:e1/);

  assert.match(await labwired.say('node', 'exec', 'PC1', 'ip 10.0.0.1/24'), /10\.0\.0\.1 255\.255\.255\.0/);
  await labwired.say('node', 'exec', 'PC2', 'ip 10.0.0.2/24');
  const file = join(labwired.daemon.directory, 'ping.pcap');
  const capture = labwired.spawn(['capture', 'PC1', '--to', file]);
  await eventually('the capture', () => existsSync(file) && readFileSync(file).length >= 24);
  const pinged = await labwired.say('node', 'exec', 'PC1', 'ping 10.0.0.2 -c 2');
  assert.equal(pinged.match(/10\.0\.0\.2 icmp_seq=\d ttl=64/g)?.length, 2, pinged);
  assert.doesNotMatch(pinged, /ping 10|PC1>/, 'neither echo nor prompt');
  await eventually('the frames', () => readFileSync(file).length > 500);
  capture.kill('SIGINT');
  assert.deepEqual(await once(capture, 'close'), [0, null]);
  const frames = execFileSync('tshark', ['-r', file, '-Y', 'icmp'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  assert.equal(frames.match(/Echo \(ping\) reply/g)?.length, 2, frames);
  const links = JSON.parse(await labwired.say('link', 'list', '--json')) as { capturing: boolean }[];
  assert.deepEqual(
    links.map(({ capturing }) => capturing),
    [false, false],
    'the capture has ended with the command',
  );
  const all = join(labwired.daemon.directory, 'all.pcapng');
  await labwired.say('capture', '--merge', '--to', all);
  const named = execFileSync('tshark', ['-r', all, '-Y', 'icmp', '-T', 'fields', '-e', 'frame.interface_name'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  assert.deepEqual(new Set(named.trim().split('\n')), new Set(['PC1 Ethernet0 to Hubä Ethernet0']));
  await labwired.fails(1, /has not been captured since/, 'capture', '--merge', 'PC1', 'PC2', '--to', `${all}.2`);
  assert.equal(existsSync(`${all}.2`), false);

  // Links without ends, which clients create while they draw them, are ignored.
  const drawn = `/v2/projects/${await labwired.say('lab', 'list', '-q')}/links`;
  const { link_id } = (await labwired.daemon.post(drawn, { nodes: [] })) as { link_id: string };
  assert.match(await labwired.say('lab', 'layout', 'Büro 1', '--style', 'layered'), /is laid out: 3 nodes moved/);
  const placed = JSON.parse(await labwired.say('node', 'list', '--json')) as { name: string; x: number; y: number }[];
  const [pc1, pc2, hub] = ['PC1', 'PC2', 'Hubä'].map((name) => placed.find((node) => node.name === name)!);
  assert.ok(hub!.y < pc1!.y && pc1!.y === pc2!.y && Math.abs(pc1!.x - pc2!.x) >= 90, JSON.stringify(placed));
  assert.match(await labwired.say('lab', 'layout', 'Büro 1', '--style', 'layered'), /0 nodes moved/, 'and stays so');
  await labwired.daemon.ask('DELETE', `${drawn}/${link_id}`);
  await labwired.fails(
    2,
    /no style "layerd"; did you mean "layered"\?/,
    'lab',
    'layout',
    'Büro 1',
    '--style',
    'layerd',
  );

  // Locked, isolated and reset, as others do it on the page.
  assert.match(await labwired.say('lab', 'lock', 'Büro 1'), /Lab "Büro 1" is locked\./);
  await labwired.fails(1, /locked: the node "PC1" is locked; unlock it/, 'node', 'delete', 'PC1');
  await labwired.say('lab', 'unlock', 'Büro 1');
  assert.match(await labwired.say('node', 'isolate', 'Hubä'), /is isolated/);
  assert.match(await labwired.say('link', 'list'), /PC1:e0.*suspended[\s\S]*PC2:e0.*suspended/);
  assert.match(await labwired.say('node', 'unisolate', 'Hubä'), /is connected again/);
  assert.doesNotMatch(await labwired.say('link', 'list'), /suspended/);
  assert.match(await labwired.say('link', 'reset', 'PC1'), /^Link between PC1:e0 and Hubä:e0 is reset\.$/);

  assert.match(
    await labwired.say('node', 'exec', 'PC1', '--until', 'icmp_seq=2', '--', 'ping', '10.0.0.2', '-t'),
    /seq=2/,
  );
  await labwired.fails(1, /running: stop all nodes/, 'lab', 'export', 'Büro 1');
  assert.equal(existsSync(join(labwired.daemon.directory, 'Büro 1.gns3project')), false, 'no half file is left');
  await labwired.say('lab', 'stop', 'Büro 1');
  await labwired.say('lab', 'export', 'Büro 1');
  await labwired.fails(1, /Büro 1\.gns3project exists already: .*--force/, 'lab', 'export', 'Büro 1');
  const copy = await labwired.say('lab', 'import', 'Büro 1.gns3project', '--name', 'Kopie', '--quiet');
  assert.match(copy, /^[0-9a-f-]{36}$/);
  assert.match(await labwired.say('lab', 'list'), /Kopie +closed/);
  const notes = join(labwired.daemon.directory, 'notes.md');
  writeFileSync(notes, '# Task\n\tPing.');
  assert.match(await labwired.say('lab', 'notes', 'Kopie', '--from', notes), /Notes of lab "Kopie" written/);
  assert.equal(await labwired.say('lab', 'notes', 'Kopie'), '# Task\n\tPing.');
  // Of a closed lab, too.
  assert.match(await labwired.say('node', 'list', '--lab', 'Kopie'), /PC1 .*stopped/);
  assert.doesNotMatch(await labwired.say('link', 'list', '--lab', 'Kopie'), /undefined/);
  await labwired.fails(1, /missing\.md/, 'lab', 'notes', 'Kopie', '--from', 'missing.md');
  for (const verb of ['layout', 'lock'])
    await labwired.fails(1, /Lab "Kopie" is closed: labwired lab open Kopie/, 'lab', verb, 'Kopie');
  await labwired.say('lab', 'open', copy.slice(0, 8));
  await labwired.fails(1, /2 labs are open, "Büro 1", "Kopie": name one with --lab LAB/, 'node', 'list');
  assert.equal((await labwired.say('node', 'list', '--lab', 'Kopie', '-q')).split('\n').length, 3);

  await labwired.say('snapshot', 'create', 'empty hand', '-l', 'Kopie');
  assert.match(
    await labwired.say('node', 'delete', 'PC1', 'Hubä', '-l', 'Kopie'),
    /"PC1" deleted\.\nNode "Hubä" deleted/,
  );
  assert.match(await labwired.say('node', 'restore', 'PC1', '-l', 'Kopie'), /Node "PC1" restored\./);
  await labwired.say('node', 'delete', 'PC1', '--permanently', '-l', 'Kopie');
  const none = /No deleted node "PC1" is kept\. Kept for an hour, while the lab is open: Hubä\./;
  await labwired.fails(1, none, 'node', 'restore', 'PC1', '-l', 'Kopie');
  await labwired.say('snapshot', 'restore', 'empty hand', '-l', 'Kopie');
  assert.equal((await labwired.say('link', 'list', '--lab', 'Kopie', '-q')).split('\n').length, 2, 'all is back');
  for (const name of ['Kopie', 'Büro 1']) await labwired.say('lab', 'delete', name);
  assert.deepEqual(JSON.parse(await labwired.say('lab', 'list', '--json')), []);
});

test('frames go to a reader that has seen enough of them, and events as lines of JSON', {
  skip: missing('tshark'),
}, async (t) => {
  const labwired = await client(t);
  const events = labwired.spawn(['events', '--json']);
  let told = '';
  events.stdout!.setEncoding('utf8').on('data', (text: string) => {
    told += text;
  });
  const { pcs } = await (await Lab.create(labwired.daemon)).pcsOnHub(2);
  const { node_directory } = pcs[0]!;
  const shell = `"$0" capture PC1 --quiet | tshark -l -r - -c 1 -Y arp -T fields -e arp.opcode`;
  const reader = spawn('bash', ['-c', shell, ...executable()], {
    env: labwired.environment,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const read = reader.stdout!.setEncoding('utf8').toArray();
  const readerEnds = once(reader, 'close');
  await eventually('the capture', async () => /captured/.test(await labwired.say('link', 'list')));
  // Who asks for an address that nobody has is heard by all, more than once; the first write after the reader has gone ends the capture.
  const asking = labwired.run('node', 'exec', 'PC1', 'ping 10.0.0.9 -c 1');
  assert.deepEqual([(await read).join('').trim(), await readerEnds], ['1', [0, null]]);
  await asking;
  await eventually('the end of the capture', async () => !/captured/.test(await labwired.say('link', 'list')));
  const endless = labwired.spawn(['node', 'exec', 'PC1', 'ping 10.0.0.2 -t']);
  let pings = '';
  endless.stdout!.setEncoding('utf8').on('data', (text: string) => {
    pings += text;
  });
  await eventually('an answer, as it comes', () => /icmp_seq=1 /.test(pings));
  endless.kill('SIGINT');
  assert.deepEqual(await once(endless, 'close'), [130, null]);
  assert.match(await labwired.say('node', 'exec', 'PC1', 'show version'), /version/i, 'Ctrl+C has come to the PC');
  const following = labwired.spawn(['logs', '--follow', '--tail', '1', '--json']);
  let followed = '';
  following.stdout!.setEncoding('utf8').on('data', (text: string) => {
    followed += text;
  });
  await eventually('the last entry', () => /"status":"started"\}\n/.test(followed));
  await labwired.say('node', 'stop', 'PC1', 'PC2');
  await labwired.say('wait', 'stopped');
  const states = () =>
    followed
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).status);
  await eventually('what followed', states, (all) => all.join() === 'started,stopped,stopped');
  following.kill('SIGINT');
  assert.deepEqual(await once(following, 'close'), [0, null]);
  const time = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`;
  const ofPc1 = await labwired.say('logs', 'Lab', 'PC1', '--since', '1h');
  assert.match(ofPc1, new RegExp(`^${time}  PC1 is started\\n${time}  PC1 is stopped$`));
  assert.equal((await labwired.say('logs')).split('\n').length, 4);
  assert.equal(await labwired.say('logs', 'Lab', '--since', '2100-01-01'), '');
  writeFileSync(join(node_directory, 'own.log'), 'one\ntwo\nthree\n');
  assert.match(
    await labwired.say('logs', 'Lab', 'PC1', '--files', '-n', '2'),
    /stopped\n==> own\.log <==\ntwo\nthree$/,
  );
  await labwired.fails(1, /There is no node "PC9"/, 'logs', 'Lab', 'PC9');
  await labwired.fails(2, /--since "soon": write how long ago/, 'logs', '--since', 'soon');
  await labwired.fails(1, /Not started after 0\.3 s: "PC1" is stopped\./, 'wait', 'started', 'PC1', '--timeout', '0.3');
  await labwired.say('lab', 'close', 'Lab');
  await eventually('the event', () => /"action": ?"project\.closed".*"name": ?"Lab"/.test(told));
  events.kill('SIGINT');
  assert.deepEqual(await once(events, 'close'), [0, null]);
  for (const line of told.trim().split('\n')) assert.ok(JSON.parse(line), line);
});

test('what cannot be done is one sentence and a code', async (t) => {
  const labwired = await client(t, { config: `${BUILT_IN}[Server]\nauth = True\nuser = ann\npassword = p@ss:word\n` });
  const { port, directory } = labwired.daemon;
  await labwired.fails(1, /asks for a user and a password: .*--password-file FILE/, 'lab', 'list');
  const file = join(directory, 'password');
  writeFileSync(file, 'wrong\n');
  const asAnn = ['--server', `http://ann@127.0.0.1:${port}`, '--password-file', file];
  await labwired.fails(1, /does not accept this password for user "ann"/, 'lab', 'list', ...asAnn);
  writeFileSync(file, 'p@ss:word\n');
  assert.equal(await labwired.say('lab', 'create', 'twice', '-q', ...asAnn).then((id) => id.length), 36);
  await labwired.fails(2, /All users of this host/, 'lab', 'list', '--server', `http://ann:x@127.0.0.1:${port}`);

  const ann = new Client(labwired.daemon, { LABWIRE_SERVER: `http://ann:p%40ss%3Aword@127.0.0.1:${port}` });
  await ann.fails(1, /twice/, 'lab', 'create', 'twice');
  await ann.fails(1, /There is no lab "nowhere"\. Labs: "twice"/, 'lab', 'open', 'nowhere');
  await ann.fails(1, /There is no node "PC1"; there are no nodes/, 'node', 'start', 'PC1');
  await ann.fails(1, /There is no template "x"/, 'node', 'create', '--template', 'x');
  await ann.fails(2, /NAME is missing/, 'lab', 'create');
  await ann.fails(2, /--until/, 'node', 'exec', 'PC1', 'x', '--until', '(');
  await ann.fails(1, /nothing listens there/, 'lab', 'list', '--server', 'http://127.0.0.1:1');
  await ann.fails(1, /is not a server address/, 'lab', 'list', '--server', 'here');

  await ann.fails(2, /--type dynamips\|iou\|qemu/, 'image', 'upload', file);
  await ann.say('image', 'upload', file, '--type', 'qemu', '--name', 'disk ü.img');
  assert.match(await ann.say('image', 'list'), /\ndisk ü\.img +qemu +10 bytes +0 users$/);
  const packed = await ann.run('image', 'upload', file, '--type', 'dynamips', '--name', 'ios.zip');
  assert.equal(packed.code, 0);
  assert.match(
    packed.error,
    /^No list shows it, because it does not begin like an image of dynamips\. Unpack an archive/,
  );
  assert.doesNotMatch(await ann.say('image', 'list'), /ios\.zip/);
  assert.equal(await ann.say('image', 'delete', 'ios.zip'), 'Image "ios.zip" deleted.');
  await ann.fails(1, /There is no image "ios\.zip"/, 'image', 'delete', 'ios.zip');

  await ann.say('node', 'create', 'PC1', '--template', 'VPCS');
  await ann.fails(1, /needs a terminal; without one use labwired node exec/, 'node', 'console', 'PC1');
  const ended = await ann.run('node', 'exec', 'PC1', 'ip');
  assert.deepEqual([ended.code, ended.out], [1, ''], 'a node that is off has no answer');
  await ann.fails(1, /"PC1" has no link/, 'capture', 'PC1', '--to', join(directory, 'none.pcap'));
  assert.equal(existsSync(join(directory, 'none.pcap')), false, 'no empty file is left');
});

test('in a terminal tables fit, a console is typed at, and whatever ends it the terminal is as it was', async (t) => {
  const labwired = await client(t);
  await (await Lab.create(labwired.daemon, 'A lab with a name that is longer than the terminal')).pcsOnHub(1);
  const list = new Terminal(t, labwired, 40, ['lab', 'list']);
  const [code] = await list.ended;
  assert.equal(code, 0);
  await list.shows(/A lab.*…[\s\S]*\n$/);
  for (const line of list.text.split('\r\n')) assert.ok(line.length <= 40, line);

  const console = new Terminal(t, labwired, 80, ['node', 'console', 'PC1']);
  await console.shows(/Ctrl\+\] leaves it[\s\S]*> $/);
  assert.equal(console.isSane, false, 'keys go to the node');
  console.type('\u0003echo hello\r');
  await console.shows(/\nhello\r+\n/);
  console.type('\u001d');
  assert.deepEqual(await console.ended, [0, null]);
  assert.equal(console.isSane, true);

  // A serial line knows no size.
  const sizeless = new Terminal(t, labwired, 0, ['node', 'console', 'PC1']);
  await sizeless.shows(/Ctrl\+\] leaves it[\s\S]*> $/);
  sizeless.type('\u001d');
  assert.deepEqual(await sizeless.ended, [0, null]);

  const killed = new Terminal(t, labwired, 80, ['node', 'console', 'PC1']);
  await killed.shows(/> $/);
  killed.child.kill('SIGTERM');
  assert.deepEqual(await killed.ended, [143, null]);
  assert.equal(killed.isSane, true, 'also after a signal');

  const cut = new Terminal(t, labwired, 80, ['node', 'console', 'PC1']);
  await cut.shows(/> $/);
  await labwired.daemon.kill();
  assert.deepEqual(await cut.ended, [1, null]);
  await cut.shows(/The console of "PC1" has ended/);
  assert.equal(cut.isSane, true, 'also when the server is gone');

  const capture = new Terminal(t, labwired, 80, ['capture', 'PC1']);
  assert.deepEqual(await capture.ended, [2, null]);
  await capture.shows(/A terminal cannot show frames/);
});

test('a password is asked for at a terminal, and not shown', async (t) => {
  const labwired = await client(t, { config: '[Server]\nauth = True\nuser = ann\npassword = secret12\n' });
  const server = ['--server', `http://ann@127.0.0.1:${labwired.daemon.port}`];
  const terminal = new Terminal(t, labwired, 80, ['compute', 'list', ...server]);
  await terminal.shows(/Password of ann at http:\/\/127\.0\.0\.1:\d+: $/);
  terminal.type('secret12\r');
  await terminal.shows(/COMPUTE[\s\S]*127\.0\.0\.1:/);
  assert.deepEqual(await terminal.ended, [0, null]);
  assert.doesNotMatch(terminal.text, /secret/);
});
