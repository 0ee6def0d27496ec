// The list of labs, kept up to date by the controller's notifications; for open labs also the number of running nodes.
import { signal } from '@preact/signals';
import type { LabFigures } from '../../../api/routes/projects.ts';
import { api } from '../server/api.ts';
import { Events } from '../server/events.ts';
import { compareVersion } from '../server/page-version.ts';
import { sentenceOf } from '../server/sentence.ts';
import type { Message, ProjectObject } from '../server/types.ts';

/** Interval for reading when labs were last changed. */
const CHANGES_MS = 30_000;

/** Interval for reading the numbers of running nodes, which no notification of the list reports. */
const FIGURES_MS = 5_000;

export class Labs {
  readonly list = signal<ReadonlyMap<string, ProjectObject> | undefined>(undefined);
  readonly figures = signal<ReadonlyMap<string, LabFigures>>(new Map());
  /** When each lab was last changed, in milliseconds since 1970, by id. */
  readonly changes = signal<ReadonlyMap<string, number>>(new Map());
  /** Why the list could not be read. */
  readonly problem = signal('');
  /** Any other error. */
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
  /** Events received while the list is read; applied afterwards. */
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
      // Rows are shown complete: with the figures and times of this reading.
      const [projects] = await Promise.all([
        api.get<ProjectObject[]>('/projects'),
        this.readFigures(),
        this.readChanges(),
      ]);
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
  }

  async readChanges(): Promise<void> {
    try {
      const before = [...(this.list.value?.keys() ?? [])];
      const changes = await api.get<{ project_id: string; changed_at: string | null }[]>('/project-changes');
      const answered = new Set(changes.map(({ project_id: id }) => id));
      // A lab that is no longer shared leaves without an event; those created or deleted meanwhile have one.
      const isHidden = before.some((id) => !answered.has(id) && this.list.value?.has(id));
      if (!this.#waiting && isHidden) void this.read();
      this.changes.value = new Map(
        changes.flatMap(({ project_id: id, changed_at: at }) => (at === null ? [] : [[id, Date.parse(at)]])),
      );
    } catch {
      // See `readFigures`.
    }
  }

  async readFigures(): Promise<void> {
    try {
      const figures = await api.get<LabFigures[]>('/project-figures');
      this.figures.value = new Map(figures.map((one) => [one.project_id, one]));
    } catch {
      // Retried with the next reading; a lost connection is shown elsewhere.
    }
  }

  #apply(message: Message): void {
    const { action, event } = message;
    if (!action.startsWith('project.')) return;
    if (this.#waiting) {
      this.#waiting.push(message);
      return;
    }
    if (this.list.value === undefined) return;
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
