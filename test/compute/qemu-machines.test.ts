// QEMU machines as nodes of a compute, with the real QEMU and without a guest.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { appendFile, mkdir, readFile, rename, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { AGENT_SOCKET, QMP_SOCKET } from '../../src/compute/emulators/qemu/sockets.ts';
import { freePort, until } from '../fabric/peers.ts';
import { disk, machineOf, machines, noQemu, qemuImg, rubbish, SMALL } from './qemu-support.ts';
import { programsOf } from './support.ts';

const skip = noQemu;

test('a machine is created stopped, with what it has by default', { skip }, async (t) => {
  const { lab, project } = await machines(t);
  const node_id = '12345678-9abc-4def-8123-456789abcdef';
  const made = await lab.expect(201, 'POST', `${project}/qemu/nodes`, { name: 'Q1', node_id, platform: 'x86_64' });
  const { qemu_path, ram, cpus, mac_address, status, process_priority, hda_disk_image_md5sum } = made;
  assert.deepEqual(
    { qemu_path, ram, cpus, mac_address, status, process_priority, hda_disk_image_md5sum },
    {
      ...{ qemu_path: '/usr/bin/qemu-system-x86_64', ram: 256, cpus: 1, mac_address: '0c:34:56:78:00:00' },
      ...{ status: 'stopped', process_priority: 'low', hda_disk_image_md5sum: null },
    },
  );
  assert.equal('linked_clone' in made || 'custom_adapters' in made, false);
  const path = `${project}/qemu/nodes/${node_id}`;
  const changed = await lab.expect(200, 'PUT', path, { mac_address: '00:aa:00:bb:00:10', ram: null, cpus: 2 });
  assert.deepEqual([changed.mac_address, changed.ram, changed.cpus], ['00:aa:00:bb:00:10', 256, 2]);
  assert.equal((await lab.expect(200, 'PUT', path, { mac_address: null })).mac_address, '0c:34:56:78:00:00');
  const spice = await lab.expect(200, 'PUT', path, { console_type: 'spice' });
  assert.equal(spice.console, changed.console, 'it may have the same number');
  // As a controller does, which names the port that the node has.
  const vnc = await lab.expect(200, 'PUT', path, { console_type: 'vnc', console: changed.console });
  assert.ok(vnc.console >= 5900 && vnc.console < 12_000, `${vnc.console} is of the range for VNC`);
  const refused = await lab.expect(409, 'PUT', path, { console: 5800 });
  assert.equal(refused.exception, 'NodeError');
  assert.equal((await lab.expect(200, 'PUT', path, { console_type: 'none' })).console, null);
  await lab.expect(204, 'DELETE', path);
  assert.deepEqual((await lab.expect(200, 'GET', '/network/ports')).console_ports, []);
});

test('images are found by name, path and checksum, and reported as clients know them', { skip }, async (t) => {
  const { lab, project, images, directory } = await machines(t);
  await mkdir(join(images, 'routers'), { recursive: true });
  await disk(images, 'a.qcow2');
  await disk(join(images, 'routers'), 'b.qcow2');
  await disk(directory, 'own.qcow2');
  const make = (hda_disk_image: string, more: object = {}) =>
    lab.request('POST', `${project}/qemu/nodes`, { name: 'Q', ...SMALL, hda_disk_image, ...more });
  const shown = async (reference: string, more: object = {}) => {
    const { status, body } = await make(reference, more);
    assert.equal(status, 201, JSON.stringify(body));
    return body.hda_disk_image;
  };
  assert.equal(await shown('a.qcow2'), 'a.qcow2');
  assert.equal(await shown('b.qcow2'), 'routers/b.qcow2');
  assert.equal(await shown('routers/b.qcow2'), 'routers/b.qcow2');
  assert.equal(await shown(join(images, 'a.qcow2')), 'a.qcow2');
  assert.equal(await shown('own.qcow2'), 'own.qcow2');
  const { body } = await make('a.qcow2');
  assert.equal(await shown('other-name.qcow2', { hda_disk_image_md5sum: body.hda_disk_image_md5sum }), 'a.qcow2');
  const missing = await make('none.qcow2');
  assert.deepEqual(
    [missing.status, missing.body.exception, missing.body.image],
    [409, 'ImageMissingError', 'none.qcow2'],
  );
  for (const strange of ['/etc/passwd', 'C:\\x.img', '../../../etc/passwd', '/proc/self/environ']) {
    assert.equal((await make(strange)).status, 409, strange);
  }
  await symlink('/etc/passwd', join(images, 'out.img'));
  await mkdir(join(images, 'directory.img'));
  assert.equal((await make('out.img')).status, 409);
  assert.equal((await make('directory.img')).status, 409);
});

