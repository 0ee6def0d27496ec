// Hundreds of spellings of paths that lead out of a directory, on the wire to every route that takes a path, a file name or an archive.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { zip } from '../controller/archives-zip.ts';
import { startDaemon } from '../system/daemon.ts';
import { Lab } from '../system/lab.ts';
import { spellings } from './path-corpus.ts';
import { FULL, rig } from './rig.ts';
import { exchange, forEachAtOnce, requestBytes } from './wire.ts';

const SECRET = `canary-${randomUUID()}`;
const WRITTEN = `written-${randomUUID()}`;
/** Of routes that are not the two main ones, the quick run sends every so-manieth spelling. */
const SAMPLE = FULL ? 1 : 9;

/** Names that stay as they were: their type, content and neighbours. */
function inventory(directory: string, skip: readonly string[]): string[] {
  return readdirSync(directory).flatMap((name) => {
    const path = join(directory, name);
    if (skip.includes(path)) return [];
    const status = lstatSync(path);
    if (status.isDirectory()) return [`${path}/`, ...inventory(path, skip)];
    return [`${path} ${status.mode} ${status.isFile() ? readFileSync(path, 'latin1') : ''}`];
  });
}

function decoded(text: string): string[] {
  try {
    const once = decodeURIComponent(text);
    return once === text ? [text] : [text, once];
  } catch {
    return [text];
  }
}

