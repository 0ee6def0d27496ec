// What many ports cost the fabric: a connection among them, their memory, and the CPU at rest.

import { setTimeout as sleep } from 'node:timers/promises';
import { type Cable, Fabric, type FabricPort } from '../../src/fabric/fabric.ts';

const host = '127.0.0.1';
/** Milliseconds for which the CPU is watched. */
const REST_MS = 2000;

/** A fabric with `count` connected ports at hubs of 16, joined in pairs by fused cables. */
async function crowd(count: number, firstPort: number): Promise<{ fabric: Fabric; ports: FabricPort[] }> {
  const fabric = new Fabric();
  await fabric.start();
  const ports: FabricPort[] = [];
  let hub = await fabric.createDevice('hub', {});
  for (let index = 0; index < count; index++) {
    if (index % 16 === 0) hub = await fabric.createDevice('hub', {});
    const port = await fabric.createPort({ kind: 'memory', device: hub, number: 0 });
    await port.connect(cableOf(firstPort, index));
    ports.push(port);
  }
  return { fabric, ports };
}

function cableOf(firstPort: number, index: number): Cable {
  return { kind: 'udp', localPort: firstPort + index, remoteHost: host, remotePort: firstPort + (index ^ 1) };
}

/** Whether a connection costs more among many ports than among few, and what many ports cost at rest. */
export async function manyPorts(): Promise<void> {
  const many = 4000;
  const few = await crowd(16, 9000);
  const memory = process.memoryUsage.rss();
  const full = await crowd(many, 10_000);
  const kilobytes = (process.memoryUsage.rss() - memory) / 1024 / many;
  const used = { few: 0, full: 0 };
  // In turn, so that whatever else the machine does hits both.
  for (let round = 0; round < 2000; round++) {
    for (const [name, { ports }, firstPort] of [
      ['few', few, 9000],
      ['full', full, 10_000],
    ] as const) {
      const index = round % ports.length;
      const start = performance.now();
      await ports[index]!.disconnect();
      await ports[index]!.connect(cableOf(firstPort, index));
      used[name] += (performance.now() - start) / 2000;
    }
  }
  const before = process.cpuUsage();
  await sleep(REST_MS);
  const { user, system } = process.cpuUsage(before);
  await few.fabric.stop();
  await full.fabric.stop();
  process.stdout.write(
    `\nPull a cable and plug it in: ${used.few.toFixed(3)} ms among 16 ports, ${used.full.toFixed(3)} ms among ${many} ` +
      `(ratio ${(used.full / used.few).toFixed(2)}).\n` +
      `${many} connected ports: ${kilobytes.toFixed(1)} KiB each, ${((user + system) / REST_MS / 10).toFixed(2)} % CPU at rest.\n`,
  );
}
