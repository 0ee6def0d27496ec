// Interface settings kept by the browser, such as sizes and switches; no content.
import { type Signal, signal } from '@preact/signals';

/** A value that outlives the page if the browser has storage. */
export function remembered<T extends number | boolean>(name: string, first: T): Signal<T> {
  const value = signal(read(name, first));
  value.subscribe((now) => {
    try {
      if (now !== read(name, first)) localStorage.setItem(name, JSON.stringify(now));
    } catch {
      // Without storage the value lasts until the page is left.
    }
  });
  return value;
}

function read<T extends number | boolean>(name: string, first: T): T {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(name) ?? 'null');
    return typeof stored === typeof first ? (stored as T) : first;
  } catch {
    return first;
  }
}
