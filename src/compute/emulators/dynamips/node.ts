// The router node: settings, cards, image, and running emulator.
import { dirname, join } from 'node:path';
import * as v from 'valibot';
import type { DynamipsCreate, DynamipsUpdate } from '../../../api/kinds/dynamips.ts';
import { findImage, type Image } from '../../images/references.ts';
import { warnOfMemory } from '../../nodes/lifecycle/memory-warning.ts';
import type { ExitInfo } from '../../nodes/lifecycle/node-runtime.ts';
import { type NodeChange, ProgramNode } from '../../nodes/lifecycle/program-node.ts';
import type { SurvivingProgram } from '../../nodes/lifecycle/surviving-programs.ts';
import { warnOfUnsaved } from '../../nodes/lifecycle/unsaved-warning.ts';
import { type NodeIdentity, nodeDirectory } from '../../nodes/node.ts';
import { SWITCH_NIOS } from '../../nodes/ports/nio.ts';
import type { NodePort, PortRules } from '../../nodes/ports/port.ts';
import type { Services } from '../../services.ts';
import { Configurations } from './configurations.ts';
import { mustBeImage } from './elf.ts';
import { findIdleValue, type IdleSearch, idleProposals, waitForBoot } from './idle-pc.ts';
import { KEPT } from './kept.ts';
import { FileWatch, memoryFile, removeFiles } from './kept-files.ts';
import { launchRouter, mustShareMemory } from './launch.ts';
import { changeRunning } from './live-changes.ts';
import type { RouterNumbers } from './numbers.ts';
import { refusal } from './platforms.ts';
import { leaveAll, RouterPorts } from './ports.ts';
import { findDynamips } from './program.ts';
import { RouterRuntime } from './runtime.ts';
import { changedSetup, changeForStopped, newSetup, type RouterSetup, setupProperties } from './settings.ts';

export const MODULE = 'dynamips';
export const PORT_RULES: PortRules = { exception: 'DynamipsError', nios: SWITCH_NIOS };

/** How often the router's memory is checked for a changed configuration. */
const WATCH_MS = 30_000;

export class DynamipsNode extends ProgramNode<RouterRuntime, DynamipsUpdate> {
  readonly type = MODULE;
  readonly #numbers: RouterNumbers;
  readonly #id: number;
  readonly #routerPorts: RouterPorts;
  readonly #configurations: Configurations;
  #setup: RouterSetup;
  #image: Image;
  /** Cancels a search for an idle value. */
  #search: AbortController | undefined;

  private constructor(
    identity: NodeIdentity,
    services: Services,
    numbers: RouterNumbers,
    { id, setup, image, consoleType }: { id: number; setup: RouterSetup; image: Image; consoleType: string },
  ) {
    super(identity, services, { module: MODULE, rules: PORT_RULES, consoleType, adapters: 0 });
    this.#numbers = numbers;
    this.#id = id;
    this.#setup = setup;
    this.#image = image;
    this.#routerPorts = new RouterPorts(this, PORT_RULES, services, () => this.runtime);
    this.#configurations = new Configurations(this.project, this.relativeDirectory, id);
  }

  static async create(
    identity: NodeIdentity,
    body: DynamipsCreate,
    services: Services,
    numbers: RouterNumbers,
  ): Promise<DynamipsNode> {
    await using undo = new AsyncDisposableStack();
    const { id: nodeId, project } = identity;
    const { survivingPrograms, config } = services;
    await findDynamips(config.Dynamips.dynamips_path);
    const runsOn = survivingPrograms.claim(identity, undo);
    const toCome = survivingPrograms.dataOf(project.id, MODULE).map((data) => v.parse(KEPT.schema, data).dynamips_id);
    const former = runsOn && v.parse(KEPT.schema, runsOn.record.data).dynamips_id;
    const id = numbers.reserve(project, former ?? body.dynamips_id, toCome);
    undo.defer(() => numbers.leave(project, id, dirname(join(project.path, nodeDirectory(MODULE, nodeId)))));
    const setup = newSetup(body, { nodeId, dynamipsId: id }, config.Dynamips);
    const image = await imageOf(body.image, body.image_md5sum, project.path, services);
    const node = new DynamipsNode(identity, services, numbers, { id, setup, image, consoleType: body.console_type });
    undo.defer(() => node.close());
    if (body.aux != null) await node.auxiliaryConsole.change('telnet', body.aux);
    await node.console.change(body.console_type, body.console ?? undefined);
    const texts = { startup: body.startup_config_content, private: body.private_config_content };
    await node.#configurations.writeFirst(texts, node.name, undo);
    if (runsOn) await node.inTurn(() => node.reattach(runsOn));
    undo.move();
    return node;
  }

