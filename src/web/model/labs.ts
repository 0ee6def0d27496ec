// The list of labs, kept up to date by the controller's notifications; of those that are open, how many nodes run.
import { signal } from '@preact/signals';
import { api } from './api.ts';
import { Events } from './events.ts';
import type { Message, ProjectObject } from './types.ts';
import { compareVersion } from './version.ts';

export interface LabFigures {
  project_id: string;
  nodes: number;
  running: number;
}

/** Nodes start and stop without a word to those who only see the list. */
const FIGURES_MS = 5_000;

export class Labs {
  readonly list = signal<ReadonlyMap<string, ProjectObject> | undefined>(undefined);
  readonly figures = signal<ReadonlyMap<string, LabFigures>>(new Map());
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
  #timer: ReturnType<typeof setInterval> | undefined;

  start(): void {
    this.events.start();
    this.#timer = setInterval(() => {
      if (document.visibilityState === 'visible' && this.events.connection.value === 'live') void this.readFigures();
    }, FIGURES_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
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
      this.message.value = '';
    } catch (error) {
      this.message.value = error instanceof Error ? error.message : String(error);
    } finally {
      if (reading === this.#readings) {
        const waiting = this.#waiting ?? [];
        this.#waiting = undefined;
        for (const message of waiting) this.#apply(message);
      }
    }
    await this.readFigures();
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
    if (action === 'project.opened' || action === 'project.closed') void this.readFigures();
  }
}
