// Consoles of containers other than terminals, with a real Docker Engine: web servers in them, and X servers beside them.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { DISPLAY_LABEL } from '../../src/compute/emulators/docker/container.ts';
import { eventually } from '../eventually.ts';
import { container, containers, engine, noEngine, noX } from './docker-support.ts';

const SERVER = `/bin/busybox sh -c 'mkdir -p /www && echo hello >/www/index.html && /bin/busybox httpd -p 8080 -h /www; exec /bin/busybox nc -ll -p 9090 -e /bin/busybox cat'`;
const skip = noEngine;

async function dialled(t: TestContext, port: number): Promise<{ socket: Socket; heard: () => string }> {
  const socket = connect(port, '127.0.0.1');
  t.after(() => socket.destroy());
  await once(socket, 'connect');
  let heard = '';
  socket.on('data', (bytes) => {
    heard += bytes.toString('latin1');
  });
  return { socket, heard: () => heard };
}

test('a web server of a container answers on the console, and what it upgrades is passed on both ways', {
  skip,
}, async (t) => {
  const { lab, project } = await containers(t);
  const settings = { console_type: 'http', console_http_port: 8080, start_command: SERVER };
  const node = await container(lab, project, settings);
  const { console: port } = await lab.expect(200, 'GET', node);
  await lab.expect(204, 'POST', `${node}/start`);
  const url = `http://127.0.0.1:${port}`;
  const answer = await eventually(
    'the web server',
    () => fetch(`${url}/index.html`),
    ({ status }) => status === 200,
  );
  assert.equal(await answer.text(), 'hello\n');
  assert.equal((await fetch(`${url}/nothing`)).status, 404);
  // Something that only echoes stands in for what speaks after an upgrade.
  await lab.expect(200, 'PUT', node, { console_http_port: 9090 });
  const upgrade = `GET /chat HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`;
  const client = await eventually('the echo', async () => {
    const { socket, heard } = await dialled(t, port);
    socket.write(upgrade);
    await Promise.race([once(socket, 'data'), once(socket, 'close')]);
    return heard() === '' ? undefined : { socket, heard };
  });
  await eventually('the whole request', client!.heard, (heard) => heard === upgrade);
  client!.socket.write('more');
  await eventually('what came after it', client!.heard, (heard) => heard.endsWith('more'));
  // With https every byte is passed on as it is.
  const { console: other } = await lab.expect(200, 'PUT', node, { console_type: 'https' });
  const tls = await eventually('the echo', async () => {
    const { socket, heard } = await dialled(t, other);
    socket.write('\x16\x03\x01');
    await Promise.race([once(socket, 'data'), once(socket, 'close')]);
    return heard() === '' ? undefined : heard;
  });
  assert.equal(tls!(), '\x16\x03\x01');
  const back = await lab.expect(200, 'PUT', node, { console_type: 'http', console_http_port: 1 });
  const silent = `http://127.0.0.1:${back.console}`;
  const refused = await fetch(silent);
  assert.equal(refused.status, 502);
  assert.match(await refused.text(), /Nothing answers on port 1 of N1/);
  await lab.expect(204, 'POST', `${node}/stop`);
  await assert.rejects(fetch(silent));
});

test('a VNC console shows an X server of its own size, whose socket the container has', { skip: noX }, async (t) => {
  const { lab, project } = await containers(t);
  const node = await container(lab, project, {
    ...{ console_type: 'vnc', console_resolution: '640x480' },
    start_command: `/bin/busybox sh -c 'test -S /tmp/.X11-unix/X\${DISPLAY#:} && exec /bin/busybox sleep 1000'`,
  });
  const { console: port, aux } = await lab.expect(200, 'GET', node);
  await lab.expect(204, 'POST', `${node}/start`);
  const { socket, heard } = await dialled(t, port);
  await eventually('the version', heard, (text) => text === 'RFB 003.008\n');
  socket.write('RFB 003.008\n');
  await eventually('the kinds of security', heard, (text) => text.length >= 14);
  assert.equal(heard().slice(12), '\x01\x01', 'none is asked for');
  socket.write('\x01');
  await eventually('the result', heard, (text) => text.length >= 18);
  socket.write('\x01');
  await eventually('the screen', heard, (text) => text.length >= 22);
  const size = Buffer.from(heard(), 'latin1');
  assert.deepEqual([size.readUInt16BE(18), size.readUInt16BE(20)], [640, 480]);
  assert.equal((await lab.expect(200, 'GET', node)).status, 'started', 'the container has found the socket');
  assert.notEqual(aux, null);
  const { container_id: id } = await lab.expect(200, 'GET', node);
  const display = engine().docker('inspect', '-f', `{{index .Config.Labels "${DISPLAY_LABEL}"}}`, id).trim();
  assert.ok(existsSync(`/tmp/.X11-unix/X${display}`));
  await lab.expect(204, 'DELETE', node);
  await eventually('the end of the X server', () => !existsSync(`/tmp/.X11-unix/X${display}`));
});
