// Consoles of QEMU machines, with the real QEMU: pictures and keys by VNC, SPICE on its port, the serial port by telnet.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '../consoles/harness.ts';
import { bootSector, machines, noQemu, SMALL, TYPEWRITER } from './qemu-support.ts';
import { RfbClient } from './rfb-client.ts';

const skip = noQemu;

/** Where Debian has the parts of QEMU that are packages of their own. */
const PARTS = '/usr/lib/x86_64-linux-gnu/qemu';
const hasSpice = (() => {
  try {
    return readdirSync(PARTS).some((name) => name.includes('spice'));
  } catch {
    return false;
  }
})();

/** Looks again and again until the picture is as it should be. */
async function see(screen: RfbClient, what: string, fits: (picture: Buffer) => boolean): Promise<Buffer> {
  for (const end = performance.now() + 60_000; performance.now() < end; await sleep(100)) {
    const picture = await screen.picture();
    if (fits(picture)) return picture;
  }
  throw new Error(`waited in vain for ${what}`);
}

/** Pixels that are not black. */
const lit = (picture: Buffer): number => {
  let count = 0;
  for (let at = 0; at < picture.length; at += 4) if ((picture.readUInt32LE(at) & 0xffffff) !== 0) count += 1;
  return count;
};

/** Types until the picture is as it should be: what comes too early is lost. */
async function type(screen: RfbClient, what: string, fits: (picture: Buffer) => boolean): Promise<void> {
  await see(screen, what, (picture) => {
    if (fits(picture)) return true;
    screen.press('W');
    return false;
  });
}

test('VNC shows the picture of the BIOS, and what is typed', { skip }, async (t) => {
  const { lab, project, images } = await machines(t);
  await bootSector(images, 'typewriter.img', ...TYPEWRITER);
  const body = { ...SMALL, console_type: 'vnc', hda_disk_image: 'typewriter.img', hda_disk_interface: 'ide' };
  const node = await lab.node(project, 'qemu', body);
  const { console } = await lab.expect(200, 'POST', `${node}/start`);
  const screen = await RfbClient.open(t, console);
  const bios = lit(await see(screen, 'the words of the BIOS', (picture) => lit(picture) > 1500));
  await type(screen, 'a key to clear the screen', (picture) => lit(picture) < bios / 2);
  await type(screen, 'letters', (picture) => lit(picture) > 1000);
  assert.equal((await lab.request('GET', `${node}/console/ws`)).status, 400);
});

const noSpice = noQemu || (hasSpice ? false : 'qemu-system-modules-spice is not installed');

test('SPICE listens on the port of the console, with and without the agent', { skip: noSpice }, async (t) => {
  const { lab, project } = await machines(t);
  for (const console_type of ['spice', 'spice+agent']) {
    const node = await lab.node(project, 'qemu', { ...SMALL, ram: 64, console_type });
    const { console, command_line } = await lab.expect(200, 'POST', `${node}/start`);
    assert.equal(command_line.includes('vdagent'), console_type === 'spice+agent');
    const socket = connect(console, '127.0.0.1');
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
    await lab.expect(204, 'POST', `${node}/stop`);
  }
});

test('a console is reset: those at it are sent away, and may come again', { skip }, async (t) => {
  const { lab, project } = await machines(t);
  const node = await lab.node(project, 'qemu', { ...SMALL, options: `${SMALL.options} -device sga` });
  const { console } = await lab.expect(200, 'POST', `${node}/start`);
  const before = await Client.open(t, console);
  await lab.expect(204, 'POST', `${node}/console/reset`);
  await before.ends();
  const after = await Client.open(t, console);
  await after.sees(/./);
  await lab.expect(204, 'POST', `${node}/stop`);
  await after.ends();
});
