// What a lab must be after every change: exactly what was acknowledged, and after a change that was not, exactly the old lab or exactly the
// new one, in all members of all things and all bytes of all files.
import type { Answer } from '../system/daemon.ts';
import { type Change, LabChanges } from './lab-changes.ts';
import { differencesOf, KINDS, type LabState, readLab, type Server, strayFiles, thingText } from './lab-state.ts';

/** Statuses by which a server says that it has not made a change: the lab is the old one. After another failure it may be either. */
const NOT_MADE: ReadonlySet<number> = new Set([400, 403, 404, 409, 413, 503, 507]);

export class LabModel {
  /** Acknowledged changes. */
  changes = 0;
  readonly #server: Server;
  readonly #path: string;
  readonly #draw: LabChanges;
  #state: LabState | undefined;
  /** A change that was not acknowledged, with its status: 0 when no answer came. */
  #open: { change: Change; status: number } | undefined;
  /** The last change, and how it was answered. */
  last = '';
  /** Answers to changes that were not what was asked for. */
  #wrongAnswers: string[] = [];

  /** @param path `/v2/projects/ID` */
  constructor(server: Server, path: string, random: () => number) {
    this.#server = server;
    this.#path = path;
    this.#draw = new LabChanges(server, path, random);
  }

  get #known(): LabState {
    if (this.#state === undefined) throw new Error('learn() first');
    return this.#state;
  }

  /** Takes what is there for what was acknowledged: before the first change, and after changes that others have made. */
  async learn(): Promise<void> {
    this.#state = await readLab(this.#server, this.#path);
  }

  /** Makes one change; answers its status, or 0 when the server did not answer. A change that is not acknowledged is judged by {@link differences}. */
  async change(): Promise<number> {
    if (this.#open) throw new Error('a change that was not acknowledged is to be judged first');
    const change = this.#draw.draw(this.#known);
    const answer = await change.request().catch(() => undefined);
    const status = answer?.status ?? 0;
    this.last = `${change.what}: ${status} ${answer && status >= 300 ? answer.text : ''}`;
    if (answer === undefined || status < 200 || status >= 300) this.#open = { change, status };
    else this.#acknowledge(change, answer);
    return status;
  }

  #acknowledge(change: Change, answer: Answer): void {
    const before = this.#known;
    const after = change.made(before, { answer: answer.json })!;
    this.#state = after;
    this.changes += 1;
    if (answer.json === undefined) return;
    const known = KINDS.some((kind) => [...after[kind].values()].includes(thingText(kind, answer.json)));
    if (!known) this.#wrongAnswers.push(`${change.what}: answered ${answer.text.slice(0, 500)}`);
  }

  /** What is not as it must be; takes over what is there. */
  async differences(): Promise<string[]> {
    const [before, open, wrong] = [this.#known, this.#open, this.#wrongAnswers];
    this.#open = undefined;
    this.#wrongAnswers = [];
    const found = await readLab(this.#server, this.#path);
    this.#state = found;
    const fromOld = differencesOf(before, found);
    if (fromOld.length === 0 || open === undefined) return [...wrong, ...fromOld];
    const { change, status } = open;
    const after = NOT_MADE.has(status) ? undefined : change.made(before, { found });
    const fromNew = after && differencesOf(after, found);
    if (fromNew?.length === 0) return wrong;
    const case_ = `${change.what}, answered ${status}: it is not the old lab (${fromOld.join('; ')})`;
    return [...wrong, `${case_}${fromNew ? `, nor the new one (${fromNew.join('; ')})` : ''}`];
  }

  /** Files below the directory of all projects that the lab does not explain, or that are missing. */
  strays(projects: string): string[] {
    return strayFiles(projects, this.#path.split('/').at(-1)!, this.#known);
  }
}
