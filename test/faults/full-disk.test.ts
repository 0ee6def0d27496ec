// A disk that is full to the last page while people work on a lab, and a server that is killed on it.
import assert from 'node:assert/strict';
import { closeSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { Client } from '../consoles/harness.ts';
import { seeded } from '../seeded.ts';
import { scratchFileSystem } from '../store/scratch.ts';
import { type Answer, type Daemon, eventually, ownDaemon } from '../system/daemon.ts';
import { Lab, missing } from '../system/lab.ts';
import { processesIn } from '../system/processes.ts';
import { CANARIES } from './canaries.ts';
import { LabModel } from './lab-model.ts';
import type { Server } from './lab-state.ts';
import { temporaryFiles } from './leftovers.ts';
import { FULL, rig, seedOfRun } from './rig.ts';

const CHANGES = FULL ? 400 : 30;
const KILLS = FULL ? 10 : 1;
const PAGE = Buffer.alloc(4096);

/** A file that takes all the space that there is. */
class Ballast implements Disposable {
  readonly #path: string;
  #file: number | undefined;

  constructor(directory: string) {
    this.#path = join(directory, 'ballast');
  }

  /** Takes what has become free. */
  fill(): void {
    this.#file ??= openSync(this.#path, 'a');
    try {
      for (;;) writeSync(this.#file, PAGE);
    } catch (error) {
      assert.equal((error as NodeJS.ErrnoException).code, 'ENOSPC');
    }
  }

  [Symbol.dispose](): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
    rmSync(this.#path, { force: true });
  }
}

/** The daemon, with the answers to changes that it refused noted. */
function noting(daemon: Daemon, refused: Answer[]): Server {
  const ask: Daemon['ask'] = async (method, ...rest) => {
    const answer = await daemon.ask(method, ...rest);
    if (method !== 'GET' && answer.status >= 300) refused.push(answer);
    return answer;
  };
  return { ask };
}

interface Outcome {
  made: number;
  wrong: string[];
}

/** Changes a lab on a disk that is filled again before each change; stops when something is found. */
async function changeAndCompare(model: LabModel, ballast: Ballast, changes: number, state: string): Promise<Outcome> {
  const outcome: Outcome = { made: 0, wrong: [] };
  const strays = (): string[] => [...temporaryFiles(state), ...model.strays(join(state, 'projects'))];
  for (let change = 0; change < changes && outcome.wrong.length === 0; change++) {
    ballast.fill();
    const status = await model.change();
    if (status >= 200 && status < 300) outcome.made += 1;
    else if (status !== 409 && status !== 507) outcome.wrong.push(model.last);
    outcome.wrong.push(...(await model.differences()));
  }
  // The server writes files of labs when they are quiet: one that it is writing at the moment is no left-over.
  await eventually('strays to be gone', () => strays().length === 0).catch(() => outcome.wrong.push(...strays()));
  return outcome;
}

function projectIsWhole({ project }: Lab): void {
  const { project_id } = JSON.parse(readFileSync(join(project.path, project.filename), 'utf8'));
  assert.equal(project_id, project.project_id);
}

/** Types at the console of a PC, whose prompt must answer. */
async function typeAt(t: TestContext, console: number): Promise<void> {
  const client = await Client.open(t, console);
  client.send('version\r');
  await client.sees(/version[\s\S]*> $/);
  client.socket.destroy();
}

rig(
  {
    name: 'full-disk',
    promise: 'on a full disk nothing is lost or truncated, and what needs no space still works',
    skip: missing('vpcs'),
  },
  async (t) => {
    const disk = await scratchFileSystem(t, '24m');
    if (disk === undefined) return undefined;
    const seed = seedOfRun();
    t.diagnostic(`LABWIRE_SEED=${seed}`);
    const state = join(disk, 'state');
    const daemon = ownDaemon(t, { flags: ['--state', state] });
    await daemon.start();
    const running = await Lab.create(daemon, 'Running');
    const { pcs } = await running.pcsOnHub(2);
    const lab = await Lab.create(daemon);
    const refused: Answer[] = [];
    const model = new LabModel(noting(daemon, refused), lab.path, seeded(seed));
    await model.learn();
    for (let change = 0; change < 160; change++) assert.equal(Math.floor((await model.change()) / 100), 2, model.last);
    using ballast = new Ballast(disk);
    ballast.fill();
    // What makes room is done, one after the other, though all that becomes free is taken at once.
    const removals = [];
    for (const kind of ['link', 'drawing', 'node']) {
      const things = await daemon.get(`${lab.path}/${kind}s`);
      removals.push(...things.slice(0, 3).map((thing: Record<string, string>) => `${kind}s/${thing[`${kind}_id`]}`));
    }
    for (const path of removals) {
      const { status, text } = await daemon.ask('DELETE', `${lab.path}/${path}`);
      assert.equal(status, 204, text);
      ballast.fill();
    }
    await model.learn();
    const { made, wrong } = await changeAndCompare(model, ballast, CHANGES, state);
    assert.deepEqual(wrong, []);
    assert.ok(refused.length > 0, 'the disk is full');
    for (const { status, text, json } of refused) {
      assert.ok([409, 507].includes(status), text);
      assert.match(json.message, /no space/);
    }

    for (const [what, canary] of Object.entries(CANARIES)) {
      const weakened = new LabModel(canary(daemon, lab.project.path), lab.path, seeded(seed));
      await weakened.learn();
      const found = await changeAndCompare(weakened, ballast, 100, state);
      assert.ok(found.wrong.length > 0, `a server that ${what} is not found out`);
      rmSync(join(lab.project.path, 'left-over'), { force: true });
    }
    await model.learn();

    const upload = await daemon.ask('POST', `${lab.path}/files/large.bin`, { body: Buffer.alloc(900_000) });
    assert.equal(upload.status, 507);
    assert.equal((await daemon.ask('GET', `${lab.path}/files/large.bin`)).status, 404);
    await eventually('the server to have written its files', () => temporaryFiles(state).length === 0);
    await typeAt(t, pcs[0]!.console);
    const [kept, stopped] = [pcs[0]!, pcs[1]!];
    await daemon.post(`${running.path}/nodes/${stopped.node_id}/stop`);
    await eventually('the node to stop', async () => (await running.node(stopped)).status === 'stopped');
    assert.deepEqual(processesIn(stopped.node_directory), []);
    // A server that is killed on a full disk, again and again.
    const pids = processesIn(kept.node_directory);
    for (let kill = 0; kill < KILLS; kill++) {
      await daemon.kill();
      ballast.fill();
      await daemon.start();
      for (const { path } of [running, lab])
        await eventually('the labs to be open', async () => (await daemon.get(path)).status === 'opened');
      await running.nodes();
      assert.deepEqual(processesIn(kept.node_directory), pids);
      assert.deepEqual(await model.differences(), [], 'after a kill');
      await typeAt(t, kept.console);
    }
    for (const { path } of [running, lab]) {
      await daemon.post(`${path}/close`);
      ballast.fill();
    }
    for (const each of [running, lab]) projectIsWhole(each);
    await eventually('the server to have written its files', () => temporaryFiles(state).length === 0);

    ballast[Symbol.dispose]();
    for (const { path } of [running, lab]) await daemon.post(`${path}/open`);
    assert.deepEqual(await model.differences(), [], 'after closing and opening');
    for (let change = 0; change < 20; change++) assert.equal(Math.floor((await model.change()) / 100), 2, model.last);
    assert.deepEqual(await model.differences(), [], 'with space again');
    await running.start(stopped);
    await typeAt(t, stopped.console);
    await daemon.post('/v2/projects', { name: 'Another' });
    return [
      { what: 'changes requested', value: CHANGES },
      { what: 'done completely', value: made },
      { what: 'refused with 507 or 409, with the reason', value: refused.length },
      { what: 'deletions, all done', value: removals.length },
      { what: 'kills, after which labs and programs were unchanged', value: KILLS },
      { what: 'changes lost or half done, files truncated or left over', value: wrong.length },
      { what: 'weakened servers that were found', value: Object.keys(CANARIES).length },
      { what: 'seed', value: seed },
    ];
  },
);
