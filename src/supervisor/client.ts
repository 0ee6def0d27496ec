// The daemon's side of the supervisor: starts it with the first program, finds the one of a previous run, and exchanges
// bytes, sizes, signals and exits with it.
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import * as v from 'valibot';
import { conflict, Failure, messageOf, systemCode } from '../failures.ts';
import { log } from '../host/log.ts';
import { describeIssue } from '../store/issues.ts';
import { launchSupervisor } from './launch.ts';
import {
  FRAME,
  type Frame,
  FrameReader,
  type FrameType,
  frame,
  isAccepted,
  MOST_FOR_DAEMON_BYTES,
  objectIn,
  PROTOCOL,
  type StartRequest,
  UNDERSTOOD,
} from './protocol.ts';
import { socketPath, supervisorDirectory } from './socket-path.ts';
import { ProgramExit, type ProgramState, Welcome } from './welcome.ts';

/** Limit of input in flight to a program that does not read. */
const INPUT_BYTES = 256 * 1024;
/** How long a supervisor may take to greet: the programs of one that does not are ended, so a busy host gets time. */
const WELCOME_MS = 15_000;
const GOODBYE_MS = 2_000;
/** Errors of connect(2) that say that no process listens at a socket. */
const NOT_LISTENING = ['ENOENT', 'ECONNREFUSED'];

export interface ProgramListener {
  /** Bytes from the program, unchanged. */
  output(bytes: Buffer): void;
  /** The program has ended and all its output was delivered. Called once. */
  exit(handle: ProgramHandle, exit: ProgramExit): void;
}

type Send = (type: FrameType, id: number, content?: object | Uint8Array) => void;

/** A program held by the supervisor. */
export class ProgramHandle {
  readonly id: number;
  readonly pid: number;
  /** The record passed to its start. */
  readonly record: unknown;
  /** Set when the program is known to have ended. */
  exit: ProgramExit | undefined;
  listener: ProgramListener | undefined;
  #underWay = 0;
  readonly #send: Send;

  constructor(state: ProgramState, send: Send) {
    this.id = state.id;
    this.pid = state.pid;
    this.record = state.record;
    this.exit = state.exit;
    this.#send = send;
  }

  /** False if the bytes were dropped: the program has ended, or left 256 KiB of input unread. */
  write(bytes: Uint8Array): boolean {
    if (this.exit || this.#underWay + bytes.length > INPUT_BYTES) return false;
    this.#underWay += bytes.length;
    this.#send(FRAME.input, this.id, bytes);
    return true;
  }

  resize(columns: number, rows: number): void {
    this.#send(FRAME.resize, this.id, { columns, rows });
  }

  /** Signals the program and its children. */
  signal(signal: NodeJS.Signals): void {
    this.#send(FRAME.signal, this.id, { signal });
  }

  /** Requests the kept output and everything that follows; for a program of a previous run. */
  follow(listener: ProgramListener): void {
    this.listener = listener;
    this.#send(FRAME.follow, this.id);
  }

  /** @internal */
  taken(bytes: number): void {
    this.#underWay -= bytes;
  }
}

interface Starting {
  resolve(pid: number): void;
  reject(reason: Error): void;
}

export interface SupervisorOptions {
  /** The state directory and its identifier. */
  state: string;
  instance: string;
  /**
   * Called when the supervisor has ended unexpectedly, after all programs were reported as ended. Ends those that are
   * left.
   */
  lost(): Promise<void>;
}

/** A supervisor of a previous run that is incompatible or does not answer. */
export class IncompatibleSupervisor extends Failure {}

function incompatible(reason: string): IncompatibleSupervisor {
  return new IncompatibleSupervisor(
    'conflict',
    `The process that holds programs of a former run cannot be used: ${reason}.`,
  );
}

export class SupervisorClient {
  readonly #options: SupervisorOptions;
  readonly #handles = new Map<number, ProgramHandle>();
  readonly #starting = new Map<number, Starting>();
  #socket: Socket | undefined;
  #connecting: Promise<void> | undefined;
  #recovering: Promise<void> = Promise.resolve();
  #nextId = 1;
  #pid: number | undefined;
  #makesTaps = true;

  constructor(options: SupervisorOptions) {
    this.#options = options;
  }

  /** Number of running programs. */
  get running(): number {
    return [...this.#handles.values()].filter(({ exit }) => exit === undefined).length;
  }

  /** Process id of the supervisor, if it runs. */
  get pid(): number | undefined {
    return this.#pid;
  }

  /** Whether it creates TAPs for programs. A supervisor that is not started yet will. */
  get makesTaps(): boolean {
    return this.#pid === undefined || this.#makesTaps;
  }

  /**
   * Finds the supervisor of a previous run of this state directory, if any, and returns its programs.
   * @throws IncompatibleSupervisor if it does not answer, or uses another protocol
   */
  async join(): Promise<ProgramHandle[]> {
    const socket = await this.#dial();
    if (!socket) return [];
    const { terminals } = await this.#introduce(socket);
    for (const state of terminals) {
      this.#handles.set(state.id, this.#handleOf(state));
      this.#nextId = Math.max(this.#nextId, state.id + 1);
    }
    return [...this.#handles.values()];
  }

  /**
   * Starts a program on its own terminal.
   * @throws Failure `conflict`
   */
  async start(request: StartRequest, listener: ProgramListener): Promise<ProgramHandle> {
    await this.#connected();
    const id = this.#nextId++;
    const begin = frame(FRAME.start, id, request);
    if (!isAccepted(begin)) {
      throw conflict(`its command line is too long (${(begin.length / 1e6).toFixed(1)} MB as it is kept); shorten it`);
    }
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    this.#starting.set(id, { resolve, reject });
    // Its output may follow its start immediately.
    const state = { id, pid: 0, record: request.record };
    const early = this.#handleOf(state);
    early.listener = listener;
    this.#handles.set(id, early);
    this.#socket?.write(begin);
    try {
      const pid = await promise;
      return Object.assign(early, { pid });
    } catch (error) {
      this.#handles.delete(id);
      throw error;
    } finally {
      this.#starting.delete(id);
    }
  }

  /** Releases a program that has ended. */
  forget(handle: ProgramHandle): void {
    this.#handles.delete(handle.id);
    this.#send(FRAME.forget, handle.id);
  }

  /** Disconnects from the supervisor. It ends if no program runs, otherwise it waits for the next daemon. */
  async leave(): Promise<void> {
    const socket = this.#socket;
    if (!socket) return;
    this.#socket = undefined;
    this.#pid = undefined;
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.end(); // after the pending data
    await Promise.race([closed, sleep(GOODBYE_MS, undefined, { ref: false })]);
    socket.destroy();
  }

  #handleOf(state: ProgramState): ProgramHandle {
    return new ProgramHandle(state, (type, id, content) => this.#send(type, id, content));
  }

  #send(type: FrameType, id: number, content?: object | Uint8Array): void {
    this.#socket?.write(frame(type, id, content));
  }

  async #connected(): Promise<void> {
    await this.#recovering;
    if (this.#socket) return;
    this.#connecting ??= this.#launch().finally(() => {
      this.#connecting = undefined;
    });
    await this.#connecting;
  }

