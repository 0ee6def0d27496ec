// Connections of the executable on which nothing is said: the kernel asks whether their clients are still there, on every kind of them.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { eventually, startDaemon } from './daemon.ts';
import { Lab, missing } from './lab.ts';

/** Seconds until the kernel asks the client of this connection; undefined while its timer is for something else, or none. */
function secondsUntilAsked(serverPort: number, client: Socket): number | undefined {
  const filter = `sport = :${serverPort} and dport = :${client.localPort}`;
  const line = execFileSync('ss', ['-Htno', 'state', 'established', filter], { encoding: 'utf8' });
  const [, minutes, seconds, milliseconds] =
    /timer:\(keepalive,(?:(\d+)min)?(?:([\d.]+)sec)?(?:(\d+)ms)?,/.exec(line) ?? [];
  if (minutes === undefined && seconds === undefined && milliseconds === undefined) return undefined;
  return Number(minutes ?? 0) * 60 + Number(seconds ?? 0) + Number(milliseconds ?? 0) / 1000;
}

/** A client that has sent these words, and has been answered with something if it is `answered`. */
async function client(t: TestContext, port: number, words: string, answered = true): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  t.after(() => socket.destroy());
  socket.on('error', () => {});
  const first = once(socket, 'data');
  await once(socket, 'connect');
  socket.write(words);
  if (answered) await first;
  return socket;
}

test('a client that vanishes is asked for by the kernel, whatever it was connected for', {
  skip: missing('ss'),
}, async (t) => {
  const daemon = await startDaemon(t, { environment: { LABWIRE_VPCS_ENGINE: 'built-in' } });
  const lab = await Lab.create(daemon);
  const { pcs, links } = await lab.pcsOnHub(1);
  const [pc, link] = [pcs[0]!, links[0]!];
  await daemon.post(`${lab.path}/links/${link.link_id}/start_capture`, { capture_file_name: 'silent.pcap' });
  const head = 'Host: 127.0.0.1\r\n';
  const upgrade = `${head}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`;
  const console = `${lab.path}/nodes/${pc.node_id}/console/ws`;
  const upload = `POST /v2/compute/iou/images/slow.bin HTTP/1.1\r\n${head}Content-Length: 1000\r\n\r\nonly the beginning`;
  const asked: [what: string, port: number, words: string, seconds: number, answered?: boolean][] = [
    ['a connection that is kept for the next request', daemon.port, `GET /v2/version HTTP/1.1\r\n${head}\r\n`, 30],
    ['notifications', daemon.port, `GET /v2/notifications HTTP/1.1\r\n${head}\r\n`, 30],
    ['notifications by WebSocket', daemon.port, `GET /v2/notifications/ws HTTP/1.1\r\n${upgrade}`, 30],
    ['a console by WebSocket', daemon.port, `GET ${console} HTTP/1.1\r\n${upgrade}`, 30],
    ['a capture', daemon.port, `GET ${lab.path}/links/${link.link_id}/pcap HTTP/1.1\r\n${head}\r\n`, 30],
    ['an upload', daemon.port, upload, 30, false],
    ['a console by telnet', pc.console, '', 60],
  ];
  for (const [what, port, words, limit, answered] of asked) {
    const socket = await client(t, port, words, answered);
    const seconds = await eventually(
      `the timer of ${what}`,
      () => secondsUntilAsked(port, socket),
      (found) => found !== undefined,
    );
    assert.ok(seconds! > 0 && seconds! <= limit, `${what}: in ${seconds} s`);
  }
});
