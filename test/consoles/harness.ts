// What the console tests have in common.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { eventually } from '../eventually.ts';

/** Whether there is such a process, and it is no zombie. */
export function isRunning(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}

/** A client that collects what it reads, telnet commands included. */
export class Client {
  readonly socket: Socket;
  text = '';
  closed = false;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (chunk) => {
      this.text += chunk.toString('latin1');
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      this.closed = true;
    });
  }

  static async open(t: TestContext, port: number): Promise<Client> {
    const client = new Client(connect(port, '127.0.0.1'));
    t.after(() => client.socket.destroy());
    await once(client.socket, 'connect');
    return client;
  }

  send(text: string | Buffer): void {
    this.socket.write(text);
  }

  async sees(pattern: RegExp): Promise<string> {
    await eventually(
      () => `${pattern} in ${JSON.stringify(this.text.slice(-500))}`,
      () => pattern.test(this.text),
    );
    return this.text;
  }

  async ends(): Promise<void> {
    await eventually('the end of the connection', () => this.closed);
  }
}
