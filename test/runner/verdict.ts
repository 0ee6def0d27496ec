// What the runs of all scripts come to: what is tried again, what counts, and the lines that are said at the end.
import { type AllowedSkip, isAllowed } from './allowed-skips.ts';
import type { ScriptResult } from './scripts.ts';
import type { FileResult } from './test-files.ts';

/** More than these are not bad luck: nothing is tried again then. */
export const MOST_AGAIN = 5;
const TAIL_LINES = 60;
/** So many files are named with the time that they took. */
const SLOWEST = 10;

/** A test file or a scenario that has failed, and whether it may be tried again by itself. */
export interface Broken {
  script: string;
  name: string;
  error: string;
  kind: 'file' | 'scenario';
}

/** A scenario that has failed as such, and not for being on a list that is wrong. */
const FAILED_SCENARIO = /^FAILED ([^\s:,]+\/[^\s:,]+)(?:, built-in PCs)?$/;

/** The scenarios that have failed, each with the lines that say how. */
function brokenScenarios({ script, lines }: ScriptResult): Broken[] {
  const found = new Map<string, Broken>();
  for (const [index, line] of lines.entries()) {
    const name = FAILED_SCENARIO.exec(line)?.[1];
    if (name === undefined) continue;
    const end = lines.findIndex((other, at) => at > index && !other.startsWith('  '));
    const error = lines.slice(index, end < 0 ? undefined : end).join('\n');
    const known = found.get(name);
    if (known) known.error += `\n${error}`;
    else found.set(name, { script, name, error, kind: 'scenario' });
  }
  return [...found.values()];
}

function errorOf({ failed }: FileResult): string {
  return failed.map(({ title, error }) => `${title}\n${error.replaceAll(/^/gm, '    ')}`).join('\n');
}

export function brokenOf(result: ScriptResult): Broken[] {
  const { script, files } = result;
  const broken = files.filter(({ failed }) => failed.length > 0);
  return [
    ...broken.map((file) => ({ script, name: file.file, error: errorOf(file), kind: 'file' as const })),
    ...brokenScenarios(result),
  ];
}

/** What became of a second try: the file's result, or whether the scenario passed. */
export interface Again {
  broken: Broken;
  file?: FileResult;
  passed: boolean;
}

export interface Verdict {
  /** To be said before the last line. */
  lines: string[];
  passed: number;
  failed: number;
  skipped: number;
}

/** What is gathered for the lines at the end. */
interface Gathered extends Omit<Verdict, 'lines'> {
  /** Skips that are not on the list. */
  unlisted: string[];
  /** Whole errors. */
  failures: string[];
  /** Scripts of which something has failed. */
  scripts: string[];
}

export interface VerdictOptions {
  results: readonly ScriptResult[];
  again: readonly Again[];
  allowed: readonly AllowedSkip[];
  isRoot: boolean;
}

function durationOf(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  return `${String(Math.floor(seconds / 60)).padStart(3)} min ${String(seconds % 60).padStart(2)} s`;
}

/** The end of what a script has said that tells of no files. */
const tailOf = ({ lines }: ScriptResult): string => lines.slice(-TAIL_LINES).join('\n').trimEnd();

/** The first line of what went wrong. */
function firstOf({ error }: Broken): string {
  const lines = error.split('\n').map((line) => line.trim());
  const told = lines.find((line) => /^\[?[A-Z]\w*(Error|Failure)\b/.test(line)) ?? lines[1] ?? lines[0] ?? '';
  return told.length > 200 ? `${told.slice(0, 200)}…` : told;
}

/** The files that took longest, slowest first. */
function slowestOf(results: readonly ScriptResult[]): string[] {
  const files = results.flatMap((result) => result.files).toSorted((a, b) => b.milliseconds - a.milliseconds);
  return files.slice(0, SLOWEST).map(({ file, milliseconds }) => `${durationOf(milliseconds)}  ${file}`);
}

function addFiles(gathered: Gathered, files: readonly FileResult[], { allowed, isRoot }: VerdictOptions): void {
  for (const { passed, failed, skipped } of files) {
    gathered.passed += passed;
    gathered.failed += failed.length;
    for (const skip of skipped) {
      if (isAllowed(skip, allowed, isRoot)) gathered.skipped += 1;
      else {
        gathered.failed += 1;
        gathered.unlisted.push(`${skip.file}: ${skip.title}: skipped (${skip.reason || 'without a reason'})`);
      }
    }
  }
}

function addScript(gathered: Gathered, result: ScriptResult, options: VerdictOptions): void {
  const { script, code, counts } = result;
  const before = gathered.failed;
  const mended = options.again.filter((again) => again.passed && again.broken.script === script);
  gathered.passed += counts.passed;
  gathered.skipped += counts.skipped;
  gathered.failed += counts.failed;
  const files = result.files.map((file) => mended.find(({ broken }) => broken.name === file.file)?.file ?? file);
  addFiles(gathered, files, options);

  const broken = brokenOf(result);
  for (const { name, error, kind } of broken) {
    if (!mended.some((again) => again.broken.name === name)) {
      gathered.failures.push(`${name} (npm run ${script})\n${error}`);
    } else if (kind === 'scenario') {
      const played = error.split('\n').filter((line) => FAILED_SCENARIO.test(line)).length;
      gathered.passed += played;
      gathered.failed -= played;
    }
  }
  const isSilent = result.isOfTests && files.length === 0;
  if (isSilent || (code !== 0 && broken.length === 0)) {
    if (counts.failed === 0) gathered.failed += 1;
    const why = isSilent ? 'has run no test' : `ended with exit code ${code}`;
    gathered.failures.push(`npm run ${script} ${why}\n${tailOf(result)}`);
  }
  if (gathered.failed > before) gathered.scripts.push(script);
}

export function verdictOf(options: VerdictOptions): Verdict {
  const gathered: Gathered = { passed: 0, failed: 0, skipped: 0, unlisted: [], failures: [], scripts: [] };
  for (const result of options.results) addScript(gathered, result, options);
  const { passed, failed, skipped, unlisted, failures, scripts } = gathered;
  const lucky = options.again.filter((again) => again.passed).map(({ broken }) => broken);
  const section = (title: string, lines: readonly string[]): string[] =>
    lines.length === 0 ? [] : [`==> ${title}`, ...lines, ''];
  const lines = [
    ...section(
      'times',
      options.results.map(({ script, milliseconds }) => `${durationOf(milliseconds)}  npm run ${script}`),
    ),
    ...section('slowest files', slowestOf(options.results)),
    ...section(
      'passed in the second try',
      lucky.map((one) => `passed only when run again alone: ${one.name} (first error: ${firstOf(one)})`),
    ),
    ...section('skipped, and not on the list test/allowed-skips.json', unlisted),
    ...section('failures', failures),
    ...scripts.map((script) => `failed: npm run ${script}`),
  ];
  return { lines, passed, failed, skipped };
}
