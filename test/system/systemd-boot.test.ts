// The executable as a service of a real systemd, which boots in namespaces of its own: started, killed, stopped dead, reloaded, ended.
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { eventually } from './daemon.ts';
import { executable } from './executable.ts';
import { missing } from './lab.ts';

const run = promisify(execFile);
const SYSTEMD = '/lib/systemd/systemd';
/** Exit code of the script where it cannot be done. */
const CANNOT = 77;
const skip =
  process.getuid?.() !== 0
    ? 'only root can boot systemd'
    : existsSync(SYSTEMD)
      ? missing('curl', 'vpcs')
      : 'systemd is not installed';

/** Properties of the service, by the names that `systemctl show` has for them. */
type Properties = Record<string, string>;

class Booted {
  readonly #pid: number;

  private constructor(pid: number) {
    this.#pid = pid;
  }

  /** Answers why this host cannot, where that is so. */
  static async boot(t: TestContext): Promise<Booted | string> {
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
    const child = spawn('unshare', [...namespaces, script, directory], { stdio: ['ignore', 'ignore', 'pipe'] });
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

  async show(): Promise<Properties> {
    const names = 'ActiveState,SubState,Result,MainPID,NRestarts,StatusText,ExecMainStatus';
    const lines = (await this.run('systemctl', 'show', 'labwired', `--property=${names}`)).trim().split('\n');
    return Object.fromEntries(lines.map((line) => [line.split('=', 1)[0]!, line.slice(line.indexOf('=') + 1)]));
  }

  /** A request to the server within; the parsed answer. */
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into member by member
  async ask(method: string, path: string, body?: object): Promise<any> {
    const words = body === undefined ? [] : ['-d', JSON.stringify(body)];
    const patient = ['-sSf', '--retry', '5', '--retry-connrefused'];
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

test('systemd starts the service, restarts it when it dies or hangs, reloads and stops it; its nodes run on', {
  skip,
}, async (t) => {
  const booted = await Booted.boot(t);
  if (typeof booted === 'string') return t.skip(`systemd cannot be booted here: ${booted}`);
  const active = (former?: string): Promise<Properties> =>
    eventually(
      'the service',
      () => booted.show().catch((error: Error) => ({ ActiveState: error.message }) as Properties),
      ({ ActiveState, SubState, MainPID }) => ActiveState === 'active' && SubState === 'running' && MainPID !== former,
      60_000,
    );

  const started = await active();
  assert.equal(started['StatusText'], 'Listening on http://127.0.0.1:3080');
  assert.equal((await booted.ask('GET', '/v2/version')).version, '2.2.57');
  // It has no capability and gains none. But those that files of programs ask for are not taken out of reach: the kernel would not
  // start such programs.
  const rights = await booted.run(
    'grep',
    '-E',
    '^(CapPrm|CapEff|CapBnd|NoNewPrivs):',
    `/proc/${started['MainPID']}/status`,
  );
  const [none, bound] = ['0'.repeat(16), ((1 << 12) | (1 << 13)).toString(16).padStart(16, '0')];
  assert.equal(rights, `CapPrm:\t${none}\nCapEff:\t${none}\nCapBnd:\t${bound}\nNoNewPrivs:\t1\n`);
  const { project_id } = await booted.ask('POST', '/v2/projects', { name: 'Service', auto_close: false });
  const lab = `/v2/projects/${project_id}`;
  const pc = { name: 'PC1', node_type: 'vpcs', compute_id: 'local' };
  const { node_id } = await booted.ask('POST', `${lab}/nodes`, pc);
  await booted.ask('POST', `${lab}/nodes/${node_id}/start`);
  const stillRuns = async (): Promise<void> => {
    const running = async (): Promise<string> => (await booted.ask('GET', `${lab}/nodes/${node_id}`)).status;
    await eventually('the node', running, (status) => status === 'started');
  };

  await booted.run('kill', '-KILL', started['MainPID']!);
  const afterDeath = await active(started['MainPID']);
  assert.equal(afterDeath['NRestarts'], '1');
  await stillRuns();

  await booted.run('kill', '-STOP', afterDeath['MainPID']!);
  const afterHang = await active(afterDeath['MainPID']);
  assert.equal(afterHang['NRestarts'], '2');
  await stillRuns();

  await booted.run('systemctl', 'reload', 'labwired');
  const reloaded = await active(afterHang['MainPID']);
  assert.equal(reloaded['Result'], 'success');
  await stillRuns();

  await booted.run('systemctl', 'stop', 'labwired');
  const stopped = await booted.show();
  assert.deepEqual(
    [stopped['ActiveState'], stopped['Result'], stopped['ExecMainStatus']],
    ['inactive', 'success', '0'],
  );
});
