// A virtual PC as a node: its script, its one Ethernet port, and what runs it.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import { messageOf } from '../../../failures.ts';
import { writeContained } from '../../../host/files/contained-files.ts';
import { copyFiles, readText } from '../../nodes/files.ts';
import type { ExitInfo } from '../../nodes/lifecycle/node-runtime.ts';
import { ProgramNode } from '../../nodes/lifecycle/program-node.ts';
import type { SurvivingProgram } from '../../nodes/lifecycle/surviving-programs.ts';
import type { NodeIdentity } from '../../nodes/node.ts';
import type { PortRules } from '../../nodes/ports/port.ts';
import type { Services } from '../../services.ts';
import { BuiltInPc } from './built-in.ts';
import { chooseEngine, type PcRuntime, type RuntimeNode } from './engine.ts';
import { KEPT, SWITCHED_ON } from './kept.ts';
import { noteNumber, releaseNumber, reserveNumber } from './numbers.ts';
import { ProgramRuntime } from './program-runtime.ts';
import type { VpcsCreate, VpcsUpdate } from './schema.ts';
import { initialScript, renameInScript, STARTUP_SCRIPT } from './script.ts';

export const MODULE = 'vpcs';
export const PORT_RULES: PortRules = { exception: 'VPCSError', nios: new Set(['nio_udp']) };

export class VpcsNode extends ProgramNode<PcRuntime> {
  readonly type = MODULE;
  /** Its MAC address is made of it. */
  #number: number;

  private constructor(identity: NodeIdentity, consoleType: string, services: Services, number: number) {
    super(identity, services, { module: MODULE, rules: PORT_RULES, consoleType, adapters: 'any' });
    this.#number = number;
  }

  static async create(identity: NodeIdentity, body: VpcsCreate, services: Services): Promise<VpcsNode> {
    await using undo = new AsyncDisposableStack();
    const { survivingPrograms, switchedOn } = services;
    const { id, project } = identity;
    const runsOn = survivingPrograms.claim(project.id, id);
    if (runsOn) undo.defer(() => survivingPrograms.unclaim(runsOn));
    const wasOn = switchedOn.claim(identity, SWITCHED_ON, undo);
    const toCome = survivingPrograms.dataOf(project.id, MODULE).map((data) => v.parse(KEPT.schema, data).number);
    const toSwitchOn = switchedOn.left(SWITCHED_ON, (projectId) => projectId === project.id);
    const { number: former } = runsOn ? v.parse(KEPT.schema, runsOn.record.data) : (wasOn ?? {});
    const number = reserveNumber(project, id, former, [...toCome, ...toSwitchOn.map(({ data }) => data.number)]);
    const node = new VpcsNode(identity, body.console_type, services, number);
    undo.defer(() => node.close());
    await node.console.change(body.console_type, body.console ?? undefined);
    if (body.startup_script != null && (await readText(node.project.path, node.#script)) === undefined) {
      await node.makeDirectory(undo);
      undo.defer(() => rm(join(node.directory, STARTUP_SCRIPT), { force: true }));
      await node.#writeScript(initialScript(body.startup_script, node.name));
    }
    if (runsOn) await node.inTurn(() => node.reattach(runsOn));
    else if (wasOn) await node.inTurn(() => node.#switchOnAgain());
    undo.move();
    return node;
  }

  override describe() {
    return {
      name: this.name,
      node_id: this.id,
      project_id: this.project.id,
      node_directory: this.directory,
      status: this.status,
      console: this.console.port,
      console_type: this.console.type,
      command_line: this.commandLine,
    };
  }

  get macNumber(): number {
    return this.#number;
  }

  /** Without effect while the PC runs. */
  set macNumber(number: number) {
    if (this.status !== 'stopped') return;
    this.#number = number;
    noteNumber(this.project, this.id, number);
  }

  change(body: VpcsUpdate): Promise<void> {
    return this.inTurn(async () => {
      const { type, port } = this.console;
      await this.console.change(body.console_type ?? type, body.console ?? undefined);
      if (body.name == null || body.name === this.name) return;
      try {
        await this.#rewriteScript(this.name, body.name);
      } catch (error) {
        await this.console.change(type, port ?? undefined);
        throw error;
      }
      this.name = body.name;
    });
  }

  /** Copies the other PC's files; its name in them becomes this one's. */
  async copyFilesOf(source: VpcsNode): Promise<void> {
    await copyFiles(this.project, source.relativeDirectory, this.relativeDirectory);
    await this.#rewriteScript(source.name, this.name);
  }

  protected override releaseAll(rest: AsyncDisposableStack): void {
    rest.defer(() => releaseNumber(this.project, this.id));
    super.releaseAll(rest);
  }

  /** A PC that is built in needs no directory before it saves something. */
  protected override async launch(resources: AsyncDisposableStack, undo: AsyncDisposableStack): Promise<PcRuntime> {
    const program = await chooseEngine(this.services.config.VPCS, await this.services.isShared());
    if (program === undefined) {
      const runtime = new BuiltInPc(this.#runtimeNode);
      await Promise.all([this.#noteSwitchedOn(resources), runtime.start(resources)]);
      return runtime;
    }
    await this.makeDirectory(undo);
    return ProgramRuntime.start(this.#runtimeNode, program, resources);
  }

  protected override reattachTo(
    program: SurvivingProgram,
    resources: AsyncDisposableStack,
  ): Promise<PcRuntime | ExitInfo> {
    return ProgramRuntime.reattach(this.#runtimeNode, program, resources);
  }

  get #script(): string {
    return `${this.relativeDirectory}/${STARTUP_SCRIPT}`;
  }

  get #runtimeNode(): RuntimeNode {
    const { id, name, project, services, directory, relativeDirectory } = this;
    return {
      id,
      name,
      project,
      services,
      ethernet: this.port(0, 0),
      directory,
      relativeDirectory,
      number: this.#number,
    };
  }

  /** The built-in PC goes with this process; the next life of it switches the PC on again. */
  async #noteSwitchedOn(resources: AsyncDisposableStack): Promise<void> {
    const { switchedOn } = this.services;
    resources.defer(() => switchedOn.remove(this.id));
    await switchedOn.add(this, { number: this.#number });
  }

  async #switchOnAgain(): Promise<void> {
    try {
      await this.startNow();
    } catch (error) {
      await this.services.switchedOn.remove(this.id);
      const message = `${this.name} was on when the server ended, and cannot be switched on again: ${messageOf(error)}`;
      this.services.events.emit('log.error', { message }, this.project.id);
    }
  }

  async #rewriteScript(oldName: string, newName: string): Promise<void> {
    const script = await readText(this.project.path, this.#script);
    const renamed = script === undefined ? undefined : renameInScript(script, oldName, newName);
    if (renamed !== undefined && renamed !== script) await this.#writeScript(renamed);
  }

  async #writeScript(text: string): Promise<void> {
    await writeContained(this.project.path, this.#script, text, { createParents: true });
  }
}
