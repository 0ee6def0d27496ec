// The rules that keep the modules apart: that they are kept, and that they would notice.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '..');

interface Violation {
  rule: { name: string };
  from: string;
  to: string;
}

/** Runs dependency-cruiser with the project's rules over the folder `src` of `directory`; gives `rule: from -> to`, sorted. */
async function violations(directory: string): Promise<string[]> {
  const report = await new Promise<string>((done, fail) => {
    const program = join(root, 'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs');
    const words = [program, 'src', '--config', join(root, '.dependency-cruiser.mjs'), '--output-type', 'json'];
    execFile(process.execPath, words, { cwd: directory, maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      if (stdout.startsWith('{')) done(stdout);
      else fail(new Error(`dependency-cruiser gave no report: ${stderr || error}`));
    });
  });
  const { summary } = JSON.parse(report) as { summary: { violations: Violation[] } };
  return summary.violations
    .map(({ rule, from, to }) => `${rule.name}: ${from} -> ${to.replace(/^.*(?=node_modules)/, '')}`)
    .sort();
}

/** A tree of source files in a scratch directory; each entry lists what the file imports, `type:` before a type import. */
async function tree(files: Record<string, string[]>): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'labwire-layers-'));
  for (const [path, imports] of Object.entries(files)) {
    await mkdir(dirname(join(directory, path)), { recursive: true });
    const lines = imports.map((from) =>
      from.startsWith('type:') ? `import type { x } from '${from.slice(5)}';` : `import { x } from '${from}';`,
    );
    await writeFile(join(directory, path), [...lines, 'export const x = 1;'].join('\n'));
  }
  await symlink(join(root, 'node_modules'), join(directory, 'node_modules'));
  await writeFile(join(directory, 'package.json'), readFileSync(join(root, 'package.json')));
  return directory;
}

test('every import of the sources points down or stays within its module', async () => {
  assert.deepEqual(await violations(root), []);
});

test('imports that point down or stay within a module are allowed', async (t) => {
  const directory = await tree({
    'src/main.ts': ['./controller/lab/a.ts', './compute/a.ts', './http/a.ts', './host/a.ts'],
    'src/controller/lab/a.ts': ['./b.ts', '../../http/a.ts', '../../store/a.ts', '../../failures.ts'],
    'src/controller/lab/b.ts': ['hono'],
    'src/compute/a.ts': ['./emulators/vpcs/a.ts', '../events/a.ts'],
    'src/compute/emulators/vpcs/a.ts': ['./b.ts', '../../../fabric/a.ts', '../../../consoles/a.ts'],
    'src/compute/emulators/vpcs/b.ts': [],
    'src/http/a.ts': ['../config/a.ts'],
    'src/fabric/a.ts': ['../host/a.ts'],
    'src/consoles/a.ts': ['../host/a.ts'],
    'src/store/a.ts': ['../host/a.ts'],
    'src/events/a.ts': [],
    'src/config/a.ts': ['../failures.ts'],
    'src/host/a.ts': ['../failures.ts'],
    'src/failures.ts': [],
  });
  t.after(() => rm(directory, { recursive: true }));
  assert.deepEqual(await violations(directory), []);
});

test('an import that points up, sideways, in a circle or into the tools is found, and so is an unused file', async (t) => {
  const directory = await tree({
    'src/host/a.ts': ['../store/a.ts', 'type:../http/a.ts'],
    'src/store/a.ts': ['../events/a.ts', '../nowhere.ts'],
    'src/events/a.ts': [],
    'src/fabric/a.ts': ['../consoles/a.ts'],
    'src/consoles/a.ts': ['../compute/b.ts'],
    'src/controller/lab/a.ts': ['../../compute/b.ts', '../../commands/definitions.ts'],
    'src/compute/a.ts': ['../controller/lab/b.ts'],
    'src/compute/b.ts': [],
    'src/controller/lab/b.ts': [],
    'src/compute/emulators/vpcs/a.ts': ['../hub/a.ts'],
    'src/compute/emulators/hub/a.ts': [],
    'src/http/a.ts': ['../compute/b.ts'],
    'src/http/b.ts': ['./c.ts'],
    'src/http/c.ts': ['type:./b.ts', 'esbuild'],
    'src/failures.ts': ['./events/a.ts'],
    'src/attic/a.ts': ['../host/a.ts'],
    'src/store/forgotten.ts': [],
    'src/commands/definitions.ts': [],
    'src/main.ts': [
      ...['./attic/a.ts', './controller/lab/a.ts', './compute/a.ts', './compute/emulators/vpcs/a.ts', './fabric/a.ts'],
      ...['./http/b.ts', './failures.ts'],
    ],
  });
  t.after(() => rm(directory, { recursive: true }));
  assert.deepEqual(
    await violations(directory),
    [
      'declared-dependencies: src/http/c.ts -> node_modules/esbuild/lib/main.js',
      'emulators-stand-alone: src/compute/emulators/vpcs/a.ts -> src/compute/emulators/hub/a.ts',
      'failures-at-the-bottom: src/failures.ts -> src/events/a.ts',
      'layers-compute: src/compute/a.ts -> src/controller/lab/b.ts',
      'layers-consoles: src/consoles/a.ts -> src/compute/b.ts',
      'layers-controller: src/controller/lab/a.ts -> src/compute/b.ts',
      'layers-controller: src/controller/lab/a.ts -> src/commands/definitions.ts',
      'layers-fabric: src/fabric/a.ts -> src/consoles/a.ts',
      'layers-host: src/host/a.ts -> src/http/a.ts',
      'layers-host: src/host/a.ts -> src/store/a.ts',
      'layers-http: src/http/a.ts -> src/compute/b.ts',
      'layers-store: src/store/a.ts -> src/events/a.ts',
      'no-circles: src/http/b.ts -> src/http/c.ts',
      'no-dead-files: src/store/forgotten.ts -> src/store/forgotten.ts',
      'module-without-a-layer: src/attic/a.ts -> src/host/a.ts',
      'resolvable: src/store/a.ts -> ../nowhere.ts',
    ].sort(),
  );
});

