// Event handlers that give a signal a value.
import type { Signal } from '@preact/signals';

export function setTo<T>(signal: Signal<T>, value: NoInfer<T>): () => void {
  return () => {
    signal.value = value;
  };
}

/** For a field: the signal gets its text. */
export function storeIn(signal: Signal<string>): (event: { currentTarget: { value: string } }) => void {
  return ({ currentTarget }) => {
    signal.value = currentTarget.value;
  };
}
