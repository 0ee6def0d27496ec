// What a QEMU machine may take of the host: its share of the processor and its priority, with the real QEMU and cpulimit.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import { test } from 'node:test';
import { findProgram } from '../../src/host/processes/program-path.ts';
import { eventually } from '../eventually.ts';
import { cpuSeconds } from '../system/processes.ts';
import { BUSY, bootSector, machineOf, machines, noQemu, SMALL } from './qemu-support.ts';
import { programsOf } from './support.ts';

const skip = noQemu || ((await findProgram('cpulimit')) === undefined ? 'cpulimit is not installed' : false);

const stateOf = (pid: number): string => /\) (\w)/.exec(readFileSync(`/proc/${pid}/stat`, 'latin1'))![1]!;
const wordsOf = (pid: number): string => readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ');

test('a machine is held back to its share of the processor, which changes while it runs', { skip }, async (t) => {
  const { lab, project, images, instance } = await machines(t);
  await bootSector(images, 'busy.img', ...BUSY);
  const node = await lab.node(project, 'qemu', {
    ...SMALL,
    hda_disk_image: 'busy.img',
    hda_disk_interface: 'ide',
    cpu_throttling: 20,
  });
  await lab.expect(200, 'POST', `${node}/start`);
  const pid = machineOf(instance);
  // On a busy host it would otherwise never have as much as it may.
  if (process.getuid!() === 0) for (const thread of readdirSync(`/proc/${pid}/task`)) setPriority(Number(thread), -20);
  const limiters = (): string[] =>
    programsOf(instance)
      .filter((found) => found.pid !== pid)
      .map((found) => wordsOf(found.pid));
  const isHeldTo = (percent: number) => (): boolean =>
    new RegExp(`^[^,]*--pid=${pid} --limit=${percent}[^,]*$`).test(limiters().join());
  await eventually('the limit', isHeldTo(20));
  await eventually('the machine to be held', () => stateOf(pid) === 'T');
  await lab.expect(200, 'PUT', node, { cpu_throttling: 30 });
  await eventually('the other limit, alone', isHeldTo(30));
  await eventually('the machine to be held again', () => stateOf(pid) === 'T');
  assert.equal((await lab.expect(200, 'PUT', node, { cpu_throttling: 0 })).cpu_throttling, 0);
  assert.deepEqual(limiters(), []);
  const before = cpuSeconds(pid);
  await eventually('the machine to go on', () => stateOf(pid) !== 'T' && cpuSeconds(pid) > before + 0.3);
  await lab.expect(200, 'PUT', node, { cpu_throttling: 800 });
  assert.deepEqual(limiters(), [], 'more than the host has is no limit');
  await lab.expect(204, 'POST', `${node}/stop`);
  assert.deepEqual(programsOf(instance), []);
});

test('a machine whose limiter is killed goes on, and its user is informed', { skip }, async (t) => {
  const { lab, project, images, instance } = await machines(t);
  await bootSector(images, 'busy.img', ...BUSY);
  const node = await lab.node(project, 'qemu', {
    ...SMALL,
    hda_disk_image: 'busy.img',
    hda_disk_interface: 'ide',
    cpu_throttling: 5,
  });
  await lab.expect(200, 'POST', `${node}/start`);
  const pid = machineOf(instance);
  // Until it has replaced the server's image in its process, it has the server's environment.
  const limiter = await eventually('the limiter', () => programsOf(instance).find((found) => found.pid !== pid));
  await eventually('the machine to be held', () => stateOf(pid) === 'T');
  process.kill(limiter!.pid, 'SIGKILL');
  assert.match((await lab.told('log.warning')).message, /N1 is not throttled any more/);
  assert.notEqual(stateOf(pid), 'T');
  await lab.expect(204, 'POST', `${node}/stop`);
});

test('a machine runs with its priority', { skip }, async (t) => {
  const { lab, project, instance } = await machines(t);
  for (const [process_priority, nice] of [
    ['very low', 19],
    ['low', 5],
    ['normal', 0],
    ...(process.getuid!() === 0 ? ([['high', -5]] as const) : []),
  ] as const) {
    const node = await lab.node(project, 'qemu', { ...SMALL, process_priority });
    await lab.expect(200, 'POST', `${node}/start`);
    assert.equal(getPriority(machineOf(instance)), nice, process_priority);
    await lab.expect(204, 'DELETE', node);
  }
});
