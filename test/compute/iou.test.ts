// Routers of IOU: two of them speak with each other through the fabric, keep their configurations, and come back.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, readFile, readlink, rm, rmdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { eventually } from '../eventually.ts';
import { join2, nioPath, noCompiler, Router, routers, useIds } from './iou-support.ts';

const skip = noCompiler;
useIds(20);
const SOCKETS = `/tmp/netio${process.getuid!()}`;

test('two routers ping each other, from any port to any other, with loss, a filter, a capture and a suspension', {
  skip,
}, async (t) => {
  const all = await routers(t);
  const { lab, directory } = all;
  const [one, other] = [await Router.make(all), await Router.make(all, { name: 'N2', ethernet_adapters: 3 })];
  await join2(all, one, '1/2', other, '2/3');
  await one.start();
  await other.start();
  const console = await one.console(t);
  assert.equal(await console.says('ping 1/2 20'), '20 of 20');
  assert.equal(await console.says('ping 0/0 1'), '0 of 1');

  // The longest frame that the protocol has.
  assert.equal(await console.says('ping 1/2 2 4096'), '2 of 2');

  const capture = { capture_file_name: 'a.pcap', data_link_type: 'DLT_EN10MB' };
  await lab.expect(200, 'POST', nioPath(one, '1/2', 'start_capture'), capture);
  assert.equal(await console.says('ping 1/2 3 64'), '3 of 3');
  await lab.expect(204, 'POST', nioPath(one, '1/2', 'stop_capture'));
  const pcap = await readFile(join(directory, 'project-files/captures/a.pcap'));
  assert.equal(pcap.readUInt32LE(20), 1);
  assert.deepEqual(kindsIn(pcap), [1, 2, 1, 2, 1, 2]);
  assert.equal(pcap.readUInt32LE(24 + 8), 64);

  const nio = { type: 'nio_udp', lport: 1, rhost: '127.0.0.1', rport: 1 };
  const filters = (wanted: object) => lab.expect(201, 'PUT', nioPath(one, '1/2'), { ...nio, filters: wanted });
  await filters({ frequency_drop: [-1] });
  assert.equal(await console.says('ping 1/2 1'), '0 of 1');
  await filters({ bpf: ['ether[14] == 9'] });
  assert.equal(await console.says('ping 1/2 3'), '3 of 3');
  await filters({ delay: [20, 0] });
  assert.equal(await console.says('ping 1/2 2'), '2 of 2');
  await filters({});

  const { outgoing, incoming } = await lab.expect(200, 'GET', nioPath(one, '1/2', 'statistics'));
  assert.equal(outgoing.delivered.frames, incoming.delivered.frames);
  assert.equal(outgoing.dropped.frequency_drop, 1);
  // A suspended link drops all, both ways.
  await lab.expect(200, 'PUT', nioPath(one, '1/2', 'impairments'), { outgoing: { loss: { percent: 100 } } });
  assert.equal(await console.says('ping 1/2 1'), '0 of 1');

  await lab.expect(204, 'DELETE', nioPath(other, '2/3'));
  assert.equal(await console.says('ping 1/2 1'), '0 of 1');
  // A cable that is not there may be taken away, and one that is there be replaced.
  await lab.expect(204, 'DELETE', nioPath(other, '2/3'));
});

/** Of each frame, whether it asks (1) or answers (2). */
function kindsIn(pcap: Buffer): number[] {
  const kinds: number[] = [];
  for (let at = 24; at < pcap.length; at += 16 + pcap.readUInt32LE(at + 8)) kinds.push(pcap[at + 16 + 14]!);
  return kinds;
}

test('serial ports come behind the Ethernet ports, and their captures say what they carry', { skip }, async (t) => {
  const all = await routers(t);
  const [one, other] = [await Router.make(all, { ethernet_adapters: 1 }), await Router.make(all, { name: 'N2' })];
  await join2(all, one, '1/0', other, '3/1');
  await one.start();
  await other.start();
  for (const [type, number] of [
    ['DLT_C_HDLC', 104],
    ['DLT_PPP_SERIAL', 50],
    ['DLT_FRELAY', 107],
  ] as const) {
    const name = `${type}.pcap`;
    await all.lab.expect(200, 'POST', nioPath(one, '1/0', 'start_capture'), {
      capture_file_name: name,
      data_link_type: type,
    });
    assert.equal(await (await one.console(t)).says('ping 1/0 2'), '2 of 2');
    await all.lab.expect(204, 'POST', nioPath(one, '1/0', 'stop_capture'));
    const pcap = await readFile(join(all.directory, 'project-files/captures', name));
    assert.equal(pcap.readUInt32LE(20), number);
    assert.equal(kindsIn(pcap).length, 4);
  }
  assert.equal(
    (await all.lab.request('POST', nioPath(one, '3/0'), { type: 'nio_udp', lport: 9, rhost: '127.0.0.1', rport: 9 }))
      .status,
    409,
  );
});

