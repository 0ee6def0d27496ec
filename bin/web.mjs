// Bundles the page in src/web: one script and one style sheet that every page loads, and parts that are loaded when they are needed.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { build } from 'esbuild';
import { WORDS } from '../src/web/words.ts';

const root = join(import.meta.dirname, '..');
const MAIN = 'src/web/main.tsx';

/** Bytes that a browser loads at most, gzipped, by part of a file's name. Whoever needs more says so here. */
export const LARGEST_GZIP_BYTES = {
  'start-': 1_000,
  'lab-screen-': 40_000,
  'terminal-': 115_000,
  'display-': 62_000,
  'style-': 10_000,
  'capture-worker-': 20_000,
  'arrange-worker-': 40_000,
  'arrange-panel-': 3_000,
  'tabs-': 10_000,
  'templates-screen-': 6_000,
  'hosts-screen-': 4_000,
};

/** The same for all that the list of labs needs: the first visit over a slow line. */
export const LARGEST_SHELL_GZIP_BYTES = 50_000;

function bundled(options) {
  return build({
    absWorkingDir: root,
    outdir: join(root, 'dist/web/assets'),
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: 'esm',
    target: ['chrome123', 'firefox121', 'safari17.5'],
    // What a tsconfig.json nearby says must not change the bytes.
    tsconfigRaw: {},
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    logLevel: 'warning',
    ...options,
  });
}

/**
 * The files by their addresses (`index.html`, `assets/main-<hash>.js`), as buffers, and the paths of what went into them.
 * The same sources give the same bytes.
 */
export async function bundleWeb() {
  const worker = await bundled({
    entryPoints: ['capture', 'arrange'].map((name) => ({
      in: join(root, `src/web/${name}/worker.ts`),
      out: `${name}-worker`,
    })),
  });
  const makePage = (plugins) =>
    bundled({
      plugins,
      entryPoints: [
        { in: join(root, 'src/web/begin.ts'), out: 'begin' },
        { in: join(root, MAIN), out: 'main' },
        { in: join(root, 'src/web/style.css'), out: 'style' },
        { in: join(root, 'src/web/lab-style.css'), out: 'lab-style' },
      ],
      splitting: true,
      define: {
        CAPTURE_WORKER: addressIn(worker, 'capture-worker'),
        ARRANGE_WORKER: addressIn(worker, 'arrange-worker'),
      },
    });
  const page = await makePage([afterMain(await makePage([]))]);
  // By itself, not split: it must need nothing else that could be missing.
  const start = await bundled({
    entryPoints: [{ in: join(root, 'src/web/start.ts'), out: 'start' }],
    define: { BEGIN_SCRIPT: addressIn(page, 'begin') },
    external: ['/assets/*'],
  });
  const outputFiles = [worker, page, start].flatMap((made) => made.outputFiles);
  const files = new Map(outputFiles.map(({ path, contents }) => [`assets/${basename(path)}`, Buffer.from(contents)]));
  const named = (start, ending) =>
    [...files.keys()].find((name) => name.startsWith(`assets/${start}-`) && name.endsWith(ending));
  const beginnings = [named('begin', '.js'), named('main', '.js')];
  const shell = [...new Set(beginnings.flatMap((name) => withImports(name, page.metafile)))];
  const { page: words } = WORDS;
  const parts = {
    '%style%': `/${named('style', '.css')}`,
    '%labStyle%': `/${named('lab-style', '.css')}`,
    '%script%': `/${named('start', '.js')}`,
    '%preloads%': shell.map((name) => `<link rel="modulepreload" href="/${name}">`).join(''),
    '%loading%': words.loading,
    '%again%': words.loadAgain,
    // An empty address is that of the page itself.
    '%here%': '',
  };
  const html = readFileSync(join(root, 'src/web/index.html'), 'utf8').replace(/%\w+%/g, (name) => parts[name]);
  files.set('index.html', Buffer.from(html));
  const hash = createHash('sha256');
  for (const [name, content] of [...files].sort(([a], [b]) => (a < b ? -1 : 1))) hash.update(name).update(content);
  return {
    files,
    shell: [...shell, named('start', '.js'), named('style', '.css'), 'index.html'],
    inputs: [worker, page, start].flatMap(({ metafile }) => Object.keys(metafile.inputs)),
    tag: hash.digest('hex').slice(0, 16),
  };
}

/**
 * A plugin that lets every part that is loaded later import the main script, which has run by then. So what the first screen needs
 * goes into few files instead of one for each set of parts that uses it, and each file costs a request.
 */
function afterMain({ metafile: { outputs } }) {
  const later = new Set();
  const main = Object.values(outputs).find(({ entryPoint }) => entryPoint === MAIN);
  const seen = new Set([main]);
  for (const { imports } of seen) {
    for (const { path, kind } of imports) {
      const output = outputs[path];
      seen.add(output);
      // Words come before the main script.
      const isLater = kind === 'dynamic-import' && !output.entryPoint.startsWith('src/web/languages/');
      if (isLater) later.add(join(root, output.entryPoint));
    }
  }
  return {
    name: 'after-main',
    setup({ onLoad }) {
      onLoad({ filter: /[.]tsx?$/ }, ({ path }) => {
        if (!later.has(path)) return undefined;
        const contents = `import ${JSON.stringify(join(root, MAIN))};\n${readFileSync(path, 'utf8')}`;
        return { contents, loader: extname(path).slice(1) };
      });
    },
  };
}

/** As a constant of scripts: the address of the one that was made under this name. */
function addressIn({ outputFiles }, name) {
  const { path } = outputFiles.find((file) => basename(file.path).startsWith(`${name}-`));
  return JSON.stringify(`/assets/${basename(path)}`);
}

/** A script and all that it imports as soon as it is loaded. */
function withImports(first, { outputs }) {
  const found = new Set();
  const follow = (name) => {
    if (found.has(name)) return;
    found.add(name);
    const [, output] = Object.entries(outputs).find(([path]) => basename(path) === basename(name));
    for (const { path, kind } of output.imports) if (kind === 'import-statement') follow(`assets/${basename(path)}`);
  };
  follow(first);
  return [...found];
}
