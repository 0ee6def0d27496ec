// `labwired node exec` at the shell of a machine: what it prints, and where an answer ends.
import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { noQemu, SMALL } from '../compute/qemu-support.ts';
import { copyGuest, guestSettings, noGuest } from '../guest/guest.ts';
import { client } from './client.ts';
import { Lab, type NodeObject } from './lab.ts';

test('a line is typed at the shell of a QEMU guest, and its answer printed', { skip: noQemu || noGuest }, async (t) => {
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
  await lab.start(guest);
  await labwired.say('node', 'exec', 'G1', '--until', 'guest is ready', '--timeout', '150', '');
  // What was typed while the guest started is answered now, and stands before the answer to this line.
  await labwired.say('node', 'exec', 'G1', 'true');
  assert.equal(await labwired.say('node', 'exec', 'G1', 'echo $((6 * 7))'), '42');
  assert.match(await labwired.say('node', 'exec', 'G1', '--', 'ls', '-a', '/'), /(^|\s)\.\.\s/);
  assert.equal(await labwired.say('node', 'exec', 'G1', 'true'), '');
});
