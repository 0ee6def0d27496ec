// Copies of what containers write outside their volumes, by a real Docker Engine.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { copyFile, cp, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { isOfCheckpoint } from '../../src/api/disk-checkpoint.ts';
import { Engine } from '../../src/compute/emulators/docker/engine.ts';
import { findBusybox } from '../../src/compute/emulators/docker/helper-files.ts';
import { comparable, takeLayerCheckpoint } from '../../src/compute/emulators/docker/layer-checkpoint.ts';
import { eventually } from '../eventually.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { container, containers, engine, noEngine as skip, typist } from './docker-support.ts';
import type { Lab } from './support.ts';

const IMAGE = 'labwire-test/layer:latest';

async function folderOf(lab: Lab, node: string): Promise<string> {
  return (await lab.expect(200, 'GET', node)).node_directory;
}

test('another container gets the files, owners, modes, links and deletions of the layer of one, before its first command', {
  skip,
}, async (t) => {
  const { lab, project } = await containers(t);
  const tree = join(await scratchDirectory(t), 'tree');
  await mkdir(join(tree, 'bin'), { recursive: true });
  await copyFile((await findBusybox())!, join(tree, 'bin/busybox'));
  await symlink('busybox', join(tree, 'bin/sh'));
  await mkdir(join(tree, 'old'));
  await writeFile(join(tree, 'old/file'), 'of the image');
  await engine().import(tree, IMAGE, ['CMD ["/bin/sh"]']);
  const settings = { image: IMAGE, extra_volumes: ['/data'] };
  const one = await container(lab, project, { name: 'One', ...settings });
  await lab.expect(204, 'POST', `${one}/start`);
  const typing = await typist(t, lab, one);
  const checkpoint = (status = 204) => lab.expect(status, 'POST', `${one}/checkpoint`);
  const shell = async (command: string): Promise<void> => assert.match(await typing.run(command), /\n0$/);
  await shell('mkdir -p "/srv/a b" && echo first > "/srv/a b/file"');
  await shell(
    'chown 1234:567 "/srv/a b/file" && chmod 640 "/srv/a b/file" && ln -s "a b/file" /srv/link && mkfifo /srv/pipe && rm -r /old',
  );
  await shell(
    'echo inside > /data/volume && dd if=/dev/urandom of=/srv/large bs=1000 count=700 && chmod 4750 /srv/large && cp /srv/large /data',
  );
  await checkpoint();
  const folder = join(await folderOf(lab, one), 'disk-checkpoint');
  const manifest = (): Promise<number> => stat(join(folder, 'manifest.json')).then(({ mtimeMs }) => mtimeMs);
  const before = await manifest();
  const parts = await readdir(folder);
  assert.ok(parts.length >= 4 && parts.every((name) => isOfCheckpoint(`/disk-checkpoint/${name}`)), `${parts}`);
  await checkpoint();
  assert.equal(await manifest(), before, 'nothing has changed');
  // Of the same size, perhaps in the same second.
  await shell('echo other > "/srv/a b/file"; echo other > /srv/same');
  await checkpoint();
  const states = [JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')).state];
  assert.match(states[0], /\.\/srv\/same .* \S+\.\d*[1-9]\d* \S+$/m, 'times have nanoseconds');
  await shell('echo first > "/srv/a b/file"; echo again > /srv/same');
  await checkpoint();
  assert.notEqual(JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')).state, states[0]);
  // The owner alone.
  await shell('chown 1234:568 "/srv/a b/file"');
  await checkpoint();
  assert.notEqual(await manifest(), before);

  const two = await container(lab, project, { name: 'Two', ...settings });
  await cp(folder, join(await folderOf(lab, two), 'restored-disks'), { recursive: true });
  // One that has not started is not copied: it would be empty.
  await lab.expect(204, 'POST', `${two}/checkpoint`);
  await lab.expect(204, 'POST', `${two}/start`);
  const other = await typist(t, lab, two);
  const told = await other.run(
    'stat -c "%a %u:%g" "/srv/a b/file" /srv/large; cat /srv/link; readlink /srv/link; ls -l /srv/pipe; ls /old /data/volume',
  );
  assert.match(told, /640 1234:568\s+4750 0:0\s+first\s+a b\/file\s+p/);
  assert.match(told, /\/old: No such file[\s\S]*\/data\/volume: No such file/);
  await cp(join(folder, '../data/large'), join(await folderOf(lab, two), 'data/large'));
  assert.match(await other.run('cmp /srv/large /data/large'), /\n0$/);
  // Kept until no other container with more rights can replace this one.
  await eventually(
    'the end of the copy',
    async () => readdir(await folderOf(lab, two)),
    (names) => !names.includes('restored-disks'),
  );
  assert.match(await other.run('ls -A /etc/network | grep deleted'), /\n1$/);
  // The copy of the new one has the same.
  await lab.expect(204, 'POST', `${two}/checkpoint`);
  assert.ok((await readdir(join(await folderOf(lab, two), 'disk-checkpoint'))).length >= 4);

  const three = await container(lab, project, { name: 'Three', ...settings });
  const damaged = join(await folderOf(lab, three), 'restored-disks');
  await cp(folder, damaged, { recursive: true });
  await rm(join(damaged, (await readdir(damaged)).filter((name) => name !== 'manifest.json')[0]!));
  await lab.expect(204, 'POST', `${three}/start`);
  assert.match(await (await typist(t, lab, three)).run('ls /srv /old'), /file[\s\S]*\n1$/);
  await lab.told('log.warning', ({ message }) => message.includes('Three: it begins with its image and volumes'));
  const four = await container(lab, project, { name: 'Four', ...settings });
  const cut = join(await folderOf(lab, four), 'restored-disks');
  await mkdir(cut);
  await writeFile(join(cut, 'manifest.json'), '{"parts":');
  await lab.expect(204, 'POST', `${four}/start`);
  await lab.told('log.warning', ({ message }) => /Four: the copy .* cannot be used: manifest.json is/.test(message));
  assert.ok(!(await readdir(await folderOf(lab, four))).includes('restored-disks'));
});

test('an Engine that hangs does not hold a copy beyond its time', async (t) => {
  const directory = await scratchDirectory(t);
  const socket = join(directory, 'docker.sock');
  for (const hangs of [/json/, /changes/, /exec$/, /start$/, /export/]) {
    const server = createServer((request, response) => {
      const url = request.url ?? '';
      if (hangs.test(url) && !(hangs.source === 'json' && !url.includes('containers/c/json'))) return;
      response.setHeader('Content-Type', 'application/json');
      if (url === '/version') response.end('{"Version":"20.10","ApiVersion":"1.41"}');
      else if (url.endsWith('/changes')) response.end('[{"Path":"/file","Kind":1}]');
      else if (url.endsWith('/exec')) response.end('{"Id":"e"}');
      else response.end('{"Mounts":[],"Image":"i"}');
    }).listen(socket);
    await once(server, 'listening');
    const layer = { engine: new Engine(socket), container: 'c', directory };
    const since = performance.now();
    const isRunning = hangs.source !== 'export';
    const copy = takeLayerCheckpoint(layer, { isRunning, stopped: true, signal: AbortSignal.timeout(200) });
    await assert.rejects(copy, hangs.source);
    assert.ok(performance.now() - since < 5_000, hangs.source);
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }
});

test('a layer of more than is kept is refused, and no volume can lead the copy elsewhere', { skip }, async (t) => {
  const { lab, project } = await containers(t);
  const one = await container(lab, project, { name: 'One' });
  await lab.expect(204, 'POST', `${one}/start`);
  const typing = await typist(t, lab, one);
  await typing.run('truncate -s 1G /srv-large');
  const { message } = await lab.expect(507, 'POST', `${one}/checkpoint`);
  assert.match(message, /has written 102\d MiB outside its volumes/);
  await typing.run('rm /srv-large');
  await lab.expect(204, 'POST', `${one}/checkpoint`);
  const two = await container(lab, project, { name: 'Two', extra_volumes: ['/disk-checkpoint'] });
  const target = join(await folderOf(lab, two), 'target');
  await writeFile(target, 'kept');
  await lab.expect(204, 'POST', `${two}/start`);
  await symlink(target, join(await folderOf(lab, two), 'disk-checkpoint/unfinished'));
  const refused = await lab.expect(409, 'POST', `${two}/checkpoint`);
  assert.match(refused.message, /extra_volumes: no copy is made/);
  assert.equal((await stat(target)).size, 4);
});

test('a copy gives way to other actions at its container, and the next one has everything', { skip }, async (t) => {
  const { lab, project } = await containers(t);
  const one = await container(lab, project, { name: 'Busy' });
  await lab.expect(204, 'POST', `${one}/start`);
  const folder = join(await folderOf(lab, one), 'disk-checkpoint');
  const typing = await typist(t, lab, one);
  await typing.run('echo first > /small');
  await lab.expect(204, 'POST', `${one}/checkpoint`);
  const manifest = () => readFile(join(folder, 'manifest.json'), 'utf8');
  const before = await manifest();
  assert.match(await typing.run('dd if=/dev/urandom of=/large bs=1M count=150'), /\n0$/);
  for (const verb of ['console/reset', 'stop']) {
    const copy = lab.request('POST', `${one}/checkpoint`);
    await eventually(`its begin before ${verb}`, () => stat(join(folder, 'unfinished')).catch(() => undefined));
    await lab.expect(204, 'POST', `${one}/${verb}`);
    const answer = await copy;
    assert.equal(answer.status, 409, verb);
    assert.match(answer.body.message, /^The copy of Busy gave way to another action/);
    assert.equal(await manifest(), before);
    assert.ok(!(await readdir(folder)).includes('unfinished'), 'the former copy is still whole');
  }
  // The layer of a container stays when it stops.
  await lab.expect(204, 'POST', `${one}/start`);
  await lab.expect(204, 'POST', `${one}/checkpoint`);
  const { state, parts } = JSON.parse(await manifest());
  assert.match(state, /\.\/large/);
  assert.ok(parts.length >= 600, `${parts.length}`);
});

test('a change of equal size in the second of the last copy is not missed', () => {
  const line = (second: number, fraction: string) =>
    `5 ./file 81a4 0:0 ${second} 2026-11-28 11:38:01.${fraction} +0000\n`;
  const [exact, whole] = [line(1_000, '661348531'), line(1_000, '000000000')];
  assert.equal(comparable(exact, 1_000), exact, 'times with nanoseconds say it');
  assert.notEqual(comparable(whole, 1_000), whole);
  assert.equal(comparable(whole, 1_010), whole, 'the copy was made long after the change');
  assert.equal(comparable('', 1_000), '');
});
