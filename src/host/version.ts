// The version of this program.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Set by build.mjs; missing when the sources run unpacked. */
declare const LABWIRE_VERSION: string | undefined;

/** Labwire's own version (package.json), not the API release that clients see. */
export function version(): string {
  if (typeof LABWIRE_VERSION === 'string') return LABWIRE_VERSION;
  const manifest: { version: string } = JSON.parse(
    readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'),
  );
  return manifest.version;
}
