// A running container: its first process, interfaces and terminal, and reattaching it after a restart of the server.
import { readFile } from 'node:fs/promises';
import { text as streamed } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Failure, messageOf } from '../../../failures.ts';
import { log } from '../../../host/log.ts';
import { type ContainerInterface, giveInterfaces } from '../../../host/network/container-interfaces.ts';
import { EndingRuntime, type NodeRuntime } from '../../nodes/lifecycle/node-runtime.ts';
import { AttachedConsole, ShellConsole } from './attached.ts';
import { type ContainerInfo, inspect } from './container.ts';
import type { DockerHost } from './docker-host.ts';
import { EngineFailure, refusal } from './engine.ts';
import type { ContainerEvent } from './engine-events.ts';

/** How long a first process that handles signals may take to end. */
const STOP_SECONDS = 5;
/** Lines of earlier output that a console starts with after a restart of the server. */
const REPLAYED_LINES = 200;
const SIGTERM_BIT = 1n << 14n;

export interface ContainerNode {
  readonly name: string;
  readonly id: string;
}

export interface ContainerStart {
  container: string;
  interfaces: readonly ContainerInterface[];
  volumes: readonly string[];
  /** Whether the terminal is offered to clients. */
  offersTerminal: boolean;
}

/** Exit code of a first process ended by SIGKILL. */
const KILLED = 137;

export class DockerRuntime extends EndingRuntime implements NodeRuntime {
  readonly commandLine = '';
  readonly auxiliaryConsole: ShellConsole;
  isSuspended = false;
  readonly #node: ContainerNode;
  readonly #host: DockerHost;
  readonly #start: ContainerStart;
  readonly #terminal: AttachedConsole;
  #pid = 0;
  /** It is being stopped or restarted, so its exit is expected. */
  #isStopping = false;

  private constructor(node: ContainerNode, host: DockerHost, start: ContainerStart) {
    super();
    this.#node = node;
    this.#host = host;
    this.#start = start;
    this.#terminal = new AttachedConsole(host.engine, start.container, node.name);
    this.auxiliaryConsole = new ShellConsole(host.engine, start.container, `${node.name} (shell)`);
  }

  get console() {
    return this.#start.offersTerminal ? this.#terminal.console : undefined;
  }

  /** Of its first process. */
  get pid(): number {
    return this.#pid;
  }

  get lastOutput(): string {
    return this.#terminal.lastOutput;
  }

