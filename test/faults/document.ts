// Writes docs/trust.md from the figures of the last runs of the rigs: `bin/node test/faults/document.ts`, which `bin/test --faults` does.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { partOf } from '../written.ts';
import { FIGURES, type RigReport } from './rig.ts';

const HEAD = `# What Labwire promises, and how it was tried

Each promise is attacked by a rig in \`test/faults\`, which fails when it breaks. \`bin/test --faults\` runs them all in full and writes this page from what they have measured; \`bin/test\` runs them smaller. Rigs that draw at
random print their seed: \`LABWIRE_SEED=N\` repeats a run. A bound that is said to be kept was judged; where other programs kept the machine busy it was not, and the page says so.
`;

function sectionOf({ rig, promise, figures, full, machine }: RigReport): string {
  const rows = figures.map(({ what, value }) => `| ${what} | ${value} |`).join('\n');
  const size = full ? 'in full' : 'in its quick size';
  return `## ${promise[0]!.toUpperCase()}${promise.slice(1)}\n\n\`test/faults/${rig}.test.ts\`, ${size}. ${machine}.\n\n| | |\n|---|---|\n${rows}\n`;
}

mkdirSync(FIGURES, { recursive: true });
const reports = readdirSync(FIGURES)
  .filter((name) => name.endsWith('.json'))
  .map((name) => JSON.parse(readFileSync(join(FIGURES, name), 'utf8')) as RigReport)
  .sort((left, right) => left.rig.localeCompare(right.rig));
if (reports.length === 0) {
  process.stderr.write('no rig has measured anything; run bin/test --faults\n');
  process.exit(1);
}
const without = readdirSync(import.meta.dirname)
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => name.slice(0, -'.test.ts'.length))
  .filter((name) => !reports.some(({ rig }) => rig === name));
const rest = without.length === 0 ? '' : `\nWithout figures: ${without.join(', ')}.\n`;
writeFileSync(
  join(FIGURES, '../../docs/trust.md'),
  partOf('bin/test --faults', `${HEAD}\n${reports.map(sectionOf).join('\n')}${rest}`),
);
