// A built-in PC as a device in memory with one port; the main thread handles its console and files.

import { messageOf } from '../../failures.ts';
import { Pc, type PcEnvironment } from '../../pc/pc.ts';
import type { Input, Settings } from '../model.ts';
import { type Attachment, type DeviceSurroundings, MemoryDevice } from './memory-device.ts';

export class PcDevice extends MemoryDevice<'pc'> implements PcEnvironment {
  readonly answers = { addresses: () => this.#pc?.addresses ?? [] };
  readonly #alarm = this.timer(() => this.#guarded(() => this.#pc!.wake()));
  /** Set until the PC is on. */
  #settings: Settings<'pc'> | undefined;
  #pc: Pc | undefined;
  #over = false;
  /** Set when the user has ended the PC. */
  #hasQuit = false;
  /** Output collected during the present action. */
  #shown = '';
  #lastFile = 0;
  #files: Map<number, (text: string | undefined) => void> | undefined;

  constructor(surroundings: DeviceSurroundings<'pc'>) {
    super(surroundings);
  }

  /** Called once: a PC cannot be reconfigured while it is on. */
  configure(settings: Settings<'pc'>): void {
    this.#settings = settings;
    if (!settings.waits) this.#switchOn();
  }

  protected override attached(): void {
    this.#switchOn();
  }

  #switchOn(): void {
    if (this.#settings === undefined) return;
    const { mac, script } = this.#settings;
    this.#settings = undefined;
    this.#guarded(() => {
      this.#pc = new Pc(Buffer.from(mac, 'hex'), this);
      this.#pc.start(script);
    });
  }

  override hear(message: Input<'pc'>): void {
    if (message.kind === 'typed') {
      this.#switchOn();
      this.#guarded(() => this.#pc?.input(message.text));
      return;
    }
    const done = this.#files?.get(message.file);
    this.#files?.delete(message.file);
    this.#guarded(() => done?.(message.text));
  }

  override close(): void {
    super.close();
    this.#over = true;
    this.#pc?.stop();
  }

  protected forward(_from: Attachment, slot: number, length: number): void {
    if (this.#pc === undefined || this.#over) return;
    const frame = this.plane.calls.slots[slot]!.subarray(0, length);
    this.#guarded(() => this.#pc!.receive(frame));
  }

  now(): number {
    return performance.now();
  }

  wakeIn(milliseconds: number | undefined): void {
    if (milliseconds === undefined) this.#alarm.stop();
    else if (!this.#over) this.#alarm.start(milliseconds);
  }

  transmit(frame: Buffer): void {
    const [cable] = this.attachments;
    if (cable !== undefined) this.emit(cable, frame);
  }

  print(text: string): void {
    this.#shown += text;
  }

  readFile(name: string, done: (text: string | undefined) => void): void {
    this.tell({ kind: 'read', file: this.#await(done), name });
  }

  writeFile(name: string, text: string, done: (problem: string | undefined) => void): void {
    this.tell({ kind: 'write', file: this.#await(done), name, text });
  }

  /** Its command is still running: the PC ends when the present action has returned. */
  quit(): void {
    this.#hasQuit = true;
  }

  #await(done: (text: string | undefined) => void): number {
    const file = ++this.#lastFile;
    this.#files ??= new Map();
    this.#files.set(file, done);
    return file;
  }

  /** Runs an action of the PC and sends its output. An exception ends this PC only, not the worker. */
  #guarded(action: () => void): void {
    if (this.#over) return;
    let fault: string | undefined;
    try {
      action();
    } catch (error) {
      fault = messageOf(error);
    }
    if (this.#shown !== '') this.tell({ kind: 'shown', text: this.#shown });
    this.#shown = '';
    if (fault !== undefined || this.#hasQuit) this.#end(fault);
  }

  #end(fault: string | undefined): void {
    this.#over = true;
    this.#pc?.stop();
    this.tell({ kind: 'ended', fault });
  }
}
