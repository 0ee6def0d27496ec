// Undo and redo of changes made on this page. A step is undone by the reverse request, and only while its result is unchanged: later
// changes of other clients stay.
import { signal } from '@preact/signals';
import { WORDS } from '../../words.ts';
import { isSame } from '../browser/same-json.ts';
import { sentenceOf } from '../server/sentence.ts';
import { settled, valuesOf } from '../server/settled.ts';
import type { ScheduleObject } from '../server/types.ts';
import { namesInSentence } from './names-in-sentence.ts';
import { isOtherName, type OtherName } from './taken-names.ts';
import { alike, type Fields, idOf, nameOf, pick, scheduled, type Thing } from './undo-fields.ts';
import { type CopyPart, type Kind, type Part, type Step, withIds } from './undo-parts.ts';

/** The API calls used for changes; paths are below `/v2`. */
export interface Requests {
  get<T>(path: string): Promise<T>;
  post<T>(path: string, body?: object): Promise<T>;
  put<T>(path: string, body: object): Promise<T>;
  delete(path: string): Promise<unknown>;
}

/** New values for some fields of an object. */
export interface Update {
  kind: Thing;
  id: string;
  /** A function computes them from the server's state at the step's turn, not from this page's. */
  fields: Fields | ((now: Fields) => Fields);
}

type Made = 'link' | 'drawing';

/** A node to copy, with the request's body. */
export interface Copy {
  source: string;
  body: Fields;
}
/** Fields that must be unchanged for undoing the creation of an object; a removed link or drawing is recreated from them. */
const SUBSTANCE: Readonly<Record<Thing, readonly string[]>> = {
  node: ['name', 'x', 'y', 'z', 'label', 'symbol', 'locked', 'status', 'properties'],
  link: ['nodes', 'filters', 'suspend', 'link_style', 'impairments'],
  drawing: ['x', 'y', 'z', 'rotation', 'locked', 'svg'],
};
const MOST_STEPS = 200;
/** Refusals that may pass, such as those of a host that restarts. If one is repeated, it would block earlier steps. */
const MAY_PASS: readonly unknown[] = [400, 409];

export interface HistoryOptions {
  requests: Requests;
  /** Its path below `/v2`. */
  project: string;
  /** The current state of an object on this page. */
  known: (kind: Thing, id: string) => object | undefined;
  /** Called after a step in which the server chose other names because the requested ones were taken. */
  otherNames?: (names: readonly OtherName[]) => void;
}

/** The step, or a part of it, can never be reversed, mostly because another client has changed its object. */
class ConflictingChange extends Error {}

/** The error, with the names of nodes that were deleted for good all the same. */
function withGone(error: unknown, gone: readonly string[]): unknown {
  if (gone.length === 0) return error;
  const sentence = WORDS.nodes.removedForGood(namesInSentence(gone));
  return new Error(`${sentenceOf(error)} ${sentence}`, { cause: error });
}

const statusOf = (error: unknown): number | undefined => (error as { status?: number }).status;

export class History {
  /** Number of steps that can be undone and redone, pending ones included, so that fast users need not wait. */
  readonly undoable = signal(0);
  readonly redoable = signal(0);
  readonly #requests: Requests;
  readonly #project: string;
  readonly #known: HistoryOptions['known'];
  readonly #tellOtherNames: (names: readonly OtherName[]) => void;
  /** Names chosen by the server in the current step. */
  #otherNames: OtherName[] = [];
  /** The last answer to a change of each object, because an event can come later than the answer. */
  readonly #answers = new Map<string, Fields>();
  /** The last error of each part that could not be reversed. */
  readonly #errors = new WeakMap<Part, string>();
  /** The new ids of objects that the current turn has recreated. */
  readonly #newIds = new Map<string, string>();
  #done: Step[] = [];
  #undone: Step[] = [];
  /** Steps run one after the other. */
  #queue: Promise<unknown> = Promise.resolve();
  /** What the pending tasks will add to the steps that can be undone and redone. */
  readonly #expected = { undoable: 0, redoable: 0 };

