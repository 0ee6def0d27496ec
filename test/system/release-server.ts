// A server of release 2.2.57, as far as commands on labs as text can tell: it passes on what that release has, and refuses all else.
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { TestContext } from 'node:test';

const ID = '[0-9a-f-]{36}';
const LAB = `/v2/projects/${ID}`;

/** Routes of the release, of those that a lab is made, read and watched by. */
const ROUTES: readonly RegExp[] = [
  /^(GET|POST) \/v2\/projects$/,
  /^GET \/v2\/(version|templates|computes|symbols|computes\/\w+\/(qemu|dynamips|iou)\/images)$/,
  new RegExp(`^(GET|PUT|DELETE) ${LAB}$`),
  new RegExp(`^POST ${LAB}/(open|close|nodes/(start|stop))$`),
  new RegExp(`^(GET|POST) ${LAB}/(nodes|links|drawings)$`),
  new RegExp(`^GET ${LAB}/snapshots$`),
  new RegExp(`^(GET|PUT|DELETE) ${LAB}/(nodes|links|drawings)/${ID}$`),
  new RegExp(`^POST ${LAB}/nodes/${ID}/(start|stop)$`),
  new RegExp(`^(GET|POST) ${LAB}(/nodes/${ID})?/files/.+$`),
  new RegExp(`^POST ${LAB}/links/${ID}/(start|stop)_capture$`),
  new RegExp(`^GET ${LAB}/links/${ID}/pcap$`),
];

/** Members of bodies that the release refuses. */
const ADDED = /"(impairments|start_order|start_delay|filter)":/;

export interface ReleaseServer {
  url: string;
  /** What it was asked for and does not have, `METHOD PATH`. */
  refused: string[];
}

/** Stands before a daemon until the end of the test. */
export async function releaseServer(t: TestContext, daemon: { url: string }): Promise<ReleaseServer> {
  const refused: string[] = [];
  const server = createServer((asked, answer) => void pass(daemon.url, refused, asked, answer));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, refused };
}

async function pass(url: string, refused: string[], asked: IncomingMessage, answer: ServerResponse): Promise<void> {
  const { method = '', url: path = '', headers } = asked;
  const body = await buffer(asked);
  if (!ROUTES.some((route) => route.test(`${method} ${path.replace(/\?.*/, '')}`))) {
    refused.push(`${method} ${path}`);
    answer.writeHead(404, { 'Content-Type': 'text/plain' }).end('404: Not Found');
    return;
  }
  if (headers['content-type'] === 'application/json' && ADDED.test(body.toString())) {
    refused.push(`${method} ${path} ${body}`);
    const message = JSON.stringify({ message: 'Additional properties are not allowed', status: 400 });
    answer.writeHead(400, { 'Content-Type': 'application/json' }).end(message);
    return;
  }
  const { host: _, ...kept } = headers;
  const passed = request(url + path, { method, headers: kept }, (response) => {
    answer.writeHead(response.statusCode!, response.headers);
    response.pipe(answer);
  });
  passed.on('error', () => answer.destroy());
  passed.end(body);
}
