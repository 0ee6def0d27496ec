// Images and labs by command, and Ctrl+C in the middle of what takes long: nothing half done, the terminal as it was, 130.
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Client, client, Terminal } from './client.ts';
import { eventually, startDaemon } from './daemon.ts';
import { Lab } from './lab.ts';

const MIB = 2 ** 20;

/** A file of the client that looks like a disk, of a size that takes a while. */
function bigDisk({ daemon }: Client, name: string, mebibytes: number): string {
  const file = join(daemon.directory, name);
  const descriptor = openSync(file, 'w');
  truncateSync(file, mebibytes * MIB);
  writeSync(descriptor, 'the end', mebibytes * MIB - 7);
  return file;
}

const bytesOfUploads = async ({ daemon }: Client): Promise<number> => {
  const operations = (await daemon.get('/v2/operations')) as { kind: string; done: number }[];
  return operations.filter(({ kind }) => kind === 'upload').reduce((sum, { done }) => sum + done, 0);
};

test('an upload that is interrupted goes on where it stopped; images come back as they went, and are deleted', async (t) => {
  const labwired = await client(t);
  const file = bigDisk(labwired, 'disk ü.img', 128);
  const upload = ['image', 'upload', file, '--type', 'qemu'];
  const terminal = new Terminal(t, labwired, 40, upload);
  await eventually(
    'some of it',
    () => bytesOfUploads(labwired),
    (bytes) => bytes > 16 * MIB,
  );
  terminal.child.kill('SIGINT');
  assert.deepEqual(await terminal.ended, [130, null]);
  await terminal.shows(/Interrupted: the same command goes on there, within an hour\./);
  assert.equal(terminal.isSane, true);
  assert.equal(await labwired.say('image', 'list', '-q'), '', 'no half image is there');

  const { code, error, out } = await labwired.run(...upload);
  assert.deepEqual([code, out], [0, 'Image "disk ü.img" is on the server.\n'], error);
  assert.match(error, /^Continuing: [\d.]+ MiB are already on the server\.\n$/, 'no bar without a terminal');
  assert.match(await labwired.say('image', 'list'), /\ndisk ü\.img +qemu +128\.0 MiB/);

  // It comes from another host, by way of the server.
  const compute = await startDaemon(t);
  const where = ['--compute', 'elsewhere'];
  const { directory } = labwired.daemon;
  await labwired.daemon.post('/v2/computes', {
    ...{ compute_id: 'elsewhere', protocol: 'http', host: '127.0.0.1', port: compute.port },
  });
  await labwired.say(...upload, ...where);
  const download = ['image', 'download', 'disk ü.img', '--to', 'copy.img', ...where];
  const part = `copy.img.${createHash('md5').update(readFileSync(file)).digest('hex').slice(0, 8)}.part`;
  const copies = () => readdirSync(directory).filter((name) => name.startsWith('copy'));
  const downloading = labwired.spawn(download);
  const ended = silentEnd(downloading);
  await eventually('some of the copy', () => copies().some((name) => statSync(join(directory, name)).size > MIB));
  downloading.kill('SIGINT');
  const [interrupted, told] = await ended;
  assert.equal(interrupted, 130);
  assert.match(told, /^Interrupted; the same command goes on there, behind [\d.]+ MiB\.\n$/);
  assert.deepEqual(copies(), [part]);
  const there = statSync(join(directory, part)).size;
  assert.ok(there < 128 * MIB, `${there} bytes`);
  const rest = await labwired.run(...download);
  assert.deepEqual([rest.code, rest.out], [0, 'Image "disk ü.img" is in copy.img\n'], rest.error);
  for (const { log } of [labwired.daemon, compute])
    assert.match(log, /method=GET path=\S*\/qemu\/images\/\S+ status=206 /, 'only what is missing was sent');
  assert.match(rest.error, /^Continuing: [\d.]+ MiB are already here\.\n$/);
  assert.deepEqual(copies(), ['copy.img']);
  assert.ok(readFileSync(join(directory, 'copy.img')).equals(readFileSync(file)));
  writeFileSync(join(directory, part), 'something else');
  await labwired.fails(1, /the image changed during the download: repeat the command/, ...download, '--force', '-q');
  assert.deepEqual(copies(), ['copy.img'], 'and then it begins anew');
  await labwired.fails(1, /copy\.img exists already/, 'image', 'download', 'disk ü.img', '--to', 'copy.img');
  await labwired.fails(1, /There is no image "x"\. Images: "disk ü.img"/, 'image', 'delete', 'x');
  await labwired.say('image', 'delete', 'disk ü.img');
  const here = ['image', 'list', '--compute', 'local', '-q'];
  assert.equal(await labwired.say(...here), '');
  assert.equal(await labwired.say('image', 'list', '-q'), 'disk ü.img', 'which the other host has');
  await labwired.say(...upload);
  assert.equal(await labwired.say(...here), 'disk ü.img', 'and once more');
});

