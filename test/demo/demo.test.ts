// The demonstration on a daemon of this process, with the built-in PCs.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { runDemo } from '../../src/client/demo/demo.ts';
import { loadConfig } from '../../src/config/load.ts';
import { daemonHere } from '../daemon-here.ts';
import { scratchDirectory } from '../store/scratch.ts';

/** Starts a daemon with these keys of [Server] and [VPCS]; gives its address. */
async function daemon(t: TestContext, keys: Record<string, string> = {}): Promise<string> {
  const state = await scratchDirectory(t);
  const environment = {
    LABWIRE_SERVER_PORT: '0',
    LABWIRE_SERVER_CONSOLE_START_PORT_RANGE: '18100',
    LABWIRE_SERVER_CONSOLE_END_PORT_RANGE: '18199',
    LABWIRE_SERVER_UDP_START_PORT_RANGE: '18200',
    LABWIRE_SERVER_UDP_END_PORT_RANGE: '18299',
    ...keys,
  };
  const { config } = loadConfig({ flags: [], environment, workingDirectory: state, home: state, state });
  const { address, stop } = await daemonHere(config);
  t.after(stop);
  return `http://127.0.0.1:${address.port}`;
}

async function projects(url: string, headers = {}): Promise<{ project_id: string; name: string; status: string }[]> {
  return (await (await fetch(`${url}/v2/projects`, { headers })).json()) as never;
}

/** Runs the demonstration; gives what it said, and how it failed. */
async function demonstrate(url: string): Promise<{ text: string; failure: unknown }> {
  let text = '';
  const failure = await runDemo(url, (piece) => {
    text += piece;
  }).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return { text, failure };
}

test('a newcomer sees two PCs ping through a hub, and finds the lab running afterwards', async (t) => {
  const url = await daemon(t, {
    LABWIRE_VPCS_ENGINE: 'built-in',
    LABWIRE_SERVER_AUTH: 'true',
    LABWIRE_SERVER_USER: 'ann',
    LABWIRE_SERVER_PASSWORD: 'p@ss:word',
  });
  const { text, failure } = await demonstrate(url.replace('//', '//ann:p%40ss%3Aword@'));
  assert.equal(failure, undefined, text);
  assert.equal(text.match(/10\.0\.0\.2 icmp_seq=\d ttl=64/g)?.length, 3, text);
  assert.match(text, /ARP {3}who has 10\.0\.0\.2\? Tell 10\.0\.0\.1/);
  assert.match(text, /ICMP {2}10\.0\.0\.1 > 10\.0\.0\.2 echo request, sequence 1/);
  assert.match(text, /ICMP {2}10\.0\.0\.2 > 10\.0\.0\.1 echo reply, sequence 3/);
  assert.ok(!text.includes('word'), 'the password is not shown');

  const headers = { Authorization: `Basic ${btoa('ann:p@ss:word')}` };
  const [project] = await projects(url, headers);
  assert.equal(project?.status, 'opened');
  const nodes = await (await fetch(`${url}/v2/projects/${project.project_id}/nodes`, { headers })).json();
  const states = (nodes as { name: string; status: string }[]).map(({ name, status }) => `${name} ${status}`);
  assert.deepEqual(states.sort(), ['Hub started', 'PC1 started', 'PC2 started']);
  const [link] = (await (await fetch(`${url}/v2/projects/${project.project_id}/links`, { headers })).json()) as {
    capturing: boolean;
    capture_file_path: string;
  }[];
  assert.equal(link?.capturing, false);
  assert.ok(existsSync(link.capture_file_path));
});

test('a server without vpcs says so, and no half of a lab stays behind', async (t) => {
  const url = await daemon(t, { LABWIRE_VPCS_VPCS_PATH: '/nowhere/vpcs' });
  const { text, failure } = await demonstrate(url);
  assert.match(String(failure), /\/nowhere\/vpcs.*vpcs_path/);
  assert.match(text, /The lab is removed again:\n.*DELETE/);
  assert.deepEqual(await projects(url), []);
});

test('every unusable address is reported in words that help', async (t) => {
  const protectedServer = await daemon(t, {
    LABWIRE_SERVER_AUTH: 'true',
    LABWIRE_SERVER_USER: 'ann',
    LABWIRE_SERVER_PASSWORD: 'secret',
  });
  const stranger = createServer((_request, response) => response.end('<h1>It works!</h1>'));
  const notFound = createServer((_request, response) => response.writeHead(404).end('no'));
  for (const server of [stranger, notFound]) {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.after(() => server.close());
  }
  const addressOf = (server: typeof stranger) => `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const closed = createServer();
  await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
  const nobody = addressOf(closed);
  await new Promise((resolve) => closed.close(resolve));

  for (const [url, words] of [
    [`http://${nobody}`, /nothing listens there\. Start a server with: labwired serve/],
    [`http://${addressOf(stranger)}`, /No server of the GNS3 API, version 2/],
    [`http://${addressOf(notFound)}`, /No server of the GNS3 API, version 2/],
    [`https://${addressOf(stranger)}`, /write http:\/\/ instead/],
    [protectedServer, /asks for a user and a password: labwired demo http:\/\/USER:PASSWORD@127/],
    [protectedServer.replace('//', '//ann:wrong@'), /does not accept this password for user "ann"/],
    ['ftp://127.0.0.1', /write http:\/\/HOST:PORT/],
  ] as const) {
    const { failure } = await demonstrate(url);
    assert.match(String(failure), words, url);
  }
});
