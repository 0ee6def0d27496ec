// The current address, and navigation between screens without reloading the page.
import { signal } from '@preact/signals';

export const address = signal(globalThis.location?.pathname ?? '/');

/** Shows another screen. */
export function go(path: string): void {
  if (path === address.value) return;
  history.pushState(null, '', path);
  address.value = path;
}

/** Follows the browser's back and forward. */
export function followHistory(): void {
  addEventListener('popstate', () => {
    address.value = location.pathname;
  });
}
