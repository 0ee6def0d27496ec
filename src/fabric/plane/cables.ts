// The UDP cables of this process by local port. Two that are each other's peer are fused.

import { networkInterfaces } from 'node:os';
import { type FrameCalls, familyOf } from '../../host/system-calls.ts';
import type { UdpAddress } from '../model.ts';
import type { Connection } from './port.ts';
import type { UdpEndpoint } from './udp-endpoint.ts';

/** A UDP cable's connection with its socket. */
export type UdpConnection = Connection & { cable: UdpAddress; endpoint: UdpEndpoint };

function key(host: string, port: number): string {
  return `${familyOf(host)}/${port}`;
}

export class Cables {
  readonly #calls: FrameCalls;
  readonly #connections = new Map<string, UdpConnection>();

  constructor(calls: FrameCalls) {
    this.#calls = calls;
  }

  has(address: UdpAddress): boolean {
    return this.#connections.has(key(address.remoteHost, address.localPort));
  }

  /** Adds a cable and fuses it if its other end is in this process. */
  add(connection: UdpConnection): void {
    const { remoteHost, localPort, remotePort } = connection.cable;
    const other = this.#connections.get(key(remoteHost, remotePort));
    const meets = other?.cable.remotePort === localPort && this.#leadsHere(connection) && this.#leadsHere(other);
    this.#connections.set(key(remoteHost, localPort), connection);
    if (!meets) return;
    connection.fusedWith = other;
    other.fusedWith = connection;
  }

  /** Removes a cable; its other end goes back to UDP. */
  remove(connection: UdpConnection): void {
    this.#connections.delete(key(connection.cable.remoteHost, connection.cable.localPort));
    if (connection.fusedWith !== undefined) connection.fusedWith.fusedWith = undefined;
    connection.fusedWith = undefined;
  }

  /** Whether the cable's peer address belongs to this host. */
  #leadsHere({ endpoint, cable: { remoteHost } }: UdpConnection): boolean {
    if (remoteHost.startsWith('127.') || ['0.0.0.0', '::', '::1'].includes(remoteHost)) return true;
    // Listing interfaces is slow on a host with many TAPs; only secondary addresses need it.
    if (this.#calls.isOwnPeer(endpoint.socket, remoteHost)) return true;
    return Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === remoteHost));
  }
}
