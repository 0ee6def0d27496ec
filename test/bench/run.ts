// Runs the benches one after another, each in a process of its own: npm run bench [-- [--only NAME,NAME] [--short] [--write]]
// With --write, what a bench prints goes into its part of docs/performance.md, and the picture of the fabric beside it.
// With --short, benches of containers and guests measure once, for a second: it shows that they work, and no more.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { machine, OtherLoad } from '../other-load.ts';
import { withPart } from '../written.ts';
import { SHORT } from './measure.ts';

const BENCHES =
  'start lab pcs fabric rest flood impairments containers kernel-links captures docker qemu qemu-frames routers iou placement cluster cluster-size page'.split(
    ' ',
  );

const docs = join(import.meta.dirname, '../../docs');
const DOCUMENT = join(docs, 'performance.md');

/** Words that a bench is given when its figures are written. */
const WORDS: Readonly<Record<string, readonly string[]>> = { fabric: ['--svg', join(docs, 'fabric.svg')] };

/** Puts all that a bench has printed into its part of the document. */
function write(name: string, printed: string, load: OtherLoad): void {
  if (!/^\|/m.test(printed)) throw new Error(`the bench "${name}" has measured nothing that could be written`);
  const content = `${machine(load)}.\n\n${printed.trim()}`;
  writeFileSync(DOCUMENT, withPart(readFileSync(DOCUMENT, 'utf8'), `npm run bench -- --only ${name} --write`, content));
}

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    svg: { type: 'string' },
    short: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});
const wanted = values.only === undefined ? BENCHES : values.only.split(',');
const unknown = wanted.find((name) => !BENCHES.includes(name));
if (unknown !== undefined) {
  process.stderr.write(`--only: there is no bench "${unknown}". Use ${BENCHES.join(', ')}.\n`);
  process.exit(2);
}
if (values.short && values.write) {
  process.stderr.write('--short: its figures are not written. Leave out --write.\n');
  process.exit(2);
}
for (const name of wanted) {
  process.stdout.write(`\n${name}\n\n`);
  const drawn = values.svg === undefined ? (values.write && WORDS[name]) || [] : ['--svg', values.svg];
  const load = new OtherLoad();
  const { status, stdout } = spawnSync(process.execPath, [join(import.meta.dirname, `${name}.ts`), ...drawn], {
    stdio: ['inherit', values.write ? 'pipe' : 'inherit', 'inherit'],
    encoding: 'utf8',
    env: { ...process.env, [SHORT]: values.short ? '1' : '' },
    maxBuffer: 2 ** 26,
  });
  if (values.write) process.stdout.write(stdout);
  if (status !== 0) process.exit(1);
  if (values.write) write(name, stdout, load);
}