test('an image that cannot be used is named, with the reason, and nothing runs', { skip }, async (t) => {
  const { lab, project, images, instance } = await machines(t);
  await disk(images, 'whole.qcow2', 'cut.qcow2', 'removed.qcow2');
  await truncate(join(images, 'cut.qcow2'), 100);
  await rubbish(images, 'empty.img', '');
  await qemuImg('create', '-q', '-f', 'qcow2', '-b', '/etc/hostname', '-F', 'raw', join(images, 'climbing.qcow2'));
  for (const [name, reason] of [
    ['cut.qcow2', /cut.qcow2/],
    ['empty.img', /empty/],
    ['climbing.qcow2', /not the plain name of an image in the same folder/],
    ['removed.qcow2', /is missing; upload it again/],
  ] as const) {
    const node = await lab.node(project, 'qemu', { ...SMALL, hda_disk_image: name });
    if (name === 'removed.qcow2') await rm(join(images, name));
    const { message, exception } = await lab.expect(409, 'POST', `${node}/start`);
    assert.match(message, reason);
    assert.equal(exception, 'QemuError');
    assert.equal((await lab.expect(200, 'GET', node)).status, 'stopped');
  }
  for (const body of [{ options: '-drive file=/etc/passwd' }, { options: '"' }, { legacy_networking: true }]) {
    const node = await lab.node(project, 'qemu', { ...SMALL, ...body });
    await lab.expect(409, 'POST', `${node}/start`);
  }
  assert.deepEqual(programsOf(instance), []);
  assert.deepEqual((await lab.expect(200, 'GET', '/network/ports')).udp_ports, []);
});

test('an image that is written to belongs to one machine', { skip }, async (t) => {
  const { lab, project, images } = await machines(t);
  await disk(images, 'a.qcow2', 'b.qcow2');
  const own = { ...SMALL, linked_clone: false };
  const first = await lab.node(project, 'qemu', { ...own, hda_disk_image: 'a.qcow2' });
  const refused = await lab.expect(409, 'POST', `${project}/qemu/nodes`, {
    name: 'Q2',
    ...own,
    hdb_disk_image: 'a.qcow2',
  });
  assert.match(refused.message, /Another node writes to the disk image/);
  const second = await lab.node(project, 'qemu', { ...own, hda_disk_image: 'b.qcow2' });
  await lab.expect(409, 'PUT', second, { hda_disk_image: 'a.qcow2' });
  assert.equal((await lab.expect(200, 'GET', second)).hda_disk_image, 'b.qcow2');
  await lab.expect(200, 'PUT', first, { hda_disk_image: '' });
  assert.equal((await lab.expect(200, 'PUT', second, { hda_disk_image: 'a.qcow2' })).hda_disk_image, 'a.qcow2');
  await lab.expect(204, 'DELETE', second);
  await lab.expect(200, 'PUT', first, { hda_disk_image: 'a.qcow2' });
});

test('a machine has its own copy of a disk, which grows', { skip }, async (t) => {
  const { lab, project, images, directory } = await machines(t);
  await disk(images, 'a, b.qcow2');
  const node = await lab.node(project, 'qemu', { ...SMALL, name: 'one, "two" é', hda_disk_image: 'a, b.qcow2' });
  const before = await readFile(join(images, 'a, b.qcow2'));
  await lab.expect(201, 'POST', `${node}/resize_disk`, { drive_name: 'hda', extend: 3 });
  await lab.expect(409, 'POST', `${node}/resize_disk`, { drive_name: 'hdb', extend: 3 });
  const copy = join(directory, 'project-files/qemu', node.split('/').at(-1)!, 'hda_disk.qcow2');
  const info = JSON.parse((await qemuImg('info', '--output=json', copy)).output);
  assert.deepEqual(
    [info['virtual-size'], info['full-backing-filename']],
    [4 * 1024 * 1024, join(images, 'a, b.qcow2')],
  );
  const use = await lab.expect(200, 'GET', `${node}/disk_use`);
  const { size, blocks } = await stat(copy);
  assert.deepEqual(use, { bytes: blocks * 512, files: [{ path: 'hda_disk.qcow2', size, bytes: blocks * 512 }] });
  const started = await lab.expect(200, 'POST', `${node}/start`);
  assert.equal(started.status, 'started');
  await lab.expect(409, 'POST', `${node}/resize_disk`, { drive_name: 'hda', extend: 3 });
  await lab.expect(204, 'POST', `${node}/stop`);
  assert.deepEqual(await readFile(join(images, 'a, b.qcow2')), before, 'the image is as it was');
  const never = await lab.node(project, 'qemu', { ...SMALL, name: 'never' });
  assert.deepEqual(await lab.expect(200, 'GET', `${never}/disk_use`), { bytes: 0, files: [] });
  const other = await lab.node(project, 'qemu', { ...SMALL, name: 'copy', hda_disk_image: 'a, b.qcow2' });
  await lab.expect(201, 'POST', `${node}/duplicate`, { destination_node_id: other.split('/').at(-1)! });
  assert.ok(existsSync(join(directory, 'project-files/qemu', other.split('/').at(-1)!, 'hda_disk.qcow2')));
});

