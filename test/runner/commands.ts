// Runs the npm scripts that are not test files: they count by their last line, or as one failure.
import { spawn } from 'node:child_process';
import { once } from 'node:events';

export interface CommandResult {
  /** Name of the npm script. */
  readonly script: string;
  readonly milliseconds: number;
  readonly code: number;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly lines: readonly string[];
}

const SUM = /^(\d+) passed, (\d+) failed, (\d+) skipped$/;

export async function runCommand(script: string, root: string): Promise<CommandResult> {
  const started = performance.now();
  const child = spawn('npm', ['run', '--silent', script], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
  }
  child.on('error', (error) => {
    text += error.message;
  });
  const [exitCode] = (await once(child, 'close')) as [number | null];
  const code = exitCode ?? 1;
  const lines = text.trimEnd().split('\n');
  const [, passed = 0, failed = 0, skipped = 0] =
    lines.map((line) => SUM.exec(line)).findLast((found) => found !== null) ?? [];
  const counts = { passed: Number(passed), failed: Number(failed), skipped: Number(skipped) };
  if (code !== 0 && counts.failed === 0) counts.failed = 1;
  return { script, milliseconds: performance.now() - started, code, ...counts, lines };
}