/** Exit code of a command, and what it said of an error. */
async function silentEnd(child: ChildProcess): Promise<[number | null, string]> {
  const [error, [code]] = await Promise.all([
    child.stderr!.setEncoding('utf8').toArray(),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  return [code, error.join('')];
}

/** A command in whose middle Ctrl+C comes. */
interface Interrupted {
  words: readonly string[];
  /** Whether it has begun, and has not ended. */
  isUnderWay: (terminal: Terminal) => boolean | Promise<boolean>;
  /** What must be so then, before long. */
  isWhole?: () => boolean | Promise<boolean>;
}

test('Ctrl+C in the middle of a command ends it with 130, and leaves nothing half done', async (t) => {
  const labwired = await client(t);
  const { daemon } = labwired;
  const { directory } = daemon;
  const lab = await Lab.create(daemon);
  await lab.pcsOnHub(2);
  const large = await Lab.create(daemon, 'Large');
  const largeFiles = join(large.project.path, 'project-files');
  mkdirSync(largeFiles);
  writeFileSync(join(largeFiles, 'some'), Buffer.alloc(64 * MIB, Math.random().toString()));
  bigDisk(labwired, join('state/projects', large.project.project_id, 'project-files', 'more'), 3_000);
  bigDisk(labwired, 'archive', 512);
  const pcs = Array.from({ length: 40 }, (_, index) => `  P${index}: {type: vpcs}`);
  writeFileSync(join(directory, 'lab.yaml'), ['name: Applied', 'nodes:', ...pcs].join('\n'));
  writeFileSync(join(directory, 'never.yaml'), 'checks:\n  - frame: {link: PC1, filter: tcp port 1, timeout: 100}\n');

  const labs = async (): Promise<{ name: string; project_id: string }[]> => daemon.get('/v2/projects');
  const isCaptured = async () => ((await lab.links()) as { capturing?: boolean }[]).some(({ capturing }) => capturing);
  const noCapture = async () => !(await isCaptured());
  const applied = async (): Promise<number> => {
    const one = (await labs()).find(({ name }) => name === 'Applied');
    return one ? (await daemon.get(`/v2/projects/${one.project_id}/nodes`)).length : 0;
  };
  const operation = (wanted: string) => async () =>
    ((await daemon.get('/v2/operations')) as { kind: string }[]).some(({ kind }) => kind === wanted);
  const files = (wanted: RegExp) => readdirSync(directory).filter((name) => wanted.test(name));
  const projects = () => readdirSync(join(daemon.state, 'projects')).sort().join();
  const before = projects();
  const asked = () => daemon.log.match(/path=\/v2\/projects\/[0-9a-f-]+\/nodes /g)?.length ?? 0;
  const looks = asked();
  const inLab = ['--lab', 'Lab'];

  const rows: Interrupted[] = [
    { words: ['wait', 'stopped', 'PC1', ...inLab], isUnderWay: () => asked() > looks + 1 },
    {
      words: ['node', 'exec', 'PC1', ...inLab, '--', 'ping 10.0.0.2 -t'],
      isUnderWay: ({ text }) => /icmp_seq=1 /.test(text),
    },
    { words: ['node', 'console', 'PC1', ...inLab], isUnderWay: ({ text }) => /> $/.test(text) },
    {
      words: ['capture', 'PC1', '--to', 'frames.pcap', '--seconds', '100', ...inLab],
      isUnderWay: () => files(/frames/).some((name) => statSync(join(directory, name)).size >= 24),
      isWhole: noCapture,
    },
    { words: ['test', 'never.yaml', ...inLab], isUnderWay: isCaptured, isWhole: noCapture },
    {
      words: ['lab', 'export', 'Large'],
      isUnderWay: () => files(/gns3project/).length > 0,
      isWhole: () => files(/gns3project/).length === 0,
    },
    {
      words: ['lab', 'import', 'archive', '--name', 'Imported'],
      isUnderWay: operation('import'),
      isWhole: async () => projects() === before && !(await labs()).some(({ name }) => name === 'Imported'),
    },
    { words: ['apply'], isUnderWay: async () => (await applied()) > 2 },
  ];
  for (const { words, isUnderWay, isWhole } of rows) {
    const said = words.join(' ');
    const terminal = new Terminal(t, labwired, 80, words);
    await eventually(`the middle of ${said}`, () => isUnderWay(terminal));
    terminal.child.kill('SIGINT');
    assert.deepEqual(await terminal.ended, [130, null], `${said}: ${terminal.text}`);
    assert.equal(terminal.isSane, true, said);
    assert.doesNotMatch(terminal.text, /labwired: /, said);
    if (isWhole) await eventually(`the end of ${said}`, isWhole);
  }
  assert.ok((await applied()) < pcs.length, 'apply was broken off');
  await labwired.say('apply');
  assert.deepEqual([await applied(), (await labwired.run('plan')).code], [pcs.length, 0], 'and made whole by the next');
});

/** A server that takes connections and never says anything. */
async function hangingServer(t: TestContext): Promise<{ url: string; connections: () => number }> {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.on('error', () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  server.unref();
  return { url: `http://127.0.0.1:${(server.address() as { port: number }).port}`, connections: () => connections };
}

test('a server that hangs is left by Ctrl+C, at a terminal and without one, also while a password is asked for', async (t) => {
  const labwired = await client(t, { config: '[Server]\nauth = True\nuser = ann\npassword = secret12\n' });
  const { url, connections } = await hangingServer(t);
  const hanging = labwired.spawn(['lab', 'list', '--server', url]);
  const ended = silentEnd(hanging);
  await eventually('its connection', () => connections() > 0);
  hanging.kill('SIGINT');
  assert.deepEqual(await ended, [130, '']);

  const asked = new Terminal(t, labwired, 40, ['lab', 'list']);
  await asked.shows(/Password of admin/);
  asked.type('half a pass\u0003');
  assert.deepEqual(await asked.ended, [130, null]);
  assert.equal(asked.isSane, true);
  assert.doesNotMatch(asked.text, /half/);
});