test('an image or a copy that was exchanged meanwhile is looked at again', { skip }, async (t) => {
  const { lab, project, images, directory } = await machines(t);
  await disk(images, 'a.qcow2', 'b.qcow2');
  const node = await lab.node(project, 'qemu', { ...SMALL, hda_disk_image: 'a.qcow2', hda_disk_interface: 'ide' });
  const copy = join(directory, 'project-files/qemu', node.split('/').at(-1)!, 'hda_disk.qcow2');
  const cycle = async (): Promise<void> => {
    await lab.expect(200, 'POST', `${node}/start`);
    await lab.expect(204, 'POST', `${node}/stop`);
  };
  await cycle();
  await rm(copy);
  await qemuImg('create', '-q', '-f', 'qcow2', '-b', join(images, 'b.qcow2'), '-F', 'qcow2', copy);
  await cycle();
  const { output } = await qemuImg('info', '--output=json', copy);
  assert.equal(JSON.parse(output)['full-backing-filename'], join(images, 'a.qcow2'), 'the copy is on its image');
  await truncate(join(images, 'a.qcow2'), 70_000);
  await cycle();
  assert.match((await lab.told('log.warning')).message, /the image a\.qcow2 is damaged/);
  await rm(join(images, 'a.qcow2'));
  assert.match((await lab.expect(409, 'POST', `${node}/start`)).message, /a\.qcow2 is missing; upload it again/);
});

test('a machine has open only what was checked, also if its disk is replaced before QEMU opens it', {
  skip,
}, async (t) => {
  const { lab, project, images, directory, instance } = await machines(t);
  await disk(images, 'a.qcow2');
  const node = await lab.node(project, 'qemu', { ...SMALL, hda_disk_image: 'a.qcow2', hda_disk_interface: 'ide' });
  const id = node.split('/').at(-1)!;
  const own = join(directory, 'project-files/qemu', id);
  const secret = join(directory, '..', 'secret');
  const hostile = join(directory, '..', 'hostile.qcow2');
  await writeFile(secret, Buffer.alloc(1024 * 1024, 65));
  await qemuImg('create', '-q', '-f', 'qcow2', '-o', `data_file=${secret},data_file_raw=on`, hostile, '1M');
  const content = await readFile(hostile);
  const isWritten = async () => (await stat(join(own, 'qemu.log')).catch(() => undefined))?.birthtimeMs;
  const started = async (replace: () => Promise<unknown>) => {
    const before = await isWritten();
    const answer = lab.request('POST', `${node}/start`);
    // The log is begun after the checks, when QEMU is about to be run.
    for (let now = before; now === before || now === undefined; now = await isWritten());
    const replaced = replace();
    const { status, body } = await answer;
    await replaced;
    return { status, message: body.message };
  };

  const file = `${project}/files/project-files/qemu/${id}/hda_disk.qcow2`;
  const { status, message } = await started(() =>
    lab.app.request(`/v2/compute${file}`, { method: 'POST', body: content }),
  );
  assert.equal(status, 200, message);
  assert.deepEqual(opened(machineOf(instance), secret), []);
  assert.ok(content.equals(await readFile(join(own, 'hda_disk.qcow2'))), 'it was replaced afterwards');
  await lab.expect(204, 'POST', `${node}/stop`);
  await rm(join(own, 'hda_disk.qcow2'));

  const replaced = () => started(() => rename(hostile, join(own, 'hda_disk.qcow2')));
  let refused = await replaced();
  // QEMU may have opened its own disk before the other one came.
  for (let times = 1; times < 5 && refused.status === 200; times++) {
    assert.deepEqual(opened(machineOf(instance), secret), []);
    await lab.expect(204, 'POST', `${node}/stop`);
    await rm(join(own, 'hda_disk.qcow2'));
    await writeFile(hostile, content);
    refused = await replaced();
  }
  assert.equal(refused.status, 409);
  assert.match(refused.message, /one of its images was replaced at this moment/);
  assert.deepEqual(programsOf(instance), []);
});

