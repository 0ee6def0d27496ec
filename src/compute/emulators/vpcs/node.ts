// A virtual PC as a node: its console port, its script, its one Ethernet port, and what runs it.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { attachSocket } from '../../../consoles/socket-client.ts';
import { TelnetServer } from '../../../consoles/telnet-server.ts';
import { Failure, messageOf } from '../../../failures.ts';
import { writeContained } from '../../../host/contained.ts';
import { makeDirectory, removeEmptyDirectories } from '../../../host/directories.ts';
import { KeyedLock } from '../../../host/keyed-lock.ts';
import { log } from '../../../host/log.ts';
import type { Connected } from '../../../http/route.ts';
import { copyFiles, readText } from '../../nodes/files.ts';
import type { HeldProgram } from '../../nodes/held-programs.ts';
import { Node, type NodeIdentity, nodeDirectory, noSuchPort } from '../../nodes/node.ts';
import { NodePort, type PortRules } from '../../nodes/port.ts';
import { refusing } from '../../nodes/refusing.ts';
import { consoleHost } from '../../ports/ports.ts';
import type { Services } from '../../services.ts';
import { BuiltInPc } from './built-in.ts';
import { chooseEngine, type Machine, type MachineEnd, type MachineNode } from './engine.ts';
import { releaseNumber, reserveNumber } from './numbers.ts';
import type { VpcsProgram } from './program.ts';
import { ProgramMachine } from './program-machine.ts';
import type { VpcsConsoleType, VpcsCreate, VpcsUpdate } from './schema.ts';
import { initialScript, renameInScript, STARTUP_SCRIPT } from './script.ts';

export const MODULE = 'vpcs';
export const PORT_RULES: PortRules = { exception: 'VPCSError', nios: new Set(['nio_udp']) };
const { exception } = PORT_RULES;

interface Running {
  readonly machine: Machine;
  /** Offers the console on its TCP port; none with console type `none`. */
  server: TelnetServer | undefined;
  /** Everything else that was taken for it; given back when it is disposed. */
  readonly resources: AsyncDisposableStack;
}

export class VpcsNode extends Node {
  readonly type = 'vpcs';
  private readonly ethernet: NodePort;
  /** Tells it from the other PCs of its project. */
  private readonly number: number;
  /** Starting, stopping and closing wait for each other, whoever asks: a request, the project, the program that ended. */
  private readonly turns = new KeyedLock();
  private console: number | null = null;
  private consoleType: VpcsConsoleType;
  private commandLine = '';
  private running: Running | undefined;
  private closed = false;

  private constructor(identity: NodeIdentity, consoleType: VpcsConsoleType, services: Services, number: number) {
    super(identity, services, 'stopped');
    this.consoleType = consoleType;
    this.number = number;
    this.ethernet = new NodePort(this, '0/0', PORT_RULES, services);
  }

  static async create(identity: NodeIdentity, body: VpcsCreate, services: Services): Promise<VpcsNode> {
    await using undo = new AsyncDisposableStack();
    const { heldPrograms, switchedOn } = services;
    const { id, project } = identity;
    const runsOn = heldPrograms.claim(project.id, id);
    const wasOn = switchedOn.claim(project.id, id);
    const come = [...heldPrograms.numbers(project.id), ...switchedOn.numbers(project.id)];
    const number = reserveNumber(project, id, runsOn?.record.number ?? wasOn, come);
    const node = new VpcsNode(identity, body.console_type, services, number);
    undo.defer(() => node.close());
    await node.changeConsole(body.console_type, body.console ?? undefined);
    if (body.startup_script != null && (await readText(node.project.path, node.script)) === undefined) {
      await node.makeDirectory(undo);
      undo.defer(() => rm(join(node.directory, STARTUP_SCRIPT), { force: true }));
      await node.writeScript(initialScript(body.startup_script, node.name));
    }
    if (runsOn) await node.inTurn(() => node.takeBack(runsOn));
    else if (wasOn !== undefined) await node.inTurn(() => node.switchOnAgain());
    undo.move();
    return node;
  }

  override describe(): object {
    return {
      name: this.name,
      node_id: this.id,
      project_id: this.project.id,
      node_directory: this.directory,
      status: this.status,
      console: this.console,
      console_type: this.consoleType,
      command_line: this.commandLine,
    };
  }

  /** The adapter does not matter: a PC has one. */
  override port(adapter: number, port: number): NodePort {
    if (port === 0) return this.ethernet;
    throw noSuchPort(this, exception, adapter, port);
  }

