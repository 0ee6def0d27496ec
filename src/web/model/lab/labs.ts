// The list of labs, kept up to date by the controller's notifications; of those that are open, how many nodes run.
import { signal } from '@preact/signals';
import { api } from '../server/api.ts';
import { Events } from '../server/events.ts';
import { compareVersion } from '../server/page-version.ts';
import { sentenceOf } from '../server/sentence.ts';
import type { Message, ProjectObject } from '../server/types.ts';

export interface LabFigures {
  project_id: string;
  nodes: number;
  running: number;
}

/** Milliseconds after which it is looked again when labs were changed, and after a change of the list at the latest. */
const CHANGES_MS = 30_000;

/** Nodes start and stop without a word to those who only see the list. */
const FIGURES_MS = 5_000;

export class Labs {
  readonly list = signal<ReadonlyMap<string, ProjectObject> | undefined>(undefined);
  readonly figures = signal<ReadonlyMap<string, LabFigures>>(new Map());
  /** When labs were changed last, in milliseconds since 1970, by their ids. */
  readonly changes = signal<ReadonlyMap<string, number>>(new Map());
  /** Why the list could not be read. */
  readonly problem = signal('');
  /** Why something else did not work. */
  readonly message = signal('');
  readonly events = new Events({
    path: '/notifications/ws',
    message: (message) => this.#apply(message),
    missed: (why) => {
      void this.read();
      if (why === 'gap') void compareVersion();
    },
    resumed: () => void compareVersion(),
  });
  /** Events that came while the list was read; applied after it. */
  #waiting: Message[] | undefined;
  #readings = 0;
  #timers: ReturnType<typeof setInterval>[] = [];

  start(): void {
    this.events.start();
    const every = (milliseconds: number, read: () => Promise<void>): void => {
      const isSeen = (): boolean => document.visibilityState === 'visible' && this.events.connection.value === 'live';
      this.#timers.push(setInterval(() => isSeen() && void read(), milliseconds));
    };
    every(FIGURES_MS, () => this.readFigures());
    every(CHANGES_MS, () => this.readChanges());
  }

  stop(): void {
    for (const timer of this.#timers) clearInterval(timer);
    this.events.stop();
  }

  async read(): Promise<void> {
    this.#readings += 1;
    const reading = this.#readings;
    this.#waiting = [];
    try {
      const projects = await api.get<ProjectObject[]>('/projects');
      if (reading !== this.#readings) return;
      this.list.value = new Map(projects.map((project) => [project.project_id, project]));
      this.problem.value = '';
    } catch (error) {
      if (reading === this.#readings) this.problem.value = sentenceOf(error);
    } finally {
      if (reading === this.#readings) {
        const waiting = this.#waiting ?? [];
        this.#waiting = undefined;
        for (const message of waiting) this.#apply(message);
      }
    }
    await Promise.all([this.readFigures(), this.readChanges()]);
  }

  async readChanges(): Promise<void> {
    try {
      const changes = await api.get<{ project_id: string; changed_at: string | null }[]>('/project-changes');
      this.changes.value = new Map(
        changes.flatMap(({ project_id: id, changed_at: at }) => (at === null ? [] : [[id, Date.parse(at)]])),
      );
    } catch {
      // As with the figures.
    }
  }

  async readFigures(): Promise<void> {
    try {
      const figures = await api.get<LabFigures[]>('/project-figures');
      this.figures.value = new Map(figures.map((one) => [one.project_id, one]));
    } catch {
      // They come with the next reading; that the server is away is said elsewhere.
    }
  }

  #apply(message: Message): void {
    const { action, event } = message;
    if (!action.startsWith('project.') || this.list.value === undefined) return;
    if (this.#waiting) {
      this.#waiting.push(message);
      return;
    }
    const project = event as unknown as ProjectObject;
    const list = new Map(this.list.value);
    if (action === 'project.deleted') list.delete(project.project_id);
    else list.set(project.project_id, project);
    this.list.value = list;
    if (action === 'project.created' || action === 'project.updated' || action === 'project.closed') {
      void this.readChanges();
    }
    if (action === 'project.opened' || action === 'project.closed') void this.readFigures();
  }
}