  override describe() {
    return {
      ...this.common(),
      dynamips_id: this.#id,
      image: this.#image.shown,
      image_md5sum: this.#image.md5sum,
      aux: this.auxiliaryConsole.port,
      ...setupProperties(this.#setup),
    };
  }

  override port(slot: number, number: number): NodePort {
    return this.#routerPorts.port(this.#setup, slot, number);
  }

  override suspend(): Promise<void> {
    return this.inTurn(async () => {
      if (!this.runtime || this.runtime.isSuspended) return;
      await this.runtime.suspend();
      this.status = 'suspended';
    });
  }

  resume(): Promise<void> {
    return this.inTurn(async () => {
      if (this.runtime?.isSuspended) await this.#goOn(this.runtime);
    });
  }

  override stop(): Promise<void> {
    this.#search?.abort();
    return super.stop();
  }

  override close(): Promise<void> {
    this.#search?.abort();
    return super.close();
  }

  /** Lines `0x60608040 [58]`. Switches a router on that is off. @throws Failure `conflict` */
  idleProposals(signal: AbortSignal): Promise<string[]> {
    return this.#searching(signal, (runtime, search) => idleProposals(runtime, search));
  }

  /** The value found, which is kept. @throws Failure `conflict` */
  findIdleValue(signal: AbortSignal): Promise<string> {
    return this.#searching(signal, async (runtime, search) => {
      const idlepc = await findIdleValue(runtime, search);
      this.#noteIdleValue(idlepc);
      return idlepc;
    });
  }

  /** Copies the other router's configurations and replaces its name in them. */
  async copyConfigurationsOf(source: DynamipsNode): Promise<void> {
    await this.#configurations.write(await source.#configurations.read(), source.name);
    await this.#configurations.rename(source.name, this.name);
  }

  /** The cards of a running router are changed one after the other: earlier changes stay when a later one fails. */
  protected override async check(body: DynamipsUpdate): Promise<NodeChange> {
    const before = this.#setup;
    const { services, project, runtime } = this;
    const setup = changedSetup(before, body, services.config.Dynamips);
    const needsStop = runtime && this.#needsStop(setup, body);
    if (needsStop !== undefined) throw refusal(`${needsStop}: ${this.name} runs; stop it before this changes.`);
    const isSame = body.image === undefined || body.image === this.#image.shown;
    const image = isSame ? this.#image : await imageOf(body.image, body.image_md5sum, project.path, services);
    return {
      apply: async ({ name }, { undo, done }) => {
        if (name !== this.name) await this.#configurations.rename(this.name, name, undo);
        if (runtime) {
          await changeRunning(runtime, before, setup, async (setupNow) => {
            this.#setup = setupNow;
            await this.#routerPorts.closeAllBut(setupNow);
          });
        }
        this.#image = image;
        this.#setup = setup;
        done.defer(() => this.#routerPorts.closeAllBut(setup));
      },
    };
  }

  protected override async startNow(): Promise<void> {
    if (!this.runtime) return super.startNow();
    if (this.runtime.isSuspended) await this.#goOn(this.runtime);
  }

  protected override releaseAll(rest: AsyncDisposableStack): void {
    const { platform, settings } = this.#setup;
    rest.defer(() => this.#numbers.leave(this.project, this.#id, dirname(this.directory)));
    rest.defer(() => removeFiles(this.directory, `${platform.name}_i${this.#id}_`, settings.auto_delete_disks));
    rest.defer(() => this.#routerPorts.close());
    super.releaseAll(rest);
  }

  protected override async launch(resources: AsyncDisposableStack, undo: AsyncDisposableStack): Promise<RouterRuntime> {
    const { settings } = this.#setup;
    const program = await findDynamips(this.services.config.Dynamips.dynamips_path);
    await mustBeImage(this.#image.path);
    const sharesMemory = mustShareMemory(settings, this.services.config.Dynamips);
    warnOfMemory(this, this.services, settings.ram);
    await this.makeDirectory(undo);
    const options = {
      program,
      dynamipsId: this.#id,
      setup: this.#setup,
      image: this.#image,
      sharesMemory,
      console: this.console.type === 'telnet',
      aux: this.auxiliaryConsole.port !== null,
      ports: this.#routerPorts,
      configurations: this.#configurations,
    };
    const runtime = await launchRouter(this.owner, options, resources);
    this.#accompany(runtime, resources);
    return runtime;
  }

  protected override async reattachTo(
    program: SurvivingProgram,
    resources: AsyncDisposableStack,
  ): Promise<RouterRuntime | ExitInfo> {
    const runtime = await RouterRuntime.reattach(this.owner, program, resources);
    if (!(runtime instanceof RouterRuntime)) return runtime;
    await leaveAll(runtime);
    resources.defer(() => this.#routerPorts.forget());
    this.#accompany(runtime, resources);
    // It may have saved while no server watched.
    await this.#save(runtime);
    return runtime;
  }

  /** Starts what accompanies a running router. Its end also saves the configurations. */
  #accompany(runtime: RouterRuntime, resources: AsyncDisposableStack): void {
    const memory = join(this.directory, memoryFile(this.#setup.platform.name, this.#id));
    const watch = new FileWatch(memory, WATCH_MS, () => this.#save(runtime));
    resources.defer(async () => {
      await watch.stop();
      await runtime.switchOff();
      await this.#save(runtime);
    });
  }

  async #save(runtime: RouterRuntime): Promise<void> {
    if (runtime.ended) return;
    const { hypervisor, kept } = runtime;
    await warnOfUnsaved(this, this.services, this.#configurations.save(hypervisor, kept.vm_name));
  }

  async #goOn(runtime: RouterRuntime): Promise<void> {
    await runtime.resume();
    this.status = 'started';
  }

  async #searching<T>(
    client: AbortSignal,
    find: (runtime: RouterRuntime, search: IdleSearch) => Promise<T>,
  ): Promise<T> {
    return this.inTurn(async () => {
      if (this.runtime?.isSuspended)
        throw refusal(`${this.name} is suspended; resume it before its idle value is searched.`);
      const ended = new AbortController();
      this.#search = ended;
      const { events } = this.services;
      const search: IdleSearch = {
        tell: (progress) => events.emit('log.info', { message: `${this.name} ${progress}.` }, this.project.id),
        signal: AbortSignal.any([client, ended.signal]),
      };
      const wasOff = !this.runtime;
      const { idlepc } = this.#setup.settings;
      this.#noteIdleValue('0x0');
      try {
        if (wasOff) {
          await this.startNow();
          await waitForBoot(search);
        }
        if (!this.runtime) throw refusal(`${this.name} has ended; see its console for the reason.`);
        return await find(this.runtime, search);
      } catch (error) {
        await this.#goBackTo(idlepc);
        throw error;
      } finally {
        this.#search = undefined;
        if (wasOff && this.runtime) await this.switchOff();
        else this.announce();
      }
    });
  }

  /** Restores the value after a cancelled or failed search. */
  async #goBackTo(idlepc: string): Promise<void> {
    this.#noteIdleValue(idlepc);
    await this.runtime?.vm('set_idle_pc_online', 0, idlepc || '0x0').catch(() => undefined);
  }

  #noteIdleValue(idlepc: string): void {
    this.#setup = { ...this.#setup, settings: { ...this.#setup.settings, idlepc } };
  }

  /** The first member that cannot change while the router runs. */
  #needsStop(setup: RouterSetup, { name, aux }: DynamipsUpdate): string | undefined {
    if (name !== undefined && name !== this.name) return 'name';
    if (aux !== undefined && this.auxiliaryConsole.port === null) return 'aux';
    return changeForStopped(this.#setup, setup);
  }
}

function imageOf(
  reference: string | undefined,
  md5sum: string | null | undefined,
  project: string,
  services: Services,
): Promise<Image> {
  const user = { type: MODULE, exception: PORT_RULES.exception, project } as const;
  return findImage('image', reference ?? '', md5sum, user, services);
}
