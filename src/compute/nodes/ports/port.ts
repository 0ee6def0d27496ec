// A port of a node: its NIO, its impairments, and its capture.
import type { Nio, NodeCapture, PortImpairments, PortSchedule } from '../../../api/routes/compute-nodes.ts';
import type {
  CableImpairments,
  CaptureStatistics,
  Device,
  FabricPort,
  InterfaceChange,
  PacketAddress,
  PortStatistics,
  TunnelNotice,
} from '../../../fabric/fabric.ts';
import type { Impairments } from '../../../fabric/model.ts';
import { conflict, type Failure, ignore } from '../../../failures.ts';
import { shortHash, tunnelName } from '../../../host/network/interfaces.ts';
import { KeyedLock } from '../../../host/values/keyed-lock.ts';
import type { Services } from '../../services.ts';
import { withExceptionName } from '../exception-name.ts';
import type { PortOwner } from '../owner.ts';
import type { Capture } from './captures.ts';
import { impairmentsOf, SUSPENDED } from './filters.ts';
import {
  cableImpairments,
  planOf,
  type Started,
  scheduleAnswer,
  statisticsAnswer,
  tunnelAnswer,
} from './impairments.ts';
import { cableOf, mustBePluggable, mustBeUsable, type PluggableNio, relayPath } from './nio.ts';

/** The common properties of a kind's ports. */
export interface PortRules {
  /** The name in the member `exception` of its errors: `VPCSError`. */
  readonly exception: string;
  readonly nios: ReadonlySet<PluggableNio['type']>;
}

interface Attached {
  readonly nio: PluggableNio;
  readonly port: FabricPort;
  /** Impairments by direction, without the schedule. */
  directions: CableImpairments;
  schedule?: Started;
}

const NOT_OFFERED =
  'the other host has no VXLAN on the same UDP port, or an end of the link is of a kind whose frames the kernel does not forward';

export class NodePort {
  readonly #label: string;
  readonly #node: PortOwner;
  readonly #rules: PortRules;
  readonly #services: Services;
  #device: Device | null;
  #attached: Attached | undefined;
  #closed = false;
  /** Changes of the port run one after the other: the fabric takes time, and each change builds on the one before. */
  readonly #turns = new KeyedLock();

  /** @param label `adapter/port`; names its VXLAN link, too */
  constructor(node: PortOwner, label: string, rules: PortRules, services: Services, device: Device | null = null) {
    this.#node = node;
    this.#label = label;
    this.#rules = rules;
    this.#services = services;
    this.#device = device;
  }

  get hasNio(): boolean {
    return this.#attached !== undefined;
  }

  /** The fabric's group: members of one group share a thread, where cables need no UDP. */
  protected get group(): string {
    return this.#node.project.id;
  }

  /** Frames that passed the port, and those dropped at it; undefined without a NIO. */
  async statistics(): Promise<PortStatistics | undefined> {
    return await this.#attached?.port.statistics();
  }

