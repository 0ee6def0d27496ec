// A PC that the vpcs program runs: its ports, its process, and how it is found again when the server comes back.
import { EventEmitter, once } from 'node:events';
import type { Console } from '../../../consoles/console.ts';
import type { TerminalExit } from '../../../consoles/terminal.ts';
import { childEnvironment, processToken } from '../../../host/processes.ts';
import { readText } from '../../nodes/files.ts';
import type { HeldProgram, ProgramRecord } from '../../nodes/held-programs.ts';
import { vpcsCommand } from './command.ts';
import type { Machine, MachineEnd, MachineNode } from './engine.ts';
import { VpcsProcess } from './process.ts';
import type { VpcsProgram } from './program.ts';
import { STARTUP_SCRIPT } from './script.ts';
import { reserveUdpPorts } from './udp-ports.ts';

const LOOPBACK = '127.0.0.1';

export class ProgramMachine extends EventEmitter<{ end: [MachineEnd] }> implements Machine {
  readonly console: Console;
  readonly commandLine: string;
  readonly #node: MachineNode;
  readonly #record: ProgramRecord;
  readonly #process: VpcsProcess;

  private constructor(node: MachineNode, command: readonly string[], record: ProgramRecord) {
    super();
    const { holder, instance } = node.services;
    const environment = childEnvironment(processToken(instance, node.id));
    const { name, directory } = node;
    this.#node = node;
    this.#record = record;
    this.#process = new VpcsProcess({ holder, name, command, directory, environment, record });
    this.console = this.#process.console;
    this.commandLine = record.command_line;
    this.#process.on('exit', (exit) => this.emit('end', endOf(exit)));
  }

  /** Starts the program; `resources` end it and give back its ports. */
  static async start(
    node: MachineNode,
    program: VpcsProgram,
    resources: AsyncDisposableStack,
  ): Promise<ProgramMachine> {
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
    const machine = new ProgramMachine(node, command, {
      ...{ project_id: project.id, node_id: node.id, node_name: node.name, command_line: command.join(' ') },
      ...{ program_port: pcPort, cable_port: cablePort, udp_ports: all, number: node.number },
    });
    await machine.#connect(resources);
    await machine.#process.start();
    resources.defer(() => machine.#process.stop());
    return machine;
  }

  /**
   * The program has outlived the server: it is as it was. Answers how it ended, if it did meanwhile. Its ports are given back, and
   * what runs is ended, by `resources`.
   */
  static async takeBack(
    node: MachineNode,
    { held, record }: HeldProgram,
    resources: AsyncDisposableStack,
  ): Promise<ProgramMachine | MachineEnd> {
    for (const port of record.udp_ports) resources.defer(() => node.services.ports.udp.release(node.project.id, port));
    const machine = new ProgramMachine(node, record.command_line.split(' '), record);
    if (held.exit) {
      const ended = once(machine, 'end');
      machine.#process.takeBack(held);
      const [end] = (await ended) as [MachineEnd];
      return end;
    }
    machine.#process.takeBack(held);
    resources.defer(() => machine.#process.stop());
    await machine.#connect(resources);
    return machine;
  }

  /** Joins the program to its cable. */
  async #connect(resources: AsyncDisposableStack): Promise<void> {
    const { ethernet } = this.#node;
    const { program_port: remotePort, cable_port: localPort } = this.#record;
    await ethernet.setDevice({ kind: 'udp', localPort, remoteHost: LOOPBACK, remotePort });
    resources.defer(() => ethernet.setDevice(null));
  }
}

function endOf({ expected, code, signal, lastOutput }: TerminalExit): MachineEnd {
  if (code === 0 && signal === undefined) return { expected, fault: undefined };
  const how = signal === undefined ? `with exit code ${code}` : `by ${signal}`;
  return { expected, fault: `${how}. Last output: ${lastOutput}` };
}
