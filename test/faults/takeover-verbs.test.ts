// SIGKILL of the controller's server in the middle of each verb that changes what it keeps: the other host has all that was acknowledged, and an
// interrupted change whole or not at all, with no file or node that no lab explains.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { seeded } from '../seeded.ts';
import { type Daemon, eventually } from '../system/daemon.ts';
import { executable, FROM_SOURCE } from '../system/executable.ts';
import { missing } from '../system/lab.ts';
import { Pair } from './controller-pair.ts';
import { FULL, rig, seedOfRun } from './rig.ts';
import { type Place, stopped, VERBS, type Verb, viewOf } from './takeover-verbs.ts';

const ROUNDS = FULL ? 30 : 1;
/** A verb begins at most so many times its own length before the kill, and so many milliseconds. */
const LENGTHS = 8;
const BEFORE_MS = 150;
/** How long (ms) a lab may take to settle after a change of the controller. */
const SETTLED_MS = 40_000;

/** What there is before a verb and after it, and how long (ms) it takes. */
interface Known {
  before: string;
  after: string;
  length: number;
}

class Rig {
  readonly #pair: Pair;
  readonly #random: () => number;
  readonly #known = new Map<Verb, Known>();
  #round = 0;
  readonly problems: string[] = [];
  readonly counts = { acknowledged: 0, made: 0, not: 0 };

  constructor(pair: Pair, random: () => number) {
    this.#pair = pair;
    this.#random = random;
  }

