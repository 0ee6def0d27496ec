// Checks whether a port can be bound now, since other programs use ports, too.
import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';

/** Whether a server could listen on this address and TCP port. */
export function tcpBindable(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', () => resolve(false));
    server.listen({ host, port, exclusive: true, backlog: 1 }, () => server.close(() => resolve(true)));
  });
}

/** Whether a socket could be bound to this UDP port on all addresses. */
export function udpBindable(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createSocket('udp4');
    socket.once('error', () => {
      socket.close();
      resolve(false);
    });
    socket.bind({ address: '0.0.0.0', port, exclusive: true }, () => socket.close(() => resolve(true)));
  });
}
