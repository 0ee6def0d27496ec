// Where a command writes what it makes: files are replaced, devices, pipes and links are not.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { lstatSync, mkdirSync, openSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { Session } from '../../src/client/frame/session.ts';
import { mustBeFree, save } from '../../src/client/terminal/files.ts';
import { LabServer } from '../controller/lab-server.ts';
import { scratchDirectory } from '../store/scratch.ts';

test('a pipe is written to, a link stays one, and a file is replaced as a whole', async (t) => {
  const folder = await scratchDirectory(t);
  const variables = {};
  const environment = { server: '', lab: undefined, context: undefined, contexts: '', variables, sockets: [] };
  const session = await Session.withoutServer({}, environment);
  const write = (content: string, file: string): Promise<void> => save(session, Readable.from([content]), file);
  const [pipe, file, link] = ['pipe', 'file', 'link'].map((name) => join(folder, name)) as [string, string, string];

  execFileSync('mkfifo', [pipe]);
  const reader = spawn('cat', [pipe], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => reader.kill());
  await mustBeFree(pipe, false);
  const [read] = await Promise.all([text(reader.stdout!), write('report', pipe)]);
  assert.deepEqual([read, lstatSync(pipe).isFIFO()], ['report', true]);

  mkdirSync(join(folder, 'below'));
  writeFileSync(join(folder, 'below/target'), 'old');
  symlinkSync('below/target', link);
  await write('new', link);
  assert.deepEqual(
    [readFileSync(join(folder, 'below/target'), 'utf8'), lstatSync(link).isSymbolicLink()],
    ['new', true],
  );

  const [chain, dangling] = [join(folder, 'below/chain'), join(folder, 'dangling')];
  symlinkSync('chain', join(folder, 'below/first'));
  symlinkSync('../later', chain);
  await write('made', join(folder, 'below/first'));
  assert.deepEqual([readFileSync(join(folder, 'later'), 'utf8'), lstatSync(chain).isSymbolicLink()], ['made', true]);
  symlinkSync('none/file', dangling);
  await assert.rejects(write('x', dangling), /dangling \(a link to none\/file\): there is no such file or directory/);
  // Even root may not write this file.
  const locked = '/sys/kernel/uevent_seqnum';
  symlinkSync(locked, join(folder, 'locked'));
  await assert.rejects(write('x', join(folder, 'locked')), (error: Error) =>
    error.message.includes(`locked (a link to ${locked}): `),
  );

  await write('first', file);
  await write('second', file);
  assert.equal(readFileSync(file, 'utf8'), 'second');
  await assert.rejects(mustBeFree(file, false), /exists already/);
  await assert.rejects(write('x', join(folder, 'none/file')), /none\/file: there is no such file or directory/);
  await assert.rejects(write('x', folder), { name: 'Failure' });
  assert.deepEqual(readdirSync(folder).sort(), ['below', 'dangling', 'file', 'later', 'link', 'locked', 'pipe']);
});

test('standard output by its path is added to, has the data only, and an image that has changed fails', async (t) => {
  const output = join(await scratchDirectory(t), 'output');
  /** Runs a command whose output is added to a file: what it wrote to it. */
  const run = async (port: number, ...words: string[]) => {
    writeFileSync(output, 'before\n');
    const program = join(import.meta.dirname, '../../src/main.ts');
    const server = ['--server', `http://127.0.0.1:${port}`];
    const child = spawn(process.execPath, [program, ...words, ...server, '--to', '/dev/stdout'], {
      stdio: ['ignore', openSync(output, 'a'), 'pipe'],
    });
    const [errors, [status]] = await Promise.all([text(child.stderr!), once(child, 'exit')]);
    const [before, written] = readFileSync(output, 'latin1').split(/(?<=^before\n)/);
    assert.equal(before, 'before\n', errors);
    return { status, errors, written };
  };

  const listed = { filename: 'a.img', emulator: 'qemu', md5sum: createHash('md5').update('disk').digest('hex') };
  let content = 'disk';
  const images = createServer(({ url }, answer) => {
    answer.end(
      url!.endsWith('/qemu/images/a.img') ? content : JSON.stringify([{ ...listed, filesize: 4, used_by: [] }]),
    );
  }).listen(0, '127.0.0.1');
  t.after(() => images.close());
  await once(images, 'listening');
  const { port } = images.address() as AddressInfo;
  const download = () => run(port, 'image', 'download', 'a.img');
  assert.deepEqual(await download(), { status: 0, errors: '', written: 'disk' });
  content = 'disc';
  const changed = await download();
  assert.deepEqual([changed.status, changed.written], [1, 'disc']);
  assert.match(changed.errors, /the image changed during the download/);

  const { server, path } = await LabServer.withLab(t, {}, { 'VPCS.engine': 'built-in' });
  const ends = [];
  for (const name of ['PC1', 'PC2']) {
    const body = { name, node_type: 'vpcs', compute_id: 'local' };
    const { node_id } = await server.expect(201, 'POST', `${path}/nodes`, body);
    ends.push({ node_id, adapter_number: 0, port_number: 0 });
  }
  await server.expect(201, 'POST', `${path}/links`, { nodes: ends });
  await server.expect(200, 'POST', `${path}/nodes/${ends[0]!.node_id}/start`);
  const capture = await run(server.port, 'capture', 'PC1', '--seconds', '0.5', '--lab', 'lab');
  assert.match(capture.written ?? '', /^\xd4\xc3\xb2\xa1/, capture.errors);
  const { written } = await run(server.port, 'export', 'lab', '--yaml');
  assert.match(written ?? '', /^# yaml-language-server/);
  assert.doesNotMatch(written ?? '', /is in/);
});
