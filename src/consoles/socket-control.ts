// Control messages of WebSocket console clients: window size and Break.
import { invalid } from '../failures.ts';

/** In characters. */
export interface TerminalSize {
  cols: number;
  rows: number;
}

export type ControlMessage = ({ type: 'resize' } & TerminalSize) | { type: 'break' };

/** Larger windows do not exist; a terminal's sizes have 16 bits. */
const MOST_CHARACTERS = 1_000;

function isSide(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= MOST_CHARACTERS;
}

/** The control message in this text; undefined if it is invalid. */
export function controlMessage(text: string): ControlMessage | undefined {
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof message !== 'object' || message === null || !('type' in message)) return undefined;
  if (message.type === 'break') return { type: 'break' };
  const { type, cols, rows } = message as Partial<Record<'type' | 'cols' | 'rows', unknown>>;
  return type === 'resize' && isSide(cols) && isSide(rows) ? { type, cols, rows } : undefined;
}

/**
 * The window size of a client that gives one (`?cols=100&rows=30`), and so announces control messages; otherwise
 * undefined.
 * @throws Failure `invalid`
 */
export function sizeOf({ cols, rows }: Readonly<Record<string, string>>): TerminalSize | undefined {
  if (cols === undefined && rows === undefined) return undefined;
  const size = { cols: Number(cols), rows: Number(rows) };
  for (const [name, value] of Object.entries(size)) {
    if (!isSide(value)) throw invalid(`${name}: give cols and rows, whole numbers from 1 to ${MOST_CHARACTERS}.`);
  }
  return size;
}
