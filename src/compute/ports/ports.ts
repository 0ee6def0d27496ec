// The ports that this compute assigns: TCP for consoles, UDP for cables (as in release 2.2.57).

import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';
import type { Config } from '../../config/schema.ts';
import { isLoopback } from '../../host/network/loopback.ts';
import { PortPool } from './pool.ts';

/** Ports from 1024 on to which browsers refuse to connect (https://fetch.spec.whatwg.org/#port-blocking). */
export const BLOCKED_BY_BROWSERS = new Set([
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]);

/** The address for consoles: loopback, because they have no password, or all addresses with `allow_remote_console`. */
export function consoleHost({ Server }: Config): string {
  if (!Server.allow_remote_console) {
    if (isLoopback(Server.host)) return Server.host;
    return Server.host.includes(':') ? '::1' : '127.0.0.1';
  }
  return Server.host.includes(':') ? '::' : '0.0.0.0';
}

export class Ports {
  readonly console: PortPool;
  /** The console ports that VNC may use. */
  readonly vncRange: readonly [number, number];
  readonly udp: PortPool;

  constructor(config: Config) {
    const { Server } = config;
    const hosts = [...new Set([consoleHost(config), '0.0.0.0'])];
    this.console = new PortPool({
      range: [Server.console_start_port_range, Server.console_end_port_range],
      purpose: 'console (TCP)',
      keys: 'console_start_port_range and console_end_port_range in the [Server] section',
      avoided: BLOCKED_BY_BROWSERS,
      async bindable(port) {
        for (const host of hosts) if (!(await tcpBindable(host, port))) return false;
        return true;
      },
    });
    this.vncRange = [Server.vnc_console_start_port_range, Server.vnc_console_end_port_range];
    this.udp = new PortPool({
      range: [Server.udp_start_port_range, Server.udp_end_port_range],
      purpose: 'UDP',
      keys: 'udp_start_port_range and udp_end_port_range in the [Server] section',
      passesOver: true,
      bindable: udpBindable,
    });
  }

  releaseAll(projectId: string): void {
    this.console.releaseAll(projectId);
    this.udp.releaseAll(projectId);
  }
}

/** Whether a server could listen on this address and TCP port. */
function tcpBindable(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', () => resolve(false));
    server.listen({ host, port, exclusive: true, backlog: 1 }, () => server.close(() => resolve(true)));
  });
}

/** Whether a socket could be bound to this UDP port on all addresses. */
function udpBindable(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createSocket('udp4');
    socket.once('error', () => {
      socket.close();
      resolve(false);
    });
    socket.bind({ address: '0.0.0.0', port, exclusive: true }, () => socket.close(() => resolve(true)));
  });
}
