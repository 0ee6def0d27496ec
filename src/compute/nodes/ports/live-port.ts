// A port that notifies its node of cable changes while it runs: plugged, suspended, resumed, unplugged.
import type { Nio } from '../../../api/routes/compute-nodes.ts';
import type { InterfaceChange } from '../../../fabric/fabric.ts';
import { messageOf } from '../../../failures.ts';
import { log } from '../../../host/log.ts';
import type { AdapterPorts } from './adapter-ports.ts';
import { NodePort } from './port.ts';

export class LivePort extends NodePort {
  #isSuspended = false;
  #heard: () => Promise<void> = async () => {};

  /** A cable is plugged in, and not suspended. */
  get isUp(): boolean {
    return this.hasNio && !this.#isSuspended;
  }

  /** Registers a listener, called after each change. Its errors do not affect the cable. */
  onCable(heard: () => Promise<void>): void {
    this.#heard = heard;
  }

  override async attach(wanted: Nio): Promise<void> {
    await super.attach(wanted);
    await this.#changed(wanted);
  }

  override async update(wanted: Nio): Promise<void> {
    await super.update(wanted);
    await this.#changed(wanted);
  }

  /** An interface disappears with its program, whose end is reported. */
  protected override interfaceChanged(change: InterfaceChange): void {
    if (change.state !== 'gone') super.interfaceChanged(change);
  }

  override async detach(): Promise<void> {
    await super.detach();
    await this.#heard();
  }

  async #changed(nio: Nio): Promise<void> {
    this.#isSuspended = 'suspend' in nio && nio.suspend === true;
    await this.#heard();
  }
}

/**
 * Follows the cables of a node. Call it again when the ports change.
 * @param ports each of them a `LivePort`
 * @param changed lets the guest know, if it runs; failures are logged
 */
export function followCables(
  node: string,
  ports: AdapterPorts,
  changed: (adapter: number, port: LivePort) => Promise<void>,
): void {
  for (const [adapter, one] of ports.all.entries()) {
    const port = one as LivePort;
    port.onCable(() =>
      changed(adapter, port).catch((error: unknown) => {
        log.warn('a guest does not hear of its cable', { node, adapter, reason: messageOf(error) });
      }),
    );
  }
}
