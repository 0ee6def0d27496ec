// Images and licences that IOU cannot run with: each is refused with a sentence that names the fix, and nothing is left behind.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { iouHost } from '../../src/compute/emulators/iou/doctor.ts';
import { findOurs } from '../../src/host/processes/child-processes.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { image, LICENCE, nextId, noCompiler, Router, type Routers, routers, useIds } from './iou-support.ts';

const skip = noCompiler;
useIds(260);

/** Without a licence of its own. */
async function homeless(t: TestContext): Promise<string> {
  const [home, before] = [await scratchDirectory(t), process.env['HOME']];
  process.env['HOME'] = home;
  t.after(() => {
    process.env['HOME'] = before;
  });
  return home;
}

async function mustLeaveNothing({ lab, directory }: Routers, instance: string): Promise<void> {
  assert.deepEqual(
    findOurs(instance).filter(({ nodeId }) => nodeId !== ''),
    [],
  );
  assert.deepEqual((await lab.expect(200, 'GET', '/network/ports')).udp_ports, []);
  assert.equal(existsSync(join(directory, 'project-files/captures')), false);
}

test('an image that cannot run is refused at its start, with the reason', { skip }, async (t) => {
  const instance = '11111111-2222-4333-8444-999999999999';
  const all = await routers(t, { instance });
  const folder = join(all.lab.config.Server.images_path, 'IOU');
  const put = (name: string, bytes: Buffer, mode = 0o700): void => {
    writeFileSync(join(folder, name), bytes);
    chmodSync(join(folder, name), mode);
  };
  const whole = readFileSync(image());
  put('text.bin', Buffer.from('#!/bin/sh\necho no image\n'));
  put('empty.bin', Buffer.alloc(0));
  put('router.bin', Buffer.concat([Buffer.from([0x7f, 0x45, 0x4c, 0x46, 1, 2, 1]), Buffer.alloc(500)]));
  put('head.bin', whole.subarray(0, 40));
  put('cut.bin', whole.subarray(0, 100));
  put('hollow.bin', Buffer.concat([Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]), Buffer.alloc(57)]));
  put('forbidden.bin', whole, 0o600);
  put('removed.bin', whole);
  const library = join(folder, 'libnone.so');
  execFileSync('cc', ['-shared', '-x', 'c', '-o', library, '-'], { input: 'int none(void) { return 0; }' });
  const program = 'int none(void); int main(void) { return none(); }';
  execFileSync('cc', ['-x', 'c', '-o', join(folder, 'library.bin'), '-', `-L${folder}`, '-lnone'], { input: program });
  const loader = '-Wl,--dynamic-linker=/lib/ld-none.so.2';
  execFileSync('cc', [join(import.meta.dirname, '../guest/iou/image.c'), loader, '-o', join(folder, 'loader.bin')]);
  await rm(library);

  for (const [name, reason] of [
    ['text.bin', /text\.bin is no IOU image \(it is no ELF program\); upload a whole image/],
    ['empty.bin', /it is cut off/],
    ['router.bin', /big-endian: an image for Dynamips/],
    ['head.bin', /it is cut off/],
    ['cut.bin', /it is cut off/],
    ['hollow.bin', /it has nothing to run in it/],
    ['forbidden.bin', /may not be run: chmod \+x /],
    ['removed.bin', /removed\.bin any more; upload it again/],
    ['library.bin', /library\.bin needs libnone\.so, not found here; install them \(Debian: apt install/],
    ['loader.bin', /whose loader \/lib\/ld-none\.so\.2 is not here; install them \(Debian: apt install/],
  ] as const) {
    // Who may do everything may not run what nobody may run.
    const router = await Router.make(all, { path: name });
    if (name === 'removed.bin') await rm(join(folder, name));
    const refused = await all.lab.expect(409, 'POST', `${router.path}/start`, { license_check: false });
    assert.match(refused.message, reason, name);
    assert.equal(refused.exception, 'IOUError');
    assert.equal((await all.lab.expect(200, 'GET', router.path)).status, 'stopped');
    assert.equal(existsSync(router.directory), false, name);
  }
  const body = { name: 'I', application_id: nextId() };
  const missing = await all.lab.expect(409, 'POST', `${all.project}/iou/nodes`, { ...body, path: 'none.bin' });
  assert.deepEqual([missing.exception, missing.image], ['ImageMissingError', 'none.bin']);
  await all.lab.expect(409, 'POST', `${all.project}/iou/nodes`, { ...body, path: '' });
  await all.lab.expect(409, 'POST', `${all.project}/iou/nodes`, { ...body, path: '/etc/passwd' });
  const adapters = { ...body, path: 'i86bi.bin', ethernet_adapters: 10, serial_adapters: 7 };
  assert.match((await all.lab.expect(400, 'POST', `${all.project}/iou/nodes`, adapters)).message, /16 together/);
  await mustLeaveNothing(all, instance);
});

