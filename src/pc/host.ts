// The network half of a PC: one interface, both IP versions, and the protocols above them.

import { familyOf } from './address.ts';
import { Icmp, isIntact } from './icmp.ts';
import { Ipv4 } from './ipv4.ts';
import { Ipv6 } from './ipv6.ts';
import { ETHERTYPE, Link } from './link.ts';
import { type Arrived, type Departing, type Network, PROTOCOL } from './packet.ts';
import { Tcp } from './tcp.ts';
import type { Timers } from './timers.ts';
import { Udp } from './udp.ts';

const FIRST_DYNAMIC_PORT = 49_152;
const DYNAMIC_PORTS = 16_384;

export class Host implements Network {
  readonly timers: Timers;
  readonly link: Link;
  readonly ipv4: Ipv4;
  readonly ipv6: Ipv6;
  readonly icmp: Icmp;
  readonly udp: Udp;
  readonly tcp: Tcp;

  /** `transmit` is given frames that are its own to keep; it must not call `receive` before it returns. */
  constructor(mac: Buffer, timers: Timers, transmit: (frame: Buffer) => void) {
    const deliver = (packet: Arrived): void => this.#deliver(packet);
    this.timers = timers;
    this.link = new Link(mac, transmit);
    this.ipv4 = new Ipv4(this.link, timers, deliver);
    this.ipv6 = new Ipv6(this.link, timers, deliver);
    this.icmp = new Icmp(this);
    this.udp = new Udp(this, this.icmp, () => timers.now());
    this.tcp = new Tcp(this, timers);
  }

  /** Takes a frame of any length and content, which stays as it is. */
  receive(frame: Buffer): void {
    if (!this.link.accepts(frame)) return;
    this.link.watcher?.(frame, false);
    switch (frame.readUInt16BE(12)) {
      case ETHERTYPE.arp:
        this.ipv4.receiveArp(frame);
        break;
      case ETHERTYPE.ipv4:
        this.ipv4.receive(frame);
        break;
      case ETHERTYPE.ipv6:
        this.ipv6.receive(frame);
        break;
    }
  }

  send(packet: Departing): boolean {
    return familyOf(packet.destination) === 4 ? this.ipv4.send(packet) : this.ipv6.send(packet);
  }

  sourceFor(destination: Buffer): Buffer | undefined {
    return familyOf(destination) === 4 ? this.ipv4.sourceFor(destination) : this.ipv6.sourceFor(destination);
  }

  /** A port of the dynamic range for a socket of the PC's own. */
  freePort(): number {
    return FIRST_DYNAMIC_PORT + Math.floor(Math.random() * DYNAMIC_PORTS);
  }

  #deliver(arrived: Arrived): void {
    switch (arrived.protocol) {
      case PROTOCOL.udp:
        this.udp.receive(arrived);
        break;
      case PROTOCOL.tcp:
        this.tcp.receive(arrived);
        break;
      case PROTOCOL.icmp:
        this.icmp.receive(arrived);
        break;
      case PROTOCOL.icmpv6:
        if (isIntact(arrived) && !this.ipv6.receiveIcmp(arrived)) this.icmp.receive(arrived);
    }
  }
}
