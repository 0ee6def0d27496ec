// What was changed here, so that it can be taken back and done again. A change is taken back by the opposite request, and only
// while what it left is still there: what somebody else has changed since stays as it is.
import { signal } from '@preact/signals';
import { WORDS } from '../../words.ts';
import { isSame } from '../browser/same-json.ts';
import type { ScheduleObject } from '../server/types.ts';
import { alike, type Fields, idOf, nameOf, pick, type ScheduleNow, scheduled, type Thing } from './undo-fields.ts';

/** The calls of the API that changes are made by; paths are below `/v2`. */
export interface Requests {
  get<T>(path: string): Promise<T>;
  post<T>(path: string, body?: object): Promise<T>;
  put<T>(path: string, body: object): Promise<T>;
  delete(path: string): Promise<void>;
}

/** The schedule of a link has the link's id and one field, `plan`: what was asked for, or null. */
type Kind = Thing | 'schedule';

/** New values of some fields of a thing. */
export interface Update {
  kind: Thing;
  id: string;
  /** Or how they follow from the thing as the server has it when it is the step's turn, whatever is known of it here. */
  fields: Fields | ((now: Fields) => Fields);
}

type Made = 'link' | 'drawing';
/** A node that was made of another one, `source`, by asking for `body`; or is to be made so again. */
interface CopyPart {
  type: 'copied' | 'uncopied';
  kind: 'node';
  id: string;
  source: string;
  body: Fields;
  object: Fields;
}
type Part =
  | { type: 'changed'; kind: Kind; id: string; before: Fields; after: Fields }
  | { type: 'made' | 'removed'; kind: Made; id: string; object: Fields }
  | CopyPart;

/** A node that is to be copied, and what is asked for with it. */
export interface Copy {
  source: string;
  body: Fields;
}
type Step = readonly Part[];

/** What a thing is made of again after it was removed, and what must be as it was for its making to be taken back. */
const SUBSTANCE: Readonly<Record<Made, readonly string[]>> = {
  link: ['nodes', 'filters', 'suspend', 'link_style', 'impairments'],
  drawing: ['x', 'y', 'z', 'rotation', 'locked', 'svg'],
};
/** What must be as it was for the copy of a node to be taken back. */
const OF_COPY = ['name', 'x', 'y', 'z', 'label', 'symbol', 'locked', 'status', 'properties'];
const MOST_STEPS = 200;

/** Somebody else has changed what was to be taken back. */
class Overtaken extends Error {}

export class History {
  /** How many steps can be undone and redone once all that was asked for before is done: quick hands do not wait for answers. */
  readonly undoable = signal(0);
  readonly redoable = signal(0);
  readonly #requests: Requests;
  readonly #project: string;
  /** What is known of a thing now. */
  readonly #known: (kind: Thing, id: string) => object | undefined;
  #done: Step[] = [];
  #undone: Step[] = [];
  /** One step after the other, however quickly they are asked for. */
  #queue: Promise<unknown> = Promise.resolve();
  /** What the waiting tasks will add to the steps that can be undone and redone. */
  readonly #expected = { undoable: 0, redoable: 0 };

  constructor(requests: Requests, project: string, known: (kind: Thing, id: string) => object | undefined) {
    this.#requests = requests;
    this.#project = project;
    this.#known = known;
  }

  /**
   * Changes several things as one step; answers their fields as the server has them then. What succeeded can be undone even if another part
   * failed. @throws Refusal
   */
  async update(updates: readonly Update[]): Promise<Fields[]> {
    return (await this.updateEach(updates)).map((result) => {
      if (result.status === 'rejected') throw result.reason;
      return result.value;
    });
  }

