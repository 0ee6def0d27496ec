// The report of everything without an equivalent: each reported once, with its line.
import type { Path } from '../labfile/source.ts';
import type { TopologyFile } from './file.ts';

export interface Remark {
  line: number;
  text: string;
}

export class Report {
  readonly #file: TopologyFile;
  readonly #remarks = new Map<string, Remark>();

  constructor(file: TopologyFile) {
    this.#file = file;
  }

  add(path: Path, text: string): void {
    this.addAt(this.#file.lineOf(path), text);
  }

  addAt(line: number, text: string): void {
    this.#remarks.set(`${line} ${text}`, { line, text });
  }

  get remarks(): Remark[] {
    return [...this.#remarks.values()].sort((one, other) => one.line - other.line);
  }
}
