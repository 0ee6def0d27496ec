// What the map shows in this browser; the browser keeps it, not the lab.
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
      // Without storage the setting lasts until the page is reloaded.
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
