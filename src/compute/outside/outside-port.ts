// A port of a cloud or a NAT: a port like any other, whose device is something outside of the lab, open while the port has a NIO.
import { setMaxListeners } from 'node:events';
import type { Device } from '../../fabric/fabric.ts';
import type { Nio } from '../nodes/nio.ts';
import type { Node } from '../nodes/node.ts';
import { NodePort, type PortRules } from '../nodes/port.ts';
import type { Services } from '../services.ts';

/** What a port leads to, as long as it is open. */
export interface Outside {
  readonly device: Device;
  /** What there is to do each time when the fabric has opened the device, such as to make a TAP a port of a bridge. */
  opened?(): void;
  /** Called once the port has let go of the device, or after `device` was refused. */
  close(): Promise<void>;
}

export interface Leads {
  /** Of the fabric, where the device is; that of the node's project if absent. */
  readonly group?: string;
  /** @throws Failure that says what is missing, and what to do about it */
  open(): Promise<Outside>;
}

export class OutsidePort extends NodePort {
  private readonly leads: Leads;
  /** Told when the NIO is there and what the port leads to is not. */
  private readonly failed: (reason: unknown) => void;
  private readonly outer: Services;
  private outside: Outside | undefined;

  /** @param label `adapter/port`, for messages */
  constructor(
    node: Node,
    label: string,
    rules: PortRules,
    services: Services,
    leads: Leads,
    failed: (reason: unknown) => void,
  ) {
    super(node, label, rules, services);
    this.leads = leads;
    this.failed = failed;
    this.outer = services;
  }

  protected override get group(): string {
    return this.leads.group ?? super.group;
  }

  /** As every port; the NIO stays even if what the port leads to cannot be opened (release 2.2.57, section 16.9). */
  override async attach(wanted: Nio): Promise<void> {
    await super.attach(wanted);
    await this.connect().catch(this.failed);
  }

  override async detach(): Promise<void> {
    await super.detach();
    await this.disconnect();
  }

  override async close(): Promise<void> {
    await super.close();
    await this.disconnect();
  }

  /**
   * Opens what the port leads to, if it has a NIO and is not open.
   * @throws Failure that says what is missing, and what to do about it
   */
  async connect(): Promise<void> {
    if (!this.hasNio || this.outside) return;
    const outside = await this.leads.open();
    await using undo = new AsyncDisposableStack();
    undo.defer(() => outside.close());
    undo.defer(() => this.setDevice(null));
    await this.setDevice(outside.device);
    outside.opened?.();
    // It may have been unplugged meanwhile, by the end of its project.
    if (!this.hasNio) return;
    undo.move();
    this.outside = outside;
    if (!outside.opened) return;
    // As many as there are such ports.
    setMaxListeners(0, this.outer.fabric);
    this.outer.fabric.on('recovered', this.reopened);
  }

  private async disconnect(): Promise<void> {
    const { outside } = this;
    this.outside = undefined;
    this.outer.fabric.off('recovered', this.reopened);
    await this.setDevice(null);
    await outside?.close();
  }

  /** A thread of the fabric has died and was built anew, with a TAP that knows nothing of its bridge. */
  private readonly reopened = ({ groups }: { groups: readonly string[] }): void => {
    if (!groups.includes(this.group)) return;
    try {
      this.outside?.opened?.();
    } catch (thrown) {
      this.failed(thrown);
    }
  };
}
