// Runs every check and test of the project in the working directory and sums up; bin/test starts it. The last line is the sum.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { allowedSkips } from './allowed-skips.ts';
import { type Place, playAgain, runFileAgain, runScript, type ScriptResult, scriptsOf } from './scripts.ts';
import { type Again, type Broken, brokenOf, MOST_AGAIN, verdictOf } from './verdict.ts';

/** In this order, as far as the project has them. */
const SCRIPTS = [
  'check',
  'test',
  'test:system',
  'test:web',
  'test:old-projects',
  'test:faults',
  'test:load',
  'test:conformance',
];
/** With --faults. */
const ATTACKS = ['test:faults', 'test:load'];

const root = process.cwd();
const full = process.argv.includes('--faults');
const place: Place = { root, logs: join(root, 'dist/test'), limited: !full };

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

async function again(broken: Broken): Promise<Again> {
  say(`\n==> once more, alone: ${broken.name}`);
  if (broken.kind === 'scenario') return { broken, passed: await playAgain(broken.script, broken.name, place) };
  const file = await runFileAgain(broken.script, broken.name, place);
  return { broken, file, passed: file.failed.length === 0 };
}

mkdirSync(place.logs, { recursive: true });
const known = scriptsOf(root);
const results: ScriptResult[] = [];
for (const script of full ? ATTACKS : SCRIPTS.filter((name) => name in known)) {
  say(`\n==> npm run ${script}`);
  results.push(await runScript(script, place));
}
const broken = results.flatMap(brokenOf);
const tried: Again[] = [];
// An attack in full takes hours, and one that was missed once was missed.
if (!full && broken.length <= MOST_AGAIN) for (const one of broken) tried.push(await again(one));
const { lines, passed, failed, skipped } = verdictOf({
  ...{ results, again: tried, isRoot: process.getuid?.() === 0 },
  allowed: allowedSkips(join(root, 'test/allowed-skips.json')),
});
say(`\n${lines.join('\n')}`);
if (broken.length > MOST_AGAIN) say(`${broken.length} files have failed: too many to try them again`);
say(`${passed} passed, ${failed} failed, ${skipped} skipped`);
process.exitCode = failed > 0 ? 1 : 0;
