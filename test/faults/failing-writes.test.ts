// The first, second, third ... write, fsync or rename of a change fails: the change is there or it is not, nothing is half there, and the server
// says so and goes on.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type Daemon, eventually, ownDaemon } from '../system/daemon.ts';
import { missing } from '../system/lab.ts';
import { FAILURES, FailingWrites, type FailureName } from './failing-writes.ts';
import { LabModel } from './lab-model.ts';
import { FULL, rig, seeded, seedOfRun } from './rig.ts';

/** Rounds of each kind of failure; each lets the first, the second ... call fail until a change takes fewer. */
const ROUNDS = FULL ? 12 : 1;
/** No change takes more calls. */
const MOST_CALLS = 60;

/** Statuses by which a server says that it could not write. */
const HONEST = [409, 500, 503, 507];

async function wholeProjects(daemon: Daemon): Promise<void> {
  for (const { name, damaged } of await daemon.get('/v2/projects')) assert.equal(damaged, undefined, name);
}

rig(
  {
    name: 'failing-writes',
    promise: 'a write that fails leaves the old state or the new one, and the server goes on',
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
    for (let change = 0; change < 20; change++) assert.ok((await model.change()) < 300);
    assert.ok(writes.calls > 20, 'the writes of the server are seen');

    let failures = 0;
    const answers = new Map<number, number>();
    const attack = async (nth: number, failure: FailureName, act: () => Promise<number>): Promise<boolean> => {
      writes.arm(nth, failure);
      const status = await act();
      const { failed } = writes;
      writes.disarm();
      if (failed) {
        failures += 1;
        answers.set(status, (answers.get(status) ?? 0) + 1);
      }
      assert.ok(status < 300 || (failed && HONEST.includes(status)), `call ${nth}, ${failure}: ${status}`);
      assert.deepEqual(await model.differences(), [], `call ${nth}, ${failure}, answered ${status}`);
      return failed;
    };
    for (const failure of Object.keys(FAILURES) as FailureName[]) {
      for (let round = 0; round < ROUNDS; round++) {
        for (let nth = 1; nth < MOST_CALLS; nth++) if (!(await attack(nth, failure, () => model.change()))) break;
      }
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
      assert.deepEqual(await model.differences(), [], `after a kill, ${failure}`);
    }
    assert.ok(failures > 10, `only ${failures} calls have failed`);
    await eventually('an answer', async () => (await model.change()) < 300);
    return [
      { what: 'writes, fsyncs and renames that failed', value: failures },
      { what: 'kinds of failure', value: Object.keys(FAILURES).join(', ') },
      {
        what: 'answers to the changes that met one',
        value: [...answers]
          .sort()
          .map(([s, n]) => `${s}: ${n}`)
          .join(', '),
      },
      { what: 'mixtures of old and new', value: 0 },
      { what: 'seed', value: seed },
    ];
  },
);
