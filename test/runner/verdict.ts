// Sums up a run: the lines said at its end, and its counts.
import { type AllowedSkip, isAllowed } from './allowed-skips.ts';
import type { CommandResult } from './commands.ts';
import type { FileResult } from './test-files.ts';

const TAIL_LINES = 60;
/** How many files are named with the time that they took. */
const SLOWEST = 10;

export interface Verdict {
  /** To be said before the last line. */
  lines: string[];
  passed: number;
  failed: number;
  skipped: number;
}

export interface VerdictOptions {
  files: readonly FileResult[];
  commands: readonly CommandResult[];
  allowed: readonly AllowedSkip[];
  isRoot: boolean;
}

export function durationOf(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  return `${String(Math.floor(seconds / 60)).padStart(3)} min ${String(seconds % 60).padStart(2)} s`;
}

const inSeconds = (milliseconds: number): string => `${(milliseconds / 1000).toFixed(1)} s`;

/** Elapsed time of a file, and its processor time: a file with much less of it waits. */
export function costOf({ milliseconds, processorMs }: FileResult, format = inSeconds): string {
  return `${format(milliseconds)}${processorMs === undefined ? '' : `, processor ${format(processorMs).trim()}`}`;
}

export function failureOf({ file, failed }: FileResult): string {
  return [file, ...failed.map(({ title, error }) => `${title}\n${error.replaceAll(/^/gm, '    ')}`)].join('\n');
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

export function verdictOf({ files, commands, allowed, isRoot }: VerdictOptions): Verdict {
  const skips = files.flatMap((file) => file.skipped);
  const unlisted = skips.filter((skip) => !isAllowed(skip, allowed, isRoot));
  const brokenFiles = files.filter(({ failed }) => failed.length > 0);
  const brokenCommands = commands.filter(({ failed }) => failed > 0);
  const measured = files.flatMap(({ processorMs }) => processorMs ?? []);
  const section = (title: string, lines: readonly string[]): string[] =>
    lines.length === 0 ? [] : [`==> ${title}`, ...lines, ''];
  const lines = [
    ...section(
      'slowest files',
      files
        .toSorted((a, b) => b.milliseconds - a.milliseconds)
        .slice(0, SLOWEST)
        .map((result) => `${costOf(result, durationOf)}  ${result.file}`),
    ),
    ...section('processor time of all files', measured.length === 0 ? [] : [durationOf(sum(measured))]),
    ...section(
      'skipped, and not on the list test/allowed-skips.json',
      unlisted.map(({ file, title, reason }) => `${file}: ${title}: skipped (${reason || 'without a reason'})`),
    ),
    ...section('failures', [
      ...brokenCommands.map(
        ({ script, code, lines: said }) =>
          `npm run ${script} ended with exit code ${code}\n${said.slice(-TAIL_LINES).join('\n')}`,
      ),
      ...brokenFiles.map(failureOf),
    ]),
  ];
  return {
    lines,
    passed: sum([...files, ...commands].map(({ passed }) => passed)),
    failed: sum(files.map(({ failed }) => failed.length)) + sum(commands.map(({ failed }) => failed)) + unlisted.length,
    skipped: sum(commands.map(({ skipped }) => skipped)) + skips.length - unlisted.length,
  };
}
