// A real Docker Engine of the tests' own: started with a directory of its own, without a bridge and without rules of iptables, and ended
// with all that it has.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, open, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Engine } from '../../src/compute/emulators/docker/engine.ts';
import { findBusybox } from '../../src/compute/emulators/docker/helper-files.ts';
import { isBelow } from '../../src/host/files/relative-path.ts';
import { findProgram } from '../../src/host/processes/program-path.ts';

/** As the conformance scenarios name it. */
export const BUSYBOX = 'gns3-conformance/busybox:latest';
/** The same with things to keep: a volume with a file of another user. */
export const VOLUMES = 'labwire-test/volumes:latest';

/** How long the Engine may take to answer after its start, on a host that is busy. */
const START_MS = 60_000;
const STOP_MS = 30_000;
/** How long Docker's own client may take. */
const CLIENT_MS = 60_000;
const TOO_SLOW = 'does not answer in time';

/** Why no Engine can run here; false when one may. */
async function lacking(): Promise<string | false> {
  if (process.getuid?.() !== 0) return 'only root may run a Docker Engine';
  for (const program of ['dockerd', 'containerd', 'runc']) {
    if ((await findProgram(program)) === undefined) return `${program} is not installed`;
  }
  if ((await findBusybox()) === undefined) return 'busybox-static is not installed';
  if (!existsSync('/dev/net/tun')) return 'this host has no /dev/net/tun';
  return false;
}

export class TestEngine implements AsyncDisposable {
  readonly directory: string;
  readonly engine: Engine;
  readonly #options: readonly string[];
  #child: ChildProcess | undefined;

  private constructor(directory: string, options: readonly string[]) {
    this.directory = directory;
    this.#options = options;
    this.engine = new Engine(this.socketPath);
  }

  get socketPath(): string {
    return join(this.directory, 'docker.sock');
  }

  get log(): string {
    return readFileSync(join(this.directory, 'log'), 'utf8');
  }

  /** @param options of dockerd, beside those that it always gets */
  static async make(options: readonly string[] = []): Promise<TestEngine> {
    const made = new TestEngine(await mkdtemp(join(tmpdir(), 'lw-docker-')), options);
    try {
      await made.start();
      return made;
    } catch (error) {
      await made[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Starts it (again), on the same data. */
  async start(): Promise<void> {
    const place = (name: string): string => join(this.directory, name);
    await using log = await open(place('log'), 'a');
    // biome-ignore format: one word and its value a line
    const words = [
      '--data-root', place('data'),
      '--exec-root', place('exec'),
      '--pidfile', place('pid'),
      '--host', `unix://${this.socketPath}`,
      '--bridge=none', '--iptables=false', '--ip-forward=false',
      ...this.#options,
    ];
    const child = spawn('dockerd', words, { stdio: ['ignore', log.fd, log.fd], detached: true });
    this.#child = child;
    const end = performance.now() + START_MS;
    while (performance.now() < end && child.exitCode === null) {
      try {
        // Docker's own client, so that a server that can speak to no Engine fails its tests.
        this.docker('version');
        return;
      } catch {
        await sleep(50);
      }
    }
    throw new Error(`dockerd ${child.exitCode === null ? TOO_SLOW : 'has ended'}: ${this.log.slice(-2000)}`);
  }

  get isRunning(): boolean {
    return this.#child?.exitCode === null && this.#child.signalCode === null;
  }

  /** Ends the Engine; without `live-restore` its containers end, too. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    // One that hangs takes no test with it.
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
    await ended;
    clearTimeout(timer);
  }

  /** Makes an image of a tree. */
  async import(tree: string, image: string, changes: readonly string[]): Promise<void> {
    const words = changes.flatMap((change) => ['--change', change]);
    execFileSync(
      '/bin/sh',
      ['-c', 'tree=$1; shift; tar -C "$tree" -c . | "$@"', 'sh', tree, ...this.#docker, 'import', ...words, '-', image],
      {
        stdio: ['ignore', 'ignore', 'pipe'],
        timeout: CLIENT_MS,
      },
    );
  }

  /** Runs Docker's own client; answers what it prints. */
  docker(...words: string[]): string {
    const [program, ...own] = this.#docker as [string, ...string[]];
    return execFileSync(program, [...own, ...words], {
      ...{ encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], timeout: CLIENT_MS },
    });
  }

  /** The image with nothing but a busybox that needs nothing, and one with a volume. */
  async importBusybox(): Promise<void> {
    const tree = join(this.directory, 'tree');
    await mkdir(join(tree, 'bin'), { recursive: true });
    await copyFile((await findBusybox())!, join(tree, 'bin/busybox'));
    await symlink('busybox', join(tree, 'bin/sh'));
    await this.import(tree, BUSYBOX, ['CMD ["/bin/sh"]']);
    await mkdir(join(tree, 'keep/deep'), { recursive: true });
    await writeFile(join(tree, 'keep/deep/file'), 'of the image\n');
    execFileSync('chown', ['-R', '1234:4321', join(tree, 'keep/deep')]);
    execFileSync('chmod', ['750', join(tree, 'keep/deep')]);
    await this.import(tree, VOLUMES, ['CMD ["/bin/sh"]', 'VOLUME /keep']);
  }

  /** Ids of all its containers. */
  containers(): string[] {
    return this.docker('ps', '-aq').split('\n').filter(Boolean);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      for (const id of this.containers()) this.docker('rm', '-f', id);
    } catch {
      // It does not run any more.
    }
    await this.stop();
    killNaming(this.directory);
    await unmountBelow(this.directory);
    await rm(this.directory, { recursive: true, force: true });
  }

  get #docker(): string[] {
    return [existsSync('/usr/bin/docker') ? '/usr/bin/docker' : 'docker', '--host', `unix://${this.socketPath}`];
  }
}

/** What keeps containers over the end of their Engine has its directory among its words. */
function killNaming(directory: string): void {
  for (const pid of readdirSync('/proc').map(Number)) {
    if (!(pid > 0) || pid === process.pid) continue;
    try {
      if (readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(directory)) process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended.
    }
  }
}

async function unmountBelow(directory: string): Promise<void> {
  const places = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '')
    .filter((place) => isBelow(directory, place));
  for (const place of places.reverse()) execFileSync('umount', ['-l', place], { stdio: 'ignore' });
}

/** An Engine that has run a container, or why none does here. */
export async function tryEngine(): Promise<TestEngine | string> {
  const reason = await lacking();
  if (reason !== false) return reason;
  let made: TestEngine | undefined;
  try {
    made = await TestEngine.make();
    await made.importBusybox();
    made.docker('run', '--rm', '--network', 'none', BUSYBOX, '/bin/busybox', 'true');
    return made;
  } catch (error) {
    await made?.[Symbol.asyncDispose]();
    // What is only slow is no reason to leave tests out.
    if (new RegExp(`${TOO_SLOW}|ETIMEDOUT`).test(String(error))) throw error;
    return `containers do not run here: ${String(error).slice(0, 500)}`;
  }
}
