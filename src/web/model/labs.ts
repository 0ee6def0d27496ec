// The list of labs, kept up to date by the controller's notifications.
import { signal } from '@preact/signals';
import { api } from './api.ts';
import { Events } from './events.ts';
import type { ProjectObject } from './types.ts';

export class Labs {
  readonly list = signal<readonly ProjectObject[] | undefined>(undefined);
  readonly message = signal('');
  readonly events = new Events({
    path: '/notifications/ws',
    message: ({ action }) => {
      if (action.startsWith('project.')) void this.read();
    },
    missed: () => void this.read(),
  });
  #readings = 0;

  async read(): Promise<void> {
    this.#readings += 1;
    const reading = this.#readings;
    try {
      const list = await api.get<ProjectObject[]>('/projects');
      if (reading !== this.#readings) return;
      this.list.value = list.toSorted((a, b) => a.name.localeCompare(b.name, undefined, { numeric: true }));
      this.message.value = '';
    } catch (error) {
      this.message.value = error instanceof Error ? error.message : String(error);
    }
  }
}
