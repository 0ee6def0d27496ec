// A list of the controller, such as templates or hosts, kept up to date by its notifications.
import { signal } from '@preact/signals';
import { api } from './api.ts';
import { Events } from './events.ts';
import { sentenceOf } from './sentence.ts';

export class Collection<T> {
  readonly list = signal<readonly T[] | undefined>(undefined);
  /** Why it could not be read. */
  readonly problem = signal('');
  readonly events: Events;
  readonly #path: string;
  #readings = 0;

  /** @param noun prefix of its events, such as `template` */
  constructor(path: string, noun: string) {
    this.#path = path;
    this.events = new Events({
      path: '/notifications/ws',
      message: ({ action }) => {
        if (action.startsWith(`${noun}.`)) void this.read();
      },
      missed: () => void this.read(),
    });
  }

  async read(): Promise<void> {
    this.#readings += 1;
    const reading = this.#readings;
    try {
      const list = await api.get<T[]>(this.#path);
      if (reading !== this.#readings) return;
      this.list.value = list;
      this.problem.value = '';
    } catch (error) {
      if (reading === this.#readings) this.problem.value = sentenceOf(error);
    }
  }
}
