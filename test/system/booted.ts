// A real systemd as process 1 of namespaces of its own, over a writable copy of this host's root.
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import { eventually } from './daemon.ts';
import { executable } from './executable.ts';
import { missing } from './lab.ts';

const run = promisify(execFile);
const SYSTEMD = '/lib/systemd/systemd';
/** Exit code of the script where it cannot be done. */
const CANNOT = 77;

/** Why systemd cannot be booted, as far as that is seen without trying. */
export const skip =
  process.getuid?.() !== 0
    ? 'only root can boot systemd'
    : existsSync(SYSTEMD)
      ? missing('curl', 'vpcs')
      : 'systemd is not installed';

/** Properties of the service, by the names that `systemctl show` has for them. */
export type Properties = Record<string, string>;

export class Booted {
  readonly #pid: number;

  private constructor(pid: number) {
    this.#pid = pid;
  }

  /**
   * Boots it, with Labwire as `bin/install` installs it, or without (`bare`). Answers why this host cannot, where that is so.
   */
  static async boot(t: TestContext, { bare = false } = {}): Promise<Booted | string> {
    executable();
    const directory = mkdtempSync(join(tmpdir(), 'labwire-boot-'));
    const namespaces = [
      '--mount',
      '--propagation',
      'private',
      '--net',
      '--uts',
      '--ipc',
      '--pid',
      '--fork',
      '--kill-child',
    ];
    const script = join(import.meta.dirname, 'boot-systemd.sh');
    const child = spawn('unshare', [...namespaces, script, directory, bare ? 'bare' : 'installed'], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    t.after(async () => {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      await eventually('the end of its control groups', () => removeGroups(directory));
      rmSync(directory, { recursive: true, force: true });
    });
    const first = await eventually(
      'systemd as process 1',
      () => (child.exitCode === null ? processOne(child) : -1),
      (found) => found !== undefined,
    );
    // unshare itself ends with 1 where namespaces cannot be made.
    if (first === -1 && (child.exitCode === CANNOT || /^unshare: /.test(said))) return said.trim().split('\n').at(-1)!;
    assert.notEqual(first, -1, said);
    return new Booted(first!);
  }

  /** Runs a program within, and answers what it says. */
  async run(...words: string[]): Promise<string> {
    const { stdout } = await run('nsenter', ['--target', `${this.#pid}`, '--all', '--root', '--wd=/', ...words]);
    return stdout;
  }

  /** Puts a file of this host into it. */
  async copyIn(file: string, path: string): Promise<void> {
    await this.feed(file, 'sh', '-c', 'cat >"$0"', path);
  }

  /** Runs a program within that reads a file of this host as its standard input. */
  async feed(file: string, ...words: string[]): Promise<void> {
    const child = spawn('nsenter', ['--target', `${this.#pid}`, '--all', '--root', '--wd=/', ...words], {
      stdio: ['pipe', 'ignore', 'inherit'],
    });
    await Promise.all([pipeline(createReadStream(file), child.stdin), once(child, 'exit')]);
    assert.equal(child.exitCode, 0);
  }

  /** What systemd says of the service, when it runs by another process than `former`. */
  async active(former?: string): Promise<Properties> {
    return await eventually(
      'the service',
      () => this.show().catch((error: Error) => ({ ActiveState: error.message }) as Properties),
      ({ ActiveState, SubState, MainPID }) => ActiveState === 'active' && SubState === 'running' && MainPID !== former,
      60_000,
    );
  }

  /** A lab with one virtual PC that runs; how to wait until that is so. */
  async lab(): Promise<{ path: string; stillRuns(): Promise<void> }> {
    const { project_id } = await this.ask('POST', '/v2/projects', { name: 'Service', auto_close: false });
    const path = `/v2/projects/${project_id}`;
    const { node_id } = await this.ask('POST', `${path}/nodes`, {
      name: 'PC1',
      node_type: 'vpcs',
      compute_id: 'local',
    });
    await this.ask('POST', `${path}/nodes/${node_id}/start`);
    const running = async (): Promise<string> => (await this.ask('GET', `${path}/nodes/${node_id}`)).status;
    const stillRuns = async (): Promise<void> =>
      void (await eventually('the node', running, (status) => status === 'started'));
    return { path, stillRuns };
  }

  async show(): Promise<Properties> {
    const names = 'ActiveState,SubState,Result,MainPID,NRestarts,StatusText,ExecMainStatus';
    const lines = (await this.run('systemctl', 'show', 'labwired', `--property=${names}`)).trim().split('\n');
    return Object.fromEntries(lines.map((line) => [line.split('=', 1)[0]!, line.slice(line.indexOf('=') + 1)]));
  }

  /** A request to the server within; the parsed answer. */
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into member by member
  async ask(method: string, path: string, body?: object): Promise<any> {
    const words = body === undefined ? [] : ['-d', JSON.stringify(body)];
    const patient = ['-sS', '--fail-with-body', '--retry', '5', '--retry-connrefused'];
    const text = await this.run('curl', ...patient, '-X', method, ...words, `http://127.0.0.1:3080${path}`);
    return text === '' ? undefined : JSON.parse(text);
  }
}

/** Removes the control groups that it had, where it came so far; whether that is done. */
async function removeGroups(directory: string): Promise<boolean> {
  const group = join(directory, basename(directory));
  const words = 'mount -t cgroup2 cgroup2 "$0" || exit 0; [ ! -d "$1" ] || find "$1" -depth -type d -exec rmdir {} +';
  return await run('unshare', ['--mount', '--propagation', 'private', 'sh', '-c', words, directory, group]).then(
    () => true,
    () => false,
  );
}

/** The process that has become systemd, as this host counts it. */
function processOne({ pid }: ChildProcess): number | undefined {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  );
  return children.find((child) => readFileSync(`/proc/${child}/cmdline`, 'utf8').startsWith(SYSTEMD));
}
