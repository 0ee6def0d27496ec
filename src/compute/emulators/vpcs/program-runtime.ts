// A PC that the vpcs program runs: its ports, its process, and reattaching it after a restart of the server.
import * as v from 'valibot';
import type { Console } from '../../../consoles/console.ts';
import { childEnvironment, processToken } from '../../../host/processes/child-processes.ts';
import { readText } from '../../nodes/files.ts';
import { programRecord } from '../../nodes/lifecycle/node-program.ts';
import { EndingRuntime, type ExitInfo, exitInfo, reattachProgram } from '../../nodes/lifecycle/node-runtime.ts';
import type { ProgramRecord, SurvivingProgram } from '../../nodes/lifecycle/surviving-programs.ts';
import { vpcsCommand } from './command.ts';
import type { PcNode, PcRuntime } from './engine.ts';
import { KEPT, type VpcsKept } from './kept.ts';
import { VpcsProcess } from './process.ts';
import type { VpcsProgram } from './program.ts';
import { STARTUP_SCRIPT } from './script.ts';
import { reserveUdpPorts } from './udp-ports.ts';

const LOOPBACK = '127.0.0.1';

export class ProgramRuntime extends EndingRuntime implements PcRuntime {
  readonly console: Console;
  readonly commandLine: string;
  readonly #node: PcNode;
  readonly #kept: VpcsKept;
  readonly #process: VpcsProcess;

  private constructor(node: PcNode, command: readonly string[], record: ProgramRecord) {
    super();
    const { supervisor, instance } = node.services;
    const environment = childEnvironment(processToken(instance, node.id));
    const { name, directory } = node;
    this.#node = node;
    this.#kept = v.parse(KEPT.schema, record.data);
    this.#process = new VpcsProcess({ supervisor, name, command, directory, environment, record });
    this.console = this.#process.console;
    this.commandLine = record.command_line;
    this.#process.on('exit', (exit) => this.finish(exitInfo(exit)));
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** Starts the program; `resources` end it and release its ports. */
  static async start(node: PcNode, program: VpcsProgram, resources: AsyncDisposableStack): Promise<ProgramRuntime> {
    const { project, services } = node;
    const { pcPort, cablePort, all } = await reserveUdpPorts(
      services.ports.udp,
      project.id,
      program.version,
      resources,
    );
    const hasScript = (await readText(project.path, `${node.relativeDirectory}/${STARTUP_SCRIPT}`)) !== undefined;
    const command = vpcsCommand({
      program: program.path,
      version: program.version,
      macByte: node.number & 255,
      localPort: pcPort,
      remotePort: cablePort,
      remoteHost: LOOPBACK,
      script: hasScript ? STARTUP_SCRIPT : undefined,
    });
    const data: VpcsKept = { program_port: pcPort, cable_port: cablePort, number: node.number };
    const about = { kind: 'vpcs', udp_ports: all, command_line: command.join(' '), data };
    const runtime = new ProgramRuntime(node, command, programRecord(node, KEPT, about));
    await runtime.#connect(resources);
    await runtime.#process.start();
    resources.defer(() => runtime.#process.stop());
    return runtime;
  }

  /** Reattaches a program that outlived the server. Returns how it ended, if it did meanwhile. `resources` end it. */
  static async reattach(
    node: PcNode,
    { handle, record }: SurvivingProgram,
    resources: AsyncDisposableStack,
  ): Promise<ProgramRuntime | ExitInfo> {
    const runtime = new ProgramRuntime(node, record.command_line.split(' '), record);
    const end = await reattachProgram<ExitInfo>(runtime.#process, handle, [runtime, 'end'], resources);
    if (end) return end;
    await runtime.#connect(resources);
    return runtime;
  }

  async #connect(resources: AsyncDisposableStack): Promise<void> {
    const { ethernet } = this.#node;
    const { program_port: remotePort, cable_port: localPort } = this.#kept;
    await ethernet.setDevice({ kind: 'udp', localPort, remoteHost: LOOPBACK, remotePort });
    resources.defer(() => ethernet.setDevice(null));
  }
}
