// What strangers and broken programs send, while somebody works: memory stays bounded, and the one who works does not wait.
import assert from 'node:assert/strict';
import { startDaemon } from '../system/daemon.ts';
import { Lab } from '../system/lab.ts';
import { ATTACKS } from './abuse-attacks.ts';
import { bound, type Figure, othersBeside, percentile, rig } from './rig.ts';
import { somebodyAtWork } from './somebody-at-work.ts';

/** Anonymous memory that the daemon may have at any time, MiB; at rest it has about 30. */
const MEMORY_MIB = 400;

/** Milliseconds within which 99 of 100 requests of somebody else are answered. */
const PATIENCE_MS = 250;

rig({ name: 'abuse', promise: 'hostile requests take neither memory nor time from other users' }, async (t) => {
  const daemon = await startDaemon(t);
  const lab = await Lab.create(daemon);
  const { drawing_id } = await daemon.post(`${lab.path}/drawings`, { svg: '<svg/>' });
  const work = { port: daemon.port, pid: daemon.pid, drawing: `${lab.path}/drawings/${drawing_id}` };
  const figures: Figure[] = [];
  for (const attack of ATTACKS) {
    const load = othersBeside();
    const somebody = somebodyAtWork(work);
    let what = 'an attack';
    let done: Awaited<ReturnType<typeof somebody.stop>>;
    try {
      what = await attack(daemon, lab, t);
    } finally {
      done = await somebody.stop();
    }
    const { waits, refused, peak } = done;
    const [median, high] = [percentile(waits, 0.5), percentile(waits, 0.99)];
    const served = `one who works is served, 99 % (${what})`;
    const { value } = await bound(t, { what: served, value: high, limit: PATIENCE_MS, unit: 'ms', load });
    const waited = `${waits.length} other requests: median ${median.toFixed(1)} ms, 99 % within ${value}`;
    figures.push({ what, value: `${waited}; memory at most ${Math.round(peak)} MiB` });
    assert.deepEqual(refused, [], `${what}: the one who works is served`);
    assert.ok(peak < MEMORY_MIB, `${what}: ${peak} MiB`);
  }
  return figures;
});
