// `labwired node exec` at the consoles of machines, containers and routers: what it prints, and where an answer ends; and what checks see
// of a machine.
import assert from 'node:assert/strict';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { BUSYBOX } from '../compute/docker-engine.ts';
import { engine, noEngine } from '../compute/docker-support.ts';
import { image, LICENCE, noCompiler } from '../compute/iou-support.ts';
import { noQemu, SMALL } from '../compute/qemu-support.ts';
import { makeImage, noDynamips } from '../compute/router-support.ts';
import { copyGuest, guestSettings, noGuest } from '../guest/guest.ts';
import { client } from './client.ts';
import { eventually } from './daemon.ts';
import { Lab, type NodeObject } from './lab.ts';

test('a line is typed at the shell of a QEMU guest, and its answer printed; checks ask it, ping it and see its frames', {
  skip: noQemu || noGuest,
}, async (t) => {
  const labwired = await client(t);
  const { daemon } = labwired;
  const images = join(daemon.state, 'images', 'QEMU');
  await mkdir(images, { recursive: true });
  await copyGuest(images);
  const lab = await Lab.create(daemon);
  const guest: NodeObject = await daemon.post(`${lab.path}/nodes`, {
    ...{ name: 'G1', node_type: 'qemu', compute_id: 'local' },
    properties: { ...SMALL, ...guestSettings('10.0.0.1/24') },
  });
  const pc = await lab.pc('PC1', { properties: { startup_script: 'ip 10.0.0.2/24\n' } });
  await lab.link(pc, guest);
  await Promise.all([lab.start(guest), lab.start(pc)]);
  await labwired.say('node', 'exec', 'G1', '--until', 'guest is ready', '--timeout', '150', '');
  // What was typed while the guest started is answered now, and stands before the answer to this line.
  await labwired.say('node', 'exec', 'G1', 'true');
  assert.equal(await labwired.say('node', 'exec', 'G1', 'echo $((6 * 7))'), '42');
  assert.match(await labwired.say('node', 'exec', 'G1', '--', 'ls', '-a', '/'), /(^|\s)\.\.\s/);
  assert.equal(await labwired.say('node', 'exec', 'G1', 'true'), '');

  const checks = [
    'ping: {from: G1, to: 10.0.0.2, count: 2, round_trip: {max: 30000}}',
    'ping: {from: PC1, to: G1}',
    'ping: {from: G1, to: PC1}',
    '{name: nobody, ping: {from: G1, to: 10.0.0.9, count: 1, timeout: 1}}',
    'console: {node: G1, expect: guest is ready}',
    'console: {node: G1, send: cat /proc/cmdline, expect: {regex: "guest_ip=[0-9./]+"}}',
    'frame: {link: "G1:e0", filter: icmp and src host 10.0.0.1}',
  ];
  const text = `name: Lab\nnodes: {G1: {type: qemu}, PC1: {type: vpcs}}\nlinks: ["PC1:e0 -- G1:e0"]\nchecks:\n  - ${checks.join('\n  - ')}\n`;
  await writeFile(join(daemon.directory, 'lab.yaml'), text);
  const { out, error } = await labwired.run('test', '--json');
  const seen = (JSON.parse(out) as { checks: { passed: boolean; seen: string }[] }).checks;
  assert.deepEqual(
    seen.map(({ passed }) => passed),
    [true, true, true, false, true, true, true],
    `${error}${out}`,
  );
  assert.match(seen[0]!.seen, /^2 of 2 answered, [\d.]+ ms on average/);
  assert.match(seen[3]!.seen, /^0 of 1 answered/);
  assert.match(seen[5]!.seen, /guest_ip=10\.0\.0\.1\/24/);
  assert.match(seen[6]!.seen, /ICMP +10\.0\.0\.1 > 10\.0\.0\.2/);
});

test('a line is typed at the consoles of a container and of routers, and its answer printed', async (t) => {
  const docker = noEngine ? '' : `[Docker]\nsocket_path = ${engine().socketPath}\n`;
  const labwired = await client(t, { config: docker });
  const { daemon } = labwired;
  const lab = await Lab.create(daemon);
  const folder = async (name: string): Promise<string> => {
    const path = join(daemon.state, 'images', name);
    await mkdir(path, { recursive: true });
    return path;
  };
  const started = async (node_type: string, name: string, properties: object): Promise<void> => {
    const body = { name, node_type, compute_id: 'local', properties };
    await lab.start(await daemon.post(`${lab.path}/nodes`, body));
  };

  await t.test('a container', { skip: noEngine }, async () => {
    await started('docker', 'C1', { image: BUSYBOX, console_type: 'telnet' });
    await labwired.say('node', 'exec', 'C1', '--prompt', '# ', 'echo ready');
    assert.equal(await labwired.say('node', 'exec', 'C1', 'echo $((6 * 7))'), '42');
    assert.equal(await labwired.say('node', 'exec', 'C1', 'cd /bin'), '', 'the prompt is another one now');
    assert.equal(await labwired.say('node', 'exec', 'C1', '--', 'ls', '-1', 'sh'), 'sh');
  });

  await t.test('a router of Dynamips', { skip: noDynamips }, async () => {
    const file = await makeImage(await folder('IOS'), 'c3600');
    await started('dynamips', 'R1', { platform: 'c3600', image: file, ram: 64 });
    const typed = () => labwired.run('node', 'exec', 'R1', '--prompt', 'R1#', '--timeout', '2', 'x');
    await eventually('the router', typed, ({ code }) => code === 0);
    // What was typed while the router started may be answered between.
    await eventually(
      'the answer alone',
      () => labwired.say('node', 'exec', 'R1', 'show ip route'),
      (answer) => answer === '% This router knows no commands.',
    );
    const late = ['node', 'exec', 'R1', '--prompt', 'R2#', '--timeout', '1', 'show'];
    const { code, out, error } = await labwired.run(...late);
    assert.deepEqual([code, out], [1, '% This router knows no commands.\nR1#\n']);
    assert.match(
      error,
      /^labwired: The answer has not ended within 1 s; its last line is "R1#": .*--prompt or --until\.$/m,
    );
    await labwired.fails(2, /--until and --prompt exclude each other/, ...late, '--until', 'x');
    await labwired.fails(2, /--prompt: /, 'node', 'exec', 'R1', '--prompt', '(', 'x');
  });

  await t.test('a router of IOU', { skip: noCompiler }, async () => {
    await copyFile(image(), join(await folder('IOU'), 'i86bi.bin'));
    await daemon.put('/v2/iou_license', { iourc_content: LICENCE });
    await started('iou', 'I1', { path: 'i86bi.bin' });
    assert.equal(await labwired.say('node', 'exec', 'I1', '--prompt', 'Router>', 'show'), 'none');
    assert.equal(await labwired.say('node', 'exec', 'I1', 'ip route'), '? ip route');
  });
});
