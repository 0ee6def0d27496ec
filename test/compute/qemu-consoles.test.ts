// Consoles of QEMU machines, with the real QEMU: pictures and keys by VNC, SPICE on its port, the serial port by telnet.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from '../consoles/harness.ts';
import { bootSector, machines, noQemu, SMALL, TYPEWRITER } from './qemu-support.ts';
import { lit, RfbClient, see, type } from './rfb-client.ts';
import { answersSpice, noSpice } from './spice-client.ts';

const skip = noQemu;

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

test('SPICE listens on the port of the console, with and without the agent', { skip: noSpice }, async (t) => {
  const { lab, project } = await machines(t);
  for (const console_type of ['spice', 'spice+agent']) {
    const node = await lab.node(project, 'qemu', { ...SMALL, ram: 64, console_type });
    const { console, command_line } = await lab.expect(200, 'POST', `${node}/start`);
    assert.equal(command_line.includes('vdagent'), console_type === 'spice+agent');
    await answersSpice(t, console);
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
