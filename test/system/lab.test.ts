// A lab of real virtual PCs in the real executable: what is sent arrives, is captured, and is there again the next day.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { PcConsole } from '../pc-console.ts';
import { eventually, startDaemon } from './daemon.ts';
import { Lab, type LinkObject, missing, type NodeObject } from './lab.ts';
import { pingIsAnswered } from './survivors.ts';

/** Types lines at the console of a PC, one after the other; gives the answer to the last. */
async function type(pc: NodeObject, ...lines: string[]): Promise<string> {
  using console = await PcConsole.open('127.0.0.1', pc.console);
  let answer: string[] = [];
  for (const line of lines) answer = await console.command(line);
  return answer.join('\n');
}

/** Lines of tshark about the frames of a capture file that fit a display filter. */
function frames(file: string, filter: string): string[] {
  const output = execFileSync('tshark', ['-n', '-r', file, '-Y', filter], { stdio: ['ignore', 'pipe', 'pipe'] });
  return output
    .toString()
    .split('\n')
    .filter((line) => line !== '');
}

async function capture(lab: Lab, link: LinkObject, name: string): Promise<string> {
  const body = { capture_file_name: name, data_link_type: 'DLT_EN10MB' };
  const started: LinkObject = await lab.daemon.post(`${lab.path}/links/${link.link_id}/start_capture`, body);
  return started.capture_file_path!;
}

test('two PCs on a hub ping each other', { skip: missing('vpcs') }, async (t) => {
  const lab = await Lab.create(await startDaemon(t));
  const { pcs } = await lab.pcsOnHub(2);
  await pingIsAnswered(lab, pcs[0]!, '10.0.0.2');
  await pingIsAnswered(lab, pcs[1]!, '10.0.0.1');
});

test('all three PCs on a hub hear a broadcast, once each', { skip: missing('vpcs', 'tshark') }, async (t) => {
  const lab = await Lab.create(await startDaemon(t));
  const { pcs, links } = await lab.pcsOnHub(3);
  const files: string[] = [];
  for (const [index, link] of links.entries()) files.push(await capture(lab, link, `at-pc${index + 1}.pcap`));
  assert.match(await type(pcs[0]!, 'ping 10.0.0.99 -c 1'), /not reachable/);
  const question = 'arp.opcode == 1 && arp.dst.proto_ipv4 == 10.0.0.99';
  const [asked = [], ...heard] = await eventually(
    'the captures',
    () => files.map((file) => frames(file, question)),
    (found) => found[0]!.length > 0 && found.every((lines) => lines.length === found[0]!.length),
  );
  assert.ok(asked.length > 0);
  for (const lines of heard) assert.equal(lines.length, asked.length);
});

test('a capture can be read while it grows, over the API as well, and after it was stopped', {
  skip: missing('vpcs', 'tshark'),
}, async (t) => {
  const daemon = await startDaemon(t);
  const lab = await Lab.create(daemon);
  const { pcs, links } = await lab.pcsOnHub(2);
  await pingIsAnswered(lab, pcs[0]!, '10.0.0.2');
  const file = await capture(lab, links[0]!, 'ping.pcap');
  const stream = await fetch(`${daemon.url}${lab.path}/links/${links[0]!.link_id}/pcap`);
  const followed = new Response(stream.body).bytes();
  const requests = () => frames(file, 'icmp.type == 8');

  await type(pcs[0]!, 'ping 10.0.0.2 -c 2');
  await eventually('two requests in the file', requests, ({ length }) => length === 2);
  await type(pcs[0]!, 'ping 10.0.0.2 -c 3');
  await eventually('five requests in the file', requests, ({ length }) => length === 5);

  await daemon.post(`${lab.path}/links/${links[0]!.link_id}/stop_capture`);
  assert.equal(requests().length, 5);
  assert.equal(frames(file, 'icmp.type == 0').length, 5);
  assert.deepEqual(Buffer.from(await followed), await readFile(file));
});

test('a lab that is closed and opened again keeps names, places, labels, consoles and cables', {
  skip: missing('vpcs'),
}, async (t) => {
  const daemon = await startDaemon(t);
  const lab = await Lab.create(daemon);
  const { pcs, hub, links } = await lab.pcsOnHub(2);
  await daemon.put(`${lab.path}/nodes/${pcs[0]!.node_id}`, {
    name: 'Ärger & Söhne',
    x: -120,
    y: 77,
    z: 3,
    label: { text: 'ignored', x: 4, y: -25, rotation: 90, style: 'font-size: 12.0;' },
  });
  await daemon.put(`${lab.path}/links/${links[0]!.link_id}`, {
    nodes: [{ ...links[0]!.nodes[0], label: { text: 'to the hub', x: 10, y: 11 } }],
    filters: { delay: [10, 2] },
  });
  const svg = '<svg height="40" width="60"><rect height="40" width="60"/></svg>';
  await daemon.post(`${lab.path}/drawings`, { svg, x: 5, y: 6 });
  await type(pcs[1]!, 'ip 10.0.0.22/24', 'save');
  await daemon.post(`${lab.path}/nodes/stop`);
  // The command line is that of the last start; a hub's missing console reads `none` once it was stored (release 2.2.57).
  const stored = (node: NodeObject) => ({ ...node, command_line: '', console_type: node.console_type ?? 'none' });
  const contents = async () => ({
    nodes: (await lab.nodes()).map(stored),
    links: await lab.links(),
    drawings: await daemon.get(`${lab.path}/drawings`),
  });
  const before = await contents();
  assert.equal(before.nodes.length, 3);

  await lab.reopen();
  assert.deepEqual(await contents(), before);
  await daemon.end('SIGTERM');
  await daemon.start();
  await daemon.post(`${lab.path}/open`);
  assert.deepEqual(await contents(), before);
  assert.equal((await lab.node(hub)).status, 'started');

  await lab.start(pcs[1]!);
  assert.match(await type(pcs[1]!, 'show ip'), /10\.0\.0\.22\/24/);
});
