// The IOU router or switch node: image, settings, configurations, adapters, and running program.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import type { IouCreate, IouStart, IouUpdate } from '../../../api/kinds/iou.ts';
import type { Nio } from '../../../api/routes/compute-nodes.ts';
import { Failure, invalid, messageOf } from '../../../failures.ts';
import { writeContained } from '../../../host/files/contained-files.ts';
import { findImage, type Image, NO_IMAGE } from '../../images/references.ts';
import { copyFiles } from '../../nodes/files.ts';
import { warnOfMemory } from '../../nodes/lifecycle/memory-warning.ts';
import type { ExitInfo } from '../../nodes/lifecycle/node-runtime.ts';
import { type NodeChange, ProgramNode } from '../../nodes/lifecycle/program-node.ts';
import type { SurvivingProgram } from '../../nodes/lifecycle/surviving-programs.ts';
import { warnOfUnsaved } from '../../nodes/lifecycle/unsaved-warning.ts';
import type { NodeIdentity } from '../../nodes/node.ts';
import { AdapterPorts } from '../../nodes/ports/adapter-ports.ts';
import { mustBePluggable } from '../../nodes/ports/nio.ts';
import { NodePort, type PortRules } from '../../nodes/ports/port.ts';
import type { Services } from '../../services.ts';
import {
  adoptFiles,
  fillNvram,
  type NodePlace,
  nvramName,
  PRIVATE,
  readConfiguration,
  renameIn,
  STARTUP,
  saveFromNvram,
  saveLast,
  saveLeft,
  writeConfiguration,
} from './configurations.ts';
import { imageHelp, mustRun, refusal } from './image.ts';
import { KEPT } from './kept.ts';
import { checkLicence, findLicence, forgetSubmitted, keepSubmitted, submittedPath } from './licence.ts';
import { BAYS, netmap, UNITS } from './netmap.ts';
import { IouRuntime, type RouterNode } from './runtime.ts';
import { changedSettings, firstSettings, type Settings, USUAL_ADAPTERS } from './settings.ts';

export const MODULE = 'iou';
export const PORT_RULES: PortRules = {
  exception: 'IOUError',
  nios: new Set(['nio_udp', 'nio_tap', 'nio_generic_ethernet']),
};

/** The range of image ids. */
const IDS = { least: 1, most: 511 };

export class IouNode extends ProgramNode<IouRuntime, IouUpdate> {
  readonly type = MODULE;
  readonly #serial: AdapterPorts;
  #applicationId: number;
  #image: Image = NO_IMAGE;
  #settings: Settings;
  /** Whether the licence is checked, as the last start requested. */
  #checksLicence = true;

