// What of the map is shown to whoever sits here: kept by the browser, not by the lab.
import { type Signal, signal } from '@preact/signals';

const NAMES = ['labels', 'links', 'minimap'] as const;
export type ViewSetting = (typeof NAMES)[number];
const KEY = 'labwire.hidden';

export class ViewSettings {
  readonly #hidden: Signal<readonly string[]> = signal(stored());

  isShown(name: ViewSetting): boolean {
    return !this.#hidden.value.includes(name);
  }

  toggle(name: ViewSetting): void {
    const hidden = this.#hidden.value;
    this.#hidden.value = hidden.includes(name) ? hidden.filter((other) => other !== name) : [...hidden, name];
    try {
      localStorage.setItem(KEY, this.#hidden.value.join(' '));
    } catch {
      // A browser that stores nothing: it holds until the page is loaded again.
    }
  }
}

function stored(): string[] {
  try {
    return (localStorage.getItem(KEY) ?? '').split(' ').filter((name) => (NAMES as readonly string[]).includes(name));
  } catch {
    return [];
  }
}
