// The files of the page: from the executable, or bundled from the sources at the first request.
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { embedded, isPackaged } from '../host/files/assets.ts';

export interface WebFile {
  /** Gzipped. */
  content: Buffer;
  /** The first 16 digits of its SHA-256. */
  tag: string;
}

const compress = promisify(gzip);

/** Development script, see `bin/development.mjs`; undefined otherwise. */
let script: string | undefined;
const SCRIPT = 'assets/development.js';
let unpacked: Promise<Map<string, WebFile>> | undefined;

/** The file at a path below `/`, such as `index.html` or `assets/main-ABCDEFGH.js`; undefined if there is none. */
export async function webFile(name: string): Promise<WebFile | undefined> {
  if (isPackaged()) {
    const content = embedded(`web/${name}.gz`);
    return content && { content, tag: tagOf(content) };
  }
  unpacked ??= bundled();
  return (await unpacked).get(name);
}

/** Adds a script to the page of a server that runs from its sources. */
export function addScript(text: string): void {
  script = text;
}

/**
 * Bundles the current sources.
 * @throws Error if that fails; the earlier bundle stays
 */
export async function bundleAnew(): Promise<void> {
  const fresh = bundled();
  await fresh;
  unpacked = fresh;
}

async function bundled(): Promise<Map<string, WebFile>> {
  // The bundler is no part of the executable: its path must not be one that a bundler follows.
  const bundler = join(import.meta.dirname, '../../bin/web.mjs');
  const { bundleWeb } = (await import(bundler)) as { bundleWeb(): Promise<{ files: Map<string, Buffer> }> };
  const files = new Map<string, WebFile>();
  const keep = async (name: string, plain: Buffer): Promise<void> => {
    const content = await compress(plain);
    files.set(name, { content, tag: tagOf(content) });
  };
  for (const [name, plain] of (await bundleWeb()).files) {
    const isPage = name === 'index.html' && script !== undefined;
    const tag = `<script type="module" src="/${SCRIPT}"></script>\n</head>`;
    await keep(name, isPage ? Buffer.from(String(plain).replace('</head>', tag)) : plain);
  }
  if (script !== undefined) await keep(SCRIPT, Buffer.from(script));
  return files;
}

function tagOf(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex').slice(0, 16);
}