test('a machine is suspended, resumed, reset, and started again when something was changed', { skip }, async (t) => {
  const { lab, project, instance, directory } = await machines(t);
  const node = await lab.node(project, 'qemu', { ...SMALL, adapters: 2 });
  await lab.expect(204, 'POST', `${node}/suspend`);
  await lab.expect(409, 'POST', `${node}/resume`);
  await lab.expect(204, 'POST', `${node}/reload`);
  assert.equal((await lab.expect(200, 'GET', node)).status, 'stopped');
  const started = await lab.expect(200, 'POST', `${node}/start`);
  assert.match(started.command_line, /^\/usr\/bin\/qemu-system-x86_64 -name N1 -m 16M .* -nodefaults /);
  const [first] = programsOf(instance);
  assert.match(readFileSync(`/proc/${first!.pid}/status`, 'latin1'), /^Seccomp:\t2$/m, 'in the sandbox');
  lab.events();
  await lab.expect(204, 'POST', `${node}/suspend`);
  assert.equal((await lab.expect(200, 'GET', node)).status, 'suspended');
  assert.equal((await lab.expect(200, 'POST', `${node}/start`)).status, 'started');
  await lab.expect(204, 'POST', `${node}/suspend`);
  await lab.expect(204, 'POST', `${node}/resume`);
  await lab.expect(204, 'POST', `${node}/reload`);
  assert.deepEqual(programsOf(instance), [first], 'the same program was reset');
  await lab.expect(200, 'PUT', node, { ram: 17 });
  await lab.expect(409, 'PUT', node, { console_type: 'vnc' });
  await lab.expect(204, 'POST', `${node}/reload`);
  const [second, ...more] = programsOf(instance);
  assert.notEqual(second!.pid, first!.pid);
  assert.deepEqual(more, []);
  await lab.expect(204, 'POST', `${node}/console/reset`);
  await lab.expect(204, 'POST', `${node}/stop`);
  const files = readdirSync(join(directory, 'project-files/qemu', node.split('/').at(-1)!));
  assert.deepEqual(files, ['qemu.log']);
  assert.deepEqual((await lab.expect(200, 'GET', '/network/ports')).udp_ports, []);
  assert.deepEqual(programsOf(instance), []);
});

test('a machine that is killed, or does not start, is reported with its last words', { skip }, async (t) => {
  const { lab, project, instance } = await machines(t);
  const node = await lab.node(project, 'qemu', SMALL);
  await lab.expect(200, 'POST', `${node}/start`);
  process.kill(programsOf(instance)[0]!.pid, 'SIGKILL');
  const { message } = await lab.told('log.error');
  assert.match(message, /N1 ended unexpectedly by SIGKILL/);
  assert.equal((await lab.expect(200, 'GET', node)).status, 'stopped');
  const strange = await lab.node(project, 'qemu', { ...SMALL, adapter_type: 'no-such-adapter' });
  const refused = await lab.expect(409, 'POST', `${strange}/start`);
  assert.match(refused.message, /no-such-adapter/);
  assert.deepEqual((await lab.expect(200, 'GET', '/network/ports')).udp_ports, []);
});

test('a machine that ends while its files cannot be removed is reported, and starts again', { skip }, async (t) => {
  const { lab, project, directory, instance } = await machines(t);
  const node = await lab.node(project, 'qemu', { ...SMALL, guest_agent: true });
  await lab.expect(200, 'POST', `${node}/start`);
  const socket = join(directory, 'project-files/qemu', node.split('/').at(-1)!, AGENT_SOCKET);
  await rm(socket);
  await mkdir(socket);
  process.kill(machineOf(instance), 'SIGKILL');
  await lab.told('log.error', ({ message }) => /N1 ended unexpectedly by SIGKILL/.test(message));
  assert.equal((await lab.expect(200, 'GET', node)).status, 'stopped');
  await rm(socket, { recursive: true });
  await lab.expect(200, 'POST', `${node}/start`);
});

