// Data that a component reads from the server when it is shown.
import { type Signal, useSignal } from '@preact/signals';
import { useCallback, useEffect, useRef } from 'preact/hooks';
import { sentenceOf } from './sentence.ts';

export interface Loaded<T> {
  /** Undefined until loaded; the old value stays during a reload. */
  value: Signal<T | undefined>;
  /** Why it could not be read; empty if it could. */
  problem: Signal<string>;
  again(): void;
}

/** Loads now, and again when one of `inputs` changes. */
export function useLoaded<T>(load: () => Promise<T>, inputs: readonly unknown[]): Loaded<T> {
  const value = useSignal<T | undefined>(undefined);
  const problem = useSignal('');
  const latest = useRef(load);
  latest.current = load;
  const readings = useRef(0);
  const again = useCallback(() => {
    readings.current += 1;
    const reading = readings.current;
    latest.current().then(
      (read) => {
        if (reading !== readings.current) return;
        value.value = read;
        problem.value = '';
      },
      (error: unknown) => {
        if (reading === readings.current) problem.value = sentenceOf(error);
      },
    );
  }, [value, problem]);
  useEffect(() => {
    again();
    return () => {
      readings.current += 1;
    };
  }, [again, ...inputs]);
  return { value, problem, again };
}
