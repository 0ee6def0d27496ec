// Two guests that are run by QEMU, with the processor emulated: what they hear from each other, and what outlives the server.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { machines, noQemu, SMALL } from './qemu-support.ts';
import type { Lab } from './support.ts';

const MADE = join(import.meta.dirname, '../guest/made');
const skip = noQemu || (existsSync(join(MADE, 'initrd.gz')) ? false : 'test/guest/make.sh has not made the guest');

/** Somebody at the console of a guest. */
class Typist {
  readonly socket: Socket;
  heard = '';

  constructor(t: TestContext, port: number) {
    this.socket = connect(port, '127.0.0.1');
    this.socket.on('data', (bytes) => {
      this.heard += bytes.toString('latin1');
    });
    this.socket.on('error', () => {});
    t.after(() => this.socket.destroy());
  }

  /** Waits until something was said since the last call; the guests take what a busy machine gives them. */
  async until(what: RegExp): Promise<string> {
    for (const end = performance.now() + 90_000; performance.now() < end; await sleep(50)) {
      const found = what.exec(this.heard);
      if (!found) continue;
      this.heard = this.heard.slice(found.index + found[0].length);
      return found[0];
    }
    throw new Error(`waited in vain for ${what}; heard: ${this.heard.slice(-2000)}`);
  }

  /** Runs a command; its answer ends with the words that the shell puts together. */
  async run(command: string): Promise<string> {
    this.heard = '';
    this.socket.write(`${command}; echo do''ne $?\r`);
    await this.until(/do''ne/);
    let answer = '';
    for (const end = performance.now() + 90_000; performance.now() < end; await sleep(50)) {
      answer = this.heard;
      if (/done \d+/.test(answer)) return answer;
    }
    throw new Error(`waited in vain for the end of ${command}; heard: ${answer}`);
  }
}

/** Waits in the guest until its card sees the cable, or its end, and says what it sees. */
function carrier(wanted: 0 | 1): string {
  const file = '/sys/class/net/eth0/carrier';
  return `for i in $(seq 200); do [ $(cat ${file}) = ${wanted} ] && break; sleep 0.1; done; echo carrier $(cat ${file})`;
}

async function guest(lab: Lab, project: string, name: string, address: string): Promise<string> {
  return lab.node(project, 'qemu', {
    ...{ ...SMALL, name, ram: 160, adapter_type: 'virtio-net-pci' },
    ...{ kernel_image: 'vmlinuz', initrd: 'initrd.gz' },
    kernel_command_line: `console=ttyS0 quiet panic=-1 guest_ip=${address}`,
  });
}

test('two guests boot, ping each other, and see when their cable is taken away', { skip }, async (t) => {
  const { lab, project, images } = await machines(t);
  for (const name of ['vmlinuz', 'initrd.gz']) await copyFile(join(MADE, name), join(images, name));
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
});