test('the last words of a machine are reported as plain text, and not at length', { skip }, async (t) => {
  const { lab, project, directory, instance } = await machines(t);
  const node = await lab.node(project, 'qemu', SMALL);
  const log = join(directory, 'project-files/qemu', node.split('/').at(-1)!, 'qemu.log');
  await lab.expect(200, 'POST', `${node}/start`);
  await appendFile(log, `${'x'.repeat(100_000)}\n\x1b[31mred\x1b[0m \x00\x07<b>last</b>\n`);
  process.kill(machineOf(instance), 'SIGKILL');
  const { message } = await lab.told('log.error');
  assert.match(message, /^N1 ended unexpectedly by SIGKILL\. Last output: x+\nred <b>last<\/b>$/);
  assert.ok(message.length < 5000, `${message.length} characters`);
  await lab.expect(200, 'POST', `${node}/start`);
  process.kill(machineOf(instance), 'SIGTERM');
  const ended = await lab.told('log.info', (event) => /N1 has ended by itself/.test(event.message));
  assert.match(ended.message, /Last output: .*terminating on signal 15/);
});

test('a guest sees of its cables what happens to them', { skip }, async (t) => {
  const { lab, project, directory, instance } = await machines(t);
  const node = await lab.node(project, 'qemu', { ...SMALL, adapters: 2, adapter_type: 'virtio-net-pci' });
  const port = `${node}/adapters/1/ports/0/nio`;
  const nio = { type: 'nio_udp', lport: await freePort(), rhost: '127.0.0.1', rport: await freePort() };
  await lab.expect(200, 'POST', `${node}/start`);
  await lab.expect(201, 'POST', port, nio);
  await lab.expect(201, 'PUT', port, { ...nio, suspend: true });
  await lab.expect(201, 'PUT', port, { ...nio, suspend: false });
  await lab.expect(204, 'DELETE', port);
  await lab.expect(201, 'POST', port, { ...nio, lport: await freePort() });
  await lab.expect(409, 'POST', `${node}/adapters/2/ports/0/nio`, nio);
  await lab.expect(200, 'PUT', node, { adapters: 1 });
  await lab.expect(409, 'POST', port, nio);
  assert.equal(programsOf(instance).length, 1);
  const log = join(directory, 'project-files/qemu', node.split('/').at(-1)!, 'qemu.log');
  assert.match(await readFile(log, 'utf8'), /^Start QEMU with: .*virtio-net-pci/);
});

test('40 adapters and four disks find their places', { skip }, async (t) => {
  const { lab, project, images } = await machines(t);
  await disk(images, 'a.qcow2', 'b.qcow2', 'c.qcow2', 'd.qcow2');
  const node = await lab.node(project, 'qemu', {
    ...{ ...SMALL, ram: 64, adapters: 40 },
    ...{ hda_disk_image: 'a.qcow2', hda_disk_interface: 'sata', hdb_disk_image: 'b.qcow2', hdb_disk_interface: 'nvme' },
    ...{
      hdc_disk_image: 'c.qcow2',
      hdc_disk_interface: 'scsi',
      hdd_disk_image: 'd.qcow2',
      hdd_disk_interface: 'virtio',
    },
    custom_adapters: [{ adapter_number: 39, adapter_type: 'rtl8139', mac_address: '0C:AA:BB:CC:DD:EE' }],
  });
  const { command_line } = await lab.expect(200, 'POST', `${node}/start`);
  assert.match(command_line, /rtl8139,mac=0c:aa:bb:cc:dd:ee,bus=pci-bridge1/);
});

/** Files that a process has open, whose names end so. */
function opened(pid: number, end: string): string[] {
  const folder = `/proc/${pid}/fd`;
  const paths = readdirSync(folder).map((descriptor) => readlinkSync(join(folder, descriptor)));
  return [...new Set(paths.filter((path) => path.endsWith(end)))];
}

