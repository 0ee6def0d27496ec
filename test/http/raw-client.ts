// Bytes as they go over the wire, and what comes back until the other end closes, for tests of what no well-behaved client sends.
import { connect, type Socket } from 'node:net';

/** A complete opening of a WebSocket, header by header; `undefined` leaves one out. */
export function opening(target: string, changes: Record<string, string | undefined> = {}, method = 'GET'): string {
  const headers: Record<string, string | undefined> = {
    Host: '127.0.0.1',
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': Buffer.alloc(16).toString('base64'),
    ...changes,
  };
  const lines = Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${value}`]));
  return `${method} ${target} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`;
}

/** Sends bytes and gathers what comes, until `enough` of it is there or the other end closes. Fails when nothing more comes. */
export async function exchange(port: number, bytes: string, enough: (text: string) => boolean): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  try {
    return await new Promise<string>((resolve, reject) => {
      let text = '';
      const timer = setTimeout(() => reject(new Error(`no answer to ${JSON.stringify(bytes)}: ${text}`)), 60_000);
      const finish = (): void => {
        clearTimeout(timer);
        resolve(text);
      };
      socket.on('data', (chunk) => {
        text += chunk.toString('latin1');
        if (enough(text)) finish();
      });
      socket.on('error', reject);
      socket.on('close', finish);
      socket.write(bytes, 'latin1');
    });
  } finally {
    socket.destroy();
  }
}

/** The status of the first answer to what is sent. */
export async function statusOf(port: number, bytes: string): Promise<number> {
  const text = await exchange(port, bytes, (so_far) => so_far.includes('\r\n\r\n'));
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0);
}

/** Sends bytes and resets the connection at once; resolves when it is gone. */
export function sendAndReset(port: number, bytes: string): Promise<void> {
  return new Promise((resolve) => {
    const socket: Socket = connect(port, '127.0.0.1', () =>
      socket.write(bytes, 'latin1', () => socket.resetAndDestroy()),
    );
    socket.on('error', () => {});
    socket.on('close', () => resolve());
  });
}

/** What an opening may lack, or have too much of: each is a mistake of its own. */
export const HALF_OPENINGS: readonly [name: string, changes: Record<string, string | undefined>][] = [
  ['no Connection', { Connection: undefined }],
  ['Connection: close', { Connection: 'close' }],
  ['Connection: keep-alive', { Connection: 'keep-alive' }],
  ['Connection: upgraded', { Connection: 'upgraded' }],
  ['no Upgrade', { Upgrade: undefined }],
  ['another protocol', { Upgrade: 'h2c' }],
  ['no key', { 'Sec-WebSocket-Key': undefined }],
  ['an empty key', { 'Sec-WebSocket-Key': '' }],
  ['a short key', { 'Sec-WebSocket-Key': 'AAAA' }],
  ['a key that is no base64', { 'Sec-WebSocket-Key': '****************????????' }],
  ['no version', { 'Sec-WebSocket-Version': undefined }],
  ['version 8', { 'Sec-WebSocket-Version': '8' }],
  ['version 99', { 'Sec-WebSocket-Version': '99' }],
  ['a version that is no number', { 'Sec-WebSocket-Version': 'thirteen' }],
  ['a malformed extension', { 'Sec-WebSocket-Extensions': 'permessage-deflate; =' }],
  ['a wrong parameter', { 'Sec-WebSocket-Extensions': 'permessage-deflate; server_max_window_bits=99' }],
  ['an empty protocol', { 'Sec-WebSocket-Protocol': '' }],
  ['a malformed protocol', { 'Sec-WebSocket-Protocol': 'a b, c' }],
  ['one protocol twice', { 'Sec-WebSocket-Protocol': 'a, a' }],
  ['a body', { 'Content-Length': '0001' }],
];
