// A port of a cloud or a NAT: a port like any other, whose device is something outside of the lab, open while the port has a NIO.
import type { Device } from '../../fabric/fabric.ts';
import type { Nio } from '../nodes/nio.ts';
import type { Node } from '../nodes/node.ts';
import { NodePort, type PortRules } from '../nodes/port.ts';
import type { Services } from '../services.ts';

/** What a port leads to, as long as it is open. */
export interface Outside {
  readonly device: Device;
  /** Called once the port has let go of the device, or after `device` was refused. */
  close(): Promise<void>;
  /** What there is to do when the fabric has opened the device, such as to make a TAP a port of a bridge. */
  opened?(): Promise<void>;
}

/** @throws Failure that says what is missing, and what to do about it */
export type OpenOutside = () => Promise<Outside>;

export class OutsidePort extends NodePort {
  private readonly open: OpenOutside;
  /** Told when the NIO is there and what the port leads to is not. */
  private readonly failed: (reason: unknown) => void;
  private outside: Outside | undefined;

  /** @param label `adapter/port`, for messages */
  constructor(
    node: Node,
    label: string,
    rules: PortRules,
    services: Services,
    open: OpenOutside,
    failed: (reason: unknown) => void,
  ) {
    super(node, label, rules, services);
    this.open = open;
    this.failed = failed;
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
    const outside = await this.open();
    await using undo = new AsyncDisposableStack();
    undo.defer(() => outside.close());
    undo.defer(() => this.setDevice(null));
    await this.setDevice(outside.device);
    await outside.opened?.();
    // It may have been unplugged meanwhile, by the end of its project.
    if (!this.hasNio) return;
    undo.move();
    this.outside = outside;
  }

  private async disconnect(): Promise<void> {
    const { outside } = this;
    this.outside = undefined;
    await this.setDevice(null);
    await outside?.close();
  }
}
