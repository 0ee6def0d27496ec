// Runs the benches one after another, each in a process of its own: npm run bench [-- --only start|lab|pcs|fabric|flood|impairments|containers]
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const BENCHES = ['start', 'lab', 'pcs', 'fabric', 'flood', 'impairments', 'containers', 'captures'];

const { values } = parseArgs({ options: { only: { type: 'string' }, svg: { type: 'string' } } });
const wanted = values.only === undefined ? BENCHES : [values.only];
if (wanted.some((name) => !BENCHES.includes(name))) {
  process.stderr.write(`There is no bench "${values.only}"; there are ${BENCHES.join(', ')}.\n`);
  process.exit(2);
}
const drawn = values.svg === undefined ? [] : ['--svg', values.svg];
for (const name of wanted) {
  process.stdout.write(`\n${name}\n\n`);
  const { status } = spawnSync(process.execPath, [join(import.meta.dirname, `${name}.ts`), ...drawn], {
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(1);
}