  /** Sets the node's end of the cable: its emulator while that runs, otherwise null. The NIO stays. */
  setDevice(device: Device | null): Promise<void> {
    return this.#inTurn(async () => {
      // If the fabric refuses it, the port has no device.
      this.#device = null;
      await withExceptionName(this.#rules.exception, () => this.#attached?.port.setDevice(device));
      this.#device = device;
    });
  }

  /**
   * Plugs the NIO in. On failure the port is unchanged.
   * @throws Failure `conflict`
   */
  async attach(wanted: Nio): Promise<void> {
    await this.#node.mustBeFree?.(Number.parseInt(this.#label, 10));
    const nio = mustBePluggable(wanted, this.#rules.nios);
    mustBeUsable(nio, this.#services.config.Server.allowed_interfaces);
    await this.#inTurn(async () => {
      if (this.#attached) throw this.#refusal('has a NIO already; remove it first');
      const impairments = await impairmentsOf(nio);
      await withExceptionName(this.#rules.exception, async () => {
        await using undo = new AsyncDisposableStack();
        if (nio.type === 'nio_udp') undo.defer(() => this.#services.frameRelay?.close(nio.lport));
        undo.defer(() => this.#removeTunnel(nio));
        const cable = await cableOf(nio, this.#services.frameRelay);
        if (nio.type === 'nio_udp' && cable.kind === 'udp') cable.via = await this.#tunnel(nio.vni, cable.remoteHost);
        const port = await this.#services.fabric.createPort(
          this.#device,
          (change) => this.interfaceChanged(change),
          this.group,
          (notice) => this.#notifyUnfit(notice),
        );
        undo.defer(() => port.close());
        await port.connect(cable, impairments);
        if (this.#closed) throw this.#refusal('was removed meanwhile');
        undo.move();
        this.#attached = { nio, port, directions: cableImpairments({}) };
      });
    });
  }

  /** Changes suspension and filters; the cable stays. */
  async update(wanted: Nio): Promise<void> {
    const impairments = await impairmentsOf(mustBePluggable(wanted, this.#rules.nios));
    await this.#inTurn(() => this.#impair(this.#connection().port, impairments));
  }

  /** Stops all frames, or ends that; for kinds whose NIOs have no update. */
  suspend(suspended: boolean): Promise<void> {
    return this.#inTurn(async () => {
      const { port, nio } = this.#connection();
      await this.#impair(port, suspended ? SUSPENDED : await impairmentsOf(nio));
    });
  }

  async #impair(port: FabricPort, impairments: Impairments): Promise<void> {
    await withExceptionName(this.#rules.exception, () => port.impair(impairments));
  }

  /** Replaces the impairments by direction, besides the NIO's filters, and ends the schedule. Returns the result. */
  impairDirections(wanted: PortImpairments): Promise<CableImpairments> {
    return this.#inTurn(async () => {
      const attached = this.#connection();
      const directions = cableImpairments(wanted);
      await withExceptionName(this.#rules.exception, () => attached.port.impairDirections(directions));
      attached.directions = directions;
      return directions;
    });
  }

  /** Starts a schedule in place of a running one. It ends with the next change of the directions, or with the NIO. */
  startSchedule(asked: PortSchedule): Promise<object> {
    return this.#inTurn(async () => {
      const attached = this.#connection();
      const started = { asked, plan: planOf(attached.directions, asked) };
      const state = await withExceptionName(this.#rules.exception, () => attached.port.schedule(started.plan));
      attached.schedule = started;
      return scheduleAnswer(started, state);
    });
  }

  /** The state of the last started schedule. */
  async scheduleState(): Promise<object> {
    const { port, schedule } = this.#connection();
    return scheduleAnswer(schedule, await withExceptionName(this.#rules.exception, () => port.scheduleState()));
  }

  cancelSchedule(): Promise<void> {
    return this.#inTurn(async () => {
      const { port } = this.#connection();
      await withExceptionName(this.#rules.exception, () => port.cancelSchedule());
    });
  }

  /** The cable's statistics since the NIO was plugged in, or since they were reset. */
  async cableStatistics(): Promise<object> {
    const { port, nio } = this.#connection();
    return withExceptionName(this.#rules.exception, async () => {
      const [cable, { capture, path, tunnel }] = await Promise.all([port.cableStatistics(), port.statistics()]);
      return {
        ...statisticsAnswer(cable),
        capture: capture ?? null,
        path: relayPath(nio) ?? path,
        tunnel: tunnelAnswer(tunnel, this.#services.vxlanLinks.state(this.#tunnelName), this.#withoutVxlan()),
      };
    });
  }

  async resetStatistics(): Promise<void> {
    const { port } = this.#connection();
    this.#services.vxlanLinks.reset(this.#tunnelName);
    await withExceptionName(this.#rules.exception, () => port.resetStatistics());
  }

  /**
   * Unplugs the NIO, ends its capture and releases its UDP port.
   * @throws Failure `conflict` without a NIO
   */
  detach(): Promise<void> {
    return this.#inTurn(async () => {
      this.#connection();
      await this.#unplug();
    });
  }

  /** Unplugs the NIO, if any, for good. */
  close(): Promise<void> {
    this.#closed = true;
    return this.#inTurn(() => this.#unplug());
  }

  /** Records into a file of the project. Resolves when the file exists. */
  async startCapture(asked: NodeCapture): Promise<Capture> {
    const { project, name } = this.#node;
    return this.#inTurn(() => {
      const { port } = this.#connection();
      return withExceptionName(this.#rules.exception, () =>
        this.#services.captures.begin(port, {
          project,
          asked,
          interfaceName: `${name} ${this.#label}`,
          failed: (reason) => {
            const message = `The capture at port ${this.#label} of ${name} has ended: ${reason}`;
            this.#services.events.emit('log.error', { message }, project.id);
          },
        }),
      );
    });
  }

  /** @throws Failure `conflict` without a NIO */
  stopCapture(): Promise<void> {
    return this.#inTurn(() => this.#services.captures.end(this.#connection().port));
  }

  async captureFigures(): Promise<CaptureStatistics | undefined> {
    return (await this.#attached?.port.statistics().catch(() => undefined))?.capture;
  }

  /** @throws Failure `conflict` without a capture */
  capture(): Capture {
    const capture = this.#attached && this.#services.captures.of(this.#attached.port);
    if (capture) return capture;
    throw this.#refusal('is not being captured; start a capture first');
  }

  /** Called when an interface that the port leads to has changed. */
  protected interfaceChanged({ interface: name, state }: InterfaceChange): void {
    const away = state === 'down' ? 'is down; bring it up' : 'is gone; frames are dropped until it is there again';
    const message = `Port ${this.#label} of ${this.#node.name}: interface ${name} ${state === 'open' ? 'is back' : away}.`;
    this.#services.events.emit(state === 'open' ? 'log.info' : 'log.warning', { message }, this.#node.project.id);
  }

  /** Why a link by UDP has no way by VXLAN. */
  #withoutVxlan(): string {
    const { vxlanLinks } = this.#services;
    return vxlanLinks.unavailable ?? vxlanLinks.refusal(this.#tunnelName) ?? NOT_OFFERED;
  }

  #notifyUnfit({ unfit, host, pathMtu, longestWhole }: TunnelNotice): void {
    const problem =
      unfit === 'tooLong'
        ? `frames are longer than a UDP packet to ${host} can be, and are dropped; lower the MTU of the nodes`
        : `frames of more than ${longestWhole} bytes go to ${host} in fragments (path MTU ${pathMtu}), which is slow and which some firewalls drop; lower the MTU of the nodes, or raise that between the hosts`;
    const message = `Port ${this.#label} of ${this.#node.name}: ${problem}.`;
    this.#services.events.emit('log.warning', { message }, this.#node.project.id);
  }

  #inTurn<T>(change: () => T | Promise<T>): Promise<T> {
    return this.#turns.run('port', change);
  }

  async #unplug(): Promise<void> {
    if (!this.#attached) return;
    const { nio, port } = this.#attached;
    this.#attached = undefined;
    await this.#services.captures.end(port);
    await port.close();
    if (nio.type !== 'nio_udp') return;
    this.#services.frameRelay?.close(nio.lport);
    this.#services.ports.udp.release(this.#node.project.id, nio.lport);
    await this.#removeTunnel(nio);
  }

  /** The interface to the other host if the NIO asks for VXLAN and this host has it. */
  async #tunnel(vni: number | undefined, host: string): Promise<PacketAddress | undefined> {
    if (vni === undefined) return undefined;
    const { id, project } = this.#node;
    const process = await this.#services.vxlanLinks.add(this.#tunnelName, `${project.id} ${id}`, {
      ...{ vni, host },
      used: (isUsed) => this.#useVxlan(isUsed),
      fragmented: (state) => this.#notifyUnfit({ unfit: 'fragmented', ...state }),
    });
    return process === undefined ? undefined : { interface: this.#tunnelName, kernel: true, process };
  }

  #useVxlan(isUsed: boolean): void {
    void this.#inTurn(() => this.#attached?.port.useVia(isUsed)).catch(ignore);
  }

  async #removeTunnel(nio: PluggableNio): Promise<void> {
    if (nio.type === 'nio_udp' && nio.vni !== undefined) await this.#services.vxlanLinks.remove(this.#tunnelName);
  }

  get #tunnelName(): string {
    return tunnelName(shortHash(`${this.#node.id}/${this.#label}`));
  }

  #connection(): Attached {
    if (this.#attached) return this.#attached;
    throw this.#refusal('has no NIO; add one first');
  }

  #refusal(why: string): Failure {
    const { exception } = this.#rules;
    return conflict(`Port ${this.#label} of ${this.#node.name} ${why}.`, { exception });
  }
}