  change(body: VpcsUpdate): Promise<void> {
    return this.inTurn(() => this.changeNow(body));
  }

  /** Copies the other PC's files; its name in them becomes this one's. */
  async copyFilesOf(source: VpcsNode): Promise<void> {
    await copyFiles(this.project, source.relativeDirectory, this.relativeDirectory);
    await this.rewriteScript(source.name, this.name);
  }

  override start(): Promise<void> {
    return this.inTurn(() => this.startNow());
  }

  override stop(): Promise<void> {
    return this.inTurn(() => this.switchOff());
  }

  reload(): Promise<void> {
    return this.inTurn(async () => {
      await this.switchOff();
      await this.startNow();
    });
  }

  override close(): Promise<void> {
    return this.inTurn(async () => {
      this.closed = true;
      await using rest = new AsyncDisposableStack();
      rest.defer(() => releaseNumber(this.project, this.id));
      rest.defer(() => this.releaseConsole());
      rest.defer(() => this.ethernet.close());
      if (this.running) await this.switchOff();
    });
  }

  resetConsole(): Promise<void> {
    return this.inTurn(async () => {
      this.running?.machine.console.closeClients('the console was reset');
      await this.running?.server?.stop();
      await refusing(exception, () => this.running?.server?.start());
    });
  }

  connectConsole(): Connected {
    if (!this.running) throw new Failure('conflict', `${this.name} is not started; start it first.`, { exception });
    if (this.consoleType !== 'telnet') {
      throw new Failure('conflict', `${this.name} has no console; set console_type to telnet.`, { exception });
    }
    const { console } = this.running.machine;
    return (socket) => attachSocket(console, socket, 'WebSocket');
  }

  private get relativeDirectory(): string {
    return nodeDirectory(MODULE, this.id);
  }

  private get directory(): string {
    return join(this.project.path, this.relativeDirectory);
  }

  private get script(): string {
    return `${this.relativeDirectory}/${STARTUP_SCRIPT}`;
  }

  private inTurn<T>(task: () => T | Promise<T>): Promise<T> {
    return this.turns.run('life', task);
  }

  private async changeNow(body: VpcsUpdate): Promise<void> {
    const consoleType = body.console_type ?? this.consoleType;
    if (consoleType !== this.consoleType && this.running) {
      throw new Failure('conflict', `console_type: stop ${this.name} before its console changes.`, { exception });
    }
    const before = { type: this.consoleType, port: this.console ?? undefined };
    await this.changeConsole(consoleType, body.console ?? undefined);
    if (body.name == null || body.name === this.name) return;
    try {
      await this.rewriteScript(this.name, body.name);
    } catch (error) {
      await this.changeConsole(before.type, before.port);
      throw error;
    }
    this.name = body.name;
  }

  private async startNow(): Promise<void> {
    if (this.closed) throw new Failure('not-found', `node_id: ${this.id} was removed.`);
    if (this.running) return;
    const program = await chooseEngine(this.services.config.VPCS);
    await (program === undefined ? this.startBuiltIn() : this.startProgram(program));
    this.status = 'started';
  }

  private async startProgram(program: VpcsProgram): Promise<void> {
    await using made = new AsyncDisposableStack();
    await this.makeDirectory(made);
    await using resources = new AsyncDisposableStack();
    await refusing(exception, async () =>
      this.run(await ProgramMachine.start(this.machineNode, program, resources), resources),
    );
    made.move();
  }

  /** A PC that is built in needs no directory before it saves something. */
  private async startBuiltIn(): Promise<void> {
    await using resources = new AsyncDisposableStack();
    const machine = new BuiltInPc(this.machineNode);
    await refusing(exception, async () => {
      await Promise.all([this.noteSwitchedOn(resources), machine.start(resources)]);
      await this.run(machine, resources);
    });
  }

  /** Offers the machine's console, and takes what it holds. */
  private async run(machine: Machine, resources: AsyncDisposableStack): Promise<void> {
    machine.on('end', (end) => {
      if (!end.expected) void this.inTurn(() => this.endedByItself(machine, end));
    });
    const server = await this.serve(machine, this.console);
    this.running = { machine, server, resources: resources.move() };
    this.commandLine = machine.commandLine;
  }

  private get machineNode(): MachineNode {
    const { id, name, project, services, ethernet, directory, relativeDirectory, number } = this;
    return { id, name, project, services, ethernet, directory, relativeDirectory, number };
  }

