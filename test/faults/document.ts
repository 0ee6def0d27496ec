// Writes docs/trust.md from the figures of the last runs of the rigs: `bin/node test/faults/document.ts`, which `bin/test --faults` does.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { partOf } from '../written.ts';
import { FIGURES, type RigReport } from './rig.ts';

const HEAD = `# Resistance to attacks

Each section is a promise, and the figures of the test in \`test/faults\` that attacks it. The test fails when the promise breaks. \`bin/test --faults\` runs all attacks in full and writes this page; \`bin/test --all\` runs them in small. The figures are those of each test's last run, and each section says which one that was.

* \`LABWIRE_SEED=N\` repeats a run with its random numbers.
* A bound is *kept*, or *not judged* because other programs kept the machine busy.
* A *weakened server* has a planted fault, which the attack must find.
* Memory of repeated actions is its growth over the second half of them.
`;

/** The hardware with the release of Node, and the load of other programs. */
const partsOfMachine = (machine: string): string[] => machine.split('; ');

function sectionOf({ rig, promise, figures, full, machine }: RigReport): string {
  const rows = figures.map(({ what, value }) => `| ${what} | ${value} |`).join('\n');
  const size = full ? 'in full' : 'in small';
  const [, load] = partsOfMachine(machine);
  return `## ${promise[0]!.toUpperCase()}${promise.slice(1)}\n\n\`test/faults/${rig}.test.ts\`, ${size}; ${load}.\n\n| | |\n|---|---|\n${rows}\n`;
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
const hardware = [...new Set(reports.map(({ machine }) => partsOfMachine(machine)[0]))].join('; ');
const rest = without.length === 0 ? '' : `\nWithout figures: ${without.join(', ')}.\n`;
writeFileSync(
  join(FIGURES, '../../docs/trust.md'),
  partOf('bin/test --faults', `${HEAD}\nMeasured on ${hardware}.\n\n${reports.map(sectionOf).join('\n')}${rest}`),
);
