// A large archive that a page posts in a form: it passes through the executable, and does not stay in its memory.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { ZipFile } from 'yazl';
import { startDaemon } from './daemon.ts';
import { anonymousMebibytes } from './processes.ts';

const MEBIBYTE = 2 ** 20;
const DISK_MIB = 256;
/** What the server may take for it. */
const MEMORY_MIB = 96;

/** An archive with a disk that cannot be compressed away, as it is written. */
function archive(): Readable {
  const zip = new ZipFile();
  const topology = { computes: [], drawings: [], links: [], nodes: [] };
  const project = { type: 'topology', revision: 9, version: '2.2.57', project_id: randomUUID(), name: 'large' };
  zip.addBuffer(Buffer.from(JSON.stringify({ ...project, topology })), 'project.gns3');
  const piece = Buffer.alloc(MEBIBYTE, 'a disk ');
  const disk = Readable.from(Array.from({ length: DISK_MIB }, () => piece));
  zip.addReadStream(disk, 'project-files/disk.img', { compress: false });
  zip.end();
  return Readable.from(zip.outputStream);
}

test('an archive of 256 MiB in a form is imported without being kept in memory', async (t) => {
  const daemon = await startDaemon(t);
  async function* form(): AsyncGenerator<Buffer> {
    const part = (words: string): Buffer => Buffer.from(`--X\r\nContent-Disposition: form-data; ${words}\r\n\r\n`);
    yield Buffer.concat([
      part('name="before"'),
      Buffer.from('text\r\n'),
      part('name="file"; filename="Lab.gns3project"'),
    ]);
    yield* archive();
    yield Buffer.concat([Buffer.from('\r\n'), part('name="after"'), Buffer.from('text\r\n--X--\r\n')]);
  }
  const before = anonymousMebibytes(daemon.pid);
  let most = before;
  const looks = setInterval(() => {
    most = Math.max(most, anonymousMebibytes(daemon.pid));
  }, 20);
  t.after(() => clearInterval(looks));
  const response = await fetch(`${daemon.url}/v2/projects/${randomUUID()}/import`, {
    method: 'POST',
    headers: { 'content-type': 'multipart/form-data; boundary=X' },
    body: Readable.toWeb(Readable.from(form())) as ReadableStream,
    duplex: 'half',
  } as RequestInit);
  const json = (await response.json()) as { path: string };
  clearInterval(looks);
  assert.equal(response.status, 201, JSON.stringify(json));
  assert.equal((await stat(join(json.path, 'project-files/disk.img'))).size, DISK_MIB * MEBIBYTE);
  t.diagnostic(`memory: ${before.toFixed(0)} MiB before, at most ${most.toFixed(0)} MiB`);
  assert.ok(most - before < MEMORY_MIB, `${before} -> ${most} MiB`);
});