rig(
  { name: 'paths', promise: 'no spelling of a path reads or writes outside the permitted directories' },
  async (t) => {
    const daemon = await startDaemon(t, { flags: [] });
    const lab = await Lab.create(daemon, 'Paths');
    const { project_id, path: inside } = lab.project;
    const hub = await lab.hub('Hub');
    const other = await lab.hub('Other');
    const link = await lab.link(hub, other);

    // What must not be reached: above, beside, and anywhere else; and ways there, planted inside as somebody with a shell could.
    const projects = join(inside, '..');
    const canary = join(projects, 'canary.txt');
    const outside = join(daemon.directory, 'outside');
    for (const directory of [outside, `${inside}-sibling`, join(inside, 'sub')])
      mkdirSync(directory, { recursive: true });
    for (const file of [canary, join(outside, 'canary.txt'), join(`${inside}-sibling`, 'canary.txt')])
      writeFileSync(file, SECRET);
    writeFileSync(join(inside, 'sub/file.txt'), 'allowed');
    const plant: Record<string, string> = {
      'link-to-file': canary,
      'link-to-directory': outside,
      'link-to-root': '/',
      'link-to-link': 'link-to-file',
      'link-to-parent': '..',
      'link-to-sibling': `../${project_id}-sibling`,
      'link-to-proc': '/proc/self',
      'link-loop': 'link-loop',
      dangling: join(outside, 'not-there.txt'),
      'dangling-directory': join(outside, 'not-there'),
      'hidden-link': '../.',
      'sub/link-up': '..',
    };
    for (const [name, target] of Object.entries(plant)) symlinkSync(target, join(inside, name));
    execFileSync('mkfifo', [join(inside, 'fifo')]);
    const socket = createServer().listen(join(inside, 'socket'));
    t.after(() => socket.close());

    const corpus = spellings({ canary: join(outside, 'canary.txt'), inside });
    const sample = corpus.filter((_, index) => index % SAMPLE === 0);
    const { state } = daemon;
    // The directories that these routes are for, and what the daemon itself writes.
    const own = ['images', 'symbols', 'configs', 'labwire.db', 'labwire.db-wal', 'labwire.db-shm'].map((name) =>
      join(state, name),
    );
    const before = inventory(daemon.directory, [inside, ...own]);
    const known = new Set(readdirSync(projects));

    let requests = 0;
    const statuses = new Map<number, number>();
    const send = async (method: string, target: string, body?: Buffer | string, type?: string): Promise<void> => {
      const { status, text } = await exchange(daemon.port, requestBytes(method, target, body, type));
      requests += 1;
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      const shown = `${method} ${target.slice(0, 200)} ${body?.toString('latin1').slice(0, 200) ?? ''}`;
      assert.ok(!text.includes(SECRET), `${shown} was told the content of a file outside`);
      assert.ok(
        !/root:.*:0:0:|LABWIRE_|SQLite format/.test(text.replace(/^HTTP.*?\r\n\r\n/s, '')),
        `${shown} was told of the host`,
      );
      assert.ok(status >= 100, `${shown}: no answer`);
      assert.ok(status < 500 || status === 507, `${shown}: ${status} ${text.slice(0, 500)}`);
    };
    const json = (members: object): string => JSON.stringify(members);
    const files = ['/v2/projects', '/v3/projects', '/v2/compute/projects'].map((list) => `${list}/${project_id}/files`);

    await forEachAtOnce(corpus, 8, async (spelling) => {
      for (const route of files) {
        await send('GET', `${route}/${spelling}`);
        await send('POST', `${route}/${spelling}`, WRITTEN, 'application/octet-stream');
      }
    });
    await forEachAtOnce(sample, 8, async (spelling) => {
      for (const dialect of ['v2', 'v3']) {
        const file = `/${dialect}/projects/${project_id}/nodes/${hub.node_id}/files/${spelling}`;
        await send('GET', file);
        await send('POST', file, WRITTEN);
        const symbol = `/${dialect}/symbols/${spelling}/raw`;
        await send('GET', symbol);
        await send('POST', symbol, WRITTEN, 'application/octet-stream');
      }
      await send('GET', `/v3/symbols/${spelling}/dimensions`);
      await send('POST', `/v3/images/upload/${spelling}`, WRITTEN, 'application/octet-stream');
      await send('POST', `/v3/images/qemu/${spelling}`, json({ format: 'qcow2', size: 1 }));
      for (const method of ['GET', 'DELETE']) await send(method, `/v3/images/${spelling}`);
      for (const kind of ['qemu', 'iou', 'dynamips']) {
        await send('GET', `/v2/compute/${kind}/images/${spelling}`);
        await send('POST', `/v2/compute/${kind}/images/${spelling}`, WRITTEN, 'application/octet-stream');
      }
      await send('GET', `/v2/symbols/:/symbols/${spelling}/raw`);
      await send('GET', `/static/web-ui/${spelling}`);
      await send('GET', `/${spelling}`);
      for (const name of decoded(spelling)) {
        const pcap = `${lab.path}/links/${link.link_id}`;
        await send('POST', `${pcap}/start_capture`, json({ capture_file_name: name }));
        await send('POST', `${pcap}/stop_capture`, json({}));
        const capture = pcap.replace('/v2/', '/v3/');
        await send('POST', `${capture}/capture/start`, json({ capture_file_name: name }));
        await send('POST', `${capture}/capture/stop`);
        for (const target of [lab.path, lab.path.replace('/v2/', '/v3/')])
          await send('PUT', target, json({ path: name }));
        await send('POST', '/v3/projects', json({ name: 'Elsewhere', path: name }));
        await send('POST', '/v3/projects/load', json({ path: name }));
        await send('POST', '/v2/projects', json({ name: 'Elsewhere', path: name }));
        await send('POST', '/v2/projects/load', json({ path: name }));
        await send('POST', `${lab.path}/duplicate`, json({ name: 'Copy', path: name }));
        await send('PUT', `${lab.path}/nodes/${hub.node_id}`, json({ symbol: name }));
        await send('PUT', lab.path, json({ path: name, filename: name }));
        await send('POST', '/v2/compute/qemu/img', json({ qemu_img: name, path: name, format: 'qcow2', size: 1 }));
        await send('GET', `/v2/projects/${project_id}/snapshots/${encodeURIComponent(name)}`);
        await send(
          'POST',
          '/v2/templates',
          json({ name: 'T', template_type: 'vpcs', compute_id: 'local', base_script_file: name }),
        );
      }
    });

    // Archives: one with each name, and one in which the name is a link.
    let archives = 0;
    await forEachAtOnce(
      corpus.filter((_, index) => index % (FULL ? 2 : 20) === 0),
      4,
      async (spelling) => {
        const topology = json({
          name: 'Imported',
          project_id: randomUUID(),
          revision: 9,
          type: 'topology',
          version: '2.2.57',
          topology: {},
        });
        for (const name of decoded(spelling)) {
          for (const evil of [
            { name, data: WRITTEN },
            { name, data: outside, mode: 0o120777 },
          ]) {
            const archive = zip([
              { name: 'project.gns3', data: topology },
              evil,
              { name: 'project-files/a.txt', data: 'a' },
            ]);
            const list = archives % 2 === 0 ? '/v2/projects' : '/v3/projects';
            await send('POST', `${list}/${randomUUID()}/import?name=Imported`, archive, 'application/octet-stream');
            archives += 1;
          }
        }
      },
    );

    // Projects that were made, imported or copied are new directories there, whatever their names; nothing else has changed.
    const fresh = readdirSync(projects).filter((name) => !known.has(name));
    const after = inventory(daemon.directory, [inside, ...own, ...fresh.map((name) => join(projects, name))]);
    assert.deepEqual(after, before);
    for (const name of fresh) {
      const found = execFileSync('find', [join(projects, name), '-type', 'l']).toString();
      assert.equal(found, '', 'no archive leaves a link behind');
    }
    for (const place of ['/', '/tmp', '/etc', '/root', '/proc/self/cwd']) {
      for (const name of readdirSync(place).filter((each) => /^new-\d+-\d+\.txt$|\.new$/.test(each))) {
        // Others may have files of such names there.
        const path = join(place, name);
        const ours = lstatSync(path).isFile() && readFileSync(path, 'latin1').includes(WRITTEN);
        assert.ok(!ours, path);
      }
    }
    assert.ok(existsSync(canary) && statSync(canary).size === SECRET.length);
    assert.equal((await daemon.get('/v2/version')).version, '2.2.57');
    return [
      { what: 'spellings', value: corpus.length },
      { what: 'requests', value: requests },
      { what: 'archives', value: archives },
      {
        what: 'answers by status',
        value: [...statuses]
          .sort()
          .map(([status, count]) => `${status}: ${count}`)
          .join(', '),
      },
    ];
  },
);
