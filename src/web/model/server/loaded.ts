// Data that a component reads from the server when it is shown.
import { type Signal, useSignal } from '@preact/signals';
import { useCallback, useEffect, useRef } from 'preact/hooks';
import { sentenceOf } from './sentence.ts';

export interface Loaded<T> {
  /** Undefined until loaded; the old value stays during a reload. */
  value: Signal<T | undefined>;
  /** Why it could not be read; empty if it could. */
  problem: Signal<string>;
  again(): Promise<void>;
}

/**
 * Loads now, and again when one of `inputs` changes. With `everyMs` it also polls while the page is visible; a slow answer delays the next
 * request.
 */
export function useLoaded<T>(load: () => Promise<T>, inputs: readonly unknown[], everyMs?: number): Loaded<T> {
  const value = useSignal<T | undefined>(undefined);
  const problem = useSignal('');
  const latest = useRef(load);
  latest.current = load;
  const readings = useRef(0);
  const isReading = useRef(false);
  const again = useCallback((): Promise<void> => {
    readings.current += 1;
    const reading = readings.current;
    isReading.current = true;
    return latest.current().then(
      (read) => {
        if (reading !== readings.current) return;
        isReading.current = false;
        value.value = read;
        problem.value = '';
      },
      (error: unknown) => {
        if (reading !== readings.current) return;
        isReading.current = false;
        problem.value = sentenceOf(error);
      },
    );
  }, [value, problem]);
  useEffect(() => {
    void again();
    return () => {
      readings.current += 1;
    };
  }, [again, ...inputs]);
  useEffect(() => {
    if (everyMs === undefined) return;
    const timer = setInterval(() => !document.hidden && !isReading.current && void again(), everyMs);
    return () => clearInterval(timer);
  }, [again, everyMs]);
  return { value, problem, again };
}
