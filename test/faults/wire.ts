// Requests byte by byte, as no well-behaved client would send them.
import { connect, type Socket } from 'node:net';

export interface WireAnswer {
  /** 0 when the connection ended without one. */
  status: number;
  /** Of all answers on the connection. */
  statuses: number[];
  text: string;
  /** Whether the server ended the connection, and not the limit. */
  ended: boolean;
}

/** Sends the bytes on a connection of their own and reads until its end; a stream that does not end is cut off after `limit` milliseconds. */
export function exchange(port: number, bytes: Buffer | string, limit = 10_000): Promise<WireAnswer> {
  return new Promise((resolve) => {
    const socket: Socket = connect(port, '127.0.0.1');
    const chunks: Buffer[] = [];
    let ended = true;
    const timer = setTimeout(() => {
      ended = false;
      socket.destroy();
    }, limit);
    socket.on('connect', () => socket.write(bytes));
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', () => {});
    socket.on('close', () => {
      clearTimeout(timer);
      const text = Buffer.concat(chunks).toString('latin1');
      const statuses = [...text.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status]) => Number(status));
      resolve({ status: statuses[0] ?? 0, statuses, text, ended });
    });
  });
}

/** A request whose target stands on the wire exactly as it is given; blanks and line ends in it would end it. */
export function requestBytes(
  method: string,
  target: string,
  body?: Buffer | string,
  type = 'application/json',
): Buffer {
  const content = Buffer.from(body ?? '');
  const head = [
    `${method} ${target.replace(/[\s]/g, (blank) => encodeURIComponent(blank))} HTTP/1.1`,
    ...['Host: 127.0.0.1', 'Connection: close', `Content-Type: ${type}`, `Content-Length: ${content.length}`],
  ];
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'utf8'), content]);
}

/** Runs the task for each item, some of them at a time. */
export async function forEachAtOnce<T>(
  items: readonly T[],
  atOnce: number,
  task: (item: T) => Promise<void>,
): Promise<void> {
  let next = 0;
  const runner = async (): Promise<void> => {
    while (next < items.length) await task(items[next++]!);
  };
  await Promise.all(Array.from({ length: atOnce }, runner));
}
