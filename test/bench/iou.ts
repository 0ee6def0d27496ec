// What a frame costs the fabric that comes from an image of IOU and goes to another one, and one between UDP sockets, in turn with it: the
// fabric's processor time, on one cable, in bursts of eight frames. Repeat with: npm run bench -- --only iou [--write]

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Device, Fabric } from '../../src/fabric/fabric.ts';
import { freePort } from '../fabric/peers.ts';
import { median, table } from './measure.ts';

const FRAMES = 20_000;
const ROUNDS = 3;
const SIZES = [64, 1500];
const WAYS = ['udp', 'iol'] as const;
const host = '127.0.0.1';

const directory = mkdtempSync(join(tmpdir(), 'labwire-bench-'));
const peer = join(directory, 'peer');
execFileSync('cc', ['-O2', '-o', peer, join(import.meta.dirname, 'iou.c')]);

interface End {
  device: Device;
  /** Words by which a peer has its socket, and knows the fabric's. */
  words: [string, string];
  close(): Promise<void>;
}

let lastId = 0;

async function end(fabric: Fabric, way: (typeof WAYS)[number]): Promise<End> {
  if (way === 'udp') {
    const [localPort, remotePort] = [await freePort(), await freePort()];
    const device = { kind: 'udp', localPort, remoteHost: host, remotePort } as const;
    return { device, words: [`${remotePort}`, `${localPort}`], close: async () => {} };
  }
  const application = ++lastId;
  const bridge = application + 512;
  const device = await fabric.createDevice('iol-socket', { directory, application, bridge });
  const words: End['words'] = [`${directory}/${application}`, `${directory}/${bridge}`];
  return { device: { kind: 'memory', device, number: 0 }, words, close: () => device.close() };
}

/** Microseconds of processor time for a frame, and how many of the frames arrived. */
async function measured(way: (typeof WAYS)[number], bytes: number): Promise<{ cost: number; arrived: number }> {
  const fabric = new Fabric({ threads: 1 });
  await fabric.start();
  const ends = [await end(fabric, way), await end(fabric, way)];
  const [one, other] = await Promise.all(ends.map(({ device }) => fabric.createPort(device)));
  const [left, right] = [await freePort(), await freePort()];
  await one!.connect({ kind: 'udp', localPort: left, remoteHost: host, remotePort: right });
  await other!.connect({ kind: 'udp', localPort: right, remoteHost: host, remotePort: left });
  const taker = spawn(peer, ['take', way, ...ends[1]!.words, `${FRAMES}`, `${bytes}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(taker.stdout, 'data');
  const before = process.cpuUsage();
  const sender = spawn(peer, ['send', way, ...ends[0]!.words, `${FRAMES}`, `${bytes}`], { stdio: 'inherit' });
  await once(sender, 'exit');
  const { user, system } = process.cpuUsage(before);
  const { frames } = (await other!.statistics()).toDevice;
  taker.kill();
  await Promise.all([one!.close(), other!.close()]);
  for (const { close } of ends) await close();
  await fabric.stop();
  return { cost: (user + system) / frames, arrived: frames / FRAMES };
}

const rows: string[][] = [];
try {
  for (const bytes of SIZES) {
    const results = { udp: [] as number[], iol: [] as number[] };
    const arrived = { udp: 1, iol: 1 };
    for (let round = 0; round < ROUNDS; round++) {
      for (const way of WAYS) {
        const result = await measured(way, bytes);
        results[way].push(result.cost);
        arrived[way] = Math.min(arrived[way], result.arrived);
      }
    }
    const [udp, iol] = [median(results.udp), median(results.iol)];
    const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
    rows.push([
      `${bytes}`,
      udp.toFixed(1),
      iol.toFixed(1),
      (iol / udp).toFixed(2),
      percent(arrived.udp),
      percent(arrived.iol),
    ]);
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}
const head = [
  'bytes',
  'UDP, µs a frame',
  'IOU, µs a frame',
  'ratio',
  'UDP, least that arrived',
  'IOU, least that arrived',
];
process.stdout.write(`${table([head, ...rows])}\n`);