  /** The built-in PC goes with this process; the next life of it switches the PC on again. */
  private async noteSwitchedOn(resources: AsyncDisposableStack): Promise<void> {
    const { switchedOn } = this.services;
    resources.defer(() => switchedOn.remove(this.id));
    await switchedOn.add(this.id, { projectId: this.project.id, number: this.number });
  }

  private async switchOnAgain(): Promise<void> {
    try {
      await this.startNow();
    } catch (error) {
      await this.services.switchedOn.remove(this.id);
      const message = `${this.name} was on when the server ended, and cannot be switched on again: ${messageOf(error)}`;
      this.services.events.emit('log.error', { message }, this.project.id);
    }
  }

  /** The program has outlived this process. What hinders that is told, and ends the program. */
  private async takeBack(program: HeldProgram): Promise<void> {
    await using resources = new AsyncDisposableStack();
    try {
      await refusing(exception, async () => {
        const found = await ProgramMachine.takeBack(this.machineNode, program, resources);
        if (!(found instanceof ProgramMachine)) {
          log.warn('a node ended while the server was away', { node: this.id, fault: found.fault });
          this.tellEnd(found);
          return;
        }
        await this.run(found, resources);
        this.status = 'started';
      });
    } catch (error) {
      const message = `${this.name} ran on while the server was away, but is ended now: ${messageOf(error)}`;
      this.services.events.emit('log.error', { message }, this.project.id);
    }
  }

  /** Offers a console on a TCP port, if there is one. */
  private async serve({ console }: Machine, port: number | null): Promise<TelnetServer | undefined> {
    if (port === null) return undefined;
    const server = new TelnetServer({ console, host: consoleHost(this.services.config), port });
    await server.start();
    return server;
  }

  /** It is off afterwards, whatever fails on the way. */
  private async switchOff(): Promise<void> {
    try {
      await this.stopNow();
    } finally {
      this.status = 'stopped';
    }
  }

  private async stopNow(): Promise<void> {
    const { running } = this;
    this.running = undefined;
    running?.machine.console.closeClients(`${this.name} was stopped`);
    try {
      await running?.server?.stop();
    } finally {
      await running?.resources.disposeAsync();
    }
  }

  private async endedByItself(machine: Machine, end: MachineEnd): Promise<void> {
    if (this.running?.machine !== machine) return;
    await this.stopNow();
    this.status = 'stopped';
    this.tellEnd(end);
  }

  private tellEnd({ fault }: MachineEnd): void {
    const { events } = this.services;
    if (fault === undefined) {
      events.emit('log.info', { message: `${this.name} has ended by itself.` }, this.project.id);
    } else events.emit('log.error', { message: `${this.name} ended unexpectedly ${fault}` }, this.project.id);
  }

  private async makeDirectory(undo: AsyncDisposableStack): Promise<void> {
    const made = await makeDirectory(this.directory, this.relativeDirectory);
    if (made !== undefined) undo.defer(() => removeEmptyDirectories(this.directory, made));
  }

  private async changeConsole(type: VpcsConsoleType, wanted: number | undefined): Promise<void> {
    const { console: pool } = this.services.ports;
    if (type === 'none') this.releaseConsole();
    else if (this.console === null) this.console = await pool.reserve(this.project.id, wanted);
    else if (wanted !== undefined && wanted !== this.console && (await pool.claim(this.project.id, wanted))) {
      await this.moveConsole(wanted);
    }
    this.consoleType = type;
  }

  private async moveConsole(port: number): Promise<void> {
    const { running } = this;
    if (running) {
      try {
        const server = await refusing(exception, () => this.serve(running.machine, port));
        await running.server?.stop();
        running.server = server;
      } catch (thrown) {
        this.services.ports.console.release(this.project.id, port);
        throw thrown;
      }
    }
    this.releaseConsole();
    this.console = port;
  }

  private releaseConsole(): void {
    if (this.console !== null) this.services.ports.console.release(this.project.id, this.console);
    this.console = null;
  }

  private async rewriteScript(oldName: string, newName: string): Promise<void> {
    const script = await readText(this.project.path, this.script);
    const renamed = script === undefined ? undefined : renameInScript(script, oldName, newName);
    if (renamed !== undefined && renamed !== script) await this.writeScript(renamed);
  }

  private async writeScript(text: string): Promise<void> {
    await writeContained(this.project.path, this.script, text, { createParents: true });
  }
}