test('a router finds its configuration in its NVRAM, and what it saves is read back', { skip }, async (t) => {
  const all = await routers(t);
  const body = {
    name: 'R1',
    startup_config_content: 'hostname %h\nline é\r\n',
    private_config_content: 'end\n',
    nvram: 64,
  };
  const router = await Router.make(all, body);
  const configuration = () => readFile(join(router.directory, 'startup-config.cfg'), 'utf8');
  assert.equal(await configuration(), 'hostname R1\nline é\r\n');
  await all.lab.expect(200, 'PUT', router.path, { name: 'R2' });
  assert.equal(await configuration(), 'hostname R2\nline é\r\n');
  await router.start();
  const console = await router.console(t);
  assert.match(await console.says('show'), /^\[hostname R2\nline Ã©\r?\n/);
  assert.equal((await readFile(router.nvram)).length, 64 * 1024);

  all.lab.messages.length = 0;
  assert.equal(await console.says('save hostname R3'), 'saved');
  await all.lab.told('node.updated');
  assert.equal(await configuration(), 'hostname R3\n');
  assert.equal(await readFile(join(router.directory, 'private-config.cfg'), 'utf8'), 'crypto\n');
  // A failure does not end the watch.
  const file = join(router.directory, 'startup-config.cfg');
  await rm(file);
  await mkdir(file);
  all.lab.messages.length = 0;
  await console.says('save hostname R5');
  await all.lab.told('node.updated');
  await rmdir(file);
  await writeFile(file, 'hostname R5\n');
  await console.says('save hostname R6');
  await eventually('the configuration', configuration, (text) => text === 'hostname R6\n');
  await console.says('save hostname R4');
  await router.stop();
  assert.equal(await configuration(), 'hostname R4\n');
});

test('a configuration that the router saved and the server could not is saved before the next start', {
  skip,
}, async (t) => {
  const all = await routers(t);
  const router = await Router.make(all, { startup_config_content: 'hostname R1\n' });
  const file = join(router.directory, 'startup-config.cfg');
  const shown = async (): Promise<string> => (await router.console(t)).says('show');
  await router.start();
  await rm(file);
  await mkdir(file);
  await (await router.console(t)).says('save hostname R2');
  const { message } = await all.lab.told('log.warning');
  assert.match(message, /^The configuration of N1 could not be saved: .*startup-config\.cfg/);
  await router.stop();

  const refused = await all.lab.expect(409, 'POST', `${router.path}/start`, { license_check: false });
  assert.equal(refused.exception, 'IOUError');
  assert.match(refused.message, /N1 saved.*nvram_\d{5}.*startup-config\.cfg/);
  await rmdir(file);
  await writeFile(file, 'hostname R1\n');
  await utimes(file, 1, 1);
  await router.start();
  assert.equal(await readFile(file, 'utf8'), 'hostname R2\n');
  assert.match(await shown(), /^\[hostname R2\n/);
  await router.stop();

  // Copies and imports have times of their own: after an orderly end, times prove nothing.
  await writeFile(file, 'hostname R3\n');
  await utimes(file, 1, 1);
  await router.start();
  assert.match(await shown(), /^\[hostname R3\n/);
  // A user's change that is newer than the router's counts.
  await rm(file);
  await mkdir(file);
  await (await router.console(t)).says('save hostname R4');
  await router.stop();
  await rmdir(file);
  await writeFile(file, 'hostname R5\n');
  await router.start();
  assert.match(await shown(), /^\[hostname R5\n/);
});

test('a router gets its options, a map of its ports and a link to its image, and leaves nothing but its files', {
  skip,
}, async (t) => {
  const all = await routers(t);
  const router = await Router.make(all, { ethernet_adapters: 1, serial_adapters: 0, l1_keepalives: true });
  const made = await all.lab.expect(200, 'GET', router.path);
  // What the image says of itself.
  assert.deepEqual([made.ram, made.nvram], [256, 64]);
  await all.lab.expect(200, 'PUT', router.path, { ram: 300, nvram: 128 });
  await router.start();
  const id = router.applicationId;
  const { command_line: line, status } = await all.lab.expect(200, 'GET', router.path);
  assert.equal(status, 'started');
  assert.ok(line.endsWith(`/IOU/i86bi.bin -e 1 -s 0 -n 128 -m 300 -l ${id}`), line);
  const map = (await readFile(join(router.directory, 'NETMAP'), 'utf8')).split('\n');
  assert.equal(map.length, 65);
  assert.deepEqual(
    [map[0], map[1], map[63]],
    ['0/0', '0/1', '15/3'].map((port) => `${id + 512}:${port}${String(id).padStart(5)}:${port}`),
  );
  assert.ok((await readlink(join(router.directory, 'i86bi.bin'))).endsWith('/IOU/i86bi.bin'));
  assert.equal((await readFile(`${SOCKETS}/${id + 512}.lck`, 'utf8')).trim(), `${process.pid}`);
  await all.lab.expect(200, 'PUT', router.path, { use_default_iou_values: true });
  await router.stop();
  const defaults = await all.lab.expect(200, 'GET', router.path);
  assert.deepEqual([defaults.ram, defaults.nvram, defaults.status], [256, 64, 'stopped']);
  assert.deepEqual(
    readdirSync(SOCKETS).filter((name) => [id, id + 512].includes(Number.parseInt(name, 10))),
    [],
  );
  assert.equal(existsSync(join(router.directory, 'i86bi.bin')), false);
  assert.deepEqual((await all.lab.expect(200, 'GET', '/network/ports')).udp_ports, []);
});

test('an image that ends by itself is reported with its last words, and one that a user ends is not', {
  skip,
}, async (t) => {
  const all = await routers(t);
  const router = await Router.make(all);
  await router.start();
  (await router.console(t)).client.send('quit 4\r');
  const { message } = await all.lab.told('log.error');
  assert.match(message, /N1 ended unexpectedly with exit code 4/);
  await all.lab.told('node.updated', (event) => event.status === 'stopped');
  // It has left its socket behind; nobody else does.
  assert.equal(existsSync(`${SOCKETS}/${router.applicationId}`), false);
  await router.start();
  all.lab.messages.length = 0;
  await router.stop();
  assert.deepEqual(
    all.lab.messages.filter(({ action }) => action === 'log.error'),
    [],
  );
});

test('files of a copy are its own: its name, its id', { skip }, async (t) => {
  const all = await routers(t);
  const source = await Router.make(all, { name: 'R1', startup_config_content: 'hostname %h\n' });
  await source.start();
  await (await source.console(t)).says('save hostname R1 saved');
  await source.stop();
  const copy = await Router.make(all, { name: 'R2' });
  const body = { destination_node_id: copy.path.split('/').at(-1) };
  await all.lab.expect(201, 'POST', `${source.path}/duplicate`, body);
  assert.equal(await readFile(join(copy.directory, 'startup-config.cfg'), 'utf8'), 'hostname R2\n');
  await copy.start();
  assert.equal(existsSync(copy.nvram), true);
  assert.equal(
    createHash('md5')
      .update(await readFile(source.nvram))
      .digest('hex').length,
    32,
  );
  assert.match(await (await copy.console(t)).says('show'), /^\[hostname R2\n/);
});

test('an id is used once on a host', { skip }, async (t) => {
  const all = await routers(t);
  const router = await Router.make(all);
  const twin = await Router.make(all, { name: 'N2', application_id: router.applicationId });
  await router.start();
  const refused = await all.lab.expect(409, 'POST', `${twin.path}/start`, { license_check: false });
  assert.equal(refused.exception, 'IOUError');
  assert.match(refused.message, /^application_id: \d+ is in use on this host by the node N1/);
  await router.stop();
  await twin.start();
  for (const id of [0, 512, null]) {
    const body = { name: 'N3', path: 'i86bi.bin', application_id: id };
    const { message } = await all.lab.expect(400, 'POST', `${all.project}/iou/nodes`, body);
    assert.match(message, /application_id/);
  }
});
