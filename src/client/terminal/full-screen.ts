// A full-screen view that is redrawn until a key ends it.
import { conflict } from '../../failures.ts';
import { fitted } from '../../host/terminal/text-width.ts';
import type { Session } from '../frame/session.ts';
import { windowSize } from './window-size.ts';

const ENTER = '\u001b[?1049h\u001b[?25l\u001b[?7l';
const LEAVE = '\u001b[?7h\u001b[?25h\u001b[?1049l';
const HOME = '\u001b[H';
const END_OF_LINE = '\u001b[K';
const END_OF_SCREEN = '\u001b[J';
const ESCAPE = '\u001b';
const CTRL_C = '\u0003';
const CTRL_D = '\u0004';

export interface Screen extends AsyncDisposable {
  /** Shows as many lines as fit, each cut to the width. */
  draw(lines: readonly string[]): void;
  /** Resolves when the user quits. */
  readonly left: Promise<void>;
}

/**
 * Takes over the terminal until it is disposed of, or the command ends otherwise.
 * @param redraw called after the size has changed
 * @param pressed called for each key that does not leave
 */
export function fullScreen(session: Session, redraw: () => void, pressed: (key: string) => void): Screen {
  const { stdin, stdout } = process;
  if (!stdin.isTTY || !stdout.isTTY) throw conflict('This needs a terminal.');
  const { promise: left, resolve } = Promise.withResolvers<void>();
  const typed = (keys: Buffer): void => {
    const text = keys.toString();
    if (text === ESCAPE || [...text].some((key) => ['q', 'Q', CTRL_C, CTRL_D].includes(key))) resolve();
    else for (const key of text) pressed(key);
  };
  const restore = session.ending.defer(() => {
    stdin.off('data', typed);
    stdout.off('resize', redraw);
    stdin.setRawMode(false);
    stdin.pause();
    stdout.write(LEAVE);
  });
  stdin.setRawMode(true);
  stdin.on('data', typed);
  stdin.once('end', resolve);
  stdout.on('resize', redraw);
  stdout.write(ENTER);
  return {
    left,
    draw(lines) {
      const { columns, rows } = windowSize(stdout);
      const shown = lines.slice(0, rows).map((line) => fitted(line, columns) + END_OF_LINE);
      stdout.write(`${HOME}${shown.join('\r\n')}${END_OF_SCREEN}`);
    },
    [Symbol.asyncDispose]: () => restore.now(),
  };
}
