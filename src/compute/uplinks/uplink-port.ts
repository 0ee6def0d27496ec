// A port of a cloud or a NAT: an ordinary port whose device is outside of the lab. The device is open while the port
// has a NIO.
import type { Nio } from '../../api/routes/compute-nodes.ts';
import type { Device } from '../../fabric/fabric.ts';
import { KeyedLock } from '../../host/values/keyed-lock.ts';
import type { Node } from '../nodes/node.ts';
import { NodePort, type PortRules } from '../nodes/ports/port.ts';
import type { Services } from '../services.ts';
import type { OutsideAccess, Way } from './outside-access.ts';

/** The open connection of a port to the outside of the lab. */
export interface Uplink {
  readonly device: Device;
  /** Called once the port has released the device, or after `device` was refused. */
  close(): Promise<void>;
}

/** How to open the uplink of a port. */
export interface UplinkSpec {
  /** The device's group in the fabric. Default: the node's project. */
  readonly group?: string;
  /** @throws Failure with the problem and the fix */
  open(): Promise<Uplink>;
}

export class UplinkPort extends NodePort {
  readonly #spec: UplinkSpec;
  /** Called if the uplink of a port with a NIO is not available. */
  readonly #failed: (reason: unknown) => void;
  #uplink: Uplink | undefined;
  /** Opens and closes of the uplink run one after the other. */
  readonly #openings = new KeyedLock();

  readonly #outside: OutsideAccess;
  readonly #way: Way;

  /** @param label `adapter/port`, for messages */
  constructor(
    node: Node,
    label: string,
    rules: PortRules,
    services: Services,
    spec: UplinkSpec,
    failed: (reason: unknown) => void,
  ) {
    super(node, label, rules, services);
    this.#spec = spec;
    this.#failed = failed;
    this.#outside = services.outsideAccess;
    this.#way = {
      projectId: node.project.id,
      connect: () => this.connect().catch(failed),
      disconnect: () => this.#disconnect().catch(failed),
    };
  }

  protected override get group(): string {
    return this.#spec.group ?? super.group;
  }

  /** The NIO stays even if the uplink cannot be opened, as in release 2.2.57. */
  override async attach(wanted: Nio): Promise<void> {
    await super.attach(wanted);
    this.#outside.add(this.#way);
    await this.connect().catch(this.#failed);
  }

  override async detach(): Promise<void> {
    await super.detach();
    this.#outside.delete(this.#way);
    await this.#disconnect();
  }

  override async close(): Promise<void> {
    this.#outside.delete(this.#way);
    await super.close();
    await this.#disconnect();
  }

  /**
   * Opens the uplink, if the port has a NIO and is not open, and the host may reach the outside.
   * @throws Failure with the problem and the fix
   */
  connect(): Promise<void> {
    return this.#openings.run('uplink', () => this.#openNow());
  }

  async #openNow(): Promise<void> {
    if (!this.hasNio || this.#uplink || !this.#outside.isOpen) return;
    const uplink = await this.#spec.open();
    await using undo = new AsyncDisposableStack();
    undo.defer(() => uplink.close());
    undo.defer(() => this.setDevice(null));
    await this.setDevice(uplink.device);
    // It may have been unplugged meanwhile by the end of its project.
    if (!this.hasNio || !this.#outside.isOpen) return;
    undo.move();
    this.#uplink = uplink;
  }

  #disconnect(): Promise<void> {
    return this.#openings.run('uplink', async () => {
      const uplink = this.#uplink;
      this.#uplink = undefined;
      try {
        await this.setDevice(null);
      } finally {
        await uplink?.close();
      }
    });
  }
}
