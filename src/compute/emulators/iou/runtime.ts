// A running IOU image: its process, its console, and the socket between its ports and the fabric.
import { lstat, rm, stat, symlink } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { Console } from '../../../consoles/console.ts';
import type { Terminal, TerminalExit } from '../../../consoles/terminal.ts';
import type { ProgramHandle } from '../../../supervisor/client.ts';
import { type ProgramOwner, programRecord, programTerminal } from '../../nodes/lifecycle/node-program.ts';
import {
  EndingRuntime,
  type ExitInfo,
  exitInfo,
  type NodeRuntime,
  reattachProgram,
} from '../../nodes/lifecycle/node-runtime.ts';
import type { ProgramRecord } from '../../nodes/lifecycle/surviving-programs.ts';
import type { NodePort } from '../../nodes/ports/port.ts';
import { nvramName } from './configurations.ts';
import { takeIdentity } from './identity.ts';
import { type IouKept, KEPT } from './kept.ts';
import { portByte } from './netmap.ts';

/** How often to check whether the router has saved its configuration. */
const WATCH_MS = 2000;
/** Longest name of the link to the image. The router shows it as its image. */
const LINK_CHARACTERS = 63;

/** The node as its runtime sees it. */
export interface RouterNode extends ProgramOwner {
  /** The ports of the image, with their numbers. */
  readonly wires: readonly { adapter: number; port: number; at: NodePort }[];
  /** Saves the router's configurations. */
  save(applicationId: number): Promise<void>;
  /** The same after its end. */
  saveLast(applicationId: number): Promise<void>;
  /** Called after the router has saved. */
  saved(): void;
}

export interface RouterStart {
  image: string;
  words: readonly string[];
  /** Path of the licence file, if one is needed. */
  licence: string | undefined;
  applicationId: number;
}

export class IouRuntime extends EndingRuntime implements NodeRuntime {
  readonly commandLine: string;
  readonly console: Console;
  readonly kept: IouKept;
  readonly #node: RouterNode;
  readonly #terminal: Terminal;

  private constructor(node: RouterNode, start: RouterStart | undefined, record: ProgramRecord, kept: IouKept) {
    super();
    const { name } = node;
    this.#node = node;
    this.kept = kept;
    this.commandLine = record.command_line;
    const environment: Record<string, string> = start?.licence === undefined ? {} : { IOURC: start.licence };
    const terminal = programTerminal(node, start ? [start.image, ...start.words] : [], {
      record,
      raw: true,
      environment,
    });
    const console = new Console({ name, write: (bytes) => terminal.write(bytes) });
    terminal.on('output', (bytes) => console.output(bytes));
    terminal.on('exit', (exit) => this.#end(exit));
    this.#terminal = terminal;
    this.console = console;
  }

  get pid(): number | undefined {
    return this.#terminal.pid;
  }

  /** Starts the image; `resources` end it. @throws Failure `conflict` (`IOUError`) */
  static async start(node: RouterNode, start: RouterStart, resources: AsyncDisposableStack): Promise<IouRuntime> {
    const { image, words, applicationId } = start;
    const link = await linkImage(node.directory, image);
    const kept: IouKept = { application_id: applicationId, link: link ?? null };
    const about = { kind: 'iou', command_line: [image, ...words].join(' '), udp_ports: [], data: kept };
    const record = programRecord(node, KEPT, about);
    const runtime = new IouRuntime(node, start, record, kept);
    runtime.#tidyUp(resources);
    await runtime.#plug(true, resources);
    await runtime.#terminal.start();
    resources.defer(() => runtime.#terminal.stop());
    runtime.#watch(resources);
    return runtime;
  }

  /** Reattaches an image that outlived the server. Returns how it ended, if it did meanwhile. `resources` end it. */
  static async reattach(
    node: RouterNode,
    { handle, record, kept }: { handle: ProgramHandle; record: ProgramRecord; kept: IouKept },
    resources: AsyncDisposableStack,
  ): Promise<IouRuntime | ExitInfo> {
    const runtime = new IouRuntime(node, undefined, record, kept);
    runtime.#tidyUp(resources);
    const end = await reattachProgram<ExitInfo>(runtime.#terminal, handle, [runtime, 'end'], resources);
    if (end) return end;
    await runtime.#plug(false, resources);
    runtime.#watch(resources);
    // It may have saved while no server watched.
    await node.save(kept.application_id);
    return runtime;
  }

  /** Cleans up after the image has ended: registered first, run last. */
  #tidyUp(resources: AsyncDisposableStack): void {
    const { application_id: applicationId, link } = this.kept;
    const { directory } = this.#node;
    resources.defer(() => this.#node.saveLast(applicationId));
    if (link !== null) resources.defer(() => rm(join(directory, link), { force: true }));
  }

  /** Connects the ports of the image to their cables. */
  async #plug(isFresh: boolean, resources: AsyncDisposableStack): Promise<void> {
    const { name, project, services, wires } = this.#node;
    const identity = await takeIdentity(this.kept.application_id, { name, isFresh }, resources);
    const device = await services.fabric.createDevice('iol-socket', identity, undefined, project.id);
    resources.defer(() => device.close());
    for (const { adapter, port, at } of wires) {
      await at.setDevice({ kind: 'memory', device, number: portByte(adapter, port) });
      resources.defer(() => at.setDevice(null));
    }
  }

  /** The router saves its configuration on its user's command. Only the file shows that. */
  #watch(resources: AsyncDisposableStack): void {
    const path = join(this.#node.directory, nvramName(this.kept.application_id));
    const changed = async (): Promise<number> => (await stat(path).catch(() => undefined))?.mtimeMs ?? 0;
    let before = changed();
    const timer = setInterval(() => {
      before = before.then(async (former) => {
        const now = await changed();
        if (now === former || now === 0) return now;
        await this.#node.save(this.kept.application_id);
        this.#node.saved();
        return now;
      });
    }, WATCH_MS);
    resources.defer(async () => {
      clearInterval(timer);
      await before;
    });
  }

  #end(exit: TerminalExit): void {
    const info = exitInfo(exit);
    const hint =
      exit.signal === 'SIGSEGV' ? ' (a segmentation fault: images need the host that they were made for)' : '';
    this.console.closeClients(`${this.#node.name} has stopped`);
    this.finish({ ...info, fault: info.fault === undefined ? undefined : `${info.fault}${hint}` });
  }
}

/** Links the image into the router's directory. Returns the name, or undefined if it is occupied. */
async function linkImage(directory: string, image: string): Promise<string | undefined> {
  const extension = extname(image);
  const plain = basename(image);
  const name =
    plain.length <= LINK_CHARACTERS
      ? plain
      : `${plain.slice(0, Math.max(1, LINK_CHARACTERS - extension.length))}${extension}`;
  const path = join(directory, name);
  const there = await lstat(path).catch(() => undefined);
  if (there && !there.isSymbolicLink()) return undefined;
  await rm(path, { force: true });
  await symlink(image, path);
  return name;
}