  /** The same; answers of each whether it succeeded, and otherwise why not. */
  updateEach(updates: readonly Update[]): Promise<PromiseSettledResult<Fields>[]> {
    return this.#next(async () => {
      const step: Part[] = [];
      const results = await Promise.allSettled(
        updates.map(async ({ kind, id, fields }) => {
          const follows = typeof fields === 'function';
          const now = (follows ? undefined : this.#known(kind, id)) ?? (await this.#read(kind, id));
          const wanted = follows ? fields(now as Fields) : fields;
          const before = alike(wanted, now as Fields);
          const after = await this.#put(kind, id, wanted);
          step.push({ type: 'changed', kind, id, before, after });
          return after;
        }),
      );
      this.#record(step);
      return results;
    });
  }

  /** Starts a schedule on a link, or ends the one that runs (`null`). @throws Refusal */
  schedule(id: string, plan: object | null): Promise<void> {
    return this.#next(async () => {
      const now = (await this.#read('schedule', id)) as ScheduleNow;
      const before = { plan: now.state === 'running' ? now.plan : null };
      const after = await this.#put('schedule', id, { plan });
      this.#record([{ type: 'changed', kind: 'schedule', id, before, after }]);
    });
  }

  /** Makes a link or a drawing; gives it as the server has made it. @throws Refusal */
  make<T>(kind: Made, object: object): Promise<T> {
    return this.#next(async () => {
      const made = await this.#requests.post<Fields>(`${this.#project}/${kind}s`, object);
      this.#record([{ type: 'made', kind, id: idOf(kind, made), object: pick(made, SUBSTANCE[kind]) }]);
      return made as T;
    });
  }

  /**
   * Copies nodes, and makes drawings beside them, as one step. A copy is taken back only while it is as it was made: with a disk on
   * which somebody has worked since it stays. @throws Refusal
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
    return { type: 'copied', kind: 'node', id: idOf('node', made), source, body, object: pick(made, OF_COPY) };
  }

  /** Removes links and drawings as one step. @throws Refusal */
  remove(things: readonly { kind: Made; id: string }[]): Promise<void> {
    return this.#next(async () => {
      const step: Part[] = [];
      try {
        for (const { kind, id } of things) {
          const object = pick(await this.#read(kind, id), SUBSTANCE[kind]);
          await this.#requests.delete(this.#path(kind, id));
          step.push({ type: 'removed', kind, id, object });
        }
      } finally {
        this.#record(step);
      }
    });
  }

  /** Takes the last step back. @throws Error if somebody else has changed the thing since; Refusal */
  undo(): Promise<void> {
    return this.#next(() => this.#turn(this.#done, this.#undone), { undoable: -1, redoable: 1 });
  }

  /** Does again what was undone last. @throws as `undo` does */
  redo(): Promise<void> {
    return this.#next(() => this.#turn(this.#undone, this.#done), { undoable: 1, redoable: -1 });
  }

  #next<T>(task: () => Promise<T>, expected = { undoable: 1, redoable: 0 }): Promise<T> {
    this.#expect(expected, 1);
    const turn = this.#queue.then(task).finally(() => this.#expect(expected, -1));
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

  async #turn(from: Step[], to: Step[]): Promise<void> {
    const step = from.at(-1);
    if (!step) return;
    try {
      await Promise.all(step.map((part) => this.#check(part)));
    } catch (error) {
      // A step that can never be taken back must not stand in the way of those before it.
      if (error instanceof Overtaken) from.pop();
      throw error;
    }
    const opposite: Part[] = [];
    const left = new Set(step);
    const turn = async (part: Part): Promise<void> => {
      opposite.push(await this.#opposite(part));
      left.delete(part);
    };
    try {
      // Changes do not depend on each other; what was made or removed goes back in its order.
      if (step.every(({ type }) => type === 'changed')) {
        for (const result of await Promise.allSettled(step.map(turn))) {
          if (result.status === 'rejected') throw result.reason;
        }
      } else for (const part of step.toReversed()) await turn(part);
    } finally {
      // Also half a step can be turned again: nothing is forgotten.
      from.pop();
      if (left.size > 0) from.push([...left]);
      if (opposite.length > 0) to.push(opposite);
    }
  }

  /** @throws Overtaken unless the thing is as this part has left it */
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
    // One that is over by itself leaves nothing that an end of it could have changed.
    const isOver = kind === 'schedule' && left['plan'] === null && (now as ScheduleNow).state !== 'running';
    if (!isOver && !isSame(alike(left, now as Fields), left)) throw new Overtaken(WORDS.undo.overtaken(name));
  }

  #name(kind: Kind, id: string): string {
    return kind === 'schedule' ? WORDS.undo.things.schedule : nameOf(kind, this.#known(kind, id));
  }

  /** @throws Overtaken if it is not there any more */
  async #stillThere(kind: Kind, id: string): Promise<object> {
    try {
      return await this.#read(kind, id);
    } catch (error) {
      if ((error as { status?: number }).status !== 404) throw error;
      throw new Overtaken(WORDS.undo.gone(this.#name(kind, id)));
    }
  }

  /** A copy that was started has what happened there on its disk, and one that has links has been built upon. @throws Overtaken */
  async #checkUnused({ id, object }: CopyPart, name: string): Promise<void> {
    const links = await this.#requests.get<readonly { nodes: readonly { node_id: string }[] }[]>(
      `${this.#project}/links`,
    );
    const journal = await this.#requests.get<readonly { node_id: string | null; status: string | null }[]>(
      `${this.#project}/journal`,
    );
    const isLinked = links.some(({ nodes }) => nodes.some(({ node_id: end }) => end === id));
    const wasStarted = journal.some(({ node_id: of, status }) => of === id && status === 'started');
    if (isLinked || (wasStarted && object['status'] !== 'started')) throw new Overtaken(WORDS.undo.used(name));
  }

  async #oppositeOfCopy(part: CopyPart): Promise<Part> {
    if (part.type === 'copied') {
      await this.#requests.delete(this.#path(part.kind, part.id));
      return { ...part, type: 'uncopied' };
    }
    const made = await this.#copied(part.source, part.body);
    this.#rename(part.id, made.id);
    return made;
  }

  async #opposite(part: Part): Promise<Part> {
    if ('source' in part) return this.#oppositeOfCopy(part);
    const { kind, id } = part;
    if (part.type === 'changed') {
      const after = await this.#put(kind, id, part.before);
      return { ...part, before: part.after, after };
    }
    if (part.type === 'made') {
      await this.#requests.delete(this.#path(part.kind, id));
      return { ...part, type: 'removed' };
    }
    const made = await this.#requests.post<Fields>(`${this.#project}/${kind}s`, part.object);
    this.#rename(id, idOf(part.kind, made));
    return { ...part, type: 'made', id: idOf(part.kind, made), object: pick(made, SUBSTANCE[part.kind]) };
  }

  /** What is made again has another id: the other steps follow it. */
  #rename(former: string, now: string): void {
    const follow = (step: Step): Step =>
      step.map((part) => ({
        ...part,
        ...(part.id === former && { id: now }),
        ...('source' in part && part.source === former && { source: now }),
      }));
    // In place: the caller holds these lists.
    for (const list of [this.#done, this.#undone]) list.splice(0, list.length, ...list.map(follow));
  }

  #path(kind: Thing, id: string): string {
    return `${this.#project}/${kind}s/${id}`;
  }

  async #read(kind: Kind, id: string): Promise<object> {
    if (kind === 'schedule') return scheduled(await this.#requests.get<ScheduleObject>(this.#schedulePath(id)));
    return this.#requests.get<object>(this.#path(kind, id));
  }

  #schedulePath(id: string): string {
    return `${this.#path('link', id)}/schedule`;
  }

  /** The fields as the server has them then. */
  async #put(kind: Kind, id: string, fields: Fields): Promise<Fields> {
    if (kind === 'schedule') {
      const plan = fields['plan'] as object | null;
      const path = this.#schedulePath(id);
      if (plan) return { plan: scheduled(await this.#requests.post<ScheduleObject>(path, plan)).plan };
      await this.#requests.delete(path);
      return { plan: null };
    }
    const answer = await this.#requests.put<object>(this.#path(kind, id), fields);
    const known = alike(fields, answer as Fields);
    return {
      ...fields,
      ...pick(
        known,
        Object.keys(fields).filter((key) => key in answer),
      ),
    };
  }
}