  async #launch(): Promise<void> {
    const { state, instance } = this.#options;
    await launchSupervisor(supervisorDirectory(state), instance);
    const socket = await this.#dial();
    if (!socket) throw conflict("the process that holds the nodes' programs ended at once");
    await this.#introduce(socket);
  }

  /**
   * A connection, if the supervisor listens.
   * @throws IncompatibleSupervisor if it may, but cannot be reached
   */
  async #dial(): Promise<Socket | undefined> {
    using opened = new DisposableStack();
    const path = socketPath(supervisorDirectory(this.#options.state), opened);
    const socket = connect(path);
    return await new Promise((resolve, reject) => {
      socket.once('connect', () => resolve(socket));
      socket.once('error', (error) => {
        if (NOT_LISTENING.includes(systemCode(error) ?? '')) resolve(undefined);
        else reject(incompatible(messageOf(error)));
      });
    });
  }

  /** @throws IncompatibleSupervisor */
  async #introduce(socket: Socket): Promise<Welcome> {
    const reader = new FrameReader(MOST_FOR_DAEMON_BYTES);
    const greeted = Promise.withResolvers<Record<string, unknown>>();
    const late = setTimeout(() => greeted.reject(incompatible('it does not answer')), WELCOME_MS);
    socket.on('error', () => {}); // 'close' follows
    socket.on('data', (part: Buffer) => {
      try {
        for (const received of reader.read(part)) {
          if (received.type === FRAME.welcome) greeted.resolve(objectIn(received));
          else this.#receive(received);
        }
      } catch (error) {
        greeted.reject(incompatible(messageOf(error)));
        log.error('what the supervisor says is not understood', { reason: messageOf(error) });
        socket.destroy();
      }
    });
    socket.once('close', () => {
      greeted.reject(incompatible('it has closed the connection'));
      if (this.#socket === socket) this.#lose();
    });
    socket.write(frame(FRAME.hello, 0, { protocol: PROTOCOL, instance: this.#options.instance }));
    try {
      const answer = await greeted.promise;
      const { protocol } = answer;
      if (typeof protocol !== 'number' || !UNDERSTOOD.includes(protocol)) {
        throw incompatible(`it speaks protocol ${protocol}, this release ${UNDERSTOOD.join(', ')}`);
      }
      const { success, output: welcome, issues } = v.safeParse(Welcome, answer);
      if (!success) throw incompatible(describeIssue(issues[0], 'its greeting'));
      this.#socket = socket;
      this.#pid = welcome.pid;
      this.#makesTaps = welcome.makesTaps === true;
      return welcome;
    } catch (error) {
      socket.destroy();
      throw error;
    } finally {
      clearTimeout(late);
    }
  }

  #receive(received: Frame): void {
    const { type, id, content } = received;
    const handle = this.#handles.get(id);
    switch (type) {
      case FRAME.started:
        this.#starting.get(id)?.resolve(Number(objectIn(received)['pid']));
        break;
      case FRAME.failed:
        this.#starting.get(id)?.reject(new Error(String(objectIn(received)['reason'])));
        break;
      case FRAME.output:
        handle?.listener?.output(Buffer.from(content));
        break;
      case FRAME.taken:
        handle?.taken(Number(objectIn(received)['bytes']));
        break;
      case FRAME.exit:
        if (handle) this.#ended(handle, v.parse(ProgramExit, objectIn(received)));
        break;
      default:
        throw new Error(`a frame of type ${type}`);
    }
  }

  #ended(handle: ProgramHandle, exit: ProgramExit): void {
    handle.exit = exit;
    handle.listener?.exit(handle, exit);
  }

  /** The supervisor has ended with its terminals: every program was hung up. */
  #lose(): void {
    this.#socket = undefined;
    this.#pid = undefined;
    const reason = "the process that held the nodes' programs has ended, and they with it";
    log.error(reason, { programs: this.#handles.size });
    const all = [...this.#handles.values()];
    this.#handles.clear();
    for (const { reject } of this.#starting.values()) reject(conflict(`${reason}; start it again`));
    for (const handle of all) if (!handle.exit) this.#ended(handle, { code: 0, signal: 'SIGHUP' });
    this.#recovering = this.#options.lost().catch((error: unknown) => {
      log.error('programs of an ended supervisor are left', { reason: messageOf(error) });
    });
  }
}
