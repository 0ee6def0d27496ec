// Runs the scripts of package.json that check or test, and counts what passes.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type FileResult, runTestFiles } from './test-files.ts';

export interface ScriptResult {
  readonly script: string;
  readonly milliseconds: number;
  readonly code: number;
  /** Whether it is one of node --test. */
  readonly isOfTests: boolean;
  /** For a script of node --test: what became of each file. */
  readonly files: FileResult[];
  /** For another one: what its last line says, and all of its lines. */
  readonly counts: { passed: number; failed: number; skipped: number };
  readonly lines: string[];
}

export interface Place {
  /** The project's directory. */
  root: string;
  /** Where logs are put. */
  logs: string;
  /** False lets tests run as long as they like. */
  limited: boolean;
}

const NODE_TEST = 'bin/node --test ';
const SUM = /^(\d+) passed, (\d+) failed, (\d+) skipped$/;
/** Milliseconds that a file may be silent beyond the time-out of one test: it is loaded, and comes to its end. */
const SLACK_MS = 60_000;

export function scriptsOf(root: string): Record<string, string> {
  return (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> }).scripts;
}

/** The words of a command as a shell would take them, without its quotes. */
function wordsOf(command: string): string[] {
  return command.split(/ +/).map((word) => word.replace(/^'(.*)'$/, '$1'));
}

/** Options and patterns of a script of node --test; undefined for one that is something else. */
function testWordsOf(command: string | undefined): string[] | undefined {
  return command?.startsWith(NODE_TEST) ? wordsOf(command.slice(NODE_TEST.length)) : undefined;
}

function quietOf(words: readonly string[], limited: boolean): number {
  const limit = words.flatMap((word) => /^--test-timeout=(\d+)$/.exec(word)?.slice(1) ?? [])[0];
  return !limited || limit === undefined ? Infinity : Number(limit) + SLACK_MS;
}

/** Runs a command with its output on show; answers its exit code and lines. */
async function show(
  command: string,
  words: readonly string[],
  root: string,
): Promise<{ code: number; lines: string[] }> {
  const child = spawn(command, words, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    text += part;
    process.stdout.write(part);
  });
  child.on('error', (error) => process.stderr.write(`${error.message}\n`));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code: code ?? 1, lines: text.split('\n') };
}

function sumOf(lines: readonly string[]): ScriptResult['counts'] {
  const [, passed = 0, failed = 0, skipped = 0] = lines.map((line) => SUM.exec(line)).findLast((found) => found) ?? [];
  return { passed: Number(passed), failed: Number(failed), skipped: Number(skipped) };
}

export async function runScript(script: string, place: Place): Promise<ScriptResult> {
  const { root, logs, limited } = place;
  const started = performance.now();
  const words = testWordsOf(scriptsOf(root)[script]);
  const nothing = { passed: 0, failed: 0, skipped: 0 };
  if (words === undefined) {
    const { code, lines } = await show('npm', ['run', '--silent', script], root);
    const milliseconds = performance.now() - started;
    return { script, milliseconds, code, isOfTests: false, files: [], counts: sumOf(lines), lines };
  }
  const log = join(logs, `${script.replaceAll(':', '-')}.jsonl`);
  const { results, code } = await runTestFiles({ root, words, log, quiet: quietOf(words, limited), isShown: true });
  const milliseconds = performance.now() - started;
  return { script, milliseconds, code, isOfTests: true, files: results, counts: nothing, lines: [] };
}

/** Runs one file of a script of node --test once more, alone. */
export async function runFileAgain(script: string, file: string, place: Place): Promise<FileResult> {
  const { root, logs, limited } = place;
  const words = testWordsOf(scriptsOf(root)[script]) ?? [];
  const options = words.filter((word) => word.startsWith('--'));
  const log = join(logs, 'again.jsonl');
  const again = { root, words: [...options, file], log, quiet: quietOf(words, limited), isShown: true };
  const { results, code } = await runTestFiles(again);
  const [result = { file, milliseconds: 0, passed: 0, failed: [], skipped: [] }] = results;
  const isClear = code === 0 || result.failed.length > 0;
  if (!isClear) result.failed.push({ title: file, error: `node --test ended with exit code ${code}` });
  return result;
}

/** Plays a scenario of a script that knows --only once more, alone. */
export async function playAgain(script: string, scenario: string, { root }: Place): Promise<boolean> {
  const { code } = await show('npm', ['run', '--silent', script, '--', '--only', scenario], root);
  return code === 0;
}
