// The executable under test, built when the sources are newer.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const project = join(import.meta.dirname, '../..');

/** Words that start the server from its sources, as `npm run dev` does. */
export const FROM_SOURCE: readonly string[] = [process.execPath, join(project, 'src/main.ts')];

/** Test files run at the same time: one builds, the others wait for it. */
const BUILD_WHEN_STALE = `
  [ -x dist/labwired ] && [ -z "$(find src docs README.md build.mjs package.json -newer dist/labwired -print -quit)" ] ||
  bin/node build.mjs`;

let built = false;

/** Words that start the executable. */
export function executable(): readonly string[] {
  if (!built) {
    execFileSync('sh', ['-c', 'mkdir -p dist; exec flock dist/.build-lock sh -c "$0"', BUILD_WHEN_STALE], {
      cwd: project,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  }
  built = true;
  return [join(project, 'dist/labwired')];
}
