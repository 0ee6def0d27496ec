// Structured log lines on standard error: one line per entry, with the priority prefix that journald understands.

import { writeSync } from 'node:fs';
import { systemCode } from '../failures.ts';

type Level = 'debug' | 'info' | 'warn' | 'error';
type Fields = Record<string, string | number | boolean | null | undefined>;

/** syslog priorities, as `<N>` at the start of a line (sd-daemon(3)). */
const PRIORITY: Record<Level, number> = { debug: 7, info: 6, warn: 4, error: 3 };

const STANDARD_ERROR = 2;

/** Writes lines to a file or pipe. Drops what cannot be written: a log on a full disk must not end what goes on. */
function writerTo(descriptor: number): (line: string) => void {
  return (line) => {
    try {
      writeSync(descriptor, line);
    } catch (error) {
      // A terminal or pipe that another program has made non-blocking: the stream waits until it takes the line.
      if (descriptor === STANDARD_ERROR && systemCode(error) === 'EAGAIN') process.stderr.write(line);
    }
  };
}

const settings = { threshold: PRIORITY.info, journal: false, write: writerTo(STANDARD_ERROR) };

/** Sets the output: `debug` adds debug lines, `journal` replaces time and level by journald's prefix. */
export function configureLog(options: {
  debug?: boolean;
  quiet?: boolean;
  journal?: boolean;
  write?: (line: string) => void;
}): void {
  settings.threshold = options.debug ? PRIORITY.debug : options.quiet ? PRIORITY.warn : PRIORITY.info;
  settings.journal = options.journal ?? settings.journal;
  settings.write = options.write ?? settings.write;
}

/** Appends the log to an open file instead of writing it to standard error. */
export function logToFile(file: number): void {
  configureLog({ journal: false, write: writerTo(file) });
}

/** A value as `key=value`, quoted if it contains a blank, a quote or a control character. */
function field(key: string, value: Fields[string]): string {
  const text = String(value);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not reach the log unquoted
  return `${key}=${/^[^\s"\\\u0000-\u001f\u007f]+$/.test(text) ? text : JSON.stringify(text)}`;
}

function entry(level: Level, message: string, fields: Fields = {}): void {
  if (PRIORITY[level] > settings.threshold) return;
  const head = settings.journal ? `<${PRIORITY[level]}>` : `${new Date().toISOString()} ${level.padEnd(5)} `;
  const parts = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => field(key, value));
  settings.write(`${head}${[message.replaceAll('\n', '\\n'), ...parts].join(' ')}\n`);
}

export const log = {
  debug: (message: string, fields?: Fields): void => entry('debug', message, fields),
  info: (message: string, fields?: Fields): void => entry('info', message, fields),
  warn: (message: string, fields?: Fields): void => entry('warn', message, fields),
  error: (message: string, fields?: Fields): void => entry('error', message, fields),
};
