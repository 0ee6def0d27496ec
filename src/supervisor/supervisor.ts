// The supervisor: a small process that holds the programs of one daemon, their terminals and their last output, and
// outlives the daemon. It serves one daemon at a time, and ends when it has neither a daemon nor a program.

import { rmSync, writeSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { messageOf } from '../failures.ts';
import { log } from '../host/log.ts';
import { ownUser } from '../host/processes/own-user.ts';
import { peerUser } from '../host/processes/peer-user.ts';
import { nextExit } from '../host/processes/spawn.ts';
import {
  FRAME,
  type Frame,
  FrameReader,
  type FrameType,
  frame,
  objectIn,
  PROTOCOL,
  type StartRequest,
} from './protocol.ts';
import { socketPath } from './socket-path.ts';
import { SupervisedProgram } from './supervised-program.ts';
import type { Welcome } from './welcome.ts';

/** Limit of data that waits for a daemon before the programs are paused. */
const WAITING_BYTES = 1024 * 1024;
/** How long to wait for a daemon, at the start and to report ended programs, when no program runs. */
const LONELY_MS = 60_000;
/** Read by the daemon that started this process. */
const STANDARD_OUTPUT = 1;

export interface SupervisorOptions {
  /** Directory of the socket. */
  directory: string;
  /** Identifier of the state directory; a daemon of another one is refused. */
  instance: string;
}

export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #programs = new Map<number, SupervisedProgram>();
  readonly #byPid = new Map<number, number>();
  /** Terminals whose output the daemon follows. */
  readonly #followed = new Set<number>();
  #server: Server | undefined;
  #path = '';
  #daemon: Socket | undefined;
  #waiting = false;
  #lonely: NodeJS.Timeout | undefined;

  constructor(options: SupervisorOptions) {
    this.#options = options;
  }

  /** Listens, and reports that on standard output. Ends the process when it has nothing left to do. */
  start(): void {
    const held = new DisposableStack(); // for as long as this process lives
    this.#path = socketPath(this.#options.directory, held);
    rmSync(this.#path, { force: true });
    process.on('SIGCHLD', () => this.#reap());
    const server = createServer({ allowHalfOpen: true }, (socket) => this.#welcome(socket));
    server.listen(this.#path, () => {
      writeSync(STANDARD_OUTPUT, 'ready\n');
      this.#lonely = setTimeout(() => this.#end(), LONELY_MS);
    });
    this.#server = server;
  }

  #welcome(socket: Socket): void {
    socket.on('error', () => {}); // 'close' follows
    if (peerUser(socket) !== ownUser()) {
      socket.destroy();
      return;
    }
    const reader = new FrameReader();
    socket.on('data', (part: Buffer) => {
      try {
        for (const received of reader.read(part)) this.#receive(socket, received);
      } catch (error) {
        log.error('what a daemon says is not understood', { reason: messageOf(error) });
        socket.destroy();
      }
    });
    socket.on('drain', () => this.#hurry());
    // If this process ends now, that closes the leaving daemon's connection.
    socket.on('end', () => {
      if (this.#daemon === socket) this.#alone();
      socket.destroy();
    });
    socket.on('close', () => {
      if (this.#daemon === socket) this.#alone();
    });
  }

  #receive(socket: Socket, received: Frame): void {
    if (received.type === FRAME.hello) {
      this.#greet(socket, received);
      return;
    }
    if (socket !== this.#daemon) throw new Error('frames before hello');
    const { id } = received;
    if (received.type === FRAME.start) this.#start(id, objectIn(received) as unknown as StartRequest);
    else {
      // A missing program has ended and was forgotten meanwhile.
      const program = this.#programs.get(id);
      if (program && !this.#handOn(id, program, received)) throw new Error(`a frame of type ${received.type}`);
    }
  }

  /** False if the type is unknown. A failure of one program must not end the connection, and with it the others. */
  #handOn(id: number, program: SupervisedProgram, received: Frame): boolean {
    try {
      return this.#apply(id, program, received);
    } catch (error) {
      log.warn('a frame for a program has no effect', {
        pid: program.pid,
        type: received.type,
        reason: messageOf(error),
      });
      return true;
    }
  }

  #apply(id: number, program: SupervisedProgram, received: Frame): boolean {
    switch (received.type) {
      case FRAME.input:
        program.input(Buffer.from(received.content));
        break;
      case FRAME.resize: {
        const { columns, rows } = objectIn(received);
        program.resize(Number(columns), Number(rows));
        break;
      }
      case FRAME.signal:
        program.signal(objectIn(received)['signal'] as NodeJS.Signals);
        break;
      case FRAME.follow:
        this.#followed.add(id);
        this.#send(FRAME.output, id, program.history);
        if (program.exit) this.#send(FRAME.exit, id, program.exit);
        break;
      case FRAME.forget:
        if (program.exit) this.#programs.delete(id);
        break;
      default:
        return false;
    }
    return true;
  }

  /** A daemon connects and replaces the previous one. */
  #greet(socket: Socket, hello: Frame): void {
    if (objectIn(hello)['instance'] !== this.#options.instance) {
      socket.destroy();
      return;
    }
    clearTimeout(this.#lonely);
    this.#daemon?.destroy();
    this.#daemon = socket;
    this.#followed.clear();
    this.#hurry();
    const terminals = [...this.#programs].map(([id, { pid, record, exit }]) => ({
      id,
      pid,
      record,
      ...(exit ? { exit } : {}),
    }));
    const welcome: Welcome = { protocol: PROTOCOL, pid: process.pid, terminals, makesTaps: true };
    this.#send(FRAME.welcome, 0, welcome);
  }

  #start(id: number, request: StartRequest): void {
    try {
      const program = new SupervisedProgram(request, {
        output: (bytes) => this.#followed.has(id) && this.#send(FRAME.output, id, bytes),
        taken: (bytes) => this.#send(FRAME.taken, id, { bytes }),
      });
      this.#programs.set(id, program);
      this.#byPid.set(program.pid, id);
      this.#followed.add(id);
      if (this.#waiting) program.pause();
      this.#send(FRAME.started, id, { pid: program.pid });
    } catch (error) {
      this.#send(FRAME.failed, id, { reason: messageOf(error) });
    }
  }

  #send(type: FrameType, id: number, content: object | Uint8Array): void {
    const socket = this.#daemon;
    if (!socket?.writable) return;
    socket.write(frame(type, id, content));
    if (this.#waiting || socket.writableLength <= WAITING_BYTES) return;
    this.#waiting = true;
    for (const program of this.#programs.values()) program.pause();
  }

  #hurry(): void {
    if (!this.#waiting) return;
    this.#waiting = false;
    for (const program of this.#programs.values()) program.resume();
  }

  #reap(): void {
    for (let found = nextExit(); found; found = nextExit()) {
      const { pid, code, signal } = found;
      const id = this.#byPid.get(pid);
      const program = id === undefined ? undefined : this.#programs.get(id);
      this.#byPid.delete(pid);
      if (id === undefined || !program) continue;
      const exit = { code, ...(signal !== undefined && { signal }) };
      program.ended(exit);
      if (this.#followed.has(id)) this.#send(FRAME.exit, id, exit);
    }
    this.#mayEnd();
  }

  #alone(): void {
    this.#daemon = undefined;
    this.#followed.clear();
    this.#hurry();
    this.#mayEnd();
  }

  /** Ends without a daemon and running programs, after waiting to report ended programs to the next daemon. */
  #mayEnd(): void {
    clearTimeout(this.#lonely);
    if (this.#daemon || this.#byPid.size > 0) return;
    if (this.#programs.size === 0) this.#end();
    this.#lonely = setTimeout(() => this.#end(), LONELY_MS);
  }

  #end(): never {
    this.#server?.close(); // also removes the socket
    process.exit(0);
  }
}
