// Two guests that are run by QEMU, with the processor emulated: what they hear from each other, and what outlives the server.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { carrier, copyGuest, guestSettings, noGuest, Typist } from '../guest/guest.ts';
import { machines, noQemu, SMALL } from './qemu-support.ts';
import type { Lab } from './support.ts';

const skip = noQemu || noGuest;

async function guest(lab: Lab, project: string, name: string, address: string): Promise<string> {
  return lab.node(project, 'qemu', { ...SMALL, name, ...guestSettings(address) });
}

test('two guests boot, ping each other, and see when their cable is taken away', { skip }, async (t) => {
  const { lab, project, images } = await machines(t, { frames: 'udp' });
  await copyGuest(images);
  const nodes = [
    await guest(lab, project, 'G1', '10.0.0.1/24'),
    await guest(lab, project, 'G2', '10.0.0.2/24'),
  ] as const;
  const ports = await Promise.all(
    nodes.map(async () => (await lab.expect(201, 'POST', `${project}/ports/udp`)).udp_port),
  );
  for (const [index, node] of nodes.entries()) {
    const nio = { type: 'nio_udp', lport: ports[index], rhost: '127.0.0.1', rport: ports[1 - index] };
    await lab.expect(201, 'POST', `${node}/adapters/0/ports/0/nio`, nio);
  }
  const started = await Promise.all(nodes.map((node) => lab.expect(200, 'POST', `${node}/start`)));
  const [first, second] = started.map(({ console }) => new Typist(t, console)) as [Typist, Typist];
  await first.until(/guest is ready/);
  await second.until(/guest is ready/);
  assert.match(await first.run('ping -c 3 -W 20 10.0.0.2'), /3 packets transmitted, 3 packets received/);

  await lab.expect(204, 'DELETE', `${nodes[0]}/adapters/0/ports/0/nio`);
  assert.match(await first.run(carrier(0)), /\ncarrier 0\r/);
  const nio = { type: 'nio_udp', lport: ports[0], rhost: '127.0.0.1', rport: ports[1] };
  await lab.expect(201, 'POST', `${nodes[0]}/adapters/0/ports/0/nio`, nio);
  assert.match(await first.run(carrier(1)), /\ncarrier 1\r/);
  assert.match(await second.run('ping -c 1 -W 20 10.0.0.1'), /1 packets received/);

  // The card shows the link, not its peer.
  await lab.expect(204, 'POST', `${nodes[1]}/stop`);
  assert.match(await first.run(carrier(1)), /\ncarrier 1\r/);
  const at = `${nodes[0]}/adapters/0/ports/0/nio`;
  await lab.expect(201, 'PUT', at, { ...nio, suspend: true });
  assert.match(await first.run(carrier(0)), /\ncarrier 0\r/);
});