test('a configuration that the NVRAM cannot hold is refused, and so are keepalives that the image has not', {
  skip,
}, async (t) => {
  const all = await routers(t);
  const start = (router: Router) => all.lab.request('POST', `${router.path}/start`, { license_check: false });
  for (const [body, reason] of [
    [{ nvram: 4 }, /^nvram: 4 KB cannot hold a configuration; use 8 to 1024/],
    [{ nvram: 2000 }, /^nvram: 2000 KB cannot/],
    [{ nvram: 8, startup_config_content: 'x'.repeat(3000) }, /^nvram: 8 KB are too few/],
  ] as const) {
    const router = await Router.make(all, { startup_config_content: 'hostname %h\n', ...body });
    const { status, body: refused } = await start(router);
    assert.equal(status, 409);
    assert.match(refused.message, reason);
  }
  const folder = join(all.lab.config.Server.images_path, 'IOU');
  const source = readFileSync(join(import.meta.dirname, '../guest/iou/image.c'), 'utf8');
  const plain = source.replace(/"-l .*\\n"/, '""');
  execFileSync('cc', ['-x', 'c', '-', '-o', join(folder, 'plain.bin')], { input: plain });
  const router = await Router.make(all, { path: 'plain.bin', l1_keepalives: true });
  assert.match((await start(router)).body.message, /^l1_keepalives: plain\.bin has none; switch them off/);
});

test('a licence is searched where clients and users put it, checked for its form, and shown to no client', {
  skip,
}, async (t) => {
  const home = await homeless(t);
  const all = await routers(t);
  const router = await Router.make(all);
  const start = (body: object) => all.lab.request('POST', `${router.path}/start`, body);
  const none = await start({ iourc_content: '' });
  assert.equal(none.status, 409);
  assert.match(none.body.message, /no IOU licence .* PUT \/v2\/iou_license, or name a file with iourc_path/);

  const key = 'fedcba9876543210';
  for (const [content, reason] of [
    ['nothing', /has no section \[license\]; write/],
    [`[License]\n${hostname()} = ${key};\n`, /has no section \[license\]/],
    [`[license]\nelsewhere = ${key};\n`, /is for elsewhere, not for this host/],
    [`[license]\n${hostname()} = ${key}\n`, /does not end with ";"/],
    [`[license]\n${hostname()} = 1234;\n`, /is not 16 digits long/],
    [`[other]\n${hostname()} = ${key};\n[license]\n`, /is for no host, not for this host/],
  ] as const) {
    const refused = await start({ iourc_content: content });
    assert.equal(refused.status, 409, content);
    assert.equal(refused.body.exception, 'IOUError');
    assert.match(refused.body.message, reason);
    assert.doesNotMatch(JSON.stringify(refused.body), new RegExp(key));
  }
  // As clients know it, what was submitted is the user's from then on; nobody else may read it.
  assert.equal((await start({ iourc_content: LICENCE })).status, 200);
  assert.equal(readFileSync(join(home, '.iourc'), 'utf8'), LICENCE);
  assert.equal(statSync(join(home, '.iourc')).mode & 0o777, 0o600);
  const used = (await (await router.console(t)).says('licence')).replace('licence ', '');
  assert.equal(readFileSync(used, 'utf8'), LICENCE);
  assert.equal(statSync(used).mode & 0o777, 0o600);
  assert.doesNotMatch(JSON.stringify(all.lab.messages), /0123456789abcdef/);
  await router.stop();
  await all.lab.expect(204, 'DELETE', router.path);
  assert.deepEqual(await readdir(join(all.lab.directory, 'iou-licences')), []);

  // Any other node finds it in the home directory; one beside the node comes last.
  const other = await Router.make(all);
  assert.equal((await all.lab.request('POST', `${other.path}/start`)).status, 200);
  await other.stop();
  await rm(join(home, '.iourc'));
  writeFileSync(join(other.directory, 'iourc'), LICENCE);
  assert.equal((await all.lab.request('POST', `${other.path}/start`)).status, 200);
});

test('a licence file that the configuration names is the only one', { skip }, async (t) => {
  await homeless(t);
  const directory = await scratchDirectory(t);
  const path = join(directory, 'licence');
  const all = await routers(t, { iourc_path: path });
  const router = await Router.make(all);
  const doctor = async () => iouHost.examine(all.lab.config, undefined);
  assert.equal((await doctor())?.state, 'warning');
  const missing = await all.lab.expect(409, 'POST', `${router.path}/start`, { iourc_content: LICENCE });
  assert.match(missing.message, /^iourc_path: .* is missing; correct it in section \[IOU\]/);
  writeFileSync(path, Buffer.from([0xff, 0xfe, 0x00]));
  const strange = await all.lab.expect(409, 'POST', `${router.path}/start`, {});
  assert.match(strange.message, /it is no text in UTF-8/);
  assert.match((await doctor())?.fix ?? '', /^write "\[license\]"/);
  writeFileSync(path, `\ufeff[other]\nx=1\n[license]\n# ours\n${hostname().toUpperCase()}:0123456789abcdef;\n`);
  await all.lab.expect(200, 'POST', `${router.path}/start`, {});
  assert.equal(await (await router.console(t)).says('licence'), `licence ${path}`);
  assert.equal((await doctor())?.state, 'ok');
});