  constructor({ requests, project, known, otherNames = () => {} }: HistoryOptions) {
    this.#requests = requests;
    this.#project = project;
    this.#known = known;
    this.#tellOtherNames = otherNames;
  }

  /**
   * Changes several objects as one step; returns their fields as the server has them afterwards. If one part fails, the others can still be
   * undone. @throws Refusal
   */
  async update(updates: readonly Update[]): Promise<Fields[]> {
    return valuesOf(await this.updateEach(updates));
  }

  /** Like `update`, but returns the result or error of each part. */
  updateEach(updates: readonly Update[]): Promise<PromiseSettledResult<Fields>[]> {
    return this.#next(async () => {
      const step: Part[] = [];
      const results = await settled(updates, async ({ kind, id, fields }) => {
        const follows = typeof fields === 'function';
        const now = await (follows ? this.#read(kind, id) : this.#now(kind, id, fields));
        const wanted = follows ? fields(now) : fields;
        const before = alike(wanted, now);
        const after = await this.#put(kind, id, wanted);
        step.push({ type: 'changed', kind, id, before, after });
        return after;
      });
      this.#record(step);
      return results;
    });
  }

  /** Like `update`, but made by these requests of the server, which need not be one per change. @throws Refusal */
  updateBy(actions: readonly string[], updates: readonly { kind: Thing; id: string; fields: Fields }[]): Promise<void> {
    return this.#next(async () => {
      const step: Part[] = [];
      const made = new Map<string, Fields>();
      const reads = await settled(updates, async ({ kind, id, fields }) => {
        const now = await this.#now(kind, id, fields);
        step.push({ type: 'changed', kind, id, before: alike(fields, now), after: fields });
        made.set(id, { ...now, ...fields });
      });
      // Those that were deleted meanwhile are left out.
      valuesOf(reads.filter((read) => read.status === 'fulfilled' || statusOf(read.reason) !== 404));
      for (const action of actions) await this.#requests.post(`${this.#project}/${action}`);
      for (const [id, object] of made) this.#answers.set(id, object);
      this.#record(step);
    });
  }

  /** Starts a schedule on a link, or ends the running one (`null`). @throws Refusal */
  schedule(id: string, plan: object | null): Promise<void> {
    return this.#next(async () => {
      const now = await this.#read('schedule', id);
      const before = { plan: now['state'] === 'running' ? now['plan'] : null };
      const after = await this.#put('schedule', id, { plan });
      this.#record([{ type: 'changed', kind: 'schedule', id, before, after }]);
    });
  }

  /** Creates a link or drawing; returns the server's object. @throws Refusal */
  make<T>(kind: Made, object: object): Promise<T> {
    return this.#next(async () => {
      const made = await this.#requests.post<Fields>(`${this.#project}/${kind}s`, object);
      this.#record([{ type: 'made', kind, id: idOf(kind, made), object: pick(made, SUBSTANCE[kind]) }]);
      return made as T;
    });
  }

  /**
   * Copies nodes and creates drawings as one step. Undo removes a copy only while it is unchanged: a disk that was used since stays.
   * @throws Refusal
   */
  copy(nodes: readonly Copy[], drawings: readonly Fields[]): Promise<{ nodes: string[]; drawings: string[] }> {
    return this.#next(async () => {
      const step: Part[] = [];
      try {
        for (const { source, body } of nodes) step.push(await this.#copied(source, body));
        for (const drawing of drawings) {
          const made = await this.#requests.post<Fields>(`${this.#project}/drawings`, drawing);
          const object = pick(made, SUBSTANCE.drawing);
          step.push({ type: 'made', kind: 'drawing', id: idOf('drawing', made), object });
        }
      } finally {
        this.#record(step);
      }
      const ids = (kind: Thing): string[] => step.filter((part) => part.kind === kind).map(({ id }) => id);
      return { nodes: ids('node'), drawings: ids('drawing') };
    });
  }

  async #copied(source: string, body: Fields): Promise<CopyPart> {
    const made = await this.#requests.post<Fields>(`${this.#path('node', source)}/duplicate`, body);
    const { name: wanted } = { name: undefined, ...this.#known('node', source) };
    this.#compareNames(wanted, made['name']);
    return { type: 'copied', kind: 'node', id: idOf('node', made), source, body, object: pick(made, SUBSTANCE.node) };
  }

  /**
   * Removes nodes, links and drawings as one step. Returns the names of nodes that their hosts did not keep, so that
   * they cannot be restored. @throws Refusal
   */
  remove(things: readonly { kind: Thing; id: string }[]): Promise<string[]> {
    return this.#next(async () => {
      const step: Part[] = [];
      const gone: string[] = [];
      const removals = await settled(things, async ({ kind, id }) => {
        const name = this.#name(kind, id);
        const part = await this.#removed(kind, id);
        if (part) step.push(part);
        else gone.push(name);
      });
      this.#record(step);
      try {
        valuesOf(removals);
      } catch (error) {
        throw withGone(error, gone);
      }
      return gone;
    });
  }

  /** Undefined for a node that cannot be restored. */
  async #removed(kind: Thing, id: string): Promise<Part | undefined> {
    const path = this.#path(kind, id);
    if (kind === 'node') {
      const object = { name: this.#name(kind, id) };
      const kept = await this.#requests.delete(`${path}?keep=yes`);
      return kept === undefined ? undefined : { type: 'removed', kind, id, object };
    }
    const object = pick(await this.#read(kind, id), SUBSTANCE[kind]);
    await this.#requests.delete(path);
    return { type: 'removed', kind, id, object };
  }

  /** Undoes the last step. @throws Error if another client has changed the object since; Refusal */
  async undo(): Promise<void> {
    await this.#next(() => this.#turn(this.#done, this.#undone), { undoable: -1, redoable: 1 });
  }

  /** Redoes the last undone step. Returns names of nodes as `remove` does. @throws as `undo` does */
  redo(): Promise<string[]> {
    return this.#next(() => this.#turn(this.#undone, this.#done), { undoable: 1, redoable: -1 });
  }

  #next<T>(task: () => Promise<T>, expected = { undoable: 1, redoable: 0 }): Promise<T> {
    this.#expect(expected, 1);
    const turn = this.#queue.then(task).finally(() => {
      this.#expect(expected, -1);
      const names = this.#otherNames.splice(0);
      if (names.length > 0) this.#tellOtherNames(names);
    });
    this.#queue = turn.catch(() => {});
    return turn;
  }

  #expect({ undoable, redoable }: { undoable: number; redoable: number }, sign: 1 | -1): void {
    this.#expected.undoable += sign * undoable;
    this.#expected.redoable += sign * redoable;
    this.#count();
  }

  #record(step: Step): void {
    if (step.length === 0) return;
    this.#done = [...this.#done, step].slice(-MOST_STEPS);
    this.#undone = [];
  }

  #count(): void {
    this.undoable.value = Math.max(0, this.#done.length + this.#expected.undoable);
    this.redoable.value = Math.max(0, this.#undone.length + this.#expected.redoable);
  }

  /** Returns the names of nodes that it deleted for good. */
  async #turn(from: Step[], to: Step[]): Promise<string[]> {
    const step = from.at(-1);
    if (!step) return [];
    const notTurned = from === this.#undone ? WORDS.undo.notRedone : WORDS.undo.notUndone;
    try {
      valuesOf(await settled(step, (part) => this.#check(part)));
    } catch (error) {
      if (!(error instanceof ConflictingChange)) throw error;
      // Drop a step that can never be undone, so that it does not block earlier ones.
      from.pop();
      throw new Error(notTurned(sentenceOf(error)));
    }
    const opposite: Part[] = [];
    const gone: string[] = [];
    const refused: { name: string; error: unknown }[] = [];
    const left = new Set(step);
    const turn = async (part: Part): Promise<void> => {
      const name = this.#name(part.kind, part.id, 'object' in part ? part.object : undefined);
      try {
        const other = await this.#opposite(part);
        if (other) opposite.push(other);
        else gone.push(name);
      } catch (error) {
        if (!this.#isFinal(part, error)) throw error;
        refused.push({ name, error });
      }
      left.delete(part);
    };
    try {
      // Changes are independent of each other; creations and removals are reversed in order.
      if (step.every(({ type }) => type === 'changed')) {
        valuesOf(await settled(step, turn));
      } else for (const part of step.toReversed()) await turn(part);
      const [first] = refused;
      const names = namesInSentence(refused.map(({ name }) => name));
      if (first) throw new Error(notTurned(WORDS.undo.refused(names, sentenceOf(first.error))));
      return gone;
    } catch (error) {
      throw withGone(error, gone);
    } finally {
      // A partly reversed step can also be reversed back.
      from.pop();
      if (left.size > 0) from.push([...left]);
      if (opposite.length > 0) to.push(opposite);
      this.#followNewIds();
    }
  }

  /** Whether the part is to be dropped, because it cannot be reversed later either. */
  #isFinal(part: Part, error: unknown): boolean {
    const status = statusOf(error);
    // The deleted node is not kept any more, or an end of the link was deleted.
    if (status === 404 || (status === 400 && part.type === 'removed' && part.kind === 'link')) return true;
    const now = `${status} ${sentenceOf(error)}`;
    const isRepeated = this.#errors.get(part) === now;
    this.#errors.set(part, now);
    return isRepeated && MAY_PASS.includes(status);
  }

  /** @throws ConflictingChange unless the object is as this part left it */
  async #check(part: Part): Promise<void> {
    if (part.type === 'removed') return;
    if (part.type === 'uncopied') {
      await this.#stillThere('node', part.source);
      return;
    }
    const left = part.type === 'changed' ? part.after : part.object;
    const { kind, id } = part;
    const name = this.#name(kind, id);
    const now = await this.#stillThere(kind, id);
    if (part.type === 'copied') await this.#checkUnused(part, name);
    // The same user may have started a restored node.
    if (part.type === 'made' && kind === 'node' && left['status'] !== now['status'])
      throw new ConflictingChange(WORDS.undo.used(name));
    // A schedule that ended by itself leaves nothing that ending it could have changed.
    const isOver = kind === 'schedule' && left['plan'] === null && now['state'] !== 'running';
    if (!isOver && !isSame(alike(left, now), left)) throw new ConflictingChange(WORDS.undo.overtaken(name));
  }

  /** @param former the object as it was, for one that is gone */
  #name(kind: Kind, id: string, former?: Fields): string {
    return kind === 'schedule' ? WORDS.undo.things.schedule : nameOf(kind, this.#known(kind, id) ?? former);
  }

  /** @throws ConflictingChange if it was deleted */
  async #stillThere(kind: Kind, id: string): Promise<Fields> {
    try {
      return await this.#read(kind, id);
    } catch (error) {
      if (statusOf(error) !== 404) throw error;
      throw new ConflictingChange(WORDS.undo.gone(this.#name(kind, id)));
    }
  }

  /** A copy that was started has a used disk, and one with links is in use. @throws ConflictingChange */
  async #checkUnused({ id, object }: CopyPart, name: string): Promise<void> {
    const links = await this.#requests.get<readonly { nodes: readonly { node_id: string }[] }[]>(
      `${this.#project}/links`,
    );
    const journal = await this.#requests.get<readonly { node_id: string | null; status: string | null }[]>(
      `${this.#project}/journal`,
    );
    const isLinked = links.some(({ nodes }) => nodes.some(({ node_id: end }) => end === id));
    const wasStarted = journal.some(({ node_id: of, status }) => of === id && status === 'started');
    if (isLinked || (wasStarted && object['status'] !== 'started')) throw new ConflictingChange(WORDS.undo.used(name));
  }

  async #oppositeOfCopy(part: CopyPart): Promise<Part> {
    if (part.type === 'copied') {
      await this.#requests.delete(this.#path(part.kind, part.id));
      return { ...part, type: 'uncopied' };
    }
    const made = await this.#copied(part.source, part.body);
    this.#newIds.set(part.id, made.id);
    return made;
  }

  /** Undefined if it cannot be reversed in turn. */
  async #opposite(part: Part): Promise<Part | undefined> {
    if ('source' in part) return this.#oppositeOfCopy(part);
    const { kind, id } = part;
    if (part.type === 'changed') {
      const after = await this.#put(kind, id, part.before);
      return { ...part, before: part.after, after };
    }
    if (part.type === 'made') return this.#removed(part.kind, id);
    if (kind === 'node') {
      const restored = await this.#requests.post<Fields>(`${this.#project}/deleted_nodes/${id}/restore`);
      return { ...part, type: 'made', object: pick(restored, SUBSTANCE.node) };
    }
    const made = await this.#requests.post<Fields>(`${this.#project}/${kind}s`, part.object);
    this.#newIds.set(id, idOf(part.kind, made));
    return { ...part, type: 'made', id: idOf(part.kind, made), object: pick(made, SUBSTANCE[part.kind]) };
  }

  /** Replaces the ids of recreated objects in all steps. Links name their nodes, and copies their source. */
  #followNewIds(): void {
    if (this.#newIds.size === 0) return;
    // In place, because the caller holds these lists.
    for (const list of [this.#done, this.#undone])
      for (const [at, step] of list.entries()) list[at] = step.map((part) => withIds(part, this.#newIds));
    this.#newIds.clear();
  }

  #path(kind: Thing, id: string): string {
    return `${this.#project}/${kind}s/${id}`;
  }

  /** The object as this page knows it, or as the server has it if these fields are not as they were last answered. */
  async #now(kind: Thing, id: string, fields: Fields): Promise<Fields> {
    const known = this.#known(kind, id) as Fields | undefined;
    const answer = this.#answers.get(id);
    const isCurrent = known && (!answer || isSame(alike(fields, known), alike(fields, answer)));
    return isCurrent ? known : this.#read(kind, id);
  }

  async #read(kind: Kind, id: string): Promise<Fields> {
    if (kind === 'schedule') return { ...scheduled(await this.#requests.get<ScheduleObject>(this.#schedulePath(id))) };
    return this.#requests.get<Fields>(this.#path(kind, id));
  }

  #compareNames(wanted: unknown, given: unknown): void {
    if (typeof wanted === 'string' && typeof given === 'string' && isOtherName(wanted, given))
      this.#otherNames.push([wanted, given]);
  }

  #schedulePath(id: string): string {
    return `${this.#path('link', id)}/schedule`;
  }

  /** Returns the fields as the server has them afterwards. */
  async #put(kind: Kind, id: string, fields: Fields): Promise<Fields> {
    if (kind === 'schedule') {
      const plan = fields['plan'] as object | null;
      const path = this.#schedulePath(id);
      if (plan) return { plan: scheduled(await this.#requests.post<ScheduleObject>(path, plan)).plan };
      await this.#requests.delete(path);
      return { plan: null };
    }
    const answer = await this.#requests.put<Fields>(this.#path(kind, id), fields);
    this.#answers.set(id, answer);
    if (kind === 'node') this.#compareNames(fields['name'], answer['name']);
    const known = alike(fields, answer);
    return {
      ...fields,
      ...pick(
        known,
        Object.keys(fields).filter((key) => key in answer),
      ),
    };
  }
}