test('an import that points up or sideways within the controller is found, and so is a folder without a layer', async (t) => {
  const directory = await tree({
    'src/main.ts': ['./controller/controller.ts', './controller/attic/a.ts'],
    'src/controller/controller.ts': ['./nodes/routes.ts', './snapshots/a.ts', './templates/template-routes.ts'],
    'src/controller/nodes/routes.ts': ['../projects/a.ts', '../lab/a.ts'],
    'src/controller/templates/template-routes.ts': ['../lab/a.ts'],
    'src/controller/snapshots/a.ts': ['../archives/a.ts'],
    'src/controller/archives/a.ts': ['../projects/a.ts', '../nodes/routes.ts'],
    'src/controller/projects/a.ts': ['../lab/a.ts', '../snapshots/b.ts'],
    'src/controller/snapshots/b.ts': [],
    'src/controller/lab/a.ts': ['../links/a.ts', '../drawings/a.ts', 'type:../projects/b.ts'],
    'src/controller/projects/b.ts': [],
    'src/controller/links/a.ts': ['../nodes/a.ts', '../drawings/b.ts', 'type:../lab/b.ts'],
    'src/controller/drawings/a.ts': ['../symbols/a.ts'],
    'src/controller/drawings/b.ts': [],
    'src/controller/lab/b.ts': [],
    'src/controller/nodes/a.ts': ['../computes/a.ts', 'type:../links/b.ts'],
    'src/controller/links/b.ts': [],
    'src/controller/computes/a.ts': ['../events.ts', 'type:../lab/b.ts'],
    'src/controller/symbols/a.ts': ['../computes/b.ts'],
    'src/controller/computes/b.ts': [],
    'src/controller/events.ts': [],
    'src/controller/attic/a.ts': ['../events.ts'],
  });
  t.after(() => rm(directory, { recursive: true }));
  const place = (path: string): string => `src/controller/${path}`;
  assert.deepEqual(
    await violations(directory),
    [
      `controller-archives: ${place('archives/a.ts')} -> ${place('nodes/routes.ts')}`,
      `controller-computes: ${place('computes/a.ts')} -> ${place('lab/b.ts')}`,
      `controller-lab: ${place('lab/a.ts')} -> ${place('projects/b.ts')}`,
      `controller-links: ${place('links/a.ts')} -> ${place('drawings/b.ts')}`,
      `controller-links: ${place('links/a.ts')} -> ${place('lab/b.ts')}`,
      `controller-nodes: ${place('nodes/a.ts')} -> ${place('links/b.ts')}`,
      `controller-projects: ${place('projects/a.ts')} -> ${place('snapshots/b.ts')}`,
      `controller-symbols: ${place('symbols/a.ts')} -> ${place('computes/b.ts')}`,
      `controller-without-a-layer: ${place('attic/a.ts')} -> ${place('events.ts')}`,
    ].sort(),
  );
});

test('the picture of the modules shows each of them, layer by layer', async () => {
  const { layers: rules } = (await import(join(root, '.dependency-cruiser.mjs'))) as {
    layers: Record<string, string>[];
  };
  const entrance = globSync('src/*/', { cwd: root }).filter((path) =>
    new RegExp(rules[0]!['the entrance']!).test(`${path}/`),
  );
  const layers = [
    ['main', ...entrance.map((path) => path.replace(/^src\/|\/$/g, ''))],
    ...rules.slice(1).map((modules) => Object.keys(modules)),
    ['failures'],
  ];
  const picture = readFileSync(join(root, 'docs/architecture.svg'), 'utf8');
  const numbers = (words: RegExpMatchArray): number[] => words.slice(1).map(Number);
  const bands = [...picture.matchAll(/<rect class="f" x="\d+" y="(\d+)" width="\d+" height="(\d+)"/g)].map(numbers);
  const titles = [...picture.matchAll(/<text class="t" x="\d+" y="(\d+)">([^<]+)</g)];
  const drawn = bands.map(([top, height]) =>
    titles.filter(([, y]) => Number(y) > top! && Number(y) < top! + height!).map(([, , title]) => title!),
  );
  assert.deepEqual(
    drawn.map((names) => names.sort()),
    layers.map((names) => names.sort()),
  );
});

test('nothing but the configuration and the entrance looks at the environment or the command line', () => {
  const found = globSync('src/**/*.ts', { cwd: root })
    .filter((path) => !/^src\/(config\/|(main|start\/(starter|supervise))\.ts$)/.test(path))
    .filter((path) => /\bprocess\.(env|argv)\b|from 'node:process'/.test(readFileSync(join(root, path), 'utf8')));
  assert.deepEqual(found, []);
});
