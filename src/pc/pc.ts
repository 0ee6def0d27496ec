// A PC: a small network host with a command line. Network, files and time come from its environment.

import { formatAddress } from './address.ts';
import { DhcpClient } from './dhcp.ts';
import { Host } from './host.ts';
import { type Job, until } from './job.ts';
import { PcSettings } from './settings.ts';
import { applyLease } from './shell/ip.ts';
import { Shell } from './shell/shell.ts';
import { type Clock, Timers } from './timers.ts';

/** The environment of a PC. Apart from `done`, nothing may call the PC before it returns. */
export interface PcEnvironment extends Clock {
  /** Takes a frame, which is its own to keep. */
  transmit(frame: Buffer): void;
  /** Shows text on the console, lines ended by CR LF. */
  print(text: string): void;
  /** Reads a file of the PC; reports undefined if there is none. */
  readFile(name: string, done: (text: string | undefined) => void): void;
  /** Writes a file of the PC and reports the problem, if any. */
  writeFile(name: string, text: string, done: (problem: string | undefined) => void): void;
  /** The user has ended the PC. */
  quit(): void;
}

export class Pc {
  readonly #host: Host;
  readonly #timers: Timers;
  readonly #shell: Shell;

  /** @param mac 6 bytes */
  constructor(mac: Buffer, outside: PcEnvironment) {
    const timers = new Timers(outside);
    const settings = new PcSettings();
    const host = new Host(mac, timers, (frame) => outside.transmit(frame));
    const dhcp = new DhcpClient(
      host,
      () => settings.name,
      () => applyLease({ host, dhcp }),
    );
    this.#timers = timers;
    this.#host = host;
    this.#shell = new Shell({
      host,
      settings,
      dhcp,
      print: (text) => outside.print(text.replaceAll('\n', '\r\n')),
      readFile: (name) => read(outside, name),
      writeFile: (name, text) => write(outside, name, text),
      quit: () => outside.quit(),
    });
  }

  /** Says hello and runs the script, if there is one. */
  start(script: string | undefined): void {
    this.#shell.start(script);
  }

  /** Takes typed text from the console. */
  input(text: string): void {
    this.#shell.input(text);
  }

  /** Takes a frame; of any length and content, and not kept. */
  receive(frame: Buffer): void {
    this.#host.receive(frame);
  }

  /** Called at the time given to `wakeIn`. */
  wake(): void {
    this.#timers.run();
  }

  /** Its addresses of now with their prefixes, such as `10.0.0.2/24`; not the link-local one. */
  get addresses(): string[] {
    const { ipv4, ipv6 } = this.#host;
    return [ipv4.settings, ipv6.settings].flatMap((set) =>
      set ? [`${formatAddress(set.address)}/${set.prefix}`] : [],
    );
  }

  stop(): void {
    this.#shell.stop();
    this.#timers.clear();
  }
}

function* read(outside: PcEnvironment, name: string): Job<string | undefined> {
  return yield* until<string | undefined>((resume) => {
    outside.readFile(name, resume);
    return undefined;
  });
}

function* write(outside: PcEnvironment, name: string, text: string): Job<string | undefined> {
  return yield* until<string | undefined>((resume) => {
    outside.writeFile(name, text, resume);
    return undefined;
  });
}