  async #place(verb: Verb, ask: Daemon['ask']): Promise<Place> {
    const computes: { compute_id: string; name: string }[] = (await this.#pair.ask('GET', '/v2/computes')).json;
    const { compute_id: compute } = computes.find(({ name }) => name === this.#pair.nextName)!;
    const { url, headers } = this.#pair.current;
    const download = async (path: string): Promise<Uint8Array> => (await fetch(url + path, { headers })).bytes();
    return { ask, compute, download, prefix: `v${VERBS.indexOf(verb)}r${this.#round}-` };
  }

  /** Each verb once, without a kill. */
  async rehearse(): Promise<void> {
    const { ask } = this.#pair;
    for (const verb of VERBS) {
      const place = await this.#place(verb, ask);
      const request = await verb.prepare(place);
      const before = await viewOf(ask, place.prefix);
      const begin = performance.now();
      const { status, text } = await request();
      const length = performance.now() - begin;
      assert.ok(status < 300, `${verb.name}: ${status} ${text}`);
      const after = await eventually(
        verb.name,
        () => viewOf(ask, place.prefix),
        (view) => view !== before && !(verb.stops && view === stopped(before)),
      );
      this.#known.set(verb, { before, after, length });
      await this.#clear();
    }
  }

  /** Labs have UDP ports, of which there are a hundred. */
  async #clear(): Promise<void> {
    const projects: { project_id: string }[] = (await this.#pair.ask('GET', '/v2/projects')).json;
    for (const { project_id: id } of projects) await this.#pair.ask('DELETE', `/v2/projects/${id}`);
  }

  /**
   * Ends with the first problem.
   * @param ask the server, or one that is made worse on purpose
   * @param patience how long (ms) a lab may take to settle
   */
  async kill({ ask = this.#pair.ask, patience = SETTLED_MS } = {}): Promise<void> {
    this.#round += 1;
    const prepared: { verb: Verb; place: Place; request: Awaited<ReturnType<Verb['prepare']>> }[] = [];
    for (const verb of VERBS) {
      const place = await this.#place(verb, ask);
      prepared.push({ verb, place, request: await verb.prepare(place) });
    }
    const longest = Math.max(...VERBS.map((verb) => this.#known.get(verb)!.length)) * LENGTHS + BEFORE_MS;
    const answers = prepared.map(async ({ verb, request }) => {
      const { length } = this.#known.get(verb)!;
      await sleep(longest - this.#random() * (LENGTHS * length + BEFORE_MS));
      return request().catch(() => undefined);
    });
    await sleep(longest);
    await this.#pair.kill();
    const answered = await Promise.all(answers);
    for (const [index, { verb, place }] of prepared.entries()) {
      await this.#judge(verb, place.prefix, { isAcknowledged: (answered[index]?.status ?? 999) < 300, patience });
      if (this.problems.length > 0) return;
    }
    await this.#leftovers();
    await this.#clear();
  }

  async #judge(
    verb: Verb,
    prefix: string,
    { isAcknowledged, patience }: { isAcknowledged: boolean; patience: number },
  ): Promise<void> {
    const { before, after } = this.#known.get(verb)!;
    const allowed = isAcknowledged ? [after] : [before, after, ...(verb.stops ? [stopped(before)] : [])];
    const found = await eventually(
      verb.name,
      () => viewOf(this.#pair.ask, prefix).catch(String),
      (text) => allowed.includes(text),
      patience,
    ).catch(() => viewOf(this.#pair.ask, prefix).catch(String));
    if (isAcknowledged) this.counts.acknowledged += 1;
    else if (found === after) this.counts.made += 1;
    else this.counts.not += 1;
    if (!allowed.includes(found))
      this.problems.push(
        `${verb.name}, ${isAcknowledged ? '' : 'not '}acknowledged:\n  found  ${found}\n  before ${before}\n  after  ${after}`,
      );
  }

  /** Files of labs on the controller's host that it does not list, and nodes there that are in no lab. */
  async #leftovers(): Promise<void> {
    const projects: { project_id: string; status: string }[] = (await this.#pair.ask('GET', '/v2/projects')).json;
    const directory = join(this.#pair.current.state, 'projects');
    for (const id of readdirSync(directory).filter((name) => /^[\da-f-]{36}$/.test(name))) {
      const project = projects.find(({ project_id }) => project_id === id);
      if (!project) {
        await eventually('no folder', () => !existsSync(join(directory, id))).catch(() =>
          this.problems.push(`a folder of a lab that is not there: ${readdirSync(join(directory, id))}`),
        );
        continue;
      }
      const nodes: { node_id: string }[] = (await this.#pair.ask('GET', `/v2/projects/${id}/nodes`)).json;
      const there = join(directory, id, 'project-files/vpcs');
      const strange = () =>
        existsSync(there) ? readdirSync(there).filter((node) => !nodes.some(({ node_id }) => node_id === node)) : [];
      await eventually('no strange nodes', strange, (found) => found.length === 0).catch(() =>
        this.problems.push(`nodes that are in no lab: ${strange()}`),
      );
    }
  }
}

const skip = missing('nats-server', 'openssl', 'qemu-system-x86_64');

rig(
  {
    name: 'takeover-verbs',
    promise:
      "every verb that was acknowledged survives the death of the controller's server, and no other one is half done",
    skip,
  },
  async (t) => {
    const seed = seedOfRun();
    t.diagnostic(`LABWIRE_SEED=${seed}`);
    const pair = await Pair.make(t, executable());
    const attack = new Rig(pair, seeded(seed));
    await attack.rehearse();
    for (let round = 0; round < ROUNDS && attack.problems.length === 0; round += 1) await attack.kill();
    assert.deepEqual(attack.problems, []);
    const { acknowledged, made, not } = attack.counts;
    // It says that things are deleted, and does not delete them.
    const weakened: Daemon['ask'] = async (method, path, question) =>
      method === 'DELETE'
        ? { ...(await pair.ask('GET', '/v2/version')), status: 204 }
        : pair.ask(method, path, question);
    await attack.kill({ ask: weakened, patience: 5_000 });
    assert.ok(attack.problems.length > 0, 'a server that acknowledges changes that it does not make is not found out');
    return [
      { what: 'verbs, each of which was running or about to when the controller was killed', value: VERBS.length },
      { what: 'kills of the controller', value: ROUNDS },
      { what: 'verbs acknowledged, and there', value: acknowledged },
      { what: 'verbs not acknowledged that are there as a whole, and not at all', value: `${made}, ${not}` },
      { what: 'weakened servers that the same attack found out', value: 1 },
      { what: 'seed', value: seed },
    ];
  },
);

test('an import whose controller dies before its files are kept leaves nothing on other hosts', { skip }, async (t) => {
  const [node, ...words] = FROM_SOURCE as [string, ...string[]];
  const pair = await Pair.make(t, [node, '--import', join(import.meta.dirname, 'interrupted-import.ts'), ...words]);
  const { ask } = pair;
  const computes: { compute_id: string; name: string }[] = (await ask('GET', '/v2/computes')).json;
  const { compute_id } = computes.find(({ name }) => name === pair.nextName)!;
  const { project_id: id } = (await ask('POST', '/v2/projects', { body: { name: 'Original' } })).json;
  const properties = { startup_script: 'ip 10.0.0.7/24\n' };
  const pc = { name: 'PC1', node_type: 'vpcs', compute_id, properties };
  assert.equal((await ask('POST', `/v2/projects/${id}/nodes`, { body: pc })).status, 201);
  const { url, headers } = pair.current;
  const body = await (await fetch(`${url}/v2/projects/${id}/export?keep_compute_ids=yes`, { headers })).bytes();
  const imported = randomUUID();
  const files = join(pair.next.state, 'projects', imported, 'project-files/vpcs');
  await assert.rejects(ask('POST', `/v2/projects/${imported}/import?name=Interrupted`, { body }));
  assert.equal(readdirSync(files).length, 1);
  await pair.kill();
  await eventually('no files', () => !existsSync(join(files, '../..')));
  const names = ((await ask('GET', '/v2/projects')).json as { name: string }[]).map(({ name }) => name);
  assert.deepEqual(names, ['Original']);
});
