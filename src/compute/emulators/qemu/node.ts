// The QEMU machine node: settings, images, adapters, and running machine.
import { join } from 'node:path';
import * as v from 'valibot';
import { defaultsOf } from '../../../api/kinds/property.ts';
import {
  type DiskResize,
  DRIVES,
  type QemuCreate,
  type QemuUpdate,
  qemuHidden,
  qemuSettings,
} from '../../../api/kinds/qemu.ts';
import { adapterMacs } from '../../../api/mac.ts';
import { ignore, messageOf } from '../../../failures.ts';
import { HeldNames } from '../../../host/files/held-names.ts';
import { findImage, NO_IMAGE } from '../../images/references.ts';
import { copyFiles } from '../../nodes/files.ts';
import type { Steps } from '../../nodes/lifecycle/all-or-nothing.ts';
import type { ExitInfo } from '../../nodes/lifecycle/node-runtime.ts';
import { type NodeChange, ProgramNode } from '../../nodes/lifecycle/program-node.ts';
import type { SurvivingProgram } from '../../nodes/lifecycle/surviving-programs.ts';
import type { NodeIdentity } from '../../nodes/node.ts';
import { followCables, LivePort } from '../../nodes/ports/live-port.ts';
import type { PortRules } from '../../nodes/ports/port.ts';
import type { Services } from '../../services.ts';
import { type Emulator, findEmulator } from './binary.ts';
import { restoreDisks, takeCheckpoint } from './disk-checkpoint.ts';
import { DiskImages } from './disk-images.ts';
import { DiskTool } from './disk-tool.ts';
import { growDisk, imageOf, SAVED_STATE } from './disks.ts';
import { adapterDevice } from './frames.ts';
import { thawLeft, whileFrozen } from './guest-agent.ts';
import { KEPT } from './kept.ts';
import { diskOptions, launchMachine, packAfterwards } from './launch.ts';
import { deleteState } from './machine-state.ts';
import type { MachineOwner, QemuHost } from './qemu-host.ts';
import { dropRunningState, endInterruptedSnapshot, forgetRunningState, keepRunningState } from './running-state.ts';
import { QemuRuntime } from './runtime.ts';
import {
  changedSettings,
  type HiddenSettings,
  IMAGE_MEMBERS,
  type Images,
  type Settings,
  withConfigDisk,
} from './settings.ts';
import { reattachTpm } from './tpm.ts';

export const MODULE = 'qemu';
export const PORT_RULES: PortRules = { exception: 'QemuError', nios: new Set(['nio_udp']) };

const NO_IMAGES = Object.fromEntries(IMAGE_MEMBERS.map((member) => [member, NO_IMAGE])) as Images;

interface State {
  emulator: Emulator;
  settings: Settings;
  hidden: HiddenSettings;
  images: Images;
}

export class QemuNode extends ProgramNode<QemuRuntime, QemuUpdate> {
  readonly type = MODULE;
  readonly #host: QemuHost;
  #state: State;
  /** Settings have changed since the last start: a reload then restarts the machine. */
  #isChanged = false;
  #goesOn = false;
  /** Why the guest agent did not freeze or thaw; empty if it did. */
  #agentProblem = '';

  private constructor(identity: NodeIdentity, consoleType: string, services: Services, host: QemuHost, state: State) {
    super(identity, services, {
      module: MODULE,
      rules: PORT_RULES,
      consoleType,
      adapters: state.settings.adapters,
      makePort: (...parts) => new LivePort(...parts),
    });
    this.#host = host;
    this.#state = state;
    this.#listenToPorts();
  }

  static async create(identity: NodeIdentity, body: QemuCreate, services: Services, host: QemuHost): Promise<QemuNode> {
    await using undo = new AsyncDisposableStack();
    const { id } = identity;
    const emulator = await findEmulator(body.qemu_path, body.platform);
    const settings = changedSettings(defaultsOf(qemuSettings, id), body, id);
    const usual = defaultsOf(qemuHidden, id);
    const hidden = {
      linked_clone: body.linked_clone ?? usual.linked_clone,
      custom_adapters: body.custom_adapters ?? usual.custom_adapters,
    };
    const runsOn = services.survivingPrograms.claim(identity, undo);
    const state = { emulator, settings, hidden, images: NO_IMAGES };
    const node = new QemuNode(identity, body.console_type, services, host, state);
    undo.defer(() => node.close());
    const images = await node.#findImages(body);
    node.#reserve(images, hidden);
    node.#state = { emulator, settings, hidden, images };
    node.#warnOfInitrd('', images);
    const isServedByQemu = body.console_type === 'vnc' || body.console_type.startsWith('spice');
    if (runsOn && isServedByQemu && body.console != null) node.console.keep(body.console);
    await node.console.change(body.console_type, body.console ?? undefined);
    if (runsOn) await node.inTurn(() => node.reattach(runsOn));
    undo.move();
    return node;
  }

