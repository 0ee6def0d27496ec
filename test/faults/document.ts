// Writes docs/trust.md from the figures of the last full run: `bin/node test/faults/document.ts`, which `bin/test --faults` does.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { join } from 'node:path';
import { FIGURES, type RigReport } from './rig.ts';

/** What the times below have to do with: other work on the machine makes them longer. */
function circumstances(): string {
  const [cores, load] = [availableParallelism(), loadavg()[2]!];
  const shared = load > cores ? ': it was shared with other work, which the times tell of' : '';
  return `The figures are of a machine with ${cores} cores, of which ${load.toFixed(1)} were wanted in the last 15 minutes of the run${shared}.`;
}

const HEAD = `# What Labwire promises, and how it was tried

Each promise is attacked by a rig in \`test/faults\`, which fails when it breaks. \`bin/test --faults\` runs them all in full and writes this page from
what they have measured; \`bin/test\` runs them smaller. Rigs that draw at random print their seed: \`LABWIRE_SEED=N\` repeats a run.

${circumstances()}

`;

const reports = readdirSync(FIGURES)
  .filter((name) => name.endsWith('.json'))
  .map((name) => JSON.parse(readFileSync(join(FIGURES, name), 'utf8')) as RigReport)
  .sort((left, right) => left.rig.localeCompare(right.rig));
const quick = reports.filter(({ full }) => !full);
if (reports.length === 0 || quick.length > 0) {
  process.stderr.write(`not in full: ${quick.map(({ rig }) => rig).join(', ') || 'no rig'}; run bin/test --faults\n`);
  process.exit(1);
}
const sections = reports.map(({ rig, promise, figures }) => {
  const rows = figures.map(({ what, value }) => `| ${what} | ${value} |`);
  return `## ${promise[0]!.toUpperCase()}${promise.slice(1)}\n\n\`test/faults/${rig}.test.ts\`\n\n| | |\n|---|---|\n${rows.join('\n')}\n`;
});
const without = readdirSync(import.meta.dirname)
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => name.slice(0, -'.test.ts'.length))
  .filter((name) => !reports.some(({ rig }) => rig === name));
const rest = without.length === 0 ? '' : `\nWithout figures of a run in full: ${without.join(', ')}.\n`;
writeFileSync(join(FIGURES, '../../docs/trust.md'), HEAD + sections.join('\n') + rest);
