// PCs on one wire, without sockets, in a time of their own: what takes seconds takes none here.
import assert from 'node:assert/strict';
import { pcMac } from '../../src/pc/mac.ts';
import { Pc, type PcEnvironment } from '../../src/pc/pc.ts';

/** A PC of a test, with what its console has shown and its files hold. */
export class TestPc implements PcEnvironment {
  readonly pc: Pc;
  readonly files = new Map<string, string>();
  text = '';
  hasQuit = false;
  due: number | undefined;
  readonly #wire: Wire;

  constructor(wire: Wire, number: number) {
    this.#wire = wire;
    this.pc = new Pc(pcMac(number), this);
  }

  now(): number {
    return this.#wire.time;
  }

  wakeIn(milliseconds: number | undefined): void {
    this.due = milliseconds === undefined ? undefined : this.#wire.time + milliseconds;
  }

  transmit(frame: Buffer): void {
    this.#wire.frames.push({ frame, from: this });
    this.#wire.seen.push(frame);
  }

  print(text: string): void {
    this.text += text;
  }

  readFile(name: string, told: (text: string | undefined) => void): void {
    this.#wire.later.push(() => told(this.files.get(name)));
  }

  writeFile(name: string, text: string, told: (problem: string | undefined) => void): void {
    this.files.set(name, text);
    this.#wire.later.push(() => told(undefined));
  }

  quit(): void {
    this.hasQuit = true;
  }

  /** Starts it and waits for the prompt. */
  start(script?: string): this {
    this.pc.start(script);
    this.#wire.runUntil(() => this.isPrompting);
    return this;
  }

  get isPrompting(): boolean {
    return /\r\S+> $/.test(this.text);
  }

  /** Types a line and answers what came up to the next prompt, without the line and the prompt, with `\n` as ends of lines. */
  type(line: string): string {
    const from = this.text.length;
    this.pc.input(`${line}\r`);
    this.#wire.runUntil(() => this.isPrompting && this.text.length > from + line.length);
    const shown = this.text.slice(from).replaceAll('\r\n', '\n');
    assert.ok(shown.startsWith(`${line}\n`), shown);
    return shown.slice(line.length + 1).replace(/\n?\r\S+> $/, '');
  }
}

export class Wire {
  time = 1000;
  /** Every frame that was sent. */
  readonly seen: Buffer[] = [];
  readonly frames: { frame: Buffer; from: TestPc | undefined }[] = [];
  readonly later: (() => void)[] = [];
  readonly pcs: TestPc[] = [];
  /** What becomes of a frame on the wire. */
  passes: (frame: Buffer) => boolean = () => true;
  /** Somebody else on the wire. */
  peer: (frame: Buffer) => void = () => {};

  add(): TestPc {
    const pc = new TestPc(this, this.pcs.length);
    this.pcs.push(pc);
    return pc;
  }

  /** Puts a frame on the wire, for all PCs. */
  inject(frame: Buffer): void {
    this.frames.push({ frame, from: undefined });
    this.#settle();
  }

  /** Lets time pass until the condition holds, for an hour at most. */
  runUntil(condition: () => boolean): void {
    const end = this.time + 3_600_000;
    while (!condition()) {
      assert.ok(
        this.#step() && this.time < end,
        `nothing more happens: ${this.pcs.map(({ text }) => text.slice(-300)).join('\n---\n')}`,
      );
    }
  }

  /** Lets so much time pass. */
  run(milliseconds: number): void {
    const end = this.time + milliseconds;
    this.#settle();
    for (let next = this.#next(); next !== undefined && next.due! <= end; next = this.#next()) {
      this.#wake(next);
    }
    this.time = end;
  }

  #step(): boolean {
    if (this.#settle()) return true;
    const next = this.#next();
    if (next !== undefined) this.#wake(next);
    return next !== undefined;
  }

  #next(): TestPc | undefined {
    const waiting = this.pcs.filter(({ due }) => due !== undefined);
    return waiting.sort((left, right) => left.due! - right.due!)[0];
  }

  #wake(pc: TestPc): void {
    this.time = Math.max(this.time, pc.due!);
    pc.due = undefined;
    pc.pc.wake();
    this.#settle();
  }

  /** Delivers all frames, each a tenth of a millisecond after the other; answers whether there were any. */
  #settle(): boolean {
    let did = false;
    for (;;) {
      const told = this.later.shift();
      const sent = told === undefined ? this.frames.shift() : undefined;
      if (told === undefined && sent === undefined) return did;
      did = true;
      told?.();
      if (sent === undefined || !this.passes(sent.frame)) continue;
      this.time += 0.1;
      if (sent.from !== undefined) this.peer(sent.frame);
      for (const pc of this.pcs) if (pc !== sent.from) pc.pc.receive(sent.frame);
    }
  }
}

/** Two PCs with the addresses 10.0.0.1 and 10.0.0.2. */
export function twoPcs(): { wire: Wire; one: TestPc; two: TestPc } {
  const wire = new Wire();
  const [one, two] = [wire.add(), wire.add()];
  one.start('ip 10.0.0.1/24 10.0.0.254');
  two.start('ip 10.0.0.2 255.255.255.0');
  return { wire, one, two };
}
