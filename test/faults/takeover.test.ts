// Changes by several clients, and SIGKILL of the controller's server at random moments: the other host has what was acknowledged, and an
// interrupted change whole or not at all. One NATS server, which is not killed.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { seeded } from '../seeded.ts';
import { type Answer, type Daemon, eventually } from '../system/daemon.ts';
import { executable, FROM_SOURCE } from '../system/executable.ts';
import { missing } from '../system/lab.ts';
import { Pair } from './controller-pair.ts';
import { FULL, rig, seedOfRun } from './rig.ts';

const skip = missing('nats-server', 'openssl');
const KILLS = FULL ? 60 : 2;
const WRITERS = 4;
/** Milliseconds of changes before a kill, at most. */
const INTO_MS = 1_500;

const KINDS = ['drawings', 'nodes'] as const;
type Kind = (typeof KINDS)[number];
const ID = { drawings: 'drawing_id', nodes: 'node_id' } as const;

/** The member that changes, by kind and id; undefined for a thing that is not there. */
type State = Map<string, number | undefined>;

interface Open {
  key: string;
  /** What it is after the change. */
  after: number | undefined;
}

/** A client that makes one change after another, with things of its own. */
class Writer {
  readonly state: State = new Map();
  changes = 0;
  open: Open | undefined;
  readonly #ask: Daemon['ask'];
  readonly #lab: string;
  readonly #random: () => number;

  constructor(ask: Daemon['ask'], lab: string, random: () => number) {
    this.#ask = ask;
    this.#lab = lab;
    this.#random = random;
  }

  /** Changes until one is not acknowledged. */
  async run(): Promise<void> {
    while (!this.open) {
      const { key, after, request } = this.#draw();
      const answer = await request().catch(() => undefined);
      if (answer && answer.status < 300) {
        this.state.set(key, after);
        this.changes += 1;
      } else this.open = { key, after };
    }
  }

  #draw(): Open & { request: () => Promise<Answer> } {
    const there = [...this.state].filter(([, value]) => value !== undefined).map(([key]) => key);
    const dice = this.#random();
    const key = there[Math.floor(this.#random() * there.length)];
    if (key !== undefined && dice < 0.15)
      return { key, after: undefined, request: () => this.#ask('DELETE', `${this.#lab}/${key}`) };
    const x = Math.floor(this.#random() * 1_000);
    if (key !== undefined && dice < 0.6)
      return { key, after: x, request: () => this.#ask('PUT', `${this.#lab}/${key}`, { body: { x } }) };
    const kind: Kind = dice < 0.8 ? 'drawings' : 'nodes';
    const id = randomUUID();
    const node = { name: `H${id.slice(0, 8)}`, node_type: 'ethernet_hub', compute_id: 'local' };
    const body = { [ID[kind]]: id, x, ...(kind === 'nodes' ? node : { svg: '<svg width="9" height="9"></svg>' }) };
    return { key: `${kind}/${id}`, after: x, request: () => this.#ask('POST', `${this.#lab}/${kind}`, { body }) };
  }

  /** What is not as it was acknowledged; takes over what is there. */
  judge(found: State): string[] {
    const { open } = this;
    this.open = undefined;
    const lost: string[] = [];
    for (const [key, value] of this.state) {
      const now = found.get(key);
      if (now !== value && !(open?.key === key && now === open.after)) lost.push(`${key}: ${now} instead of ${value}`);
    }
    if (open) this.state.set(open.key, found.get(open.key));
    return lost;
  }
}

async function stateOf(ask: Daemon['ask'], lab: string): Promise<State> {
  const found: State = new Map();
  for (const kind of KINDS) {
    const { json, status, text } = await ask('GET', `${lab}/${kind}`);
    assert.equal(status, 200, text);
    for (const thing of json) found.set(`${kind}/${thing[ID[kind]]}`, thing.x);
  }
  return found;
}

interface Outcome {
  kills: number;
  changes: number;
  lost: string[];
}

/** @param weaken makes the server worse */
async function killAndCompare(
  pair: Pair,
  kills: number,
  random: () => number,
  weaken: (ask: Daemon['ask']) => Daemon['ask'] = (ask) => ask,
): Promise<Outcome> {
  const ask = weaken(pair.ask);
  // A host with too little processor time may renew its key late.
  const made = await eventually(
    'a lab',
    () => ask('POST', '/v2/projects', { body: { name: `Takeover-${randomUUID()}`, auto_close: false } }),
    ({ status }) => status === 201,
  );
  const lab = `/v2/projects/${made.json.project_id}`;
  const writers = Array.from({ length: WRITERS }, () => new Writer(ask, lab, random));
  const outcome: Outcome = { kills: 0, changes: 0, lost: [] };
  while (outcome.kills < kills && outcome.lost.length === 0) {
    const working = Promise.all(writers.map((writer) => writer.run()));
    await sleep(random() * INTO_MS);
    const killed = pair.kill();
    await working;
    await killed;
    outcome.kills += 1;
    const { status } = await eventually(
      'the lab',
      () => ask('GET', lab),
      (answer) => answer.status === 404 || answer.json?.status === 'opened',
    );
    if (status === 404) {
      outcome.lost.push('the whole lab');
      break;
    }
    const found = await stateOf(ask, lab);
    outcome.lost.push(...writers.flatMap((writer) => writer.judge(found)));
  }
  outcome.changes = writers.reduce((sum, { changes }) => sum + changes, 0);
  return outcome;
}

rig({ name: 'takeover', promise: 'acknowledged changes survive the death of the controller', skip }, async (t) => {
  const seed = seedOfRun();
  t.diagnostic(`LABWIRE_SEED=${seed}`);
  const random = seeded(seed);
  const pair = await Pair.make(t, executable());
  const { changes, kills, lost } = await killAndCompare(pair, KILLS, random);
  assert.deepEqual(lost, []);
  const slowest = Math.max(...pair.gaps);
  // It says that a thing is changed, and does not change it.
  const { lost: found } = await killAndCompare(pair, 5, random, (ask) => async (method, path, question) => {
    const { x } = (question?.body ?? {}) as { x?: number };
    if (method !== 'PUT' || x === undefined) return ask(method, path, question);
    return ask('GET', path);
  });
  assert.ok(found.length > 0, 'a server that acknowledges changes that it does not make is not found out');
  return [
    { what: 'changes acknowledged', value: changes },
    { what: 'kills of the controller at random moments', value: kills },
    { what: 'acknowledged changes lost, interrupted ones half done', value: lost.length },
    { what: 'longest time without a controller', value: `${(slowest / 1_000).toFixed(1)} s` },
    { what: 'weakened servers that were found', value: 2 },
    { what: 'seed', value: seed },
  ];
});

test('a controller that acknowledges before the log has a change is found out by the same attack', {
  skip,
}, async (t) => {
  const [node, ...words] = FROM_SOURCE as [string, ...string[]];
  const weakened = [node, '--import', join(import.meta.dirname, 'weakened-log.ts'), ...words];
  const { lost } = await killAndCompare(await Pair.make(t, weakened), 5, seeded(1));
  assert.ok(lost.length > 0);
});
