// Main-thread handles of the devices in memory in the worker.

import { ignore } from '../failures.ts';
import type { FabricThread } from './fabric-thread.ts';
import type { Answers, DeviceKind, DeviceSettings, Input, Output, Question, Settings } from './model.ts';

/** A device in memory, such as a hub, created by `Fabric.createDevice`. */
export class MemoryDevice<Kind extends DeviceKind> {
  /** @internal */
  readonly id: number;
  /** @internal */
  readonly thread: FabricThread;
  /** @internal */
  readonly group: string;
  readonly #kind: Kind;

  constructor(thread: FabricThread, group: string, kind: Kind) {
    this.thread = thread;
    this.group = group;
    this.#kind = kind;
    this.id = thread.nextId();
  }

  /** @internal */
  async create(settings: Settings<Kind>, listener: (message: Output<Kind>) => void): Promise<void> {
    this.thread.groups.enter(this.id, this.group);
    this.thread.listeners.set(this.id, listener as (message: unknown) => void);
    try {
      await this.thread.request('createDevice', { device: this.id, ...this.#as(settings) });
    } catch (error) {
      this.thread.listeners.delete(this.id);
      this.thread.groups.leave(this.id);
      throw error;
    }
  }

  /** Replaces the settings; ports and cables stay. */
  async configure(settings: Settings<Kind>): Promise<void> {
    await this.thread.request('configureDevice', { device: this.id, ...this.#as(settings) });
  }

  async ask<Asked extends Question<Kind>>(question: Asked): Promise<Answers<Kind>[Asked]> {
    return (await this.thread.request('askDevice', { device: this.id, question })) as Answers<Kind>[Asked];
  }

  /** Sends input to the device; a closed device ignores it. Resolves when the device has it. */
  async tell(message: Input<Kind>): Promise<void> {
    await this.thread.request('tellDevice', { device: this.id, message }).catch(ignore);
  }

  /** Removes the device. Its ports and their cables stay, without a device. */
  async close(): Promise<void> {
    this.thread.listeners.delete(this.id);
    await this.thread.request('closeDevice', { device: this.id });
  }

  #as(settings: Settings<Kind>): DeviceSettings {
    return { kind: this.#kind, settings } as unknown as DeviceSettings;
  }
}
