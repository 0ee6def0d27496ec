// Where a command writes what it makes: files are replaced, devices, pipes and links are not.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { Session } from '../../src/client/frame/session.ts';
import { mustBeFree, save } from '../../src/client/terminal/files.ts';
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

  await write('first', file);
  await write('second', file);
  assert.equal(readFileSync(file, 'utf8'), 'second');
  await assert.rejects(mustBeFree(file, false), /exists already/);
  await assert.rejects(write('x', join(folder, 'none/file')), /none\/file: there is no such file or directory/);
  await assert.rejects(write('x', folder), { name: 'Failure' });
  assert.deepEqual(readdirSync(folder).sort(), ['below', 'file', 'link', 'pipe']);
});