test('a CD is changed while the machine runs', { skip }, async (t) => {
  const { lab, project, images, instance } = await machines(t);
  await rubbish(images, 'one.iso', Buffer.alloc(64 * 1024));
  await rubbish(images, 'two, 2.iso', Buffer.alloc(64 * 1024));
  for (const options of [SMALL.options, '-machine q35,accel=tcg']) {
    const node = await lab.node(project, 'qemu', { ...SMALL, options });
    await lab.expect(200, 'POST', `${node}/start`);
    for (const cdrom_image of ['one.iso', 'two, 2.iso', '']) {
      assert.equal((await lab.expect(200, 'PUT', node, { cdrom_image })).cdrom_image, cdrom_image);
      assert.deepEqual(opened(machineOf(instance), '.iso'), cdrom_image === '' ? [] : [join(images, cdrom_image)]);
    }
    await lab.expect(409, 'PUT', node, { cdrom_image: 'three.iso' });
    await lab.expect(204, 'POST', `${node}/stop`);
  }
});

test('a project that is closed ends its machines, started, suspended or starting', { skip }, async (t) => {
  const { lab, project, instance } = await machines(t);
  const [one, two, three] = await Promise.all(
    [1, 2, 3].map(() => lab.node(project, 'qemu', { ...SMALL, on_close: 'shutdown_signal' })),
  );
  await lab.expect(200, 'POST', `${one}/start`);
  await lab.expect(200, 'POST', `${two}/start`);
  await lab.expect(204, 'POST', `${two}/suspend`);
  const starting = lab.request('POST', `${three}/start`);
  await lab.expect(204, 'POST', `${project}/close`);
  await starting;
  assert.deepEqual(programsOf(instance), []);
  const { console_ports, udp_ports } = await lab.expect(200, 'GET', '/network/ports');
  assert.deepEqual([console_ports, udp_ports], [[], []]);
});

test('a state is saved when a machine stops, and gone on with', { skip }, async (t) => {
  const { lab, project, images, directory, instance } = await machines(t);
  await disk(images, 'a.qcow2');
  const body = { ...SMALL, on_close: 'save_vm_state', hda_disk_image: 'a.qcow2', hda_disk_interface: 'ide' };
  const node = await lab.node(project, 'qemu', { ...body, node_id: randomUUID() });
  await lab.expect(200, 'POST', `${node}/start`);
  await lab.expect(204, 'POST', `${node}/stop`);
  const copy = join(directory, 'project-files/qemu', node.split('/').at(-1)!, 'hda_disk.qcow2');
  assert.match((await qemuImg('snapshot', '-l', copy)).output, /GNS3_SAVED_STATE/);
  assert.match((await lab.expect(200, 'POST', `${node}/start`)).command_line, /-loadvm GNS3_SAVED_STATE/);
  // It would revert the disks to their state at the last stop.
  process.kill(machineOf(instance), 'SIGKILL');
  await lab.told('log.error', ({ message }) => /N1 ended unexpectedly/.test(message));
  assert.doesNotMatch((await lab.expect(200, 'POST', `${node}/start`)).command_line, /-loadvm/);
  await lab.expect(204, 'POST', `${node}/stop`);
  assert.match((await lab.expect(200, 'POST', `${node}/start`)).command_line, /-loadvm GNS3_SAVED_STATE/);
  await lab.expect(200, 'PUT', node, { on_close: 'power_off' });
  await lab.expect(204, 'POST', `${node}/stop`);
  assert.doesNotMatch((await lab.expect(200, 'POST', `${node}/start`)).command_line, /-loadvm/);
  await lab.expect(204, 'POST', `${node}/stop`);
  assert.doesNotMatch((await qemuImg('snapshot', '-l', copy)).output, /GNS3_SAVED_STATE/);
});

test('a state may take longer to load than a machine to answer', { skip }, async (t) => {
  const { lab, project, images, directory, instance } = await machines(t);
  await disk(images, 'a.qcow2');
  const body = { ...SMALL, on_close: 'save_vm_state', hda_disk_image: 'a.qcow2', hda_disk_interface: 'ide' };
  const node = await lab.node(project, 'qemu', body);
  await lab.expect(200, 'POST', `${node}/start`);
  await lab.expect(204, 'POST', `${node}/stop`);
  const started = lab.request('POST', `${node}/start`);
  const socket = join(directory, 'project-files/qemu', node.split('/').at(-1)!, QMP_SOCKET);
  await until(async () => programsOf(instance).some(({ pid }) => readlinkSync(`/proc/${pid}/exe`).includes('qemu')));
  const machine = machineOf(instance);
  // It listens, loads, and then answers; meanwhile the server, in this process, does nothing.
  while (!existsSync(socket));
  process.kill(machine, 'SIGSTOP');
  await sleep(31_000);
  process.kill(machine, 'SIGCONT');
  assert.equal((await started).status, 200);
});
