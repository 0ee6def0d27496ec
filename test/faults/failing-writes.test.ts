// The first, second, third ... write, fsync or rename of a change fails: the change is there or it is not, nothing is half there, and the server
// says so and goes on.
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { seeded } from '../seeded.ts';
import { type Daemon, eventually, ownDaemon } from '../system/daemon.ts';
import { missing } from '../system/lab.ts';
import { CANARIES } from './canaries.ts';
import { FAILURES, FailingWrites, type FailureName } from './failing-writes.ts';
import { LabModel } from './lab-model.ts';
import { temporaryFiles } from './leftovers.ts';
import { FULL, rig, seedOfRun } from './rig.ts';

/** Rounds of each kind of failure; each lets the first, the second ... call fail until a change takes fewer. */
const ROUNDS = FULL ? 12 : 1;
/** No change takes more calls. */
const MOST_CALLS = 60;

/** Statuses by which a server says that it could not write. */
const HONEST = [409, 500, 503, 507];

async function wholeProjects(daemon: Daemon): Promise<void> {
  for (const { name, damaged } of await daemon.get('/v2/projects')) assert.equal(damaged, undefined, name);
}

interface Attack {
  daemon: Daemon;
  writes: FailingWrites;
  model: LabModel;
  /** Path of the lab. */
  url: string;
  rounds: number;
  /** Whether the server is one that is to be found out: then only changes are tried. */
  canary?: boolean;
}

interface Outcome {
  failures: number;
  /** How often a change that met a failure was answered with a status. */
  answers: Map<number, number>;
  wrong: string[];
}

/** Lets the calls of changes fail, one after the other; stops when something is found. */
async function failAndCompare({ daemon, writes, model, url, rounds, canary = false }: Attack): Promise<Outcome> {
  const outcome: Outcome = { failures: 0, answers: new Map(), wrong: [] };
  const { path } = await daemon.get(url);
  const { answers, wrong } = outcome;
  const strays = (): string[] => [...temporaryFiles(daemon.state), ...model.strays(join(path, '..'))];
  /** Answers whether a call has failed. */
  const attack = async (nth: number, failure: FailureName, act: () => Promise<number>): Promise<boolean> => {
    writes.arm(nth, failure);
    const status = await act();
    const { failed } = writes;
    writes.disarm();
    if (failed) {
      outcome.failures += 1;
      answers.set(status, (answers.get(status) ?? 0) + 1);
    }
    const honest = (status >= 200 && status < 300) || (failed && HONEST.includes(status));
    if (!honest) wrong.push(`call ${nth}, ${failure}: ${model.last}`);
    for (const difference of await model.differences()) wrong.push(`call ${nth}, ${failure}: ${difference}`);
    // A file that is being written in the background is no left-over: it is gone a moment later.
    if (failed) await eventually('strays to be gone', () => strays().length === 0).catch(() => wrong.push(...strays()));
    return failed && wrong.length === 0;
  };
  for (const failure of Object.keys(FAILURES) as FailureName[]) {
    for (let round = 0; round < rounds; round++) {
      for (let nth = 1; nth < MOST_CALLS; nth++) if (!(await attack(nth, failure, () => model.change()))) break;
      if (wrong.length > 0) return outcome;
    }
    if (canary) continue;
    // Closing writes the file; what fails then must not cost the lab.
    for (let nth = 1; nth < MOST_CALLS; nth++) {
      const closed = async (): Promise<number> => {
        const { status } = await daemon.ask('POST', `${url}/close`);
        writes.disarm();
        await daemon.post(`${url}/open`);
        return status;
      };
      if (!(await attack(nth, failure, closed))) break;
    }
    await wholeProjects(daemon);
    await daemon.kill();
    await daemon.start();
    await daemon.post(`${url}/open`);
    for (const difference of await model.differences()) wrong.push(`after a kill, ${failure}: ${difference}`);
    if (wrong.length > 0) return outcome;
  }
  return outcome;
}

rig(
  {
    name: 'failing-writes',
    promise: 'a failed write leaves the old state or the new one, and the server goes on',
    skip: missing('cc'),
  },
  async (t) => {
    const seed = seedOfRun();
    t.diagnostic(`LABWIRE_SEED=${seed}`);
    const random = seeded(seed);
    const environment: Record<string, string> = {};
    const daemon = ownDaemon(t, { environment });
    const writes = new FailingWrites(join(daemon.directory, 'control'), daemon.state);
    t.after(() => writes.close());
    Object.assign(environment, writes.environment);
    await daemon.start();
    const { project_id } = await daemon.post('/v2/projects', { name: 'Fragile', auto_close: false });
    const url = `/v2/projects/${project_id}`;
    const model = new LabModel(daemon, url, random);
    await model.learn();
    for (let change = 0; change < 20; change++) assert.equal(Math.floor((await model.change()) / 100), 2, model.last);
    assert.ok(writes.calls > 20, 'the writes of the server are seen');

    const found = await failAndCompare({ daemon, writes, model, url, rounds: ROUNDS });
    assert.deepEqual(found.wrong, []);
    assert.ok(found.failures > 10, `only ${found.failures} calls have failed`);
    const { path } = await daemon.get(url);
    for (const [what, canary] of Object.entries(CANARIES)) {
      const weakened = new LabModel(canary(daemon, path), url, random);
      await weakened.learn();
      const { wrong } = await failAndCompare({ daemon, writes, model: weakened, url, rounds: 10, canary: true });
      assert.ok(wrong.length > 0, `a server that ${what} is not found out`);
      rmSync(join(path, 'left-over'), { force: true });
    }
    await model.learn();
    await eventually('an answer', async () => (await model.change()) < 300);
    return [
      { what: 'failed writes, fsyncs and renames', value: found.failures },
      { what: 'kinds of failure', value: Object.keys(FAILURES).join(', ') },
      {
        what: 'answers to affected changes',
        value: [...found.answers]
          .sort()
          .map(([s, n]) => `${s}: ${n}`)
          .join(', '),
      },
      { what: 'mixtures of old and new, files left over', value: found.wrong.length },
      { what: 'weakened servers that were found', value: Object.keys(CANARIES).length },
      { what: 'seed', value: seed },
    ];
  },
);
