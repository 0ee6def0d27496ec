// A port whose node hears of its cable while it runs: that one comes, is suspended, goes on, goes.
import type { InterfaceChange } from '../../../fabric/fabric.ts';
import type { Nio } from './nio.ts';
import { NodePort } from './port.ts';

export class LivePort extends NodePort {
  #isSuspended = false;
  #heard: (isUp: boolean) => Promise<void> = async () => {};

  /** A cable is plugged in, and not suspended. */
  get isUp(): boolean {
    return this.hasNio && !this.#isSuspended;
  }

  /** Who is told of each change, after it; an error of it is not the cable's. */
  onCable(heard: (isUp: boolean) => Promise<void>): void {
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

  /** An interface that is gone went with the program, whose end is told. */
  protected override interfaceChanged(change: InterfaceChange): void {
    if (change.state !== 'gone') super.interfaceChanged(change);
  }

  override async detach(): Promise<void> {
    await super.detach();
    await this.#heard(false);
  }

  async #changed(nio: Nio): Promise<void> {
    this.#isSuspended = 'suspend' in nio && nio.suspend === true;
    await this.#heard(this.isUp);
  }
}
