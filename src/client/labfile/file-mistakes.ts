// Mistakes in a file, with place and fix; all are reported together.
import { Failure } from '../../failures.ts';
import { harmless } from '../../host/terminal/terminal-text.ts';

/** Counted from 1. */
export interface Place {
  line: number;
  column: number;
}

export interface Mistake extends Place {
  /** The problem and its fix. */
  message: string;
}

/** More of them are mostly consequences of the first. */
const MOST_MISTAKES = 20;

/** `lab.yaml:3:5: nodes.PC1.tmplate: ...` for each mistake. */
export class LabFileMistakes extends Failure {
  readonly mistakes: readonly Mistake[];

  constructor(file: string, mistakes: readonly Mistake[]) {
    const sorted = mistakes.toSorted((one, other) => one.line - other.line || one.column - other.column);
    const lines = sorted.slice(0, MOST_MISTAKES).map((one) => `${file}:${one.line}:${one.column}: ${one.message}`);
    if (sorted.length > MOST_MISTAKES) lines.push(`${file}: and ${sorted.length - MOST_MISTAKES} more`);
    super('invalid', lines.map(harmless).join('\n'));
    this.mistakes = sorted;
  }
}
