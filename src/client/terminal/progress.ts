// Shows the progress of a transfer on one terminal line.

import { fitted, textWidth } from '../../host/terminal/text-width.ts';
import type { Session } from '../frame/session.ts';
import { bytesPerSecond, inBytes } from './figures.ts';
import { windowSize } from './window-size.ts';

const DRAWN_EVERY_MS = 250;
const GAP = '  ';
/** A shorter bar says nothing. */
const LEAST_BAR = 10;
const LONGEST_BAR = 40;

export interface Transfer {
  /** Bytes, with those of earlier transfers. */
  done: number;
  /** Of them, those of earlier transfers. */
  before: number;
  /** Undefined if unknown. */
  total: number | undefined;
  /** Milliseconds since the transfer began. */
  elapsed: number;
}

/** `42 %  ========>-----------  1.2 GiB of 3.0 GiB  12.0 MiB/s  2:10 left`, shortened to the width. */
export function progressLine({ done, before, total, elapsed }: Transfer, width: number): string {
  const rate = elapsed > 0 ? ((done - before) * 1000) / elapsed : 0;
  const pace = rate > 0 ? [bytesPerSecond(rate)] : [];
  if (total === undefined) return fitted([inBytes(done), ...pace].join(GAP), width);
  const part = total === 0 ? 1 : Math.min(1, done / total);
  const left = rate > 0 && done < total ? [`${duration((total - done) / rate)} left`] : [];
  const percent = `${String(Math.floor(100 * part)).padStart(3)} %`;
  const texts = [`${inBytes(done)} of ${inBytes(total)}`, ...pace, ...left].join(GAP);
  const room = width - textWidth(`${percent}${GAP}${GAP}${texts}`);
  if (room < LEAST_BAR) return fitted(`${percent}${GAP}${texts}`, width);
  const length = Math.min(room, LONGEST_BAR);
  const filled = Math.floor(part * length);
  const bar = `${'='.repeat(filled)}${filled < length ? '>' : ''}`.padEnd(length, '-');
  return `${percent}${GAP}${bar}${GAP}${texts}`;
}

/** `1:02:03` or `2:03`. */
function duration(seconds: number): string {
  const whole = Math.ceil(seconds);
  const two = (number: number): string => String(number).padStart(2, '0');
  const minutes = Math.floor(whole / 60);
  return minutes < 60
    ? `${minutes}:${two(whole % 60)}`
    : `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(whole % 60)}`;
}

/** Shows how far it is until it is disposed of, where a person can see it. @param done bytes; `before` of them when it began */
export function meter({ quiet, json, ending }: Session, done: () => number, total?: number, before = 0): Disposable {
  const { stderr } = process;
  if (!stderr.isTTY || quiet || json) return { [Symbol.dispose]: () => {} };
  const began = performance.now();
  const timer = setInterval(() => {
    const transfer = { done: done(), before, total, elapsed: performance.now() - began };
    stderr.write(`\r${progressLine(transfer, windowSize(stderr).columns - 1)}\u001b[K`);
  }, DRAWN_EVERY_MS);
  const clear = (): void => {
    clearInterval(timer);
    stderr.write('\r\u001b[K');
  };
  const deferred = ending.defer(clear);
  return {
    [Symbol.dispose]: () => {
      deferred.cancel();
      clear();
    },
  };
}
