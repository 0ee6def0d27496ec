import { test } from 'node:test';
import { startLab } from './compute/support.ts';

for (let i = 0; i < 8; i++)
  test('x' + i, async (t) => {
    const a = performance.now();
    const c = process.cpuUsage();
    await startLab(t);
    const d = process.cpuUsage(c);
    console.log(i, (performance.now() - a).toFixed(0), 'ms', ((d.user + d.system) / 1000).toFixed(0), 'cpu ms');
    t.after(() => {
      const d = process.cpuUsage(c);
      console.log(i, 'with end', ((d.user + d.system) / 1000).toFixed(0));
    });
  });