  override describe() {
    const { emulator, settings, images } = this.#state;
    return {
      ...this.common(),
      command_line: this.commandLine,
      ...(this.runtime?.haltReason === undefined ? {} : { halt_reason: this.runtime.haltReason }),
      qemu_path: emulator.path,
      platform: emulator.platform,
      ...settings,
      ...Object.fromEntries(
        IMAGE_MEMBERS.flatMap((member) => [
          [member, images[member].shown],
          [`${member}_md5sum`, images[member].md5sum],
        ]),
      ),
    };
  }

  override suspend(): Promise<void> {
    return this.inTurn(async () => {
      if (!this.runtime) return;
      if (!this.runtime.isSuspended) await this.runtime.suspend();
      this.status = 'suspended';
    });
  }

  /** @throws Failure `conflict` (`QemuError`) when it is not started */
  resume(): Promise<void> {
    return this.inTurn(() => this.#goOn(this.requireRunning()));
  }

  /** Those that the NAT network has leased to its adapters. */
  async liveAddresses(): Promise<string[]> {
    const { settings, hidden } = this.#state;
    const macs = adapterMacs(settings.mac_address, settings.adapters, hidden.custom_adapters);
    return this.runtime ? this.services.natNetwork.leasedTo(macs) : [];
  }

  /** Saves memory and disks in the disks. The machine is paused until `dropState`. @throws Failure `conflict` */
  keepState(): Promise<void> {
    return this.inTurn(async () => {
      const runtime = this.requireRunning();
      if (!this.#state.hidden.linked_clone) {
        const why = 'writes to its images themselves (linked_clone is off), which lie outside of the project';
        throw this.failure(`${this.name} ${why}.`);
      }
      await keepRunningState(runtime, this.name);
    });
  }

  /** Resumes the machine. One that is off drops the state when it starts. */
  dropState(): Promise<void> {
    return this.inTurn(async () => {
      if (this.runtime) await dropRunningState(this.runtime);
    });
  }

  /** Starts from the state of `keepState`. @throws Failure as `start`, and `conflict` without a state */
  startKept(): Promise<void> {
    return this.startInTurn(async () => {
      this.#goesOn = true;
      try {
        await this.startNow();
      } finally {
        this.#goesOn = false;
      }
    });
  }

  override reload(): Promise<void> {
    return this.startInTurn(async () => {
      if (!this.#isChanged) return void (await this.runtime?.reset());
      await this.switchOff();
      await this.startNow();
    });
  }

  resizeDisk({ drive_name: drive, extend }: DiskResize): Promise<void> {
    return this.inTurn(async () => {
      if (this.runtime) throw this.failure(`${this.name} is running; stop it before its disks grow.`);
      const { emulator, images, hidden } = this.#state;
      await using undo = new AsyncDisposableStack();
      await this.makeDirectory(undo);
      const tool = await DiskTool.beside(emulator.path);
      using held = new HeldNames();
      const options = diskOptions(this.#machineOwner, { hidden }, tool, held);
      await restoreDisks(images, options);
      await growDisk(images, drive, extend, options);
      undo.move();
    });
  }

  /** Copies what has changed on its own disks, for another host. @throws Failure `out-of-space`, `conflict` if it had to give way */
  checkpoint(): Promise<void> {
    return this.copyInTurn(async (signal) => {
      const { emulator, settings, images, hidden } = this.#state;
      if (!hidden.linked_clone) return;
      const tool = await DiskTool.beside(emulator.path);
      await takeCheckpoint({
        ...{ directory: this.directory, tool, images, qmp: this.runtime?.qmp, signal },
        ...(settings.guest_agent && { quietly: (act) => this.#whileFrozen(act) }),
      });
    });
  }

  /** A problem that stays is reported once. */
  async #whileFrozen(act: () => Promise<void>): Promise<void> {
    let problem = '';
    await whileFrozen(this.directory, act, (found) => {
      problem = found;
    });
    if (problem !== '' && problem !== this.#agentProblem) this.#warn(problem);
    this.#agentProblem = problem;
  }

  /**
   * Creates, extends or deletes disk images in the machine's folder.
   * @throws Failure `conflict` while the machine runs
   */
  changeDisks(change: (disks: DiskImages) => Promise<void>): Promise<void> {
    return this.inTurn(async () => {
      if (this.runtime) throw this.failure(`${this.name} is running; stop it before its disks change.`);
      await using undo = new AsyncDisposableStack();
      await this.makeDirectory(undo);
      await change(new DiskImages({ folder: this.directory, local: false, member: 'disk_name' }));
      undo.move();
    });
  }

  /** Copies the disks and everything else in the other machine's directory. */
  copyFilesOf(source: QemuNode): Promise<void> {
    return source.inTurn(() => copyFiles(this.project, source.relativeDirectory, this.relativeDirectory));
  }

  protected override async check(body: QemuUpdate, { undo }: Steps): Promise<NodeChange> {
    const before = this.#state;
    const isOther =
      body.qemu_path != null || (body.platform !== undefined && body.platform !== before.emulator.platform);
    const emulator = isOther ? await findEmulator(body.qemu_path, body.platform) : before.emulator;
    const settings = changedSettings(before.settings, body, this.id);
    const hidden = {
      linked_clone: body.linked_clone ?? before.hidden.linked_clone,
      custom_adapters: body.custom_adapters ?? before.hidden.custom_adapters,
    };
    const images = await this.#findImages(body);
    undo.defer(() => this.#reserve(before.images, before.hidden));
    this.#reserve(images, hidden);
    return {
      prepare: async () => {
        undo.defer(() => this.#throttle(settings, before.settings));
        await this.#throttle(before.settings, settings);
        await this.#changeCd(before.images, images);
        undo.defer(() => this.#changeCd(images, before.images));
      },
      apply: (_, steps) => {
        this.#state = { emulator, settings, hidden, images };
        this.#isChanged = true;
        this.#warnOfInitrd(before.images.initrd.path, images);
        if (settings.adapters === before.settings.adapters) return;
        this.ports.resize(settings.adapters, steps);
        this.#listenToPorts();
      },
    };
  }

  protected override async startNow(): Promise<void> {
    if (this.runtime) return this.#goOn(this.runtime);
    await super.startNow();
    this.#isChanged = false;
    this.#showHalt();
  }

  protected override releaseAll(rest: AsyncDisposableStack): void {
    rest.defer(() => this.#host.reserveImages(this, []));
    super.releaseAll(rest);
  }

  protected override async launch(resources: AsyncDisposableStack, undo: AsyncDisposableStack): Promise<QemuRuntime> {
    using _slot = await this.#host.startSlot(this.stopAsked);
    await this.makeDirectory(undo);
    const { type, port } = this.console;
    const settings = withConfigDisk(this.#state.settings);
    const machine = { ...this.#state, settings, console: { type, port }, goesOn: this.#goesOn };
    const runtime = await launchMachine(this.#machineOwner, machine, resources);
    this.#state = { ...this.#state, settings };
    this.#followHalts(runtime);
    await this.#join(runtime, resources);
    if (this.#goesOn) await forgetRunningState(runtime);
    await this.#forgetSavedState(runtime);
    await runtime.resume();
    return runtime;
  }

  protected override async reattachTo(
    { handle, record }: SurvivingProgram,
    resources: AsyncDisposableStack,
  ): Promise<QemuRuntime | ExitInfo> {
    const kept = v.parse(KEPT.schema, record.data);
    const { settings, images, hidden } = this.#state;
    reattachTpm(this.#machineOwner, resources);
    if (settings.create_config_disk) packAfterwards(this.#machineOwner, resources);
    const program = {
      handle,
      commandLine: record.command_line,
      kept,
      throttling: settings.cpu_throttling,
      disks: DRIVES.map((drive) => imageOf(images, drive))
        .filter((path) => path !== '')
        .map((path) => (hidden.linked_clone ? join(this.directory, 'disk') : path)),
    };
    const runtime = await QemuRuntime.reattach(this.#machineOwner, program, resources);
    if (runtime instanceof QemuRuntime) {
      this.#followHalts(runtime);
      await this.#join(runtime, resources);
      // The server may have been killed while it stopped the machine, which its user can now resume.
      await this.#forgetSavedState(runtime);
      await endInterruptedSnapshot(runtime);
      if (settings.guest_agent) void thawLeft(this.directory).catch(ignore);
    }
    return runtime;
  }

  /** It continues from there: if it were loaded again after an unexpected end, the disks would be reverted. */
  async #forgetSavedState(runtime: QemuRuntime): Promise<void> {
    await deleteState(runtime.qmp, SAVED_STATE).catch((error: unknown) => {
      const risk = 'unless the next stop saves another one, the next start reverts the disks to it';
      this.#warn(`its saved state stays in its disks, and ${risk}: ${messageOf(error)}`);
    });
  }

  get #machineOwner(): MachineOwner {
    return { ...this.owner, host: this.#host };
  }

  /** The machine may have been halted before the node was started. */
  #showHalt(): void {
    if (this.runtime?.isSuspended) this.status = 'suspended';
  }

  /** Updates the status after unrequested halts. */
  #followHalts(runtime: QemuRuntime): void {
    runtime.onHalt = () => {
      if (this.runtime === runtime) this.status = runtime.isSuspended ? 'suspended' : 'started';
    };
  }

  async #goOn(runtime: QemuRuntime): Promise<void> {
    if (runtime.isSuspended) await runtime.resume();
    this.status = 'started';
  }

  /** Connects the machine's adapters to their cables. */
  async #join(runtime: QemuRuntime, resources: AsyncDisposableStack): Promise<void> {
    for (const [adapter, kept] of runtime.kept.adapters.entries()) {
      const port = this.ports.all[adapter] as LivePort | undefined;
      if (port) {
        await port.setDevice(adapterDevice(kept, this.services));
        resources.defer(() => port.setDevice(null));
      }
      if (this.#state.settings.replicate_network_connection_state) await runtime.setLink(adapter, port?.isUp ?? false);
    }
    resources.defer(() => runtime.close(this.#onClose));
  }

  get #onClose() {
    const { on_close: how } = this.#state.settings;
    return this.isClosing && how === 'shutdown_signal' ? 'power_off' : how;
  }

  #listenToPorts(): void {
    followCables(this.id, this.ports, async (adapter, { isUp }) => {
      if (this.#state.settings.replicate_network_connection_state) await this.runtime?.setLink(adapter, isUp);
    });
  }

  /** Changes a running machine's CPU limit at once. */
  async #throttle(before: Settings, { cpu_throttling: percent }: Settings): Promise<void> {
    if (percent !== before.cpu_throttling) await this.runtime?.throttle(percent);
  }

  /** Changes a running machine's CD at once. */
  async #changeCd(before: Images, { cdrom_image: { path }, hdc_disk_image: { path: hdc } }: Images): Promise<void> {
    if (!this.runtime || path === before.cdrom_image.path) return;
    if (path !== '' && hdc !== '')
      throw this.failure('cdrom_image: the CD drive is where hdc is; take one of them away.');
    await this.runtime.changeCd(path);
  }

  /** Finds the images in a body; the others stay unchanged. */
  async #findImages(body: QemuCreate | QemuUpdate): Promise<Images> {
    const found = { ...this.#state.images };
    const user = { type: MODULE, exception: this.exception, project: this.project.path } as const;
    for (const member of IMAGE_MEMBERS) {
      const reference = body[member];
      if (reference === undefined || (reference === found[member].shown && reference !== '')) continue;
      found[member] = await findImage(member, reference, body[`${member}_md5sum`], user, this.services);
    }
    return found;
  }

  #reserve(images: Images, hidden: HiddenSettings): void {
    const paths = hidden.linked_clone ? [] : DRIVES.map((drive) => images[`${drive}_disk_image`].path);
    this.#host.reserveImages(
      this,
      paths.filter((path) => path !== ''),
    );
  }

  /** Old firewalls are known to need more than an initrd. */
  #warnOfInitrd(before: string, { initrd: { path } }: Images): void {
    if (path === before || !path.includes('asa')) return;
    this.#warn('an initrd of an ASA is known to need more memory and patience than others.');
  }

  #warn(what: string): void {
    this.services.events.emit('log.warning', { message: `${this.name}: ${what}` }, this.project.id);
  }
}
