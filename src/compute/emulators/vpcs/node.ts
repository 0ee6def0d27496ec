// The virtual PC node: script, Ethernet port, and running program.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import type { VpcsCreate, VpcsUpdate } from '../../../api/kinds/vpcs.ts';
import { messageOf } from '../../../failures.ts';
import { writeContained } from '../../../host/files/contained-files.ts';
import { copyFiles, readText } from '../../nodes/files.ts';
import type { ExitInfo } from '../../nodes/lifecycle/node-runtime.ts';
import { type NodeChange, ProgramNode } from '../../nodes/lifecycle/program-node.ts';
import type { SurvivingProgram } from '../../nodes/lifecycle/surviving-programs.ts';
import type { NodeIdentity } from '../../nodes/node.ts';
import type { PortRules } from '../../nodes/ports/port.ts';
import type { Services } from '../../services.ts';
import { BuiltInPc } from './built-in.ts';
import { chooseEngine, type PcNode, type PcRuntime } from './engine.ts';
import { KEPT, SWITCHED_ON } from './kept.ts';
import type { PcNumbers } from './numbers.ts';
import { ProgramRuntime } from './program-runtime.ts';
import { initialScript, renameInScript, STARTUP_SCRIPT } from './script.ts';

export const MODULE = 'vpcs';
export const PORT_RULES: PortRules = { exception: 'VPCSError', nios: new Set(['nio_udp']) };

export class VpcsNode extends ProgramNode<PcRuntime, VpcsUpdate> {
  readonly type = MODULE;
  /** Its MAC address is derived from this number. */
  readonly #numbers: PcNumbers;
  #number: number;

  private constructor(
    identity: NodeIdentity,
    consoleType: string,
    services: Services,
    numbers: PcNumbers,
    number: number,
  ) {
    super(identity, services, { module: MODULE, rules: PORT_RULES, consoleType, adapters: 'any' });
    this.#numbers = numbers;
    this.#number = number;
  }

  static async create(
    identity: NodeIdentity,
    body: VpcsCreate,
    services: Services,
    numbers: PcNumbers,
  ): Promise<VpcsNode> {
    await using undo = new AsyncDisposableStack();
    const { survivingPrograms, switchedOn } = services;
    const { id, project } = identity;
    const runsOn = survivingPrograms.claim(identity, undo);
    const wasOn = switchedOn.claim(identity, SWITCHED_ON, undo);
    const toCome = survivingPrograms.dataOf(project.id, MODULE).map((data) => v.parse(KEPT.schema, data).number);
    const toSwitchOn = switchedOn.left(SWITCHED_ON, (projectId) => projectId === project.id);
    const { number: former } = runsOn ? v.parse(KEPT.schema, runsOn.record.data) : (wasOn ?? {});
    const number = numbers.reserve(project, id, former, [...toCome, ...toSwitchOn.map(({ data }) => data.number)]);
    const node = new VpcsNode(identity, body.console_type, services, numbers, number);
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
      ...this.common(),
      command_line: this.commandLine,
    };
  }

  async liveAddresses(): Promise<string[]> {
    return (await this.runtime?.addresses?.()) ?? [];
  }

  get macNumber(): number {
    return this.#number;
  }

  /** No effect while the PC runs. */
  set macNumber(number: number) {
    if (this.status !== 'stopped') return;
    this.#number = number;
    this.#numbers.note(this.project, this.id, number);
  }

  /** Copies the other PC's files and replaces its name in them. */
  async copyFilesOf(source: VpcsNode): Promise<void> {
    await copyFiles(this.project, source.relativeDirectory, this.relativeDirectory);
    await this.#rewriteScript(source.name, this.name);
  }

  protected override check(): NodeChange {
    return { apply: ({ name }, { undo }) => this.#rewriteScript(this.name, name, undo) };
  }

  protected override releaseAll(rest: AsyncDisposableStack): void {
    rest.defer(() => this.#numbers.release(this.project, this.id));
    super.releaseAll(rest);
  }

  /** A built-in PC needs no directory until it saves something. */
  protected override async launch(resources: AsyncDisposableStack, undo: AsyncDisposableStack): Promise<PcRuntime> {
    const program = await chooseEngine(this.services.config.VPCS, await this.services.isShared());
    if (program === undefined) {
      const runtime = new BuiltInPc(this.#pcNode);
      await Promise.all([this.#noteSwitchedOn(resources), runtime.start(resources)]);
      return runtime;
    }
    await this.makeDirectory(undo);
    return ProgramRuntime.start(this.#pcNode, program, resources);
  }

  protected override reattachTo(
    program: SurvivingProgram,
    resources: AsyncDisposableStack,
  ): Promise<PcRuntime | ExitInfo> {
    return ProgramRuntime.reattach(this.#pcNode, program, resources);
  }

  get #script(): string {
    return `${this.relativeDirectory}/${STARTUP_SCRIPT}`;
  }

  get #pcNode(): PcNode {
    const { owner, relativeDirectory } = this;
    return { ...owner, relativeDirectory, ethernet: this.port(0, 0), number: this.#number };
  }

  /** The built-in PC ends with this process; the next run switches it on again. */
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

  async #rewriteScript(oldName: string, newName: string, undo?: AsyncDisposableStack): Promise<void> {
    if (newName === oldName) return;
    const script = await readText(this.project.path, this.#script);
    if (script === undefined) return;
    const renamed = renameInScript(script, oldName, newName);
    if (renamed === script) return;
    undo?.defer(() => this.#writeScript(script));
    await this.#writeScript(renamed);
  }

  async #writeScript(text: string): Promise<void> {
    await writeContained(this.project.path, this.#script, text, { createParents: true });
  }
}
