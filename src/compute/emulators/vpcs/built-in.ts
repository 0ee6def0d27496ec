// A built-in PC: a device in the fabric's memory. This file has its console and its files.
import { Console } from '../../../consoles/console.ts';
import type { MemoryDevice } from '../../../fabric/fabric.ts';
import { messageOf } from '../../../failures.ts';
import { writeContained } from '../../../host/files/contained-files.ts';
import { pcMac } from '../../../pc/mac.ts';
import { readText } from '../../nodes/files.ts';
import { EndingRuntime } from '../../nodes/lifecycle/node-runtime.ts';
import type { PcNode, PcRuntime } from './engine.ts';
import { STARTUP_SCRIPT } from './script.ts';

/** A PC handles each byte of input separately, whatever it means in UTF-8. */
const BYTES = 'latin1';
/** Limit of typed bytes that the PC's thread has not taken yet; the rest is dropped. */
const INPUT_BYTES = 64 * 1024;

export class BuiltInPc extends EndingRuntime implements PcRuntime {
  readonly console: Console;
  readonly commandLine: string;
  readonly #node: PcNode;
  #device: MemoryDevice<'pc'> | undefined;
  #underWay = 0;

  constructor(node: PcNode) {
    super();
    this.#node = node;
    this.console = new Console({ name: node.name, write: (bytes) => this.#type(bytes) });
    const mac = pcMac(node.number)
      .toString('hex')
      .replace(/(..)(?!$)/g, '$1:');
    this.commandLine = `built-in PC, MAC address ${mac}`;
  }

  /** Switches it on, with its port and its script. `resources` switch it off. */
  async start(resources: AsyncDisposableStack): Promise<void> {
    const { services, project, ethernet, number } = this.#node;
    const script = await this.#read(STARTUP_SCRIPT);
    const device = await services.fabric.createDevice(
      'pc',
      { mac: pcMac(number).toString('hex'), script, waits: ethernet.hasNio },
      (message) => {
        if (message.kind === 'shown') this.console.output(Buffer.from(message.text, BYTES));
        else if (message.kind === 'ended') this.finish({ expected: false, fault: message.fault });
        else void this.#useFile(message);
      },
      project.id,
    );
    resources.defer(async () => {
      this.#device = undefined;
      try {
        await ethernet.setDevice(null);
      } finally {
        await device.close();
      }
    });
    this.#device = device;
    await ethernet.setDevice({ kind: 'memory', device, number: 0 });
  }

  async addresses(): Promise<string[]> {
    return (await this.#device?.ask('addresses')) ?? [];
  }

  #type(bytes: Buffer): boolean {
    if (this.#device === undefined || this.#underWay + bytes.length > INPUT_BYTES) return false;
    this.#underWay += bytes.length;
    void this.#device.tell({ kind: 'typed', text: bytes.toString(BYTES) }).then(() => {
      this.#underWay -= bytes.length;
    });
    return true;
  }

  async #useFile(
    message: { kind: 'read'; file: number; name: string } | { kind: 'write'; file: number; name: string; text: string },
  ): Promise<void> {
    const { kind, file, name } = message;
    const text = await (kind === 'read' ? this.#read(name) : this.#write(name, message.text));
    this.#device?.tell({ kind: 'file', file, text });
  }

  async #read(name: string): Promise<string | undefined> {
    const { project, relativeDirectory } = this.#node;
    try {
      const text = await readText(project.path, `${relativeDirectory}/${name}`);
      return text === undefined ? undefined : Buffer.from(text).toString(BYTES);
    } catch {
      return undefined; // not a file that can be run
    }
  }

  /** Returns the error message, if any. */
  async #write(name: string, text: string): Promise<string | undefined> {
    const { project, relativeDirectory } = this.#node;
    try {
      const content = Buffer.from(text, BYTES).toString();
      await writeContained(project.path, `${relativeDirectory}/${name}`, content, { createParents: true });
      return undefined;
    } catch (error) {
      return messageOf(error);
    }
  }
}