  /**
   * Starts the container; `resources` stop it. @throws Failure `conflict` with the Engine's reason, or the container's
   * last output
   */
  static async start(
    node: ContainerNode,
    host: DockerHost,
    start: ContainerStart,
    resources: AsyncDisposableStack,
  ): Promise<DockerRuntime> {
    const runtime = new DockerRuntime(node, host, start);
    await runtime.#follow(resources);
    await runtime.#terminal.open();
    resources.defer(() => runtime.#stop());
    try {
      await runtime.#call('start');
      await runtime.#attachInterfaces();
    } catch (error) {
      if (!(error instanceof EngineFailure) || error.status !== 304) throw error;
      // It still runs because it could not be stopped the last time.
      await runtime.restart();
    }
    return runtime;
  }

  /** Reattaches a container that outlived the server. */
  static async reattach(
    node: ContainerNode,
    host: DockerHost,
    start: ContainerStart,
    resources: AsyncDisposableStack,
  ): Promise<DockerRuntime> {
    const runtime = new DockerRuntime(node, host, start);
    await runtime.#follow(resources);
    await runtime.#terminal.replay(REPLAYED_LINES);
    await runtime.#terminal.open();
    resources.defer(() => runtime.#stop());
    await runtime.#attachInterfaces();
    return runtime;
  }

  async suspend(): Promise<void> {
    await this.#call('pause');
    this.isSuspended = true;
  }

  async resume(): Promise<void> {
    await this.#call('unpause');
    this.isSuspended = false;
  }

  /** Restarts the first process, with a new network and its interfaces. */
  async restart(): Promise<void> {
    this.#isStopping = true;
    try {
      if (this.isSuspended) await this.resume();
      await this.#call(`stop?t=${await this.#patience()}`);
      // Before the start, so that no output is missed.
      await this.#terminal.open();
      await this.#call('start');
      await this.#terminal.resizeAgain();
      await this.#attachInterfaces();
    } finally {
      this.#isStopping = false;
    }
  }

  async #follow(resources: AsyncDisposableStack): Promise<void> {
    const { container } = this.#start;
    const { events } = this.#host;
    resources.defer(() => {
      events.unfollow(container);
      this.#terminal.close();
      this.auxiliaryConsole.stop();
    });
    await events.follow(container, (event, exitCode) => this.#heard(event, exitCode));
  }

  #call(verb: string): Promise<unknown> {
    return this.#host.engine.call('POST', `containers/${this.#start.container}/${verb}`);
  }

  /** Waits for the first process, and creates its interfaces, which it waits for. */
  async #attachInterfaces(): Promise<void> {
    const { container, interfaces } = this.#start;
    const { State } = await inspect(this.#host.engine, container);
    this.#pid = State.Pid;
    this.isSuspended = State.Paused;
    if (!State.Running || State.Pid === 0) throw await this.#endedAtOnce('It has ended at once.');
    const { interfaces: kind, nodeNetwork } = this.#host;
    const network = kind === 'pair' ? nodeNetwork.open() : undefined;
    await this.unlessEnded(() => giveInterfaces(State.Pid, interfaces, kind, network));
  }

  /** Runs what needs the container, and reports its end instead of what failed because of it. */
  async unlessEnded(task: () => void | Promise<void>): Promise<void> {
    try {
      await task();
    } catch (error) {
      throw (await this.#hasEnded()) ? await this.#endedAtOnce(messageOf(error)) : error;
    }
  }

  /** Its interfaces go with its first process, of whose end the Engine hears a moment later. */
  async #hasEnded(): Promise<boolean> {
    const status = await readFile(`/proc/${this.#pid}/status`, 'latin1').catch(() => '');
    if (status === '' || /^State:\s*[ZX]/m.test(status)) return true;
    return !(await inspect(this.#host.engine, this.#start.container)).State.Running;
  }

  async #endedAtOnce(why: string): Promise<Failure> {
    // Its last output may still arrive.
    await sleep(50);
    return refusal(`${this.#node.name} cannot be started: ${why} Last output: ${this.lastOutput.trim().slice(-500)}`);
  }

  async #stop(): Promise<void> {
    this.#isStopping = true;
    if (this.ended) return;
    const { container } = this.#start;
    try {
      if (this.isSuspended) await this.resume();
      await this.#savePermissions();
      await this.#call(`stop?t=${await this.#patience()}`);
    } catch (error) {
      // It stopped meanwhile, or the Engine does not know it any more.
      if (error instanceof EngineFailure && (error.status === 304 || error.status === 404)) return;
      log.warn('a container does not stop', { node: this.#node.id, container, reason: messageOf(error) });
      throw error;
    }
  }

  /** Saves owners and modes of the volumes' files, which copies and archives do not preserve. */
  async #savePermissions(): Promise<void> {
    const { container, volumes } = this.#start;
    const { engine } = this.#host;
    const user = process.getuid?.() === 0 ? '' : `${process.getuid?.()}:${process.getgid?.()}`;
    const Cmd = ['/gns3/save-permissions.sh', user, ...volumes];
    try {
      const { Id: id } = await engine.call<{ Id: string }>('POST', `containers/${container}/exec`, {
        body: { AttachStdout: true, AttachStderr: true, User: '0', Cmd },
      });
      const stream = await engine.hijack(`exec/${id}/start`, { Detach: false, Tty: false });
      const said = await streamed(stream);
      const { ExitCode: code } = await engine.call<{ ExitCode: number }>('GET', `exec/${id}/json`);
      if (code !== 0) throw new Error(`exit code ${code}: ${said.slice(-200)}`);
    } catch (error) {
      log.warn('permissions of volumes are not noted', { node: this.#node.id, reason: messageOf(error) });
    }
  }

  /** Seconds for the first process to end; 0 if it ignores the signal, such as a shell. */
  async #patience(): Promise<number> {
    try {
      const status = await readFile(`/proc/${this.#pid}/status`, 'latin1');
      const heard = ['SigCgt', 'SigBlk'].some((set) => {
        const mask = new RegExp(`^${set}:\\s*([0-9a-f]+)$`, 'm').exec(status)?.[1] ?? 'ffffffffffffffff';
        return (BigInt(`0x${mask}`) & SIGTERM_BIT) !== 0n;
      });
      return heard ? STOP_SECONDS : 0;
    } catch {
      return STOP_SECONDS;
    }
  }

  #heard(event: ContainerEvent, exitCode: number | undefined): void {
    if (event === 'pause' || event === 'unpause') this.isSuspended = event === 'pause';
    else if (event === 'die') void this.#heardOfEnd(exitCode);
    else void this.#lookAfterAbsence();
  }

  async #heardOfEnd(exitCode: number | undefined): Promise<void> {
    if (exitCode === 0) return this.#die(undefined);
    if (exitCode !== KILLED || this.#isStopping) return this.#die(`with exit code ${exitCode}`);
    const info = await inspect(this.#host.engine, this.#start.container).catch(() => undefined);
    this.#die(
      `with exit code ${exitCode}${info?.State.OOMKilled ? ': memory ran out, and the system ends programs then' : ''}`,
    );
  }

  #die(how: string | undefined): void {
    if (this.#isStopping || this.ended) return;
    const fault = how === undefined ? undefined : `${how}. Last output: ${this.lastOutput.trim().slice(-500)}`;
    this.finish({ expected: false, fault });
  }

  async #lookAfterAbsence(): Promise<void> {
    try {
      const { State }: ContainerInfo = await inspect(this.#host.engine, this.#start.container);
      if (State.Running) await this.#terminal.open();
      else this.#die('when the Docker Engine ended');
    } catch (error) {
      if (error instanceof EngineFailure && error.status === 404) this.#die('when the Docker Engine ended');
      else log.warn('a container cannot be looked after', { node: this.#node.id, reason: messageOf(error) });
    }
  }
}
