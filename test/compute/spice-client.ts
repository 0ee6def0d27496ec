// As much of a client of SPICE as it takes to know that one is answered.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { connect } from 'node:net';
import type { TestContext } from 'node:test';
import { noQemu } from './qemu-support.ts';

/** Where Debian has the parts of QEMU that are packages of their own. */
const PARTS = '/usr/lib/x86_64-linux-gnu/qemu';
const hasSpice = (() => {
  try {
    return readdirSync(PARTS).some((name) => name.includes('spice'));
  } catch {
    return false;
  }
})();

export const noSpice = noQemu || (hasSpice ? false : 'qemu-system-modules-spice is not installed');

/** Says hello on the port of a console, and waits for the answer. */
export async function answersSpice(t: TestContext, port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  t.after(() => socket.destroy());
  // The link message of the main channel, version 2.2: 18 bytes without capabilities. The answer begins as it does.
  const hello = Buffer.alloc(34);
  hello.write('REDQ', 'latin1');
  hello.writeUInt32LE(2, 4);
  hello.writeUInt32LE(2, 8);
  hello.writeUInt32LE(18, 12);
  hello.writeUInt8(1, 20);
  hello.writeUInt32LE(18, 30);
  socket.write(hello);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  assert.equal(answer.subarray(0, 4).toString('latin1'), 'REDQ');
}
