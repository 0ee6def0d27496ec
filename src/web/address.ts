// The current address, and navigation between screens without reloading the page.
import { signal } from '@preact/signals';

export const address = signal(globalThis.location?.pathname ?? '/');

/** Shows another screen. The path may have a query, which the screen reads when it is first shown. */
export function go(path: string): void {
  const [pathname = '/', query = ''] = path.split('?');
  if (pathname === address.value && query === location.search.slice(1)) return;
  history.pushState(null, '', path);
  address.value = pathname;
}

/** Drops the query of the address, once it is done with. */
export function dropQuery(): void {
  if (location.search !== '') history.replaceState(null, '', location.pathname);
}

/** Follows the browser's back and forward. */
export function followHistory(): void {
  addEventListener('popstate', () => {
    address.value = location.pathname;
  });
}