  private constructor(identity: NodeIdentity, consoleType: string, services: Services, settings: Settings, id: number) {
    const makePort = (...parts: ConstructorParameters<typeof NodePort>): NodePort => new RouterPort(...parts);
    super(identity, services, {
      module: MODULE,
      rules: PORT_RULES,
      consoleType,
      adapters: settings.ethernet_adapters,
      portsPerAdapter: UNITS,
      makePort,
    });
    this.#settings = settings;
    this.#applicationId = id;
    this.#serial = new AdapterPorts({
      node: this,
      rules: PORT_RULES,
      services,
      adapters: settings.serial_adapters,
      portsPerAdapter: UNITS,
      makePort,
      firstAdapter: () => this.#settings.ethernet_adapters,
    });
  }

  static async create(identity: NodeIdentity, body: IouCreate, services: Services): Promise<IouNode> {
    await using undo = new AsyncDisposableStack();
    const applicationId = checkedId(body.application_id);
    const image = await imageOf(body.path, body.md5sum, identity, services);
    const settings = firstSettings(body, await imageHelp(image.path), identity.id);
    mustFit(settings);
    const runsOn = services.survivingPrograms.claim(identity, undo);
    const consoleType = body.console_type;
    const node = new IouNode(identity, consoleType, services, settings, applicationId);
    node.#image = image;
    undo.defer(() => node.close());
    await node.console.change(consoleType, body.console ?? undefined);
    await node.#writeFirst(STARTUP, body.startup_config_content, undo);
    await node.#writeFirst(PRIVATE, body.private_config_content, undo);
    if (runsOn) await node.inTurn(() => node.reattach(runsOn));
    undo.move();
    return node;
  }

  override describe() {
    return {
      ...this.common(),
      command_line: this.commandLine,
      path: this.#image.shown,
      md5sum: this.#image.md5sum,
      application_id: this.#applicationId,
      ...this.#settings,
    };
  }

  /** Starts it with the licence members of a client's request. */
  startWith({ iourc_content: content, license_check: check }: IouStart): Promise<void> {
    return this.inTurn(async () => {
      if (content) await keepSubmitted(this.services.config.state, this.id, content);
      this.#checksLicence = check ?? this.#checksLicence;
      await mustRun(this.#image.path);
      await this.startNow();
    });
  }

  override port(adapter: number, port: number): NodePort {
    return adapter < this.#settings.ethernet_adapters
      ? this.ports.port(adapter, port)
      : this.#serial.port(adapter, port);
  }

  /** Copies the other router's files and replaces its name in them. */
  async copyFilesOf(source: IouNode): Promise<void> {
    await copyFiles(this.project, source.relativeDirectory, this.relativeDirectory);
    await renameIn(this.#place, this.name);
  }

  protected override async check(body: IouUpdate): Promise<NodeChange> {
    const before = this.#settings;
    const isOther = body.path !== undefined && body.path !== this.#image.shown;
    const image = isOther ? await imageOf(body.path ?? '', body.md5sum, this, this.services) : this.#image;
    const settings = changedSettings(before, body, await imageHelp(image.path));
    mustFit(settings);
    return {
      apply: async ({ name }, steps) => {
        if (name !== this.name) await renameIn(this.#place, name, steps.undo);
        this.#image = image;
        this.#settings = settings;
        const { ethernet_adapters: ethernet, serial_adapters: serial } = settings;
        if (ethernet !== before.ethernet_adapters) this.ports.resize(ethernet, steps);
        if (serial !== before.serial_adapters) this.#serial.resize(serial, steps);
      },
    };
  }

  protected override releaseAll(rest: AsyncDisposableStack): void {
    rest.defer(() => forgetSubmitted(this.services.config.state, this.id));
    rest.defer(() => this.#serial.close());
    super.releaseAll(rest);
  }

  protected override async launch(resources: AsyncDisposableStack, undo: AsyncDisposableStack): Promise<IouRuntime> {
    const image = this.#image.path;
    await mustRun(image);
    await this.makeDirectory(undo);
    await adoptFiles(this.directory, this.#applicationId);
    const licence = await this.#licence();
    const map = netmap(this.#applicationId);
    await writeContained(this.project.path, `${this.relativeDirectory}/NETMAP`, map, { createParents: true });
    const help = await imageHelp(image);
    if (this.#settings.use_default_iou_values) this.#settings = changedSettings(this.#settings, {}, help);
    await this.#saveLeft();
    await fillNvram(this.#place, this.#applicationId, this.#settings.nvram, undo);
    warnOfMemory(this, this.services, this.#settings.ram);
    if (this.#settings.l1_keepalives && !help.keepalives) {
      throw refusal(`l1_keepalives: ${this.#image.shown} has none; switch them off.`);
    }
    const start = { image, words: this.#words(), licence, applicationId: this.#applicationId };
    return IouRuntime.start(this.#routerNode(), start, resources);
  }

  protected override async reattachTo(
    { handle, record }: SurvivingProgram,
    resources: AsyncDisposableStack,
  ): Promise<IouRuntime | ExitInfo> {
    const kept = v.parse(KEPT.schema, record.data);
    // It runs under the id that it was started with, whatever the lab has now.
    this.#applicationId = kept.application_id;
    return IouRuntime.reattach(this.#routerNode(), { handle, record, kept }, resources);
  }

  get #place(): NodePlace {
    return { root: this.project.path, path: this.relativeDirectory };
  }

  /** @throws Failure `conflict` (`IOUError`): a start would overwrite what the router saved */
  async #saveLeft(): Promise<void> {
    const id = this.#applicationId;
    await saveLeft(this.#place, id).catch((error: unknown) => {
      throw refusal(
        `The configuration that ${this.name} saved in ${nvramName(id)} cannot be written to ${STARTUP}: ` +
          `${messageOf(error)}. Correct this, or delete ${nvramName(id)} to lose it.`,
        error,
      );
    });
  }

  #routerNode(): RouterNode {
    const wires = [...this.ports.all, ...this.#serial.all].map((at, index) => ({
      adapter: Math.floor(index / UNITS),
      port: index % UNITS,
      at,
    }));
    return {
      ...this.owner,
      wires,
      save: (applicationId) => warnOfUnsaved(this, this.services, saveFromNvram(this.#place, applicationId)),
      saveLast: (applicationId) => warnOfUnsaved(this, this.services, saveLast(this.#place, applicationId)),
      saved: () => this.announce(),
    };
  }

  #words(): string[] {
    const { ethernet_adapters: ethernet, serial_adapters: serial, nvram, ram, ...settings } = this.#settings;
    return [
      ...(ethernet === USUAL_ADAPTERS ? [] : ['-e', `${ethernet}`]),
      ...(serial === USUAL_ADAPTERS ? [] : ['-s', `${serial}`]),
      ...(settings.use_default_iou_values ? [] : ['-n', `${nvram}`, '-m', `${ram}`]),
      ...(settings.l1_keepalives ? ['-l'] : []),
      `${this.#applicationId}`,
    ];
  }

  /** Path of the licence file; undefined if none is needed. */
  async #licence(): Promise<string | undefined> {
    const { config } = this.services;
    if (!this.#checksLicence || !config.IOU.license_check) return undefined;
    const submitted = submittedPath(config.state, this.id);
    const path = await findLicence({ configured: config.IOU.iourc_path, submitted, directory: this.directory });
    await checkLicence(path);
    return path;
  }

  /** Stores a configuration of a new node, unless one exists. */
  async #writeFirst(name: string, text: string | null | undefined, undo: AsyncDisposableStack): Promise<void> {
    if (!text || (await readConfiguration(this.#place, name))?.length) return;
    await this.makeDirectory(undo);
    undo.defer(() => rm(join(this.directory, name), { force: true }));
    await writeConfiguration(
      this.#place,
      name,
      text.replaceAll('%h', () => this.name),
    );
  }
}

/** A port that can replace its cable by another one, and ignores a missing one when unplugging. */
class RouterPort extends NodePort {
  override async attach(wanted: Nio): Promise<void> {
    mustBePluggable(wanted, PORT_RULES.nios);
    await this.detach();
    await super.attach(wanted);
  }

  override async detach(): Promise<void> {
    if (this.hasNio) await super.detach();
  }
}

function imageOf(
  path: string,
  md5sum: string | null | undefined,
  { project }: Pick<NodeIdentity, 'project'>,
  services: Services,
): Promise<Image> {
  if (path === '') throw new Failure('image-missing', 'path: name the image of the router.', { image: '' });
  const user = { type: MODULE, exception: PORT_RULES.exception, project: project.path } as const;
  return findImage('path', path, md5sum, user, services);
}

/** @throws Failure `invalid` */
function checkedId(id: number | null): number {
  if (id !== null && id >= IDS.least && id <= IDS.most) return id;
  throw invalid(`application_id: must be between ${IDS.least} and ${IDS.most}, not ${id}.`);
}

/** @throws Failure `invalid` */
function mustFit({ ethernet_adapters: ethernet, serial_adapters: serial }: Settings): void {
  if (ethernet + serial <= BAYS) return;
  throw invalid(`ethernet_adapters and serial_adapters: ${BAYS} together at the most.`);
}
